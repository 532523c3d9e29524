// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The options of gc.nilfs2.
 *
 * Options known from nilfs_cleanerd.conf(5) have the same name and default.
 */
#include "gc/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "gc/clean/clean.h"
#include "vol/gain.h"

#define AT(member) offsetof(struct options, member)

#define LATENCY_DEFAULT 50

#define SPEED_DEFAULT (32u << 20)

/* The second superblock is in the last whole unit of this size of a device. */
#define SIZE_UNIT 4096

/* Groups of options that exclude each other. */
enum { SNAPSHOTS = 1, RESIZE, UNMAKE };

/* Indexed by OPTIONS_COMPACT_... and enum order_kind. */
static const char *const compactions[] = { "needed", "all", NULL };
static const char *const orders[] = { "tree", "file", "age", "victim", NULL };

const struct options options_defaults = {
	.compact = -1,
	.order = -1,
	.policy = { &policy_list[0], POLICY_WEIGHT },
	.min_reclaimable = GAIN_MIN_DEAD,
	.protect = GAIN_PROTECT,
	.latency = LATENCY_DEFAULT,
	.speed = SPEED_DEFAULT,
	.tune = {
		.numbers = { TUNE_KEEP, TUNE_KEEP, TUNE_KEEP, TUNE_KEEP },
	},
};

static int set_policy(struct context *cx, const char *arg, void *where)
{
	struct options_policy *p = where;
	char names[200] = "";
	const char *name;
	size_t i, len;

	p->policy = policy_parse(arg, &p->weight);
	if (p->policy)
		return 0;
	for (i = 0; (name = policy_word(i)); i++) {
		len = strlen(names);
		snprintf(names + len, sizeof(names) - len, "%s%s",
			 i ? ", " : "", name);
	}
	return fail(cx, -EINVAL, "--policy: unknown policy '%s'; choose %s",
		    arg, names);
}

static int set_keep(struct context *cx, const char *arg, void *where)
{
	return keep_parse(cx, "--keep", arg, where);
}

static int set_min_reclaimable(struct context *cx, const char *arg, void *where)
{
	uint64_t percent = 0;
	int ret = option_number(cx, "--min-reclaimable", arg, 100, &percent);

	*(uint32_t *)where = (uint32_t)percent;
	return ret;
}

/* A number of segments, percent or bytes, of option WHAT. */
static int set_amount(struct context *cx, const char *what, const char *arg,
		      struct options_amount *amount)
{
	size_t len = strlen(arg), digits = strspn(arg, "0123456789");
	char number[24];

	if (!digits || digits >= sizeof(number) || len > digits + 3) {
		return fail(cx, -EINVAL, "%s: '%s' is not a number of "
					 "segments, size or percentage", what, arg);
	}
	memcpy(number, arg, digits);
	number[digits] = '\0';
	amount->unit = !arg[digits] ? OPTIONS_SEGMENTS :
		       !strcmp(arg + digits, "%") ? OPTIONS_PERCENT :
						    OPTIONS_BYTES;
	if (amount->unit == OPTIONS_BYTES)
		return option_size(cx, what, arg, &amount->n);
	return option_number(cx, what, number,
			     amount->unit == OPTIONS_PERCENT ? 100 :
							       UINT64_MAX,
			     &amount->n);
}

static int set_free_amount(struct context *cx, const char *arg, void *where)
{
	return set_amount(cx, "--free", arg, where);
}

static int set_low(struct context *cx, const char *arg, void *where)
{
	return set_amount(cx, "--low", arg, where);
}

static int set_high(struct context *cx, const char *arg, void *where)
{
	return set_amount(cx, "--high", arg, where);
}

/* Parses ARG, the size of option WHAT; NULL and "min" are 0 bytes. */
static int set_volume_size(struct context *cx, const char *what,
			   const char *arg, struct options_size *size)
{
	int ret;

	size->wanted = true;
	size->bytes = 0;
	if (!arg)
		return 0;
	ret = option_size(cx, what, arg, &size->bytes);
	size->bytes -= size->bytes % SIZE_UNIT;
	if (!ret && !size->bytes)
		ret = fail(cx, -EINVAL, "%s: '%s' is not a size of a volume",
			   what, arg);
	return ret;
}

static int set_shrink(struct context *cx, const char *arg, void *where)
{
	if (arg && !strcmp(arg, "min"))
		arg = NULL;
	return set_volume_size(cx, "--shrink", arg, where);
}

static int set_grow(struct context *cx, const char *arg, void *where)
{
	return set_volume_size(cx, "--grow", arg, where);
}

const struct cli_option options_rows[] = {
	{ 'n', "dry-run", NULL, "change nothing, print what would be done",
	  OPTION_FLAG, AT(dry_run) },
	{ 0, "check-interval", "SECONDS",
	  "set the time between checks, 0: none", OPTION_I64,
	  AT(tune.numbers[TUNE_CHECK_INTERVAL]) },
	{ 0, "commit-blocks", "N",
	  "set the dirty blocks that a mount commits, 0: the kernel's default",
	  OPTION_I64, AT(tune.numbers[TUNE_COMMIT_BLOCKS]) },
	{ 0, "commit-interval", "SECONDS",
	  "set the time between commits of a mount, 0: the kernel's default",
	  OPTION_I64, AT(tune.numbers[TUNE_COMMIT_INTERVAL]) },
	{ 0, "compact", "[=needed|all]", "move all live blocks to the front",
	  OPTION_CHOICE, AT(compact), 0, OPTIONS_COMPACT_NEEDED, compactions },
	{ 0, "compare", NULL, "forecast each policy, change nothing",
	  OPTION_FLAG, AT(compare) },
	{ 0, "defrag", "PATH|all",
	  "make this file contiguous, or all fragmented files; may be repeated",
	  OPTION_LIST, AT(defrag) },
	{ 0, "delete-checkpoints", "RANGE",
	  "delete checkpoints first, as 3 or 5..8,12.. (no snapshots)",
	  OPTION_LIST, AT(deletions) },
	{ 'O', "features", "LIST",
	  "set features, ^NAME clears one (cleans nothing)", OPTION_STRING,
	  AT(features) },
	{ 'f', "force", NULL, "delete snapshots too; replace --output FILE",
	  OPTION_FLAG, AT(force), SNAPSHOTS },
	{ 0, "free", "N|SIZE|PERCENT%",
	  "amount to free: segments, bytes or percent (all)", OPTION_CALL,
	  AT(free), 0, 0, NULL, set_free_amount },
	{ 0, "grow", "[=SIZE]", "enlarge the volume to its device, or to SIZE",
	  OPTION_CALL, AT(grow), RESIZE, 0, NULL, set_grow },
	{ 0, "high", "N|SIZE|PERCENT%",
	  "watch: end a run with so much clean (by use)", OPTION_CALL, AT(high), 0,
	  0, NULL, set_high },
	{ 0, "keep", "PERIOD=N,...",
	  "make the newest checkpoint of the last N of these periods a snapshot",
	  OPTION_CALL, AT(keep), UNMAKE, 0, NULL, set_keep },
	{ 0, "keep-snapshots", NULL, "keep snapshots in these ranges",
	  OPTION_FLAG, AT(keep_snapshots), SNAPSHOTS },
	{ 0, "keep-state", "FILE",
	  "the record of the snapshots that --keep has made", OPTION_STRING,
	  AT(keep_state) },
	{ 'L', "label", "LABEL", "set the name of the volume, up to 80 bytes",
	  OPTION_STRING, AT(tune.label) },
	{ 0, "latency", "MS",
	  "mounted: the longest time that a writer should wait (50)",
	  OPTION_U32, AT(latency) },
	{ 0, "low", "N|SIZE|PERCENT%",
	  "watch: begin a run below so much clean (by use)", OPTION_CALL, AT(low),
	  0, 0, NULL, set_low },
	{ 0, "max-mounts", "N",
	  "set the number of mounts between checks, -1: any", OPTION_I64,
	  AT(tune.numbers[TUNE_MAX_MOUNTS]) },
	{ 0, "max-search", "N", "examine N segments for each choice (all)",
	  OPTION_U64, AT(max_search) },
	{ 0, "min-reclaimable", "PERCENT",
	  "do not clean segments with fewer dead blocks (10)", OPTION_CALL,
	  AT(min_reclaimable), 0, 0, NULL, set_min_reclaimable },
	{ 0, "no-check", NULL, "do not check the volume first (may lose data)",
	  OPTION_FLAG, AT(no_check) },
	{ 0, "no-verify", NULL,
	  "do not verify the checksums of what is moved (may lose data)",
	  OPTION_FLAG, AT(no_verify) },
	{ 0, "order", "tree|file|age|victim",
	  "compact, with files in this order", OPTION_CHOICE, AT(order), 0, 0,
	  orders },
	{ 0, "output", "FILE",
	  "change nothing, write a compact copy to this new file",
	  OPTION_STRING, AT(output) },
	{ 0, "policy", "NAME[:PERCENT]",
	  "order in which segments are cleaned (optimal)", OPTION_CALL,
	  AT(policy), 0, 0, NULL, set_policy, policy_word },
	{ 0, "protect", "SECONDS",
	  "keep blocks of checkpoints of this period (3600)", OPTION_U64,
	  AT(protect) },
	{ 0, "punch", NULL, "punch holes for clean segments at the end",
	  OPTION_FLAG, AT(punch) },
	{ 0, "purge", NULL, "zero all unused space", OPTION_FLAG, AT(purge) },
	{ 0, "shrink", "[=SIZE|min]",
	  "shrink the volume to SIZE, or to its minimum", OPTION_CALL,
	  AT(shrink), RESIZE, 0, NULL, set_shrink },
	{ 0, "speed", "SIZE",
	  "watch: move so much in a second while it is not urgent (32M; 0: any)",
	  OPTION_SIZE, AT(speed) },
	{ 0, "status", NULL, "show what --watch does", OPTION_FLAG, AT(status) },
	{ 0, "svg", "FILE", "draw the segments before and after to this new file",
	  OPTION_STRING, AT(svg) },
	{ 0, "take-snapshot", NULL,
	  "first make a snapshot of the present state, as mkcp -s", OPTION_FLAG,
	  AT(take_snapshot) },
	{ 0, "to-checkpoint", "RANGE",
	  "first make these snapshots plain checkpoints, as chcp cp",
	  OPTION_LIST, AT(to_checkpoint), UNMAKE },
	{ 0, "to-snapshot", "RANGE",
	  "first make these checkpoints snapshots, as chcp ss", OPTION_LIST,
	  AT(to_snapshot) },
	{ 0, "trim", NULL, "the same as --punch", OPTION_FLAG, AT(punch) },
	{ 'U', "uuid", "UUID", "set the UUID: one, or random, time, clear",
	  OPTION_STRING, AT(uuid) },
	{ 0, "watch", NULL,
	  "stay, and clean a mounted volume whenever it is needed", OPTION_FLAG,
	  AT(watch) },
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
