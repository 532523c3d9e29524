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

/* The second superblock is in the last whole unit of this of a device. */
#define SIZE_UNIT 4096

/* Rows that exclude each other. */
enum { SNAPSHOTS = 1, RESIZE };

/* By OPTIONS_COMPACT_... and enum order_kind. */
static const char *const compactions[] = { "needed", "all", NULL };
static const char *const orders[] = { "tree", "file", "age", "victim", NULL };

const struct options options_defaults = {
	.compact = -1,
	.order = -1,
	.policy = { &policy_list[0], POLICY_WEIGHT },
	.min_reclaimable = MIN_RECLAIMABLE_DEFAULT,
	.protect = PROTECT_DEFAULT,
};

static int set_policy(struct context *cx, const char *arg, void *where)
{
	struct options_policy *p = where;

	p->policy = policy_parse(arg, &p->weight);
	return p->policy ? 0 : fail(cx, -EINVAL, "--policy: there is no '%s'",
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

/* WHAT's size, or none, or MIN. */
static int set_size(struct context *cx, const char *what, const char *arg,
		    struct options_size *size)
{
	int ret;

	size->wanted = true;
	size->bytes = 0;
	if (!arg)
		return 0;
	ret = option_size(cx, what, arg, &size->bytes);
	size->bytes -= size->bytes % SIZE_UNIT;
	if (!ret && !size->bytes)
		ret = fail(cx, -EINVAL, "%s: '%s' is no size of a volume",
			   what, arg);
	return ret;
}

static int set_shrink(struct context *cx, const char *arg, void *where)
{
	if (arg && !strcmp(arg, "min"))
		arg = NULL;
	return set_size(cx, "--shrink", arg, where);
}

static int set_grow(struct context *cx, const char *arg, void *where)
{
	return set_size(cx, "--grow", arg, where);
}

const struct cli_option options_rows[] = {
	{ 'n', "dry-run", NULL, "change nothing, print what would be done",
	  OPTION_FLAG, AT(dry_run), 0, 0, NULL, NULL },
	{ 0, "compact", "[=needed|all]", "move all live blocks to the front",
	  OPTION_CHOICE, AT(compact), 0, OPTIONS_COMPACT_NEEDED, compactions,
	  NULL },
	{ 0, "compare", NULL, "forecast each policy, change nothing",
	  OPTION_FLAG, AT(compare), 0, 0, NULL, NULL },
	{ 0, "defrag", "PATH|all",
	  "make this file contiguous (again for each), or all in pieces",
	  OPTION_LIST, AT(defrag), 0, 0, NULL, NULL },
	{ 0, "delete-checkpoints", "RANGE",
	  "delete checkpoints first, as 3 or 5..8,12.. (no snapshots)",
	  OPTION_LIST, AT(deletions), 0, 0, NULL, NULL },
	{ 'O', "features", "LIST",
	  "set features, ^NAME clears one (cleans nothing)",
	  OPTION_STRING, AT(features), 0, 0, NULL, NULL },
	{ 'f', "force", NULL, "delete snapshots of these ranges as well",
	  OPTION_FLAG, AT(force), SNAPSHOTS, 0, NULL, NULL },
	{ 0, "free", "N|SIZE|PERCENT%",
	  "free so many segments, bytes or percent more, not all",
	  OPTION_CALL, AT(free), 0, 0, NULL, set_free },
	{ 0, "grow", "[=SIZE]",
	  "give it all of the device, or an image file SIZE bytes",
	  OPTION_CALL, AT(grow), RESIZE, 0, NULL, set_grow },
	{ 0, "keep-snapshots", NULL, "keep snapshots in these ranges",
	  OPTION_FLAG, AT(keep_snapshots), SNAPSHOTS, 0, NULL, NULL },
	{ 0, "max-search", "N", "look at N segments for each choice",
	  OPTION_U64, AT(max_search), 0, 0, NULL, NULL },
	{ 0, "min-reclaimable", "PERCENT",
	  "leave segments with fewer dead blocks alone (10)", OPTION_U32,
	  AT(min_reclaimable), 0, 0, NULL, NULL },
	{ 0, "no-check", NULL, "do not check the volume first (may lose data)",
	  OPTION_FLAG, AT(no_check), 0, 0, NULL, NULL },
	{ 0, "order", "tree|file|age|victim",
	  "compact, with files in this order", OPTION_CHOICE, AT(order), 0, 0,
	  orders, NULL },
	{ 0, "output", "FILE",
	  "change nothing, write a compact copy to this new file",
	  OPTION_STRING, AT(output), 0, 0, NULL, NULL },
	{ 0, "policy", "NAME[:PERCENT]",
	  "which segments come first (optimal: least moves in a batch)",
	  OPTION_CALL, AT(policy), 0, 0, NULL, set_policy },
	{ 0, "protect", "SECONDS",
	  "keep blocks live within so many seconds (3600)", OPTION_U64,
	  AT(protect), 0, 0, NULL, NULL },
	{ 0, "punch", NULL, "punch holes for clean segments at the end",
	  OPTION_FLAG, AT(punch), 0, 0, NULL, NULL },
	{ 0, "purge", NULL,
	  "zero all unused space",
	  OPTION_FLAG, AT(purge), 0, 0, NULL, NULL },
	{ 0, "shrink", "[=SIZE|min]",
	  "make the volume that small, or minimal",
	  OPTION_CALL, AT(shrink), RESIZE, 0, NULL, set_shrink },
	{ 0, "svg", "FILE", "draw the segments before and after to FILE",
	  OPTION_STRING, AT(svg), 0, 0, NULL, NULL },
	{ 0, "verify", NULL,
	  "verify checksums before cleaning moves blocks",
	  OPTION_FLAG, AT(verify), 0, 0, NULL, NULL },
	{ 0 },
};

bool options_leave_data(const struct options *options)
{
	return options->dry_run && !options->defrag.count;
}

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
