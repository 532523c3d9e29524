// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parameters of a run.
 *
 * They are read from the rows of the options.  So a new option is printed with
 * every run and can be swept without a change here, unless it is parsed by a
 * function of its own.
 *
 * The key of a run identifies it in the rows of a sweep, so that rows of several
 * processes can be merged and no run is made twice.  It is the hash of Fowler, Noll
 * and Vo, FNV-1a with 64 bits, over lines of names and values.
 */
#include "config.h"

#include "gc/sim/sweep/simparam.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct simoptions, member)

/* Options of the output, and those that are set per run. */
static const char *const others[] = {
	"csv", "curve", "emit", "force", "key", "list", "merge", "policy", "seeds", "svg",
	"sweep", "victims", "volume", "wear",
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

struct value simparam_value(const struct cli_option *row,
			    const struct simoptions *o,
			    char text[SIMPARAM_TEXT])
{
	const void *p = (const char *)o + row->at;
	const struct simoptions_amount *a = &o->warm_up;
	const struct option_list *list = p;
	size_t i, used = 0;

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
		if (!list->count)
			return value_absent();
		for (i = 0; i < list->count && used < SIMPARAM_TEXT; i++)
			used += (size_t)snprintf(text + used,
						 SIMPARAM_TEXT - used, "%s%s",
						 i ? "," : "", list->items[i]);
		return value_string(text);
	case OPTION_CALL:
		/* The options that are parsed by a function. */
		if (row->at == AT(vol.placement))
			return value_string(o->vol.placement->name);
		if (row->at == AT(work.kind))
			return value_string(o->work.kind->name);
		if (!a->is_given)
			return value_absent();
		snprintf(text, SIMPARAM_TEXT, "%" PRIu64 "%s",
			 a->percent ? a->percent : a->blocks,
			 a->percent ? "%" : "");
		return value_string(text);
	default:
		return value_string(*(const char *const *)p);
	}
}

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* Adds a line to KEY; a TEXT of NULL differs from "". */
static void hash_line(uint64_t *key, const char *name, const char *text)
{
	const char *parts[] = { name, text ? "=" : "", text ? text : "", "\n" };
	const char *at;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (at = parts[i]; *at; at++)
			*key = (*key ^ (unsigned char)*at) * FNV_PRIME;
}

const char *simparam_argument(const struct cli_option *row,
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
			hash_line(&key, row->name,
				  simparam_argument(row, o, text));
	for (i = 0; i < o->hot_files.count; i++)
		hash_line(&key, "hot-file", o->hot_files.items[i]);
	return key;
}

void simparam_key_text(uint64_t key, char text[SIMPARAM_TEXT])
{
	snprintf(text, SIMPARAM_TEXT, "%016" PRIx64, key);
}
