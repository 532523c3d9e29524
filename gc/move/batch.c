// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One batch of cleaning.
 *
 * All victims are cleaned together: their live blocks are listed in the order
 * of files, and DAT entries change in memory, so that each block of the DAT is
 * written once, after the data.  The segments that become free are reused by
 * the next batch, not by this one: until the superblocks are written the volume
 * is unchanged.
 *
 * A plain checkpoint that refers to a dead block in a victim is deleted, as by
 * the kernel's cleaner (nilfs_ioctl_delete_checkpoints()).
 */
#include "gc/move/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "base/search.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "gc/move/load.h"
#include "gc/move/moved.h"
#include "gc/move/onelog.h"
#include "gc/move/sums.h"
#include "log/checkpoints.h"
#include "log/exactcounts.h"
#include "log/move.h"
#include "log/directwriter.h"
#include "log/resize.h"
#include "vol/cptable.h"

struct batch {
	const struct load *load;
	struct volume *vol;
	const struct batch_options *options;
	struct batch_totals *totals;
	bool free_first;	/* the log that frees victims can use them */
	struct bitmap victims;	/* those that cannot be used */
	uint64_t deleted;	/* checkpoints */
	struct writer *w;
};

uint64_t batch_need(const struct load *load)
{
	const struct facts *f = load->facts;
	const struct nilfs_geometry *g = &f->vol->geo;
	uint64_t metadata = load->has.ndat + load->has.others;
	/* The nodes, bitmaps and descriptors for these; SUFILE, cpfile. */
	uint64_t n = load->has.blocks + metadata + metadata / 16 +
		     load->has.nvictims / 16 + 32;
	uint32_t most = writer_options_on(f->vol, 0).log_blocks;

	/* All of the SUFILE, plus its old and new entries in the DAT. */
	if (f->stale)
		n += 3 * segusage_nblocks(g);
	/*
	 * The summaries that list these, and the ends of logs that split them.
	 */
	if (!most || most > g->blocks_per_segment)
		most = g->blocks_per_segment;
	return n + n * sizeof(struct nilfs_binfo_v) / g->block_size + n / most +
	       2;
}

/* A summary, one block each of cpfile and SUFILE, and the super root. */
uint64_t batch_least(const struct load *load)
{
	return load->has.blocks + load->has.ndat + 4;
}

/*
 * Segments that must not be allocated: victims that the old state needs,
 * segments that zones exclude, segments to be removed, and, when a volume
 * grows, the new segment at the old position of the second superblock.
 */
static bool is_not_allocatable(void *arg, uint64_t segnum)
{
	const struct batch *b = arg;
	const struct nilfs_geometry *g = &b->vol->geo;
	uint64_t super2 = super_offset2(le64_get(
		volume_super(b->vol)->s_dev_size));

	if (zoning_is_unusable(&b->load->facts->zones, segnum) ||
	    (b->options->end && segnum >= b->options->end))
		return true;
	return segnum < g->nsegments ?
		       bitmap_test(&b->victims, segnum) :
		       segnum == geometry_segment_of(g,
						     super2 >> g->block_bits);
}

static int open_batch_writer(struct batch *b, struct context *cx)
{
	const struct batch_options *o = b->options;
	struct writer_options options = writer_options_on(b->vol, o->time);
	struct directwriter_known known = {
		.unusable = is_not_allocatable,
		.arg = b,
		/* No chain of old logs may lead to the new ones (lib/log/resize.h). */
		.fresh_segment = o->fresh || o->size ||
				 b->load->facts->zones.torn,
		.orphans_go = true,
		.next_taken = o->next_taken,
		.elsewhere = o->elsewhere,
		.front = o->front,
	};
	size_t i;
	int ret = bitmap_init(&b->victims, cx, b->vol->geo.nsegments);

	if (ret)
		return ret;
	for (i = 0; !b->free_first && i < b->load->has.nvictims; i++)
		bitmap_set(&b->victims, b->load->victims[i]);
	options.minor = true;
	ret = directwriter_open(&b->w, cx, b->vol, &options, &known);
	if (!ret && o->size)
		ret = resize_segments(b->w, cx, o->size->g.nsegments);
	return ret;
}

/*
 * Lists the blocks of runs in new logs, and gives metadata blocks new numbers:
 * the old ones become dead blocks of victims.
 */
static int move_load(struct batch *b, struct context *cx, struct moved *m)
{
	const struct load *l = b->load;
	const struct batch_options *o = b->options;
	uint64_t done = 0, n;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->has.nruns && !ret; i++) {
		ret = move_blocks(b->w, cx, &l->runs[i].entry,
				  moved_payload(m, &l->runs[i]), done);
		done += l->runs[i].entry.count;
		if (o->moved)
			o->moved(o->arg, done);
	}
	for (i = 0; i < l->has.nmarks && !ret; i++) {
		const struct load_mark *mark = &l->marks[i];
		/*
		 * The SUFILE may have become too short, or its map too low, for
		 * the block.
		 */
		bool cut = o->size && mark->ino == NILFS_SUFILE_INO &&
			   (mark->key >= segusage_nblocks(&o->size->g) ||
			    (mark->level &&
			     mark->level >= metafile_facts(directwriter_file(
					b->w, mark->ino)).levels));

		if (!cut)
			ret = move_metadata(b->w, cx, mark->ino, mark->level,
					    mark->key);
		if (!ret && mark->vblocknr)
			ret = move_forget(b->w, cx, mark->vblocknr);
	}
	if (o->moved && !ret)
		o->moved(o->arg, l->has.blocks + l->has.nmarks);
	for (i = 0; i < l->has.ndead; i++)
		for (n = 0; n < l->dead[i].count && !ret; n++)
			ret = move_forget(b->w, cx, l->dead[i].vblocknr + n);
	return ret;
}

/*
 * Deletes checkpoints that lose a block, and, if requested, minor ones outside
 * of the protection period.
 */
static int delete_load_checkpoints(struct batch *b, struct context *cx)
{
	const struct load *l = b->load;
	struct nilfs_checkpoint cp;
	uint64_t *cnos = NULL;
	int64_t *change = NULL, dead = 0;
	size_t n = 0, i;
	int ret = cptable_list(b->vol, cx, false, &cnos, &n);

	if (!ret)
		change = calloc(n + 1, sizeof(*change));
	if (!ret && !change)
		ret = fail(cx, -ENOMEM, "checkpoints");
	/*
	 * Count the dead blocks of each checkpoint, as differences to the
	 * previous one.
	 */
	for (i = 0; !ret && i < l->has.ndead; i++) {
		int64_t count = (int64_t)l->dead[i].count;

		change[search_lower_bound(cnos, n, l->dead[i].start)] += count;
		change[search_lower_bound(cnos, n, l->dead[i].end)] -= count;
	}
	for (i = 0; i < n && !ret; i++) {
		bool gone = (dead += change[i]) != 0;

		if (!gone && b->options->minor &&
		    cnos[i] < l->facts->protect_cno) {
			ret = cptable_read(b->vol, cx, cnos[i], &cp);
			gone = !ret && checkpoint_is_minor(&cp) &&
			       !checkpoint_is_snapshot(&cp);
		}
		if (!gone)
			continue;
		ret = checkpoints_delete(b->w, cx, cnos[i]);
		b->deleted++;
	}
	free(change);
	free(cnos);
	return ret;
}

static int free_victims(struct batch *b, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < b->load->has.nvictims && !ret; i++)
		ret = move_set_segment(b->w, cx, b->load->victims[i],
				       SEGMENTS_CLEAN);
	return ret;
}

/* Writes the log, and superblocks that name it. */
static int commit_batch(struct batch *b, struct context *cx)
{
	const struct batch_options *o = b->options;
	const struct nilfs_geometry *g = &b->vol->geo;
	const struct load *l = b->load;
	struct batch_totals *t = b->totals;
	unsigned int state = le16_get(volume_super(b->vol)->s_state);
	struct writer_end end;
	size_t i;
	int ret;

	if (o->size) {
		state |= NILFS_VALID_FS;
		state &= ~(unsigned int)NILFS_RESIZE_FS;
		ret = writer_commit(b->w, cx, &end);
		if (!ret)
			ret = resize_supers(cx, b->vol->dev, b->vol, &o->size->g,
					    o->size->bytes, &end, o->time,
					    (uint16_t)state);
	} else {
		ret = onelog_commit(b->w, cx, b->vol, o->time, &end);
	}
	/* No superblock names a state any more that needs the victims. */
	if (!ret)
		ret = zoning_settle(cx, b->vol->dev);
	if (ret)
		return ret;
	if (o->sums)
		t->corrected += sums_bits(o->sums, cx, l);
	if (o->sums && !o->forecast)
		sums_forget(o->sums, l);
	t->batches++;
	t->before = b->vol->latest.cno;
	t->victims += l->has.nvictims;
	t->moved += l->has.blocks;
	t->forgotten += l->has.dead_blocks;
	t->checkpoints += b->deleted;
	/* The other runs are old states of metadata. */
	for (i = 0; i < l->has.nruns; i++)
		if (!inode_is_metadata(l->runs[i].entry.ino))
			t->moved_data += l->runs[i].entry.count;
	t->written += end.blocks;
	t->summaries += end.summaries;
	t->clean = end.clean_segments;
	t->segnum = end.segnum;
	t->rest = geometry_segment_end(g, end.segnum) -
		  geometry_segment_start(g, end.segnum) - end.offset;
	return 0;
}

int batch_run(const struct load *load, struct context *cx, struct volume *vol,
	      const struct batch_options *options,
	      struct batch_totals *totals, uint64_t *bad)
{
	struct batch b = {
		.load = load,
		.vol = vol,
		.options = options,
		.totals = totals,
		.free_first = options->elsewhere || options->reuse,
	};
	struct moved *moved = NULL;
	struct summing *summing = NULL;
	uint64_t changed;
	int ret = moved_make(&moved, cx, load, options->forecast, bad);

	/*
	 * VOL was opened after the previous batch.  If it still has the state
	 * before that, the device lost the writes, and would lose these.
	 */
	if (!ret && totals->batches && vol->latest.cno <= totals->before)
		ret = fail(cx, -EIO, "%s: the device lost data written after "
			   "checkpoint %" PRIu64, vol->dev->name,
			   vol->latest.cno);
	if (!ret && options->sums)
		ret = sums_begin(&summing, cx, options->sums, load);
	/* A written zone cannot be rewritten. */
	if (!ret && vol->dev->zones)
		ret = sums_wait(summing, cx);
	if (!ret)
		ret = open_batch_writer(&b, cx);
	/*
	 * All live blocks were counted, so the counts of the volume can be
	 * corrected.
	 */
	if (!ret && load->facts->stale && !options->elsewhere)
		ret = exactcounts_enter(b.w, cx, load->facts->liveness,
					options->time, &changed);
	if (!ret && b.free_first)
		ret = free_victims(&b, cx);
	if (!ret)
		ret = move_load(&b, cx, moved);
	if (!ret)
		ret = delete_load_checkpoints(&b, cx);
	if (!ret && !b.free_first)
		ret = free_victims(&b, cx);
	if (!ret)
		ret = sums_wait(summing, cx);
	if (!ret)
		ret = commit_batch(&b, cx);
	writer_close(b.w);
	moved_put(moved);
	if (ret > 0)
		ret = sums_judge(summing, cx, bad);
	sums_end(summing);
	bitmap_fini(&b.victims);
	return ret;
}
