// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A real volume as the start.
 *
 * The positions of single blocks of files do not matter to the cleaner, so
 * blocks are numbered by position; only those of hot files, which are written
 * more often, are numbered by file.  The facts that policies use are copied;
 * blocks of metadata count as data from then on.  Blocks kept for old states
 * are kept for one snapshot that is never deleted.  The simulated cleaner
 * excludes the same segments as gc.nilfs2.
 */
#include "gc/sim/volume/simimage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/segusage.h"
#include "gc/plan/facts.h"
#include "gc/plan/spread.h"
#include "vol/dir.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/volume.h"

struct reading {
	struct simimage *image;
	struct facts facts;
};

/*
 * Adds a segment in use as if it were no candidate: the facts of segments are
 * only of candidates, but their counts are of all.
 */
static int put_held(void *arg, struct context *cx, uint64_t segnum,
		    const struct nilfs_segment_usage *su)
{
	const struct reading *r = arg;
	struct liveness_counts c = liveness_of(r->facts.liveness, segnum);
	struct policy_segment *s = &r->image->segments[segnum];

	(void)cx;
	if (segusage_is_clean(su) && segnum != r->facts.vol->latest.nextnum)
		return 0;
	r->image->state[segnum] = SIMVOL_HELD;
	s->lastmod = le64_get(su->su_lastmod);
	s->written = le32_get(su->su_nblocks);
	s->live = c.current + c.snapshot + c.protected;
	s->snapshot = c.snapshot;
	s->protected = c.protected;
	if (s->written < s->live)
		s->written = s->live;
	return 0;
}

/* Records the segment of each block of E. */
static int add_hot(void *arg, struct context *cx, const struct extent *e)
{
	struct simimage *image = arg;
	uint64_t i;

	if (array_reserve(cx, &image->hot, &image->hot_room,
			  image->nhot + e->count))
		return -ENOMEM;
	for (i = 0; i < e->count; i++)
		image->hot[image->nhot++] =
			(uint32_t)((e->blocknr + i) / image->blocks);
	return 0;
}

static int read_volume(struct simimage *image, struct context *cx,
		       struct volume *vol)
{
	struct reading r = { .image = image };
	const struct nilfs_geometry *g = &vol->geo;
	struct policy_segment *s;
	uint32_t i, held;
	size_t k;
	int ret;

	if (g->nsegments * g->blocks_per_segment >= SIMVOL_NONE)
		return fail(cx, -EINVAL, "volume: too large to be simulated");
	image->nsegments = (uint32_t)g->nsegments;
	image->blocks = (uint32_t)g->blocks_per_segment;
	image->block_size = g->block_size;
	image->segments = calloc(image->nsegments, sizeof(*image->segments));
	image->state = calloc(image->nsegments, sizeof(*image->state));
	if (!image->segments || !image->state)
		return fail(cx, -ENOMEM, "volume");
	for (i = 0; i < image->nsegments; i++) {
		image->segments[i].segnum = i;
		image->segments[i].blocks =
			(uint32_t)(geometry_segment_end(g, i) -
				   geometry_segment_start(g, i));
	}
	ret = facts_gather(&r.facts, cx, vol, 0, NULL);
	if (!ret)
		ret = facts_count_metadata(&r.facts, cx);
	if (!ret)
		ret = sutable_walk(vol, cx, false, put_held, &r);
	/* Candidates are those of gc.nilfs2. */
	for (k = 0; !ret && k < r.facts.n; k++) {
		uint64_t segnum = r.facts.segments[k].segnum;

		image->segments[segnum] = r.facts.segments[k];
		image->state[segnum] = SIMVOL_FULL;
	}
	for (i = 0; !ret && i < image->nsegments; i++) {
		s = &image->segments[i];
		held = s->snapshot + s->protected;
		image->held += held;
		image->data += s->live - held;
		/* Each segment has the same number of places. */
		if (s->written > s->blocks || s->live > s->written)
			ret = fail(cx, -EUCLEAN, "segment %" PRIu32 ": %"
				   PRIu32 " blocks written and %" PRIu32
				   " live, of %" PRIu32 "; run fsck.nilfs2",
				   i, s->written, s->live, s->blocks);
	}
	image->now = r.facts.env.nongc_ctime;
	facts_fini(&r.facts);
	return ret;
}

int simimage_read(struct simimage *image, struct context *cx, struct dev *dev,
		  const struct option_list *hot)
{
	struct volume *vol = NULL;
	struct root root;
	uint64_t ino;
	size_t i;
	int ret = volume_open(&vol, cx, dev, NULL);

	*image = (struct simimage){ 0 };
	if (!ret)
		ret = read_volume(image, cx, vol);
	if (!ret && hot->count)
		ret = root_open(&root, cx, vol, 0);
	for (i = 0; i < hot->count && !ret; i++) {
		ret = dir_resolve(&root, cx, hot->items[i], &ino);
		if (ret == -ENOENT || ret == -ENOTDIR)
			fail_said(cx, ret, "%s: no such file on the volume",
				  hot->items[i]);
		if (!ret)
			ret = spread_walk(cx, &root, ino, add_hot, image);
	}
	volume_close(vol);
	return ret;
}

void simimage_close(struct simimage *image)
{
	free(image->segments);
	free(image->state);
	free(image->hot);
	*image = (struct simimage){ 0 };
}

/* Blocks of the latest state in segment S. */
static uint32_t current_of(const struct policy_segment *s)
{
	return s->live - s->snapshot - s->protected;
}

int simimage_put(const struct simimage *image, struct context *cx,
		 struct simvol *v)
{
	uint32_t *hot = calloc(image->nsegments, sizeof(*hot));
	uint32_t i, n, place, end, id;
	int ret = hot ? 0 : fail(cx, -ENOMEM, "segments");

	/*
	 * Hot blocks are added to their segments first.  If a file was given twice,
	 * its blocks are counted twice and exceed the live blocks.
	 */
	for (id = 0; !ret && id < image->nhot; id++) {
		i = image->hot[id];
		if (i >= image->nsegments ||
		    hot[i] >= current_of(&image->segments[i])) {
			ret = fail(cx, -EUCLEAN, "segment %" PRIu32 ": has more "
				   "blocks of hot files than live blocks", i);
			break;
		}
		place = i * v->config.blocks + hot[i]++;
		v->owner[place] = id;
		v->at[id] = place;
	}
	if (!ret && image->held) {
		v->snapshots = calloc(1, sizeof(*v->snapshots));
		v->nsnapshots = v->nkept = v->snapshots != NULL;
		if (!v->snapshots)
			ret = fail(cx, -ENOMEM, "snapshots");
	}
	if (ret)
		goto out;
	v->nclean = 0;
	v->now = image->now;
	/*
	 * The first second: the kernel's last log, from which policies count
	 * ages, may be older than blocks that were moved without it.
	 */
	for (i = 0; v->config.second && i < image->nsegments; i++)
		if (image->segments[i].lastmod >= v->now)
			v->now = image->segments[i].lastmod + 1;
	v->start = v->now;
	for (i = 0; i < image->nsegments; i++) {
		const struct policy_segment *s = &image->segments[i];

		v->segments[i] = *s;
		v->state[i] = image->state[i];
		v->needed[i] = s->live;
		/*
		 * The order is: hot live blocks, other live ones, held ones,
		 * dead ones.
		 */
		place = i * v->config.blocks;
		end = place + s->written;
		place += hot[i];
		for (n = current_of(s) - hot[i]; n; n--) {
			v->owner[place] = id;
			v->at[id++] = place++;
		}
		for (n = s->snapshot + s->protected; n; n--) {
			v->owner[place] = 0;
			v->death[place++] = 1;
		}
		for (; place < end; place++)
			v->owner[place] = 0;
		if (v->entries.of)
			simentry_put(v, end - s->written, s->written);
		/* In the order in which the kernel allocates them. */
		if (v->state[i] == SIMVOL_CLEAN)
			v->clean[v->nclean++] = i;
	}
	simvol_count(v);
out:
	free(hot);
	return ret;
}
