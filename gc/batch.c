// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One batch of cleaning.
 *
 * All victims go at once: what lives in them is listed in the order of files,
 * and the entries of the DAT change in memory, so that each of its blocks is
 * written once, behind the data, however many blocks it leads to.  The segments
 * that become free are taken by the next batch, not by this one: until the
 * superblocks are written the volume is what it was.
 *
 * A block that ended in a checkpoint that still exists is missed there once its
 * segment is given away: such checkpoints go with it, as with the kernel's
 * cleaner (nilfs_ioctl_delete_checkpoints()).
 */
#include "gc/batch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "base/search.h"
#include "disk/super.h"
#include "gc/moved.h"
#include "log/checkpoints.h"
#include "log/mend.h"
#include "log/move.h"
#include "log/newsupers.h"
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
static uint64_t summary_blocks(const struct nilfs_geometry *g, uint64_t n)
{
	return n * sizeof(struct nilfs_binfo_v) / g->block_size +
	       n / g->blocks_per_segment + 2;
}

uint64_t batch_need(const struct load *load)
{
	const struct nilfs_geometry *g = &load->facts->vol->geo;
	uint64_t metadata = load->dat_blocks + load->nmarks;
	/* Nodes, bitmaps and descriptors on the way to them; SUFILE, cpfile. */
	uint64_t n = load->blocks + metadata + metadata / 16 +
		     load->nvictims / 16 + 32;

	return n + summary_blocks(g, n);
}

static bool is_victim(void *arg, uint64_t segnum)
{
	const struct batch *b = arg;

	return bitmap_test(&b->victims, segnum);
}

static int note_victims(struct batch *b, struct context *cx)
{
	size_t i;
	int ret = bitmap_init(&b->victims, cx, b->vol->geo.nsegments);

	for (i = 0; !ret && i < b->load->nvictims; i++)
		bitmap_set(&b->victims, b->load->victims[i]);
	return ret;
}

static int open_writer(struct batch *b, struct context *cx)
{
	const struct writer_options options = {
		.time = b->options->time,
		.minor = true,
	};
	const struct mend_known known = {
		.unusable = is_victim,
		.arg = b,
	};
	int ret = mend_open(&b->w, cx, b->vol, &options, &known);

	if (!ret && b->options->front)
		move_to_front(b->w);
	return ret;
}

static int list_runs(struct batch *b, struct context *cx, struct payload *p)
{
	const struct load *l = b->load;
	uint64_t at = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->nruns && !ret; i++) {
		ret = move_blocks(b->w, cx, &l->runs[i].what, p, at);
		at += l->runs[i].what.count;
	}
	return ret;
}

/* The block gets another number: the old one ends where it is, in a victim. */
static int mark_block(struct batch *b, struct context *cx,
		      const struct load_mark *m)
{
	int ret = move_metadata(b->w, cx, m->ino, m->level, m->key);

	return ret || !m->vblocknr ? ret : move_forget(b->w, cx, m->vblocknr);
}

static int mark_metadata(struct batch *b, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < b->load->nmarks && !ret; i++)
		ret = mark_block(b, cx, &b->load->marks[i]);
	return ret;
}

static int forget_dead(struct batch *b, struct context *cx)
{
	const struct load *l = b->load;
	size_t i;
	int ret = 0;

	for (i = 0; i < l->ndead && !ret; i++)
		ret = move_forget(b->w, cx, l->dead[i].vblocknr);
	b->totals->forgotten += l->ndead;
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

	for (i = 0; i < l->ndead; i++) {
		change[search_lower_bound(cnos, n, l->dead[i].start)]++;
		change[search_lower_bound(cnos, n, l->dead[i].end)]--;
	}
}

static int delete_those(struct batch *b, struct context *cx,
			const uint64_t *cnos, size_t n, const int64_t *change)
{
	int64_t dead = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		dead += change[i];
		if (!dead)
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

	for (i = 0; i < b->load->nvictims && !ret; i++)
		ret = move_free(b->w, cx, b->load->victims[i]);
	return ret;
}

static int write_supers(struct batch *b, struct context *cx,
			const struct writer_end *end)
{
	struct nilfs_super_block sb = *volume_super(b->vol);
	uint64_t offset2 = b->vol->super_offset[1];

	newsupers_fill(&sb, &b->vol->geo, end, b->options->time,
		       le16_get(sb.s_state) | NILFS_VALID_FS);
	if (super_bad_offset2(&sb, offset2))
		offset2 = 0;
	return newsupers_write(cx, b->vol->dev, &sb, offset2);
}

static int commit(struct batch *b, struct context *cx)
{
	struct writer_end end;
	int ret = writer_commit(b->w, cx, &end);

	if (!ret)
		ret = write_supers(b, cx, &end);
	if (ret)
		return ret;
	b->totals->batches++;
	b->totals->victims += b->load->nvictims;
	b->totals->moved += b->load->blocks;
	b->totals->written += end.blocks;
	b->totals->clean = end.clean_segments;
	return 0;
}

/* Everything that the commit then writes. */
static int change(struct batch *b, struct context *cx, struct payload *p)
{
	int ret = list_runs(b, cx, p);

	if (!ret)
		ret = mark_metadata(b, cx);
	if (!ret)
		ret = forget_dead(b, cx);
	if (!ret)
		ret = delete_checkpoints(b, cx);
	return ret ? ret : free_victims(b, cx);
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
	int ret = moved_make(&moved, cx, load, options->forecast, bad);

	if (!ret)
		ret = note_victims(&b, cx);
	if (!ret)
		ret = open_writer(&b, cx);
	if (!ret)
		ret = change(&b, cx, moved_payload(moved));
	if (!ret)
		ret = commit(&b, cx);
	writer_close(b.w);
	moved_put(moved);
	bitmap_fini(&b.victims);
	return ret;
}
