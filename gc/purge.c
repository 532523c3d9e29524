// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Purging.
 *
 * Free space is what the SUFILE says, but a block that died within a segment
 * is free to nobody: the segment has to be cleaned for it, whether that is
 * worth it or not.  So segments with remains are moved until there are none;
 * what was moved has none, so each batch leaves fewer.  The segment that is
 * being written cannot be a victim: where it has remains, the next log begins
 * another one first.
 */
#include "gc/purge.h"

#include <errno.h>

#include "gc/policy.h"
#include "gc/remains.h"

struct purger {
	struct collector k;
	struct purge *p;
	const struct collector_options *how;
	bool renewed;		/* superblocks name a log of ours */
};

/* What cannot be determined is taken for the worst. */
static int has_remains(struct purger *u, struct context *cx, uint64_t segnum,
		       uint32_t nblocks)
{
	int ret = remains_any(cx, u->k.vol, u->k.facts.liveness, segnum,
			      nblocks);

	if (ret != -EUCLEAN && ret != -EIO)
		return ret;
	fail_clear(cx);
	return 1;
}

/* Adds S if it has remains: 1, 0, or a failure. */
static int look_at(struct purger *u, struct context *cx,
		   const struct policy_segment *s)
{
	int ret = has_remains(u, cx, s->segnum, s->written);

	if (ret <= 0)
		return ret;
	ret = collector_add(&u->k, cx, s, collector_room(&u->k));
	u->p->left += !ret;
	return ret;
}

static int choose(struct purger *u, struct context *cx)
{
	const struct facts *f = &u->k.facts;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, &policy_list[0], &f->env, f->segments,
			      f->n);

	u->p->left = 0;
	while (ret >= 0 && (i = policy_next(&order, f->clean)) >= 0)
		ret = look_at(u, cx, &f->segments[i]);
	policy_close(&order);
	return ret < 0 ? ret : 0;
}

/*
 * Begins another segment where the latest one has remains, or where others do
 * and the older superblock may need them: 1, 0.
 */
static int leave_latest(struct purger *u, struct context *cx)
{
	const struct recovery *latest = &u->k.vol->latest;
	struct batch_options fresh = u->how->batch;
	int ret = has_remains(u, cx, latest->segnum,
			      (uint32_t)latest->offset);

	if (!ret)
		ret = u->p->left && !u->renewed;
	if (ret <= 0)
		return ret;
	u->renewed = true;
	fresh.fresh = true;
	ret = collector_move(&u->k, cx, &fresh);
	return ret ? ret : 1;
}

/* One batch: 1, or 0 where none is left to do. */
static int run_batch(struct purger *u, struct context *cx)
{
	int ret = choose(u, cx);

	if (ret)
		return ret;
	if (!u->k.load.nvictims)
		return leave_latest(u, cx);
	ret = collector_move(&u->k, cx, &u->how->batch);
	return ret ? ret : 1;
}

static int zero_rest(struct purger *u, struct context *cx, struct dev *dev)
{
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	if (!ret)
		ret = zeroing_run(&u->p->zeroing, cx, vol,
				  u->how->batch.forecast);
	volume_close(vol);
	return ret;
}

int purge_run(struct purge *p, struct context *cx, struct dev *dev,
	      const struct collector_options *how)
{
	struct purger u = { .p = p, .how = how };
	int ret;

	collector_init(&u.k, dev, how);
	do {
		ret = collector_open(&u.k, cx);
		if (!ret)
			ret = run_batch(&u, cx);
		collector_close(&u.k);
	} while (ret > 0);
	if (!ret)
		ret = collector_finish(&u.k, cx);
	p->totals = u.k.totals;
	collector_fini(&u.k);
	return ret ? ret : zero_rest(&u, cx, dev);
}
