// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of gc.nilfs2.
 *
 * What nilfs_cleanerd.conf(5) has a word for is called by that word and begins
 * with the same value.
 */
#include "gc/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "gc/clean.h"

#define AT(member) offsetof(struct options, member)

/* nilfs_cleanerd.conf: protection_period, min_reclaimable_blocks. */
#define PROTECT_DEFAULT 3600
#define MIN_RECLAIMABLE_DEFAULT 10

const struct options options_defaults = {
	.policy = &policy_list[0],
	.min_reclaimable = MIN_RECLAIMABLE_DEFAULT,
	.protect = PROTECT_DEFAULT,
};

static int set_policy(struct context *cx, const char *arg, void *where)
{
	const struct policy **policy = where;

	*policy = policy_find(arg);
	return *policy ? 0 : fail(cx, -EINVAL, "--policy: there is no '%s'",
				  arg);
}

/* A number of segments, or, where it says so, percent or bytes. */
static int set_free(struct context *cx, const char *arg, void *where)
{
	struct options_amount *amount = where;
	size_t len = strlen(arg), digits = strspn(arg, "0123456789");
	char number[24];

	if (!digits || digits >= sizeof(number) || len > digits + 3) {
		return fail(cx, -EINVAL, "--free: '%s' is no number of "
			    "segments, size or percentage", arg);
	}
	memcpy(number, arg, digits);
	number[digits] = '\0';
	amount->unit = !arg[digits] ? OPTIONS_SEGMENTS :
		       !strcmp(arg + digits, "%") ? OPTIONS_PERCENT :
						    OPTIONS_BYTES;
	if (amount->unit == OPTIONS_BYTES)
		return option_size(cx, "--free", arg, &amount->n);
	return option_number(cx, "--free", number,
			     amount->unit == OPTIONS_PERCENT ? 100 :
							       UINT64_MAX,
			     &amount->n);
}

const struct cli_option options_rows[] = {
	{ 'n', "dry-run", NULL, "change nothing, say what would be done",
	  OPTION_FLAG, AT(dry_run), 0, 0, NULL, NULL },
	{ 0, "free", "N|SIZE|PERCENT%",
	  "free so many segments, bytes or percent more, not all",
	  OPTION_CALL, AT(free), 0, 0, NULL, set_free },
	{ 0, "max-search", "N", "look at N segments for each choice",
	  OPTION_U64, AT(max_search), 0, 0, NULL, NULL },
	{ 0, "min-reclaimable", "PERCENT",
	  "leave segments with fewer dead blocks alone (10)", OPTION_U32,
	  AT(min_reclaimable), 0, 0, NULL, NULL },
	{ 0, "policy", "NAME", "which segments come first (optimal)",
	  OPTION_CALL, AT(policy), 0, 0, NULL, set_policy },
	{ 0, "protect", "SECONDS",
	  "keep what was alive within so many seconds (3600)", OPTION_U64,
	  AT(protect), 0, 0, NULL, NULL },
	{ 0 },
};

uint64_t options_segments(const struct options_amount *amount, uint64_t bytes,
			  uint64_t n)
{
	switch (amount->unit) {
	case OPTIONS_SEGMENTS:
		return amount->n;
	case OPTIONS_BYTES:
		return div_round_up(amount->n, bytes);
	case OPTIONS_PERCENT:
		return n / 100 * amount->n +
		       div_round_up(n % 100 * amount->n, 100);
	case OPTIONS_WORTH:
		break;
	}
	return CLEAN_ALL;
}
