// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bmap: the block map of a file.
 *
 * Contiguous blocks are one line, so the list of an unfragmented file is short.
 * The sums at the end are for scripts.
 */
#include "dump/common/commands.h"

#include "base/checked.h"
#include "dump/blocks/mapwalk.h"
#include "cli/moment.h"
#include "dump/common/image.h"
#include "dump/common/subject.h"
#include "out/table.h"

struct bmap_options {
	uint64_t checkpoint;
	bool blocks, nodes, holes, summary;
};

static const struct cli_option bmap_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct bmap_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 'b', "blocks", NULL, "one line for each block", OPTION_FLAG,
	  offsetof(struct bmap_options, blocks) },
	{ 0, "nodes", NULL, "show the nodes of the B-tree too", OPTION_FLAG,
	  offsetof(struct bmap_options, nodes) },
	{ 0, "holes", NULL, "show holes too", OPTION_FLAG,
	  offsetof(struct bmap_options, holes) },
	{ 's', "summary", NULL, "only the sums", OPTION_FLAG,
	  offsetof(struct bmap_options, summary) },
	{ 0 },
};

enum {
	RUN_OFFSET, RUN_LAST, RUN_BLOCKS, RUN_VBLOCK, RUN_BLOCK, RUN_LEVEL,
	RUN_KIND, RUN_COUNT
};

static const struct column columns[] = {
	[RUN_OFFSET] = { "blkoff", "OFFSET", VALUE_U64, 10 },
	[RUN_LAST] = { "last_blkoff", "LAST", VALUE_U64, 10 },
	[RUN_BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 8 },
	[RUN_VBLOCK] = { "vblocknr", "VBLOCK", VALUE_U64, 10 },
	[RUN_BLOCK] = { "blocknr", "BLOCK", VALUE_U64, 10 },
	[RUN_LEVEL] = { "level", "LEVEL", VALUE_U64, 5 },
	[RUN_KIND] = { "kind", "KIND", VALUE_STRING, 0 },
};

struct bmap {
	struct tool *tool;
	const struct bmap_options *options;
	struct file file;
	struct mapwalk walk;
	struct table table;
	uint64_t next;		/* file block after the last data */
	uint64_t holes;		/* runs of blocks without data, below the size */
};

static void put_run(struct bmap *b, const struct maprun *run)
{
	struct value v[RUN_COUNT] = {
		[RUN_OFFSET] = value_u64(run->blkoff),
		[RUN_BLOCKS] = value_u64(run->count),
		[RUN_LEVEL] = value_u64(run->level),
		[RUN_KIND] = value_string(run->level ? "node" : "data"),
	};

	/* The last node of a level has no upper limit. */
	if (run->last != UINT64_MAX - 1)
		v[RUN_LAST] = value_u64(run->last);
	if (!b->walk.map->physical)
		v[RUN_VBLOCK] = value_u64(run->ptr);
	if (run->blocknr)
		v[RUN_BLOCK] = value_u64(run->blocknr);
	table_row(&b->table, v);
}

/* Counts the hole between the last data and block UP_TO, and prints it if
   requested. */
static void bmap_add_hole(struct bmap *b, uint64_t up_to)
{
	if (up_to <= b->next)
		return;
	b->holes++;
	if (!b->options->holes || b->options->summary)
		return;
	table_row(&b->table, (struct value[RUN_COUNT]){
		[RUN_OFFSET] = value_u64(b->next),
		[RUN_LAST] = value_u64(up_to - 1),
		[RUN_BLOCKS] = value_u64(up_to - b->next),
		[RUN_KIND] = value_string("hole"),
	});
}

static int show_map(struct bmap *b)
{
	uint64_t size_blocks = div_round_up(le64_get(b->file.inode.i_size),
					    b->file.vol->geo.block_size);
	const struct bmap_options *o = b->options;
	struct context *cx = &b->tool->cx;
	struct report *r = &b->tool->report;
	struct maprun run;
	int ret;

	if (!o->summary)
		table_begin(&b->table, r, "runs", columns, RUN_COUNT);
	ret = mapwalk_open(&b->walk, cx, &b->file.map, true, o->blocks);
	while (!ret && (ret = mapwalk_next(&b->walk, cx, &run)) > 0) {
		if (!run.level) {
			bmap_add_hole(b, run.blkoff);
			b->next = run.last + 1;
		}
		if (!o->summary && (!run.level || o->nodes))
			put_run(b, &run);
		ret = context_cancelled(cx);
	}
	mapwalk_close(&b->walk);
	if (!ret)
		bmap_add_hole(b, size_blocks);
	if (!o->summary)
		table_end(&b->table);
	if (ret)
		return ret;
	report_begin(r, "map", NULL);
	report_u64(r, "ino", "Inode", b->file.ino);
	report_string(r, "map", "Map",
		      mapwalk_levels(&b->file.map) ? "B-tree" : "direct");
	report_u64(r, "levels", "Levels", mapwalk_levels(&b->file.map));
	report_u64(r, "data_blocks", "Data blocks", b->walk.data);
	report_u64(r, "node_blocks", "Node blocks", b->walk.nodes);
	report_u64(r, "extents", "Extents", b->walk.extents);
	report_u64(r, "holes", "Holes", b->holes);
	report_u64(r, "size_blocks", "Size in blocks", size_blocks);
	report_u64(r, "unmapped_blocks", "Without a disk block",
		   b->walk.unmapped);
	report_end(r);
	return b->walk.unmapped != 0;
}

static int bmap_run(struct tool *tool, const void *options)
{
	const struct bmap_options *o = options;
	struct bmap b = { .tool = tool, .options = o };
	struct dump_image im;
	struct subject s;
	int err;

	err = image_open_root(&im, tool, tool->argv[0], o->checkpoint, false);
	if (!err)
		err = subject_find(&s, &tool->cx, &im.root, tool->argv[1]);
	if (!err)
		err = subject_file(&s, &tool->cx, &im.root, &b.file);
	if (!err)
		err = show_map(&b);
	image_close(&im);
	return err;
}

const struct cli_command bmap_command = {
	.name = "bmap",
	.summary = "block map of a file",
	.synopsis = "IMAGE INO|PATH",
	.about =
	"Shows the block map of a file: file block, virtual block, disk block.\n"
	"Blocks consecutive in all three are one line.  The file is a\n"
	"path, an inode number, or dat, cpfile, sufile, ifile; the DAT has no\n"
	"virtual blocks.  An extent, in the sums, is a run on the disk.  The exit\n"
	"status is 1 where the DAT has no disk block for some virtual block.",
	.options = bmap_rows,
	.options_size = sizeof(struct bmap_options),
	.min_args = 2,
	.max_args = 2,
	.run = bmap_run,
};
