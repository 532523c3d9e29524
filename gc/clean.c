// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cleaning.
 *
 * Each batch looks at the volume anew.  Victims join a batch in the order of
 * the policy until the goal is reached, or the clean segments are full with what
 * lives in them, or memory is.  A victim that fits no more does not end the
 * batch: a smaller one may.
 *
 * A segment with a block that cannot be read is left alone from then on, and the
 * batch, of which nothing is on the device yet, is made again without it.
 */
#include "gc/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/geometry.h"
#include "gc/facts.h"
#include "gc/load.h"

struct bad {
	uint64_t *segments;	/* left alone */
	size_t n, room;
};

struct cleaner {
	struct clean *c;
	const struct clean_options *o;
	struct dev *dev;
	struct volume *vol;
	struct facts facts;
	struct load load;
	struct bad bad;
};

static int check_volume(struct context *cx, const struct volume *vol)
{
	if (vol->latest.orphans_start)
		return fail(cx, -EUCLEAN, "data that was synchronized last has "
			    "to be recovered first; run fsck.nilfs2, or mount "
			    "the volume");
	if (le16_get(volume_super(vol)->s_state) & NILFS_ERROR_FS)
		return fail(cx, -EUCLEAN, "the volume says that it has errors; "
			    "run fsck.nilfs2");
	return 0;
}

static bool is_bad(const struct cleaner *k, uint64_t segnum)
{
	size_t i;

	for (i = 0; i < k->bad.n; i++)
		if (k->bad.segments[i] == segnum)
			return true;
	return false;
}

/* SEGNUM is left alone from now on, because of the failure in CX. */
static int leave(struct cleaner *k, struct context *cx, uint64_t segnum)
{
	uint64_t *grown = array_grow(cx, k->bad.segments, &k->bad.room,
				     k->bad.n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	k->bad.segments = grown;
	grown[k->bad.n++] = segnum;
	k->c->left++;
	if (k->o->left)
		k->o->left(k->o->arg, segnum, cx->failure);
	fail_clear(cx);
	return 0;
}

/* Blocks that can be written before no clean segment is left. */
static uint64_t room(const struct cleaner *k)
{
	const struct nilfs_geometry *g = &k->vol->geo;
	const struct recovery *latest = &k->vol->latest;
	uint64_t rest = geometry_segment_end(g, latest->segnum) -
			geometry_segment_start(g, latest->segnum) -
			latest->offset;

	/* One is next already, and one has to be next in the end. */
	return rest + k->facts.clean * g->blocks_per_segment;
}

/* Clean segments that the batch would bring, less those it takes. */
static uint64_t gain(const struct cleaner *k, uint64_t need)
{
	uint64_t bps = k->vol->geo.blocks_per_segment;
	uint64_t taken = (need + bps - 1) / bps;

	return k->load.nvictims > taken ? k->load.nvictims - taken : 0;
}

static bool fits(const struct cleaner *k, struct context *cx)
{
	const struct load *l = &k->load;
	uint64_t bs = k->vol->geo.block_size;

	return batch_need(l) <= room(k) &&
	       load_bytes(l) + l->dat_blocks * bs <= cx->max_memory / 2;
}

/* Whether it is worth moving what lives in S. */
static bool is_worth(const struct cleaner *k, const struct policy_segment *s)
{
	uint64_t dead = s->blocks - s->live;

	return !s->live || dead * 100 >= (uint64_t)k->o->min_dead * s->blocks;
}

/* Adds S to the batch: 1, 0 where it does not fit or is left alone. */
static int add_victim(struct cleaner *k, struct context *cx,
		      const struct policy_segment *s)
{
	struct load_size before = load_size(&k->load);
	int ret;

	if (is_bad(k, s->segnum) || !is_worth(k, s))
		return 0;
	ret = load_take(&k->load, cx, s);
	if (!ret && cx->failure[0])
		return leave(k, cx, s->segnum);
	if (ret > 0 && !fits(k, cx)) {
		load_rewind(&k->load, &before);
		return 0;
	}
	return ret;
}

static int choose(struct cleaner *k, struct context *cx, uint64_t goal)
{
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, k->o->policy, &k->facts.env,
			      k->facts.segments, k->facts.n);

	while (ret >= 0 && gain(k, batch_need(&k->load)) < goal) {
		i = policy_next(&order, k->facts.clean);
		if (i < 0)
			break;
		ret = add_victim(k, cx, &k->facts.segments[i]);
	}
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/* How many clean segments are still wanted. */
static uint64_t goal_left(const struct cleaner *k)
{
	uint64_t gained = k->facts.clean > k->c->clean_before ?
				  k->facts.clean - k->c->clean_before : 0;

	if (k->o->goal == CLEAN_ALL)
		return CLEAN_ALL;
	return k->o->goal > gained ? k->o->goal - gained : 0;
}

/* A batch in which something cannot be read is made again without it. */
static int move(struct cleaner *k, struct context *cx)
{
	uint64_t bad;
	int ret;

	load_sort(&k->load);
	ret = batch_run(&k->load, cx, k->vol, &k->o->batch, &k->c->totals,
			&bad);
	if (ret == -EIO && bad)
		ret = leave(k, cx, geometry_segment_of(&k->vol->geo, bad));
	return ret ? ret : 1;
}

/*
 * Whether moving these is of any use.  Where all is wanted, a batch that would
 * bring nothing ends it: what it wrote would be the next one's victims.
 */
static bool is_useful(const struct cleaner *k)
{
	return k->load.nvictims && gain(k, batch_need(&k->load));
}

/* One batch: 1, or 0 where there is nothing to be done. */
static int run_batch(struct cleaner *k, struct context *cx)
{
	uint64_t goal = goal_left(k);
	int ret;

	if (!goal)
		return 0;
	load_init(&k->load, &k->facts);
	ret = choose(k, cx, goal);
	if (!ret && is_useful(k))
		ret = move(k, cx);
	load_fini(&k->load);
	return ret;
}

static int open_and_run(struct cleaner *k, struct context *cx, bool first)
{
	int ret = volume_open(&k->vol, cx, k->dev, NULL);

	if (!ret)
		ret = check_volume(cx, k->vol);
	if (!ret)
		ret = facts_gather(&k->facts, cx, k->vol, k->o->protect);
	if (!ret && first)
		k->c->clean_before = k->c->totals.clean = k->facts.clean;
	k->facts.env.max_search = k->o->max_search;
	k->facts.env.scarce = k->facts.vol ? k->vol->geo.nsegments / 20 : 0;
	if (!ret)
		ret = run_batch(k, cx);
	facts_fini(&k->facts);
	volume_close(k->vol);
	k->vol = NULL;
	return ret;
}

int clean_run(struct clean *c, struct context *cx, struct dev *dev,
	      const struct clean_options *options)
{
	struct cleaner k = { .c = c, .o = options, .dev = dev };
	bool first = true;
	int ret;

	*c = (struct clean){ 0 };
	do {
		ret = open_and_run(&k, cx, first);
		first = false;
	} while (ret > 0);
	free(k.bad.segments);
	return ret;
}
