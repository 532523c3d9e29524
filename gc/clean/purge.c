// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Purging.
 *
 * Free space is recorded in the SUFILE, but a dead block within a segment can
 * only be freed by cleaning the segment.  So segments with remains are moved
 * until there are none; moved blocks have none, so each batch leaves fewer.
 * The segment being written cannot be a victim: if it has remains, the next log
 * begins another one first.
 */
#include "gc/clean/purge.h"

#include <errno.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/plan/policy.h"
#include "vol/liveness.h"
#include "vol/logscan.h"
#include "vol/summary.h"
#include "vol/translate.h"
#include "vol/volume.h"

/*
 * Remains.
 *
 * The logs list every block as it was written, and the DAT shows whether it is
 * live.  Old blocks of DAT, cpfile and SUFILE do not count: each checkpoint
 * leaves some, and they have no content of files.
 */

static bool is_of_files(const struct segsum_block *b)
{
	return b->is_virtual && b->ino != NILFS_DAT_INO &&
	       b->ino != NILFS_CPFILE_INO && b->ino != NILFS_SUFILE_INO;
}

/* Whether the block at BLOCKNR is the one of VBLOCKNR, and needed: 1, 0. */
static int is_block_needed(struct context *cx, struct volume *vol,
			   const struct liveness *l, uint64_t vblocknr,
			   uint64_t blocknr)
{
	struct nilfs_dat_entry de;
	int ret = translate_entry(vol, cx, vblocknr, &de);

	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (ret)
		return ret;
	return le64_get(de.de_blocknr) == blocknr &&
	       liveness_of_entry(l, &de) != LIVENESS_DEAD;
}

static int look_into(struct context *cx, struct volume *vol,
		     const struct liveness *l, struct summary *summary,
		     const struct log *log)
{
	struct segsum_block b;
	int ret = summary_read(summary, cx, vol, log->pseg, &log->ss);

	if (ret)
		return ret;
	while ((ret = summary_next(summary, cx, &b)) > 0) {
		if (!is_of_files(&b))
			continue;
		ret = is_block_needed(cx, vol, l, b.vblocknr,
				      log->pseg + b.index);
		if (ret <= 0)
			return ret ? ret : 1;
	}
	return ret;
}

/*
 * Whether the first NBLOCKS blocks of SEGNUM have a block of a file or of the
 * ifile that is not live by L: 1, 0.  1 also if the logs do not list all of
 * them.  -EIO, -EUCLEAN, -ENOMEM.
 */
static int remains_any(struct context *cx, struct volume *vol,
		       const struct liveness *l, uint64_t segnum,
		       uint32_t nblocks)
{
	uint64_t end = geometry_segment_start(&vol->geo, segnum) + nblocks;
	struct summary summary = { .vol = NULL };
	struct logscan scan;
	struct log log;
	int ret;

	if (!nblocks)
		return 0;
	ret = logscan_open(&scan, cx, vol, segnum, nblocks);
	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0)
		ret = look_into(cx, vol, l, &summary, &log);
	summary_free(&summary);
	return ret ? ret : scan.pseg < end;
}

struct purger {
	struct collector k;
	struct purge *p;
	const struct collector_options *how;
	bool renewed;		/* superblocks name a log of ours */
};

/* If it cannot be determined, assume remains. */
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
static int add_if_remains(struct purger *u, struct context *cx,
			  const struct policy_segment *s)
{
	int ret = has_remains(u, cx, s->segnum, s->written);

	if (ret <= 0)
		return ret;
	ret = collector_add(&u->k, cx, s, collector_room(&u->k));
	u->p->left += !ret;
	return ret;
}

static int choose_remains(struct purger *u, struct context *cx)
{
	const struct facts *f = &u->k.facts;
	struct policy_order order;
	int64_t i;
	int ret = policy_open(&order, &policy_list[0], &f->env, f->segments,
			      f->n);

	u->p->left = 0;
	while (ret >= 0 && (i = policy_next(&order, f->clean)) >= 0)
		ret = add_if_remains(u, cx, &f->segments[i]);
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

/* One batch: 1, or 0 if none is left. */
static int purge_batch(struct purger *u, struct context *cx)
{
	int ret = choose_remains(u, cx);

	if (ret)
		return ret;
	if (!u->k.load.has.nvictims)
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
			ret = purge_batch(&u, cx);
		collector_close(&u.k);
	} while (ret > 0);
	if (!ret)
		ret = collector_finish(&u.k, cx);
	p->totals = u.k.totals;
	collector_fini(&u.k);
	return ret ? ret : zero_rest(&u, cx, dev);
}
