// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 checkpoints: the list of checkpoints, and the blocks that deleting
 * one would free.
 *
 * There are two counts.  UNIQUE blocks are in no other checkpoint: they become
 * unreachable when it is deleted.  HELD blocks are in no other snapshot: as a
 * cleaner keeps blocks for snapshots only, it could free them if the snapshot
 * were a plain checkpoint.  Each count takes a pass over the DAT and sixteen bytes
 * of memory a checkpoint.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "cli/moment.h"
#include "cli/range.h"
#include "disk/checkpoint.h"
#include "dump/common/commands.h"
#include "dump/common/image.h"
#include "out/table.h"
#include "vol/cptable.h"
#include "vol/holdings.h"

struct checkpoints_options {
	bool all, snapshots, reverse, fast;
	uint64_t lines;
	int64_t since, until;	/* seconds, both included */
};

enum {
	CNO, CREATED, MODE, MINOR, FLAGS, BLOCKS, INCREMENT, INODES, UNIQUE,
	HELD, COLUMNS
};

static const struct value_flag cp_flags[] = {
	{ 1u << NILFS_CHECKPOINT_SNAPSHOT, "snapshot" },
	{ 1u << NILFS_CHECKPOINT_INVALID, "invalid" },
	{ 1u << NILFS_CHECKPOINT_SKETCH, "sketch" },
	{ 1u << NILFS_CHECKPOINT_MINOR, "minor" },
	{ 0, NULL },
};

static const struct column columns[COLUMNS] = {
	[CNO] = { "checkpoint", "CNO", VALUE_U64, 8 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 25 },
	[MODE] = { "mode", "MODE", VALUE_STRING, 4 },
	[MINOR] = { "minor", "MINOR", VALUE_BOOL, 5 },
	[FLAGS] = { "cp_flags", NULL, VALUE_FLAGS, 0, cp_flags },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 9 },
	[INCREMENT] = { "increment", "INCREMENT", VALUE_U64, 9 },
	[INODES] = { "inodes", "INODES", VALUE_U64, 8 },
	[UNIQUE] = { "unique_blocks", "UNIQUE", VALUE_U64, 9 },
	[HELD] = { "held_blocks", "HELD", VALUE_U64, 9 },
};

/* Checkpoints by number, and the number of blocks that only this one keeps. */
struct keepers {
	struct holdings holdings;
	uint64_t *cnos;
};

struct listing {
	struct tool *tool;
	const struct checkpoints_options *o;
	struct volume *vol;
	struct range_set ranges;
	struct keepers all, snapshots;
	struct table table;
	uint64_t left;		/* rows still to be shown */
	int status;
};

static int find_keepers(struct listing *l, struct keepers *k, bool snapshots)
{
	struct holdings *h = &k->holdings;
	struct context *cx = &l->tool->cx;
	int err = cptable_list(l->vol, cx, snapshots, &k->cnos, &h->count);

	h->cnos = k->cnos;
	/* A failure for all checkpoints would occur again for the snapshots. */
	if (err || l->o->fast || l->status)
		return err;
	h->blocks = calloc(h->count ? h->count : 1, sizeof(*h->blocks));
	if (!h->blocks)
		return fail(cx, -ENOMEM, "counts of blocks");
	err = holdings_count(l->vol, cx, h);
	if (err) {
		free(h->blocks);
		h->blocks = NULL;
	}
	return image_note(l->tool, &l->status, err);
}

/* The number of blocks that only CNO keeps among K; absent if not counted. */
static struct value blocks_of_only(const struct keepers *k, uint64_t cno)
{
	const struct holdings *h = &k->holdings;
	size_t i = search_lower_bound(h->cnos, h->count, cno);

	if (!h->blocks || i == h->count || h->cnos[i] != cno)
		return value_absent();
	return value_u64(h->blocks[i]);
}

static int list_checkpoint(struct listing *l, uint64_t cno)
{
	struct context *cx = &l->tool->cx;
	struct nilfs_checkpoint cp;
	int err = context_cancelled(cx);
	int64_t created;
	bool snapshot;

	if (err)
		return err;
	err = cptable_read(l->vol, cx, cno, &cp);
	if (err)
		return image_note(l->tool, &l->status, err);
	snapshot = checkpoint_is_snapshot(&cp);
	created = (int64_t)le64_get(cp.cp_create);
	if (!range_has(&l->ranges, cno) || created < l->o->since ||
	    created > l->o->until ||
	    (!snapshot && (l->o->snapshots ||
			   (!l->o->all && checkpoint_is_minor(&cp)))))
		return l->tool->out->error;
	table_row(&l->table, (struct value[]){
		[CNO] = value_u64(cno),
		[CREATED] = value_u64(le64_get(cp.cp_create)),
		[MODE] = value_string(snapshot ? "ss" : "cp"),
		[MINOR] = value_bool(checkpoint_is_minor(&cp)),
		[FLAGS] = value_u64(le32_get(cp.cp_flags)),
		[BLOCKS] = value_u64(le64_get(cp.cp_blocks_count)),
		[INCREMENT] = value_u64(le64_get(cp.cp_nblk_inc)),
		[INODES] = value_u64(le64_get(cp.cp_inodes_count)),
		[UNIQUE] = blocks_of_only(&l->all, cno),
		[HELD] = blocks_of_only(&l->snapshots, cno),
	});
	l->left--;
	return l->tool->out->error;
}

static int run_listing(struct listing *l)
{
	const struct holdings *h = &l->all.holdings;
	size_t i;
	int err = find_keepers(l, &l->all, false);

	if (!err)
		err = find_keepers(l, &l->snapshots, true);
	if (err)
		return err;
	table_begin(&l->table, &l->tool->report, "checkpoints", columns,
		    COLUMNS);
	for (i = 0; i < h->count && l->left && !err; i++)
		err = list_checkpoint(l, h->cnos[l->o->reverse ?
						 h->count - 1 - i : i]);
	table_end(&l->table);
	if (!err && l->left)
		err = range_check_met(&l->tool->cx, "checkpoint", &l->ranges);
	return err ? err : l->status;
}

static int checkpoints_run(struct tool *tool, const void *options)
{
	const struct checkpoints_options *o = options;
	struct listing l = { .tool = tool, .o = o, .left = o->lines };
	struct dump_image im = { .dev = NULL };
	int err;

	err = range_parse_set(&tool->cx, "checkpoints", tool->argc - 1,
			      tool->argv + 1, &l.ranges);
	tool->bad_usage = err == -EINVAL;
	if (!err)
		err = image_open(&im, tool, tool->argv[0], NULL);
	l.vol = im.vol;
	if (!err)
		err = run_listing(&l);
	free(l.all.cnos);
	free(l.all.holdings.blocks);
	free(l.snapshots.cnos);
	free(l.snapshots.holdings.blocks);
	range_set_free(&l.ranges);
	image_close(&im);
	return err;
}

#define AT(member) offsetof(struct checkpoints_options, member)

static const struct cli_option checkpoints_rows[] = {
	{ 'a', "all", NULL, "minor checkpoints too", OPTION_FLAG, AT(all) },
	{ 's', "snapshots", NULL, "only snapshots", OPTION_FLAG,
	  AT(snapshots) },
	{ 0, "since", "TIME", "made at TIME or later", OPTION_CALL, AT(since),
	  0, 0, NULL, moment_parse_time },
	{ 0, "until", "TIME", "made at TIME or before", OPTION_CALL, AT(until),
	  0, 0, NULL, moment_parse_time },
	{ 'r', "reverse", NULL, "newest first", OPTION_FLAG, AT(reverse) },
	{ 'n', "lines", "N", "no more than N checkpoints", OPTION_U64,
	  AT(lines) },
	{ 0, "fast", NULL, "do not count blocks that deleting one would free",
	  OPTION_FLAG, AT(fast) },
	{ 0 },
};

static const struct checkpoints_options checkpoints_defaults = {
	.lines = UINT64_MAX,
	.since = INT64_MIN,
	.until = INT64_MAX,
};

const struct cli_command checkpoints_command = {
	.name = "checkpoints",
	.summary = "checkpoints, and what deleting each would free",
	.synopsis = "IMAGE [CNO | FIRST..LAST]...",
	.about = "UNIQUE counts the blocks that no other checkpoint has, "
		 "HELD those that no\nother snapshot has; the latest state "
		 "keeps its own.",
	.options = checkpoints_rows,
	.options_size = sizeof(struct checkpoints_options),
	.defaults = &checkpoints_defaults,
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = checkpoints_run,
};
