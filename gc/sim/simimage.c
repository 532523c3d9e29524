// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A real volume as the start.
 *
 * Which block of which file lives where would not change what a cleaner does,
 * so blocks are numbered as they lie.  What a policy is told of a segment is
 * taken over as it is; blocks of metadata count as data from then on.  What
 * is kept for the past is so for one snapshot that never goes.  Segments that
 * gc.nilfs2 would not touch, the simulated cleaner does not either.
 */
#include "gc/sim/simimage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "disk/segusage.h"
#include "gc/facts.h"
#include "vol/sutable.h"

/* A segment that is in use and no candidate. */
static void put_held(struct simimage *image, const struct liveness *l,
		     uint64_t segnum, const struct nilfs_segment_usage *su)
{
	struct liveness_counts c = liveness_of(l, segnum);
	struct policy_segment *s = &image->segments[segnum];

	image->state[segnum] = SIMVOL_HELD;
	s->lastmod = le64_get(su->su_lastmod);
	s->written = le32_get(su->su_nblocks);
	s->live = c.current + c.snapshot + c.protected;
	s->snapshot = c.snapshot;
	s->protected = c.protected;
	if (s->written < s->live)
		s->written = s->live;
}

/* The facts are of candidates only, so blocks are counted once more. */
static int read_usage(struct simimage *image, struct context *cx,
		      const struct facts *f)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct liveness *live;
	uint64_t segnum;
	int ret = liveness_count(f->vol, cx, f->protect_cno, &live);

	if (ret)
		return ret;
	ret = sutable_cursor_open(&cur, cx, f->vol, false);

	while (!ret) {
		ret = sutable_cursor_next(&cur, cx, &segnum, &su);
		if (ret <= 0)
			break;
		if (!segusage_is_clean(&su.su) ||
		    segnum == f->vol->latest.nextnum)
			put_held(image, live, segnum, &su.su);
		ret = 0;
	}
	sutable_cursor_close(&cur);
	liveness_free(live);
	return ret;
}

/* Candidates are what gc.nilfs2 says they are. */
static void take_candidates(struct simimage *image, const struct facts *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		uint64_t segnum = f->segments[i].segnum;

		image->segments[segnum] = f->segments[i];
		image->state[segnum] = SIMVOL_FULL;
	}
	for (i = 0; i < image->nsegments; i++) {
		const struct policy_segment *s = &image->segments[i];
		uint32_t held = s->snapshot + s->protected;

		image->held += held;
		image->data += s->live - held;
	}
}

static int allocate(struct simimage *image, struct context *cx,
		    const struct nilfs_geometry *g)
{
	uint32_t i;

	if (g->nsegments * g->blocks_per_segment >= SIMVOL_NONE)
		return fail(cx, -EINVAL, "volume: too large to be simulated");
	image->nsegments = (uint32_t)g->nsegments;
	image->blocks = (uint32_t)g->blocks_per_segment;
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
	return 0;
}

/* Places are made for as many blocks as a segment has, and no more. */
static int check_counts(const struct simimage *image, struct context *cx)
{
	uint32_t i;

	for (i = 0; i < image->nsegments; i++) {
		const struct policy_segment *s = &image->segments[i];

		if (s->written > s->blocks || s->live > s->written)
			return fail(cx, -EUCLEAN, "segment %" PRIu32 ": %"
				    PRIu32 " blocks written, %" PRIu32
				    " living, of %" PRIu32 "; run fsck.nilfs2",
				    i, s->written, s->live, s->blocks);
	}
	return 0;
}

static int read_volume(struct simimage *image, struct context *cx,
		       struct volume *vol, uint64_t protect)
{
	struct facts f = { 0 };
	int ret = allocate(image, cx, &vol->geo);

	if (!ret)
		ret = facts_gather(&f, cx, vol, protect);
	if (!ret)
		ret = read_usage(image, cx, &f);
	if (!ret)
		take_candidates(image, &f);
	if (!ret)
		ret = check_counts(image, cx);
	image->now = f.env.nongc_ctime;
	facts_fini(&f);
	return ret;
}

int simimage_read(struct simimage *image, struct context *cx, struct dev *dev,
		  uint64_t protect)
{
	struct volume *vol = NULL;
	int ret = volume_open(&vol, cx, dev, NULL);

	*image = (struct simimage){ 0 };
	if (!ret)
		ret = read_volume(image, cx, vol, protect);
	volume_close(vol);
	return ret;
}

void simimage_close(struct simimage *image)
{
	free(image->segments);
	free(image->state);
	*image = (struct simimage){ 0 };
}

/* The blocks of segment I: first what lives, then the past, then the dead. */
static void put_blocks(struct simvol *v, uint32_t i, uint32_t *id)
{
	const struct policy_segment *s = &v->segments[i];
	uint32_t place = i * v->config.blocks, n, end = place + s->written;

	v->needed[i] = s->live;
	for (n = s->live - s->snapshot - s->protected; n; n--) {
		v->owner[place] = *id;
		v->at[(*id)++] = place++;
	}
	for (n = s->snapshot + s->protected; n; n--) {
		v->owner[place] = 0;
		v->death[place++] = 1;
	}
	for (; place < end; place++)
		v->owner[place] = 0;
}

/* Clean segments in the order in which the kernel would take them. */
static void put_clean(struct simvol *v, uint32_t i)
{
	if (v->state[i] == SIMVOL_CLEAN)
		v->clean[v->nclean++] = i;
}

int simimage_put(const struct simimage *image, struct context *cx,
		 struct simvol *v)
{
	uint32_t i, id = 0;

	if (image->held) {
		v->snapshots = calloc(1, sizeof(*v->snapshots));
		if (!v->snapshots)
			return fail(cx, -ENOMEM, "snapshots");
		v->nsnapshots = v->nkept = 1;
	}
	v->nclean = 0;
	v->now = image->now;
	for (i = 0; i < image->nsegments; i++) {
		v->segments[i] = image->segments[i];
		v->state[i] = image->state[i];
		put_blocks(v, i, &id);
		put_clean(v, i);
	}
	return 0;
}
