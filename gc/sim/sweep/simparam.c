// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parameters of a run.
 *
 * They are read from the rows of the options, so that a new option is printed
 * with every run and can be swept without a change here, unless it has a
 * function of its own to be parsed.
 */
#include "gc/sim/sweep/simparam.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct simoptions, member)

/* What is said, and what each run has of its own. */
static const char *const others[] = {
	"csv", "curve", "emit", "key", "merge", "policy", "seeds", "svg", "sweep",
	"victims", "volume", "wear", NULL,
};

/* What is read once for all. */
static const char *const shared[] = {
	"addresses", "hot-file", "trace", "trace-format", NULL,
};

static bool is_listed(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(*list, name))
			return true;
	return false;
}

bool simparam_is(const struct cli_option *row)
{
	return !is_listed(others, row->name);
}

bool simparam_may_differ(const struct cli_option *row)
{
	return simparam_is(row) && !is_listed(shared, row->name);
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
