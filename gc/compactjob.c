// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The jobs of compaction, and of writing a compact copy.
 *
 * An existing file is replaced by a copy only with --force, and an incomplete
 * copy gets no name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dev/devfile.h"
#include "dev/overlay.h"
#include "gc/compact/compact.h"
#include "gc/compact/defrag.h"
#include "gc/compact/filelist.h"
#include "gc/job.h"
#include "gc/move/collector.h"
#include "gc/moving.h"
#include "out/table.h"

/*
 * The job of defragmentation.
 *
 * Files are listed in JSON and with --verbose; with "all" only those with too
 * many extents.
 */

#define OPTION "--defrag"
#define ALL "all"

enum { INO, BLOCKS, ENOUGH, BEFORE, AFTER, NAME, COLUMNS };

static const struct column columns[COLUMNS] = {
	[INO] = { "ino", "INODE", VALUE_U64, 10 },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 10 },
	[ENOUGH] = { "extents_enough", "ENOUGH", VALUE_U64, 8 },
	[BEFORE] = { "extents_before", "BEFORE", VALUE_U64, 8 },
	[AFTER] = { "extents_after", "AFTER", VALUE_U64, 8 },
	[NAME] = { "path", "PATH", VALUE_STRING, 0 },
};

static void report_defrag(struct tool *tool, const struct defrag *d,
			  uint64_t began)
{
	const struct filelist_file *f, *end = d->list.files + d->list.n;
	struct spread before = { 0 }, after = { 0 };
	uint64_t many_before = 0, many_after = 0;
	struct report *r = &tool->report;
	bool list = tool->verbose || !report_is_text(r);
	struct table table;

	if (list)
		table_begin(&table, r, "files", columns, COLUMNS);
	for (f = d->list.files; f < end; f++) {
		before.extents += f->before.extents;
		after.extents += f->after.extents;
		after.enough += f->after.enough;
		many_before += spread_excess(&f->before) > 0;
		many_after += spread_excess(&f->after) > 0;
		if (list && (f->path || spread_excess(&f->before)))
			table_row(&table, (struct value[]){
				[INO] = value_u64(f->ino),
				[BLOCKS] = value_u64(f->after.blocks),
				[ENOUGH] = value_u64(f->after.enough),
				[BEFORE] = value_u64(f->before.extents),
				[AFTER] = value_u64(f->after.extents),
				[NAME] = value_string(f->path),
			});
	}
	if (list)
		table_end(&table);
	report_begin(r, "defragmentation", NULL);
	report_u64(r, "files", "Files examined", d->list.n);
	report_u64(r, "files_before", "Fragmented files before",
		   many_before);
	report_u64(r, "files_after", "Fragmented files after",
		   many_after);
	report_u64(r, "extents_enough", "Ideal number of extents",
		   after.enough);
	report_u64(r, "extents_before", "Extents before", before.extents);
	report_u64(r, "extents_after", "Extents after", after.extents);
	report_u64(r, "segments_moved", "Segments moved", d->totals.victims);
	report_u64(r, "segments_left", "Segments skipped", d->left);
	moving_put(r, &d->totals, began);
	report_end(r);
}

/* Sets *PATHS to the paths of WORDS, to be freed, or to NULL for all files. */
static int read_paths(struct tool *tool, const struct option_list *words,
		      const char ***paths)
{
	size_t i;

	*paths = calloc(words->count + 1, sizeof(**paths));
	if (!*paths)
		return fail(&tool->cx, -ENOMEM, OPTION);
	for (i = 0; i < words->count; i++) {
		(*paths)[i] = words->items[i];
		if (words->items[i][0] == '/')
			continue;
		if (!strcmp(words->items[i], ALL))
			break;
		tool->bad_usage = true;
		return fail(&tool->cx, -EINVAL, OPTION ": '%s' is neither "
			    ALL " nor a path from the root of the volume",
			    words->items[i]);
	}
	if (i < words->count) {
		free(*paths);
		*paths = NULL;
	}
	return 0;
}

int compactjob_check_defrag(struct tool *tool, const struct options *o,
			    struct dev *dev)
{
	struct filelist list = { .n = 0 };
	const char **paths;
	int ret = read_paths(tool, &o->defrag, &paths);

	if (!ret && paths)
		ret = filelist_open(&list, &tool->cx, dev, paths);
	filelist_close(&list);
	free(paths);
	return ret;
}

int compactjob_defrag(struct tool *tool, const struct options *o,
		     struct dev *dev)
{
	struct defrag_options options = { .how = moving_options(tool, o) };
	uint64_t began = tool_clock();
	struct moving moving;
	const char **paths;
	struct defrag d;
	int ret = read_paths(tool, &o->defrag, &paths);

	if (ret)
		goto out;
	options.paths = paths;
	options.how.batch.forecast = o->dry_run;
	options.how.batch.front = o->compact >= 0 || o->shrink.wanted;
	moving_begin(&moving, tool, &options.how);
	ret = defrag_run(&d, &tool->cx, dev, &options);
	progress_end(&tool->progress);
	if (!ret)
		report_defrag(tool, &d, began);
	if (!ret && d.left)
		ret = JOB_LEFT;
	filelist_close(&d.list);
out:
	free(paths);
	return ret;
}

static enum order_kind order_of(const struct options *o)
{
	return o->order < 0 ? ORDER_DEFAULT : (enum order_kind)o->order;
}

/*
 * Reports a section NAME for a job that BEGAN then and skipped LEFT segments.
 */
static void report_compact(struct tool *tool, const char *name,
			   const struct usedend *before,
			   const struct usedend *after, uint64_t left,
			   const struct batch_totals *totals, uint64_t began)
{
	struct report *r = &tool->report;

	report_begin(r, name, NULL);
	report_u64(r, "end_before", "Segments spanned before",
		   before->end);
	report_u64(r, "end_after", "Segments spanned after",
		   after->end);
	report_u64(r, "clean_before", "Clean segments before",
		   before->clean);
	report_u64(r, "clean_after", "Clean segments after", after->clean);
	report_u64(r, "segments_left", "Segments skipped", left);
	moving_put(r, totals, began);
	report_end(r);
}

int compactjob_compact(struct tool *tool, const struct options *o,
		       struct dev *dev)
{
	/* ORDER_VICTIM has no faults to correct. */
	struct compact_options options = {
		.all = o->compact == OPTIONS_COMPACT_ALL ||
		       (o->order >= 0 && o->order != ORDER_VICTIM),
		.order = order_of(o),
		.how = moving_options(tool, o),
	};
	uint64_t began = tool_clock();
	struct moving moving;
	struct compact c;
	int ret;

	moving_begin(&moving, tool, &options.how);
	ret = compact_run(&c, &tool->cx, dev, &options);
	progress_end(&tool->progress);
	if (ret)
		return ret;
	report_compact(tool, "compaction", &c.before, &c.after, c.left,
		       &c.totals, began);
	return c.left ? JOB_LEFT : 0;
}

/*
 * The job of copying.
 *
 * A copy is one batch whose victims are all segments, including that of the latest
 * log and the next one; it is written to another device, where every segment is free.
 */

struct copy {
	struct batch_totals totals;
	struct usedend before, after;
};

/*
 * Two devices combined into one.
 *
 * It is for a batch that moves a whole volume.  Such a batch reads only old
 * blocks at their old positions, since blocks that it made itself stay in
 * memory until it writes them.  So old and new positions may overlap.
 */
struct dualdev {
	struct dev dev;		/* over the target, of the same size; no zones */
	struct dev *source;	/* all reads go to it, regardless of writes */
};

static int dualdev_read(struct dev *dev, struct context *cx, uint64_t off,
			void *buf, size_t len)
{
	return dev_read(((struct dualdev *)dev)->source, cx, off, buf, len);
}

static void dualdev_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	dev_readahead(((struct dualdev *)dev)->source, off, len);
}

static const struct dev_ops dualdev_ops = {
	.read = dualdev_read,
	.readahead = dualdev_readahead,
};

/*
 * Copies all live blocks of SOURCE to TARGET, which has the same size and is all zero,
 * with a new checkpoint of the same volume, and superblocks last.  Any unreadable
 * block is a failure.  -EUCLEAN if SOURCE must be recovered or repaired first, -EIO,
 * -ENOSPC, -EINTR, -ENOMEM.
 */
static int copy_run(struct copy *c, struct context *cx, struct dev *source,
		    struct dev *target, const struct collector_options *options)
{
	struct batch_options batch = options->batch;
	char boot[NILFS_SB_OFFSET_BYTES];
	struct dualdev dual = { .source = source };
	const struct policy_segment *s;
	struct collector k;
	size_t i;
	int ret, moved;

	*c = (struct copy){ 0 };
	dev_init_over(&dual.dev, &dualdev_ops, target);
	dual.dev.name = source->name;
	dual.dev.zones = NULL;
	ret = compact_measure(&c->before, cx, source);
	if (!ret)
		ret = dev_read(source, cx, 0, boot, sizeof(boot));
	if (!ret)
		ret = dev_write(target, cx, 0, boot, sizeof(boot));
	if (ret)
		return ret;
	batch.front = batch.fresh = batch.next_taken = batch.elsewhere = true;
	collector_init(&k, &dual.dev, options);
	k.whole = true;
	/* Move all segments in one batch, again as long as none was written. */
	do {
		ret = collector_open(&k, cx);
		k.unbounded = true;
		for (i = 0, moved = 1; !ret && i < k.facts.n && moved > 0; i++) {
			s = &k.facts.segments[i];
			moved = collector_add(&k, cx, s, UINT64_MAX);
			if (moved < 0)
				ret = moved;
			else if (!moved && s->live)
				ret = fail(cx, -EUCLEAN, "segment %" PRIu64
					   " cannot be moved; run fsck.nilfs2",
					   s->segnum);
		}
		if (!ret)
			ret = collector_move(&k, cx, &batch);
		if (!ret && k.nbad)
			ret = fail(cx, -EUCLEAN, "segment %" PRIu64 " cannot be "
				   "copied; run fsck.nilfs2 -y --data",
				   k.bad[0]);
		collector_close(&k);
	} while (!ret && !k.totals.batches);
	c->totals = k.totals;
	collector_fini(&k);
	return ret ? ret : compact_measure(&c->after, cx, target);
}

int compactjob_copy(struct tool *tool, const struct options *o,
		    struct dev *dev)
{
	const char *const inputs[] = { tool->argv[0], NULL };
	const struct output_how how = {
		.there = o->force ? OUTPUT_REPLACE : OUTPUT_ASK,
		.volume = true,
		.inputs = inputs,
	};
	struct collector_options options = moving_options(tool, o);
	struct context *cx = &tool->cx;
	struct output *file = NULL;
	struct dev *target = NULL;
	struct order order = { .kind = ORDER_DEFAULT };
	struct moving moving;
	struct copy c;
	uint64_t began;
	int ret;

	if (o->dry_run) {
		ret = overlay_open(&target, cx, dev, true);
	} else {
		/* An empty file of the same size. */
		ret = output_open(&file, cx, o->output, &how);
		if (!ret)
			ret = devfile_create(&target, cx, file);
		if (!ret)
			ret = devfile_resize(target, cx, dev->size);
		if (!ret)
			devfile_direct(target);
	}
	began = tool_clock();
	if (!ret)
		ret = order_find(&order, cx, dev, order_of(o));
	options.order = &order;
	moving_begin(&moving, tool, &options);
	if (!ret)
		ret = copy_run(&c, cx, dev, target, &options);
	progress_end(&tool->progress);
	order_close(&order);
	if (!ret)
		report_compact(tool, "copy", &c.before, &c.after, 0,
			       &c.totals, began);
	if (!ret && file)
		ret = output_commit(file, cx);
	dev_close(target);
	output_close(file);
	return ret;
}
