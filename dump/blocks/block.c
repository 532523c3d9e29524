// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * block: description of a block of the device.
 *
 * Prints the area of the device, the segment, the log, the file and the offset in
 * it, and whether the block is live.  A block with a virtual number is looked up
 * in the DAT: whether the entry still points to it, and which checkpoints have
 * it.  A block of the DAT itself has no virtual number and no history; it is live
 * if the map of the DAT refers to it.
 *
 * Inode numbers are reused, so a path is looked up in a checkpoint that has the
 * block.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/context.h"
#include "cli/range.h"
#include "disk/segsum.h"
#include "dump/blocks/held.h"
#include "dump/blocks/logfind.h"
#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/common/position.h"
#include "vol/sutable.h"
#include "vol/tree.h"
#include "vol/volume.h"

/* States of a block beside those of enum held_state. */
enum verdict {
	VERDICT_MOVED = HELD_DEAD + 1,	/* the DAT refers to a copy */
	VERDICT_REUSED,		/* the virtual number was given to another block */
	VERDICT_REPLACED,	/* a block of the DAT that was written again */
};

struct verdict_facts {
	unsigned int verdict;	/* enum held_state or enum verdict */
	struct held_entry entry;	/* of a virtual block */
	uint64_t elsewhere;	/* block that the DAT refers to; 0: none */
};

/* One word, for scripts, and one phrase. */
static const struct {
	const char *name, *text;
	bool live;
	bool held; /* an existing checkpoint has the block */
} verdicts[] = {
	[HELD_FREE] = { "freed", "dead: its virtual block is free" },
	[HELD_UNWRITTEN] = { "freed", "dead: its virtual block is free" },
	[HELD_CURRENT] = { "current", "live: part of the latest state", true,
			   true },
	[HELD_SNAPSHOT] = { "snapshot", "live: kept by a snapshot", true, true },
	[HELD_CHECKPOINT] = { "checkpoint",
		"reclaimable: only in checkpoints that are not snapshots", false,
		true },
	[HELD_DEAD] = { "dead", "dead: in no existing checkpoint" },
	[VERDICT_MOVED] = { "moved",
		"dead: it was moved; the copy is in use" },
	[VERDICT_REUSED] = { "reused",
		"dead: its virtual block was given to another block" },
	[VERDICT_REPLACED] = { "replaced",
		"dead: this part of the DAT was written again elsewhere" },
};

/* Finds the state of block BLOCKNR, which its log lists as B.  -EUCLEAN, -EIO,
   -ENOMEM. */
static int verdict_find(struct verdict_facts *v, struct context *cx,
			struct volume *vol, const struct held *held,
			uint64_t blocknr, const struct segsum_block *b)
{
	struct logfind f;
	int ret;

	*v = (struct verdict_facts){ .verdict = VERDICT_REPLACED };
	if (!b->is_virtual) {
		ret = blockmap_lookup_at_level(&vol->dat.map, cx, b->blkoff,
					       b->is_node ? b->level : 0,
					       &v->elsewhere);
		if (ret > 0 && v->elsewhere == blocknr)
			v->verdict = HELD_CURRENT;
		if (ret <= 0 || v->elsewhere == blocknr)
			v->elsewhere = 0;
		return ret < 0 ? ret : 0;
	}
	ret = held_read(&v->entry, cx, vol, held, b->vblocknr);
	v->verdict = ret ? HELD_DEAD : v->entry.state;
	if (ret || !v->entry.used)
		return ret;
	v->elsewhere = le64_get(v->entry.de.de_blocknr);
	if (v->elsewhere == blocknr) {
		v->elsewhere = 0;
		return 0;
	}
	/* The entry refers to a copy of this block or to another block. */
	v->verdict = VERDICT_REUSED;
	if (!geometry_has_block(&vol->geo, v->elsewhere))
		return 0;
	ret = logfind_block(&f, cx, vol, v->elsewhere);
	if (!ret && f.part == LOGFIND_PAYLOAD && f.block.ino == b->ino &&
	    f.block.blkoff == b->blkoff && f.block.is_node == b->is_node &&
	    f.block.vblocknr == b->vblocknr)
		v->verdict = VERDICT_MOVED;
	return ret;
}

struct block_options {
	bool path;
	uint64_t cno;		/* 0: none given */
};

static const struct cli_option block_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "look for a path in this checkpoint (0: the newest with the block)",
	  OPTION_CALL, offsetof(struct block_options, cno), 0, 0,
	  NULL, moment_parse },
	{ 0, "path", NULL, "look for a path of the file (reads directories)",
	  OPTION_FLAG, offsetof(struct block_options, path) },
	{ 0 },
};

static const struct value_flag usage_flags[] = {
	{ 1u << NILFS_SEGMENT_USAGE_ACTIVE, "active" },
	{ 1u << NILFS_SEGMENT_USAGE_DIRTY, "dirty" },
	{ 1u << NILFS_SEGMENT_USAGE_ERROR, "error" },
	{ 0, NULL },
};

struct block_view {
	struct tool *tool;
	struct volume *vol;
	struct root root;	/* checkpoint of the last path */
	struct held held;
	uint64_t cno;		/* for paths; 0: the newest with the block */
	bool path;
};

static const char *const part_names[] = {
	[LOGFIND_NONE] = "none",
	[LOGFIND_SUMMARY] = "summary",
	[LOGFIND_SUPER_ROOT] = "super root",
	[LOGFIND_PAYLOAD] = "payload",
	[LOGFIND_UNLISTED] = "unlisted",
};

/* Prints the path in a checkpoint that has the block, if any. */
static int print_path(struct block_view *b, uint64_t ino,
		      const struct verdict_facts *v)
{
	struct report *r = &b->tool->report;
	struct context *cx = &b->tool->cx;
	char *path = NULL;
	uint64_t cno = 0;
	int err = 0;

	if (!b->path || position_file_name(ino))
		return 0;
	if (verdicts[v->verdict].held && !b->cno)
		held_count(&b->held, &v->entry.de, &cno);
	else if (verdicts[v->verdict].held &&
		 le64_get(v->entry.de.de_start) <= b->cno &&
		 b->cno < le64_get(v->entry.de.de_end))
		cno = b->cno;
	if (cno && b->root.cno != cno)
		err = root_open(&b->root, cx, b->vol, cno);
	if (cno && !err)
		err = tree_find_path(&b->root, cx, ino, &path);
	if (err && err != -ENOENT)
		return err;
	if (err)
		fail_clear(cx);
	report_string(r, "path", "Path", path);
	report_value(r, VALUE_U64, "path_cno", "Path in checkpoint",
		     value_nonzero(cno));
	free(path);
	return 0;
}

static int print_file(struct block_view *b, const struct segsum_block *s,
		      const struct verdict_facts *v, uint64_t blocknr)
{
	uint32_t size = b->vol->geo.block_size;
	struct report *r = &b->tool->report;
	const void *data = NULL;
	struct bmap_node node;
	int err = 0;

	report_begin(r, "file", "Belongs to");
	report_u64(r, "ino", "Inode", s->ino);
	if (position_file_name(s->ino))
		report_string(r, "name", "Metadata file",
			      position_file_name(s->ino));
	report_u64(r, "fi_cno", "As of checkpoint", s->cno);
	report_string(r, "kind", "Kind", s->is_node ? "node" : "data");
	/* A node contains its level and first key; the summary may not. */
	if (s->is_node)
		err = cache_get(b->vol->cache, &b->tool->cx, blocknr, &data);
	else
		report_u64(r, "blkoff", "File block", s->blkoff);
	if (!err && data && bmap_node_check(size, data) == RULE_OK) {
		bmap_node_read(size, data, &node);
		report_u64(r, "level", "Level", node.level);
		report_u64(r, "blkoff", "First file block",
			   bmap_node_key(&node, 0));
		report_u64(r, "children", "Children", node.nchildren);
	}
	cache_put(b->vol->cache, data);
	if (s->is_virtual)
		report_u64(r, "vblocknr", "Virtual block", s->vblocknr);
	if (!err)
		err = print_path(b, s->ino, v);
	report_end(r);
	return err;
}

static int print_block_contents(struct block_view *b, uint64_t blocknr)
{
	struct report *r = &b->tool->report;
	struct context *cx = &b->tool->cx;
	struct nilfs_segment_usage_ext su;
	struct verdict_facts v;
	struct logfind f;
	uint64_t segnum = geometry_segment_of(&b->vol->geo, blocknr);
	int err = sutable_read(b->vol, cx, segnum, &su);

	if (err)
		return err;
	report_u64(r, "segment", "Segment", segnum);
	report_put(r, VALUE_FLAGS, usage_flags, "su_flags", "Flags of the segment",
		   value_u64(le32_get(su.su.su_flags)));
	report_u64(r, "su_nblocks", "Blocks in use of it",
		   le32_get(su.su.su_nblocks));
	err = logfind_block(&f, cx, b->vol, blocknr);
	if (err)
		return err;
	report_string(r, "part", "Part of a log", part_names[f.part]);
	if (f.part == LOGFIND_NONE)
		return 0;
	report_begin(r, "log", "Log");
	report_u64(r, "blocknr", "First block", f.log.pseg);
	report_u64(r, "index", "Number in the log", blocknr - f.log.pseg);
	report_u64(r, "ss_seq", "Sequence number", le64_get(f.log.ss.ss_seq));
	report_time(r, "ss_create", "Created", le64_get(f.log.ss.ss_create));
	report_bool(r, "chained", "Follows from the start", f.chained);
	report_end(r);
	if (f.part == LOGFIND_SUPER_ROOT)
		report_bool(r, "latest", "The latest super root",
			    blocknr == b->vol->latest.super_root);
	if (f.part != LOGFIND_PAYLOAD)
		return 0;
	err = verdict_find(&v, cx, b->vol, &b->held, blocknr, &f.block);
	if (!err)
		err = print_file(b, &f.block, &v, blocknr);
	if (err)
		return err;
	report_begin(r, "use", "Use");
	report_bool(r, "live", "Live", verdicts[v.verdict].live);
	report_string(r, "state", "State", verdicts[v.verdict].name);
	report_string(r, "why", "Because", verdicts[v.verdict].text);
	if (v.elsewhere)
		report_u64(r, "elsewhere", "Now at block", v.elsewhere);
	if (v.entry.used) {
		report_u64(r, "de_start", "From checkpoint",
			   le64_get(v.entry.de.de_start));
		if (le64_get(v.entry.de.de_end) != NILFS_CNO_MAX)
			report_u64(r, "de_end", "To before checkpoint",
				   le64_get(v.entry.de.de_end));
		held_report(r, &b->held, &v.entry.de);
	}
	report_end(r);
	return 0;
}

static int print_block(struct block_view *b, uint64_t blocknr)
{
	const struct nilfs_geometry *geo = &b->vol->geo;
	const bool in_segment = geometry_has_block(geo, blocknr);
	const char *area = "after the segments";
	struct report *r = &b->tool->report;
	unsigned int copy = 2;	/* of the superblock: 1 or 2; 0: none */
	int err = 0;

	while (copy && (!b->vol->super_offset[copy - 1] ||
			b->vol->super_offset[copy - 1] >> geo->block_bits !=
				blocknr))
		copy--;
	if (blocknr >= geo->nblocks && !copy)
		return fail(&b->tool->cx, -EINVAL,
			    "block %llu: the device has %llu",
			    (unsigned long long)blocknr,
			    (unsigned long long)geo->nblocks);
	if (in_segment)
		area = "segment";
	else if (copy)
		area = copy == 1 ? "first superblock" : "second superblock";
	else if (blocknr < geo->first_data_block)
		area = "before the segments";
	report_begin(r, "block", NULL);
	report_u64(r, "blocknr", "Block", blocknr);
	report_u64(r, "byte", "Byte of the device", blocknr << geo->block_bits);
	report_string(r, "area", "Area", area);
	if (in_segment)
		err = print_block_contents(b, blocknr);
	report_end(r);
	if (report_is_text(r))
		out_char(r->out, '\n');
	return err;
}

static int print_range(struct block_view *b, const char *word)
{
	struct range range = { 0, 0 };
	uint64_t n;
	int err;

	err = range_parse(&b->tool->cx, "BLOCK", word, &range);
	if (range.last == UINT64_MAX)
		range.last = b->vol->geo.nblocks - 1;
	if (!err && range.first > range.last)
		err = fail_said(&b->tool->cx, -ENOENT, "blocks from %" PRIu64
				": the device has %" PRIu64, range.first,
				b->vol->geo.nblocks);
	for (n = range.first; !err && n <= range.last; n++) {
		err = print_block(b, n);
		if (!err)
			err = context_cancelled(&b->tool->cx);
	}
	return err;
}

static int block_run(struct tool *tool, const void *options)
{
	const struct block_options *o = options;
	struct block_view b = {
		.tool = tool, .path = o->path || o->cno,
	};
	struct dump_image im;
	int i, err;

	err = image_open_root(&im, tool, tool->argv[0], o->cno, false);
	if (!err) {
		b.vol = im.vol;
		b.root = im.root;
		b.cno = o->cno ? im.root.cno : 0;
		err = held_load(&b.held, &tool->cx, im.vol);
	}
	if (!err)
		report_list(&tool->report, "blocks");
	for (i = 1; i < tool->argc && !err; i++)
		err = print_range(&b, tool->argv[i]);
	if (!err)
		report_end(&tool->report);
	held_free(&b.held);
	image_close(&im);
	return err;
}

const struct cli_command block_command = {
	.name = "block",
	.summary = "purpose of a block, and what refers to it",
	.synopsis = "IMAGE BLOCK|FIRST..LAST...",
	.about =
	"Describes blocks of the device: the segment, the log and its part,\n"
	"the file and the place in it, and whether the block is live: current,\n"
	"kept by a snapshot, only in checkpoints, or dead since when and why.",
	.options = block_rows,
	.options_size = sizeof(struct block_options),
	.min_args = 2,
	.max_args = TOOL_ANY_ARGS,
	.run = block_run,
};
