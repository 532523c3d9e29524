// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys and command lines of runs.
 *
 * A key is the hash of Fowler, Noll and Vo, FNV-1a with 64 bits, over lines of
 * names and values.  A command has those parameters that are not the defaults.
 */
#include "config.h"

#include "gc/sim/sweep/simemit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

uint64_t simemit_key(const struct simplan_run *run, const char *image)
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

void simemit_key_text(uint64_t key, char text[SIMPARAM_TEXT])
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
	simemit_key_text(simemit_key(&run, image), key);
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

int simemit_commands(struct report *r, struct context *cx,
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
