// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The use of space, in a report.
 *
 * One walk over the segments fills the sums, the histogram and the map.  The
 * summaries of all logs are read to distinguish blocks of data from metadata.
 */
#include "dump/report_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/inoset.h"
#include "dump/blocks/mapwalk.h"
#include "dump/volume/segment.h"
#include "out/chart.h"
#include "out/table.h"
#include "vol/tree.h"

/* Puts the pictures on a page, and the sums in every form. */
static void put_space(struct report *r, const struct nilfs_geometry *g,
		      const struct segment_total *t, const struct segmap *map)
{
	uint64_t clean = t->clean * g->blocks_per_segment;
	uint64_t used = t->live + t->snapshot + t->dead + clean;
	struct chart_part parts[] = {
		{ "latest files and directories", t->live_data, SVG_BLUE },
		{ "latest metadata", t->live - t->live_data - t->unknown,
		  SVG_ORANGE },
		{ "only in snapshots", t->snapshot, SVG_SKY },
		{ "dead: cleaning frees it", t->dead, SVG_VERMILION },
		{ "not written yet, in use",
		  t->blocks > used ? t->blocks - used : 0, SVG_GRAY },
		{ "clean segments", clean, SVG_NONE },
		{ "latest, of unknown kind: in damaged logs", t->unknown,
		  SVG_PURPLE },
	};
	enum { PARTS = sizeof(parts) / sizeof(parts[0]) };
	struct chart_point points[HISTOGRAM_BUCKETS_MAX];
	const struct chart fullness = {
		.title = "Segments by how full they are",
		.x = { "share of blocks that a cleaner would keep",
		       CHART_PERCENT, 0, 100 },
		.y = { "segments in use", CHART_COUNT, 0, 1 },
		.series = &(struct chart_series){ .points = points,
						  .count = t->use.count },
		.n = 1,
	};
	struct svg svg = { .out = r->out, .page = true };
	unsigned int i;

	for (i = 0; i < PARTS; i++)
		parts[i].bytes <<= g->block_bits;
	for (i = 0; i < t->use.count; i++)
		points[i] = (struct chart_point){ 100.0 * i / t->use.count,
						  (double)t->use.hits[i] };
	if (report_is_text(r)) {
		report_begin(r, "space", "Space usage");
		if (!t->without_counts)
			chart_parts(&svg, "Space usage", parts,
				    t->unknown ? PARTS : PARTS - 1);
		report_end(r);
		report_begin(r, "map", "Segments");
		segmap_svg(map, &svg, "Map of the segments");
		report_end(r);
	}
	if (report_is_text(r) && !t->without_counts) {
		report_begin(r, "histogram", "How full segments are");
		chart_bars(&svg, &fullness);
		report_end(r);
	}
	segment_total_report(t, r, g->block_size);
	if (!report_is_text(r))
		segment_total_report_use(t, r);
}

int report_space_put(struct tool *tool, const struct dump_image *im)
{
	struct context *cx = &tool->cx;
	struct nilfs_segment_usage_ext su;
	struct segment_source src = { .vol = NULL };
	struct segmap_volume volume;
	struct segment_total total;
	struct segmap_segment shown;
	struct sutable_cursor cur;
	struct segmap *map = NULL;
	struct segment seg;
	uint64_t segnum;
	int ret, status = 0;

	segment_total_init(&total);
	image_describe(im, &volume);
	ret = segmap_open(cx, &volume, 0, 0, &map);
	if (!ret)
		ret = image_note(tool, &status, segment_open(&src, cx, im->vol, 0));
	if (ret)
		goto out;
	progress_begin(&tool->progress, "segments", volume.segments, false);
	ret = sutable_cursor_open(&cur, cx, im->vol, true);
	while (!ret && (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = image_note(tool, &status,
				 segment_describe(&src, cx, segnum, &su, &seg));
		if (!ret)
			ret = image_note(tool, &status,
					 segment_count_data(&src, cx, &seg));
		segment_total_add(&total, &seg);
		shown = segment_to_map(&seg);
		segmap_add(map, segnum, &shown);
		progress_update(&tool->progress, segnum);
		if (!ret)
			ret = context_cancelled(cx);
	}
	sutable_cursor_close(&cur);
	progress_end(&tool->progress);
	ret = image_note(tool, &status, ret);
	if (!ret)
		put_space(&tool->report, &im->vol->geo, &total, map);
out:
	segment_close(&src);
	free(map);
	return ret ? ret : status;
}

/*
 * The largest and the most fragmented files, in a report.  A file with several
 * names counts once, by the first name that the walk finds.
 */

#define LISTED 20		/* files in each list */

enum { PATH, BYTES, SIZE, EXTENTS, COLUMNS };

static const struct column columns[COLUMNS] = {
	[PATH] = { "path", "PATH", VALUE_STRING, 0 },
	[BYTES] = { "bytes", "ON DISK", VALUE_SIZE, 10 },
	[SIZE] = { "size_bytes", "SIZE", VALUE_SIZE, 10 },
	[EXTENTS] = { "extents", "EXTENTS", VALUE_U64, 8 },
};

/* One file that is listed. */
struct file_entry {
	char *path;
	size_t len;
	uint64_t blocks, size, extents;
	uint64_t rank;			/* sort key, descending; 0: not listed */
};

struct top {
	struct file_entry entries[LISTED];
	size_t count;
};

struct files {
	struct tool *tool;
	struct root root;
	struct inoset seen;		/* files with several names */
	struct top lists[2];		/* the largest, the most fragmented */
	uint64_t count, directories, others, fragments, blocks, extents;
	int status;
};

/* Adds a copy of E if its rank is one of the greatest. */
static int top_add(struct top *top, struct context *cx,
		   const struct file_entry *e)
{
	size_t i = top->count;
	char *path;

	while (i && top->entries[i - 1].rank < e->rank)
		i--;
	if (i == LISTED || !e->rank)
		return 0;
	path = malloc(e->len + 1);
	if (!path)
		return fail(cx, -ENOMEM, "path of a file");
	memcpy(path, e->path, e->len);
	if (top->count == LISTED)
		free(top->entries[--top->count].path);
	memmove(&top->entries[i + 1], &top->entries[i],
		(top->count - i) * sizeof(top->entries[0]));
	top->count++;
	top->entries[i] = *e;
	top->entries[i].path = path;
	return 0;
}

/* Counts the blocks and extents of a file once for all its names. */
static int take_file(struct files *f, const struct tree_item *item)
{
	struct context *cx = &f->tool->cx;
	struct file_entry e = {
		.path = (char *)(uintptr_t)item->path,
		.len = item->path_len,
		.size = le64_get(item->inode->i_size),
	};
	struct mapwalk walk;
	struct maprun run;
	struct file file;
	int ret = 1;

	if (le16_get(item->inode->i_links_count) > 1)
		ret = inoset_add(&f->seen, cx, item->ino);
	if (ret <= 0)
		return ret;
	ret = file_init(&file, cx, f->root.vol, item->ino, item->inode);
	if (ret)
		return ret;
	ret = mapwalk_open(&walk, cx, &file.map, false, false);
	while (!ret && (ret = mapwalk_next(&walk, cx, &run)) > 0)
		ret = context_cancelled(cx);
	e.blocks = walk.data;
	e.extents = walk.extents;
	mapwalk_close(&walk);
	if (ret)
		return ret;
	f->count++;
	f->blocks += e.blocks;
	f->extents += e.extents;
	f->fragments += e.extents > 1;
	e.rank = e.blocks;
	ret = top_add(&f->lists[0], cx, &e);
	e.rank = e.extents > 1 ? e.extents : 0;
	return ret ? ret : top_add(&f->lists[1], cx, &e);
}

int report_space_files(struct tool *tool, const struct dump_image *im)
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct context *cx = &tool->cx;
	struct report *r = &tool->report;
	uint64_t block_size = im->vol->geo.block_size;
	struct files f = { .tool = tool };
	const struct file_entry *e, *end;
	struct tree *tree = NULL;
	struct tree_item item;
	struct table t;
	unsigned int i;
	int ret = root_open(&f.root, cx, im->vol, 0);

	if (ret)
		return ret;
	ret = tree_open(&tree, cx, &f.root, "/", &how);
	progress_begin(&tool->progress, "files",
		       le64_get(f.root.cp.cp_inodes_count), false);
	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = item.kind == TREE_BROKEN ? item.error : 0;
		if (item.kind == TREE_LEAVE)
			ret = 0;
		else if (!ret && item.inode &&
			 S_ISREG(le16_get(item.inode->i_mode)))
			ret = take_file(&f, &item);
		else if (!ret && item.type == NILFS_FT_DIR)
			f.directories++;
		else if (!ret)
			f.others++;
		if (ret && !damage_is_fatal(ret)) {
			image_file_failed(tool, item.path, item.path_len, ret);
			f.status = 1;
			ret = 0;
		}
		progress_update(&tool->progress, f.count);
	}
	progress_end(&tool->progress);
	tree_close(tree);
	if (ret)
		goto out;
	report_begin(r, "files", "Files");
	report_u64(r, "regular", "Regular files", f.count);
	report_u64(r, "directories", "Directories", f.directories);
	report_u64(r, "others", "Others", f.others);
	report_size(r, "bytes", "Content, without holes",
		    f.blocks * block_size);
	report_u64(r, "extents", "Extents", f.extents);
	report_u64(r, "fragmented", "Files of several extents", f.fragments);
	report_value(r, VALUE_SIZE, "extent_bytes", "Mean length of an extent",
		     f.extents ? value_u64(f.blocks * block_size / f.extents) :
				 value_absent());
	for (i = 0; i < 2; i++) {
		if (!f.lists[i].count && report_is_text(r))
			continue;
		report_begin(r, i ? "most_fragmented" : "largest",
			     i ? "Most fragmented files" : "Largest files");
		table_begin(&t, r, "files", columns, COLUMNS);
		e = f.lists[i].entries;
		for (end = e + f.lists[i].count; e < end; e++)
			table_row(&t, (struct value[]){
				[PATH] = value_bytes(e->path, e->len),
				[BYTES] = value_u64(e->blocks * block_size),
				[SIZE] = value_u64(e->size),
				[EXTENTS] = value_u64(e->extents),
			});
		table_end(&t);
		report_end(r);
	}
	report_end(r);
out:
	for (i = 0; i < 2; i++)
		while (f.lists[i].count)
			free(f.lists[i].entries[--f.lists[i].count].path);
	inoset_fini(&f.seen);
	return ret ? ret : f.status;
}
