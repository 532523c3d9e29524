// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parameters of a run.
 *
 * They are read from the rows of the options, so that a new option is printed
 * with every run and can be swept without a change here, unless it has a
 * function of its own to be parsed.
 *
 * A key is the hash of Fowler, Noll and Vo, FNV-1a with 64 bits, over lines of
 * names and values.  A command has those parameters that are not the defaults.
 */
#include "config.h"

#include "gc/sim/sweep/simparam.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "out/table.h"

#define AT(member) offsetof(struct simoptions, member)

/* What is said, and what each run has of its own. */
static const char *const others[] = {
	"csv", "curve", "emit", "force", "key", "merge", "policy", "seeds", "svg", "sweep",
	"victims", "volume", "wear",
};

bool simparam_is(const struct cli_option *row)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i], row->name))
			return false;
	return true;
}

enum value_kind simparam_kind(const struct cli_option *row)
{
	switch (row->kind) {
	case OPTION_FLAG:
		return VALUE_BOOL;
	case OPTION_U64:
	case OPTION_U32:
		return VALUE_U64;
	case OPTION_SIZE:
		return VALUE_SIZE;
	default:
		return VALUE_STRING;
	}
}

/* The options that have a function: each is one of these. */
static struct value value_of_call(const struct cli_option *row,
				  const struct simoptions *o, char *text)
{
	const struct simoptions_amount *a = &o->warm_up;

	if (row->at == AT(vol.placement))
		return value_string(o->vol.placement->name);
	if (row->at == AT(work.kind))
		return value_string(o->work.kind->name);
	if (!a->is_given)
		return value_absent();
	if (a->percent)
		snprintf(text, SIMPARAM_TEXT, "%" PRIu32 "%%", a->percent);
	else
		snprintf(text, SIMPARAM_TEXT, "%" PRIu64, a->blocks);
	return value_string(text);
}

static struct value value_of_list(const struct option_list *list, char *text)
{
	size_t i, used = 0;

	if (!list->count)
		return value_absent();
	for (i = 0; i < list->count && used < SIMPARAM_TEXT; i++)
		used += (size_t)snprintf(text + used, SIMPARAM_TEXT - used,
					 "%s%s", i ? "," : "", list->items[i]);
	return value_string(text);
}

struct value simparam_value(const struct cli_option *row,
			    const struct simoptions *o,
			    char text[SIMPARAM_TEXT])
{
	const void *p = (const char *)o + row->at;

	switch (row->kind) {
	case OPTION_FLAG:
		return value_bool(*(const bool *)p);
	case OPTION_U64:
	case OPTION_SIZE:
		return value_u64(*(const uint64_t *)p);
	case OPTION_U32:
		if (*(const uint32_t *)p == SIMOPTIONS_SAME)
			return value_absent();
		return value_u64(*(const uint32_t *)p);
	case OPTION_CHOICE:
		return value_string(row->choices[*(const int *)p]);
	case OPTION_LIST:
		return value_of_list(p, text);
	case OPTION_CALL:
		return value_of_call(row, o, text);
	default:
		return value_string(*(const char *const *)p);
	}
}

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static void hash(uint64_t *key, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		*key = (*key ^ (unsigned char)bytes[i]) * FNV_PRIME;
}

/* A line of it; TEXT of NULL is another one than "". */
static void hash_line(uint64_t *key, const char *name, const char *text)
{
	hash(key, name, strlen(name));
	hash(key, text ? "=" : "", text ? 1 : 0);
	hash(key, text ? text : "", text ? strlen(text) : 0);
	hash(key, "\n", 1);
}

/* The argument that gives ROW what O has, or NULL. */
static const char *argument(const struct cli_option *row,
			    const struct simoptions *o,
			    char text[SIMPARAM_TEXT])
{
	struct value v = simparam_value(row, o, text);
	enum value_kind kind = simparam_kind(row);

	if (!v.present)
		return NULL;
	if (kind == VALUE_STRING)
		return v.bytes;
	snprintf(text, SIMPARAM_TEXT, "%" PRIu64, v.number);
	return text;
}

uint64_t simparam_key(const struct simplan_run *run, const char *image)
{
	const struct simoptions *o = &run->options;
	const struct cli_option *row;
	char text[SIMPARAM_TEXT];
	uint64_t key = FNV_OFFSET;
	size_t i;

	hash_line(&key, "version", PACKAGE_VERSION);
	hash_line(&key, "image", image);
	hash_line(&key, "volume", run->volume_name);
	hash_line(&key, "policy", run->policy->name);
	for (row = simoptions_rows; row->name; row++)
		if (simparam_is(row) && row->kind != OPTION_LIST)
			hash_line(&key, row->name, argument(row, o, text));
	for (i = 0; i < o->hot_files.count; i++)
		hash_line(&key, "hot-file", o->hot_files.items[i]);
	return key;
}

void simparam_key_text(uint64_t key, char text[SIMPARAM_TEXT])
{
	snprintf(text, SIMPARAM_TEXT, "%016" PRIx64, key);
}

/* Puts TEXT as one word of a shell. */
static void put_word(struct out *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	out_char(out, ' ');
	if (*text && !text[strspn(text, plain)]) {
		out_string(out, text);
		return;
	}
	out_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			out_string(out, "'\\'");
		out_char(out, *text);
	}
	out_char(out, '\'');
}

/* An option, and its argument, if it has one. */
static void put_option(struct out *out, const char *name, const char *arg)
{
	out_string(out, " --");
	out_string(out, name);
	if (arg)
		put_word(out, arg);
}

static void put_parameter(struct out *out, const struct cli_option *row,
			  const struct simoptions *o)
{
	char text[SIMPARAM_TEXT], usual[SIMPARAM_TEXT];
	const char *arg = argument(row, o, text);
	const char *other = argument(row, &simoptions_defaults, usual);
	const struct option_list *list;
	size_t i;

	if (row->kind == OPTION_LIST) {
		list = (const void *)((const char *)o + row->at);
		for (i = 0; i < list->count; i++)
			put_option(out, row->name, list->items[i]);
	} else if (arg && (!other || strcmp(arg, other) != 0)) {
		put_option(out, row->name,
			   row->kind == OPTION_FLAG ? NULL : arg);
	}
}

static void put_command(struct out *out, const struct simplan_run *run,
			const char *key, const char *image)
{
	const struct cli_option *row;

	out_string(out, "gcsim.nilfs2");
	for (row = simoptions_rows; row->name; row++)
		if (simparam_is(row))
			put_parameter(out, row, &run->options);
	if (run->volume_name)
		put_option(out, "volume", run->volume_name);
	put_option(out, "policy", run->policy->name);
	put_option(out, "key", key);
	out_string(out, " --json-lines");
	if (image) {
		out_string(out, " --");
		put_word(out, image);
	}
}

static int emit_run(struct report *r, struct context *cx, struct table *t,
		    const struct simplan *plan, size_t i, const char *image)
{
	char key[SIMPARAM_TEXT];
	struct simplan_run run;
	struct out *line;
	int err = simplan_run(plan, cx, i, &run);

	if (!err)
		err = out_open_memory(cx, &line);
	if (err)
		return err;
	simparam_key_text(simparam_key(&run, image), key);
	put_command(line, &run, key, image);
	if (report_is_text(r)) {
		out_string(r->out, out_memory(line, NULL));
		out_char(r->out, '\n');
	} else {
		table_row(t, (struct value[]){
			value_string(key),
			value_string(out_memory(line, NULL)),
		});
	}
	return out_close(line, cx);
}

int simparam_commands(struct report *r, struct context *cx,
		      const struct simplan *plan, const char *image)
{
	static const struct column columns[] = {
		{ "key", NULL, VALUE_PLAIN },
		{ "command", NULL, VALUE_STRING },
	};
	struct table t;
	size_t i;
	int err = 0;

	if (!report_is_text(r))
		table_begin(&t, r, "commands", columns, 2);
	for (i = 0; i < plan->nruns && !err; i++)
		err = emit_run(r, cx, &t, plan, i, image);
	if (!report_is_text(r))
		table_end(&t);
	return err;
}
