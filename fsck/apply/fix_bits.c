// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Correcting flipped bits, and blocks of which an equal version is elsewhere, before any
 * other repair, in place, without a new log or checksum. With a flipped bit in the
 * latest log every other repair would start from an older state.
 *
 * In a log of 8 MiB, one of 64 other errors looks like a flipped bit. In
 * metadata the passes detect a wrong correction. In file data they cannot, so
 * bits there are corrected only if no error is left afterwards.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "dev/zone.h"
#include "fsck/witness/witness.h"

/* Copies block FROM, which a checksum proved to be equal, to TO. */
static int copy_block(struct fixer_job *job, struct context *cx,
		      const struct nilfs_geometry *geo, uint64_t to, uint64_t from)
{
	void *data = malloc(geo->block_size);
	int err = data ? dev_read(job->dev, cx, from << geo->block_bits, data,
				  geo->block_size) :
			 fail(cx, -ENOMEM, "block of a log");

	if (!err)
		err = dev_write(job->dev, cx, to << geo->block_bits, data,
				geo->block_size);
	if (!err)
		fixers_note(job, "block %" PRIu64 ": restored from block %" PRIu64,
			    to, from);
	free(data);
	return err;
}

int fix_bits(struct fixer_job *job, struct context *cx,
	     const struct finding *fixes, size_t n)
{
	struct witness_supers supers;
	size_t i;
	int err = 0;

	witness_supers(&supers, cx, job->dev);
	for (i = 0; i < n && !err; i++) {
		const struct finding *fix = &fixes[i];
		bool super = fix->place.kind == PLACE_SUPER;
		uint64_t byte = super ?
				supers.offset[fix->place.number] :
				fix->place.number << supers.geo.block_bits;
		uint8_t is, want = (uint8_t)fix->want;

		byte += fix->place.offset;
		if (!zone_is_in_place(job->dev->zones, byte))
			continue;
		if (fix->rule == RULE_LOG_COPY) {
			err = copy_block(job, cx, &supers.geo, fix->place.number,
					 fix->got);
			continue;
		}
		err = dev_read(job->dev, cx, byte, &is, 1);
		if (!err && is == fix->got)
			err = dev_write(job->dev, cx, byte, &want, 1);
		if (!err)
			fixers_note(job, "%s %" PRIu64 ": byte %" PRIu32
				    ": bit %d flipped back",
				    super ? "superblock" : "block",
				    fix->place.number + super,
				    fix->place.offset,
				    __builtin_ctz((unsigned int)(fix->want ^
								 fix->got)));
	}
	return err;
}

/* Corrects the first N bits: 1 if the correction is kept, 0 if not, or a
   failure. */
static int correct_bits(struct repair *r, struct context *cx, size_t n,
			enum improvement_demand demand)
{
	struct plan_kind *k = &r->first->plan.kinds[RULE_FIX_BITS];
	struct round round = {
		.job = trial_job(r, cx),
		.stage = RULE_STAGE_BITS,
		.taken = { [RULE_FIX_BITS] = true },
	};
	size_t all = k->n;
	int ret;

	k->n = n;
	ret = trial_attempt(r, cx, &round, demand);
	k->n = all;
	return ret;
}

int fix_bits_run(struct repair *r, struct context *cx)
{
	struct plan_kind *k = &r->first->plan.kinds[RULE_FIX_BITS];
	struct finding fix;
	size_t i, nsafe = 0;
	int ret = 0;

	if (k->n && !trial_is_cut_off(r->first))
		ret = plan_ask(&r->ask, cx, &r->first->plan, RULE_STAGE_BITS);
	/* Bits that the passes can verify come first. */
	for (i = 0; i < k->n && !ret; i++) {
		fix = k->fixes[i];
		if (rule_info(fix.rule)->danger != RULE_DANGER_SAFE)
			continue;
		k->fixes[i] = k->fixes[nsafe];
		k->fixes[nsafe++] = fix;
	}
	if (!ret && k->n > nsafe)
		ret = correct_bits(r, cx, k->n, IMPROVEMENT_SOUND);
	if (!ret && nsafe)
		ret = correct_bits(r, cx, nsafe, IMPROVEMENT_OR_SAME);
	return ret < 0 ? ret : 0;
}
