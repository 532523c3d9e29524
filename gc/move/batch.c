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
#include "log/repairwriter.h"
#include "log/resize.h"
#include "vol/cptable.h"

struct batch {
	const struct load *load;
	struct volume *vol;
	const struct batch_options *options;
	struct batch_totals *totals;
	struct bitmap victims;
	struct writer *w;
};

/* Blocks of the summary that lists N blocks, and of those that cut it. */
static uint64_t summary_blocks(const struct volume *vol, uint64_t n)
{
	const struct nilfs_geometry *g = &vol->geo;
	uint32_t most = writer_options_on(vol, 0).log_blocks;

	if (!most || most > g->blocks_per_segment)
		most = g->blocks_per_segment;
	return n * sizeof(struct nilfs_binfo_v) / g->block_size + n / most + 2;
}

uint64_t batch_need(const struct load *load)
{
	const struct facts *f = load->facts;
	uint64_t metadata = load->has.ndat + load->has.others;
	/* Nodes, bitmaps and descriptors on the way to them; SUFILE, cpfile. */
	uint64_t n = load->has.blocks + metadata + metadata / 16 +
		     load->has.nvictims / 16 + 32;

	/* With the entries of their old numbers and of their new ones. */
	if (f->stale)
		n += 3 * segusage_nblocks(&f->vol->geo);
	return n + summary_blocks(f->vol, n);
}

/* With a summary, a block of cpfile and SUFILE each, and the super root. */
uint64_t batch_least(const struct load *load)
{
	return load->has.blocks + load->has.ndat + 4;
}

uint64_t batch_blocks(const struct load *load)
{
	return load->has.blocks + load->has.nmarks;
}

static void report_moved(const struct batch *b, uint64_t blocks)
{
	if (b->options->moved)
		b->options->moved(b->options->arg, blocks);
}

/* Whether SEGNUM is new, and where the second superblock stood until now. */
static bool has_super2(const struct volume *vol, uint64_t segnum)
{
	const struct nilfs_geometry *g = &vol->geo;
	uint64_t super2 = super_offset2(le64_get(
		volume_super(vol)->s_dev_size));

	return segnum >= g->nsegments &&
	       segnum == geometry_segment_of(g, super2 >> g->block_bits);
}

/*
 * Segments that must not be allocated: victims that the old state needs,
 * segments that zones exclude, those to be removed, and, when a volume grows,
 * the place of its second superblock.
 */
static bool is_not_allocatable(void *arg, uint64_t segnum)
{
	const struct batch *b = arg;

	return (segnum < b->vol->geo.nsegments &&
		bitmap_test(&b->victims, segnum)) ||
	       zoning_is_unusable(&b->load->facts->zones, segnum) ||
	       (b->options->end && segnum >= b->options->end) ||
	       has_super2(b->vol, segnum);
}

/* Whether the victims can be taken by the log that frees them. */
static bool is_free_first(const struct batch *b)
{
	return b->options->elsewhere || b->options->reuse;
}

static int note_batch_victims(struct batch *b, struct context *cx)
{
	size_t i;
	int ret = bitmap_init(&b->victims, cx, b->vol->geo.nsegments);

	for (i = 0; !ret && !is_free_first(b) && i < b->load->has.nvictims; i++)
		bitmap_set(&b->victims, b->load->victims[i]);
	return ret;
}

static int open_writer(struct batch *b, struct context *cx)
{
	const struct batch_options *o = b->options;
	struct writer_options options = writer_options_on(b->vol, o->time);
	struct repairwriter_known known = {
		.unusable = is_not_allocatable,
		.arg = b,
		.fresh_segment = o->fresh || b->load->facts->zones.torn,
		.orphans_go = true,
		.next_taken = o->next_taken,
		.elsewhere = o->elsewhere,
	};
	int ret;

	if (o->size)
		resize_apart(b->vol, &known);
	options.minor = true;
	ret = repairwriter_open(&b->w, cx, b->vol, &options, &known);
	if (!ret && o->size)
		ret = resize_segments(b->w, cx, o->size->g.nsegments);
	if (!ret && o->front)
		move_to_front(b->w);
	return ret;
}

static int list_runs(struct batch *b, struct context *cx, struct moved *m)
{
	const struct load *l = b->load;
	uint64_t at = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->has.nruns && !ret; i++) {
		ret = move_blocks(b->w, cx, &l->runs[i].what,
				  moved_payload(m, &l->runs[i]), at);
		at += l->runs[i].what.count;
		report_moved(b, at);
	}
	return ret;
}

/* Whether the block is of a SUFILE that has become too short, or low, for it. */
static bool is_cut(const struct batch *b, const struct load_mark *m)
{
	const struct batch_size *size = b->options->size;

	if (!size || m->ino != NILFS_SUFILE_INO)
		return false;
	return m->key >= segusage_nblocks(&size->g) ||
	       (m->level &&
		!metafile_has_nodes(repairwriter_file(b->w, m->ino), m->level));
}

/* The block gets another number: the old one ends where it is, in a victim. */
static int mark_block(struct batch *b, struct context *cx,
		      const struct load_mark *m)
{
	int ret = is_cut(b, m) ? 0 : move_metadata(b->w, cx, m->ino, m->level,
						   m->key);

	return ret || !m->vblocknr ? ret : move_forget(b->w, cx, m->vblocknr);
}

static int mark_metadata(struct batch *b, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < b->load->has.nmarks && !ret; i++)
		ret = mark_block(b, cx, &b->load->marks[i]);
	report_moved(b, batch_blocks(b->load));
	return ret;
}

static int forget_run(struct batch *b, struct context *cx,
		      const struct load_dead *dead)
{
	uint64_t i;
	int ret = 0;

	for (i = 0; i < dead->count && !ret; i++)
		ret = move_forget(b->w, cx, dead->vblocknr + i);
	return ret;
}

static int forget_dead(struct batch *b, struct context *cx)
{
	const struct load *l = b->load;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->has.ndead && !ret; i++)
		ret = forget_run(b, cx, &l->dead[i]);
	b->totals->forgotten += l->has.dead_blocks;
	return ret;
}

/*
 * For each checkpoint, by its place in the list, how many dead blocks it has
 * more than the one before.
 */
static void count_dead(const struct load *l, const uint64_t *cnos, size_t n,
		       int64_t *change)
{
	size_t i;

	for (i = 0; i < l->has.ndead; i++) {
		int64_t count = (int64_t)l->dead[i].count;

		change[search_lower_bound(cnos, n, l->dead[i].start)] += count;
		change[search_lower_bound(cnos, n, l->dead[i].end)] -= count;
	}
}

/*
 * Whether CNO is deleted although it is complete: a minor checkpoint outside of
 * the protection period.  1, or 0.
 */
static int is_surplus(const struct batch *b, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint cp;
	int ret;

	if (!b->options->minor || cno >= b->load->facts->protect_cno)
		return 0;
	ret = cptable_read(b->vol, cx, cno, &cp);
	return ret ? ret : checkpoint_is_minor(&cp) &&
			   !checkpoint_is_snapshot(&cp);
}

static int delete_those(struct batch *b, struct context *cx,
			const uint64_t *cnos, size_t n, const int64_t *change)
{
	int64_t dead = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		dead += change[i];
		ret = dead ? 1 : is_surplus(b, cx, cnos[i]);
		if (ret <= 0)
			continue;
		ret = checkpoints_delete(b->w, cx, cnos[i]);
		b->totals->checkpoints += !ret;
	}
	return ret;
}

/* Checkpoints that miss a block from now on. */
static int delete_checkpoints(struct batch *b, struct context *cx)
{
	uint64_t *cnos = NULL;
	int64_t *change = NULL;
	size_t n = 0;
	int ret = cptable_list(b->vol, cx, false, &cnos, &n);

	if (!ret)
		change = calloc(n + 1, sizeof(*change));
	if (!ret && !change)
		ret = fail(cx, -ENOMEM, "checkpoints");
	if (!ret) {
		count_dead(b->load, cnos, n, change);
		ret = delete_those(b, cx, cnos, n, change);
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
		ret = move_free(b->w, cx, b->load->victims[i]);
	return ret;
}

/* Moved blocks of files; the others are old states of metadata. */
static uint64_t count_data(const struct load *l)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < l->has.nruns; i++)
		if (!inode_is_metadata(l->runs[i].what.ino))
			n += l->runs[i].what.count;
	return n;
}

/* As onelog_commit(), for a volume of another size from now on. */
static int commit_size(struct batch *b, struct context *cx,
		       struct writer_end *end)
{
	const struct batch_size *size = b->options->size;
	struct volume *vol = b->vol;
	unsigned int state = le16_get(volume_super(vol)->s_state);
	int ret = writer_commit(b->w, cx, end);

	state = (state | NILFS_VALID_FS) & ~(unsigned int)NILFS_RESIZE_FS;
	return ret ? ret : resize_supers(cx, vol->dev, vol, &size->g,
					 size->bytes, end, b->options->time,
					 (uint16_t)state);
}

static int commit(struct batch *b, struct context *cx)
{
	const struct nilfs_geometry *g = &b->vol->geo;
	struct writer_end end;
	int ret = b->options->size ?
			  commit_size(b, cx, &end) :
			  onelog_commit(b->w, cx, b->vol, b->options->time,
					&end);

	/* No superblock names a state any more that needs the victims. */
	if (!ret)
		ret = zoning_settle(cx, b->vol->dev);
	if (ret)
		return ret;
	if (b->options->sums)
		b->totals->corrected += sums_bits(b->options->sums, cx,
						  b->load);
	if (b->options->sums && !b->options->forecast)
		sums_forget(b->options->sums, b->load);
	b->totals->batches++;
	b->totals->before = b->vol->latest.cno;
	b->totals->victims += b->load->has.nvictims;
	b->totals->moved += b->load->has.blocks;
	b->totals->moved_data += count_data(b->load);
	b->totals->written += end.blocks;
	b->totals->summaries += end.summaries;
	b->totals->clean = end.clean_segments;
	b->totals->segnum = end.segnum;
	b->totals->rest = geometry_segment_end(g, end.segnum) -
			  geometry_segment_start(g, end.segnum) - end.offset;
	return 0;
}

/* All live blocks were counted, so the volume's own counts can be corrected. */
static int make_exact(struct batch *b, struct context *cx)
{
	const struct facts *f = b->load->facts;
	uint64_t changed;

	return f->stale ? exactcounts_enter(b->w, cx, f->liveness,
					    b->options->time, &changed) : 0;
}

/* Everything that the commit then writes. */
static int change_all(struct batch *b, struct context *cx, struct moved *m)
{
	bool first = is_free_first(b);
	int ret = b->options->elsewhere ? 0 : make_exact(b, cx);

	if (!ret && first)
		ret = free_victims(b, cx);
	if (!ret)
		ret = list_runs(b, cx, m);
	if (!ret)
		ret = mark_metadata(b, cx);
	if (!ret)
		ret = forget_dead(b, cx);
	if (!ret)
		ret = delete_checkpoints(b, cx);
	return ret || first ? ret : free_victims(b, cx);
}

/*
 * VOL was opened after the batch before: where it is as it was before that, the
 * device has dropped what was written, and would drop this, too.
 */
static int check_progress(const struct batch *b, struct context *cx)
{
	const struct recovery *latest = &b->vol->latest;

	if (!b->totals->batches || latest->cno > b->totals->before)
		return 0;
	return fail(cx, -EIO, "%s: has not kept what was written after "
		    "checkpoint %" PRIu64, b->vol->dev->name, latest->cno);
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
	};
	struct moved *moved = NULL;
	struct summing *summing = NULL;
	int ret = moved_make(&moved, cx, load, options->forecast, bad);

	if (!ret)
		ret = check_progress(&b, cx);
	if (!ret && options->sums)
		ret = sums_begin(&summing, cx, options->sums, load);
	/* What is written to a zone cannot be written over. */
	if (!ret && vol->dev->zones)
		ret = sums_wait(summing, cx);
	if (!ret)
		ret = note_batch_victims(&b, cx);
	if (!ret)
		ret = open_writer(&b, cx);
	if (!ret)
		ret = change_all(&b, cx, moved);
	if (!ret)
		ret = sums_wait(summing, cx);
	if (!ret)
		ret = commit(&b, cx);
	writer_close(b.w);
	moved_put(moved);
	if (ret > 0)
		ret = sums_judge(summing, cx, bad);
	sums_end(summing);
	bitmap_fini(&b.victims);
	return ret;
}
