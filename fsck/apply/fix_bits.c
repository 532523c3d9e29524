// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Correcting flipped bits before any other repair: in place, without writing a
 * log or a checksum.
 *
 * With a flipped bit in the latest log the volume looks as if that log had
 * never been written; every other repair would start from an older state.
 *
 * For a log of 8 MiB, one other damage in 64 looks like a flipped bit.  In
 * metadata the passes detect a wrong correction.  In file data they cannot, so
 * bits there are corrected only if no error is left then: other damage in the
 * log would explain the checksum, too.
 */
#include "fsck/apply/repair.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dev/overlay.h"
#include "dev/zone.h"
#include "fsck/apply/improvement.h"
#include "fsck/plan/fixers.h"
#include "fsck/witness/witness.h"

static void note_bit(struct fixer_job *job, const struct fix *fix)
{
	const char *what =
		fix->place.kind == PLACE_SUPER ? "superblock" : "block";
	uint64_t number = fix->place.number + (fix->place.kind == PLACE_SUPER);
	unsigned int bit = (unsigned int)(fix->want ^ fix->got);

	fixers_note(job,
		    "%s %" PRIu64 ": byte %" PRIu32 ": bit %d flipped "
		    "back",
		    what, number, fix->place.offset, __builtin_ctz(bit));
}

static int flip_back(struct fixer_job *job, struct context *cx,
		     const struct fix *fix, uint64_t byte)
{
	uint8_t is, want = (uint8_t)fix->want;
	int err;

	if (!zone_is_in_place(job->dev->zones, byte))
		return 0;
	err = dev_read(job->dev, cx, byte, &is, 1);
	if (!err && is == fix->got)
		err = dev_write(job->dev, cx, byte, &want, 1);
	if (!err)
		note_bit(job, fix);
	return err;
}

int fix_bits(struct fixer_job *job, struct context *cx, const struct fix *fixes,
	     size_t n)
{
	struct witness_supers supers;
	uint64_t byte;
	size_t i;
	int err = 0;

	witness_supers(&supers, cx, job->dev);
	for (i = 0; i < n && !err; i++) {
		if (fixes[i].place.kind == PLACE_SUPER)
			byte = supers.offset[fixes[i].place.number];
		else
			byte = fixes[i].place.number << supers.geo.block_bits;
		err = flip_back(job, cx, &fixes[i],
				byte + fixes[i].place.offset);
	}
	return err;
}

/* Those that the passes can judge come first: how many. */
static size_t sort_by_danger(struct plan_kind *k)
{
	size_t i, n = 0;

	for (i = 0; i < k->n; i++) {
		struct fix fix = k->fixes[i];

		if (rule_info(fix.rule)->danger != RULE_DANGER_SAFE)
			continue;
		k->fixes[i] = k->fixes[n];
		k->fixes[n++] = fix;
	}
	return n;
}

/* The first N: 1 where they stay, 0 where not, or a failure. */
static int correct_bits(struct repair *r, struct context *cx, size_t n,
			enum improvement_demand demand)
{
	struct repair_point from = repair_point(r);
	struct fixer_job job = repair_job(r, cx);
	int ret = fix_bits(&job, cx, job.plan->kinds[RULE_FIX_BITS].fixes, n);

	if (!ret && overlay_mark(r->dev) != from.overlay)
		ret = repair_look(r, cx, demand);
	if (!ret)
		repair_back(r, &from);
	return repair_tolerate(r, cx, ret);
}

int fix_bits_run(struct repair *r, struct context *cx)
{
	struct plan_kind *k = &r->first->plan.kinds[RULE_FIX_BITS];
	size_t nsafe;
	int ret = 0;

	if (k->n && !repair_is_cut_off(r->first))
		ret = ask_stage(&r->ask, cx, &r->first->plan, RULE_STAGE_BITS);
	nsafe = ret ? 0 : sort_by_danger(k);
	if (!ret && k->n > nsafe)
		ret = correct_bits(r, cx, k->n, IMPROVEMENT_SOUND);
	if (!ret && nsafe)
		ret = correct_bits(r, cx, nsafe, IMPROVEMENT_OR_SAME);
	r->given_up[RULE_FIX_BITS] = true;
	return ret < 0 ? ret : 0;
}
