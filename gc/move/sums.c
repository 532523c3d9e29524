// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifying the checksums of logs whose blocks are moved.
 *
 * A moved block is covered by the checksum of its new log, so earlier damage
 * must be found before.  The checksum covers all blocks of a log, so the bad
 * one is not known: all files with blocks there are named, up to a few.
 *
 * One flipped bit is known, though (check/logs/logbits.h), in a log so short that
 * other damage rarely looks like one.  In a longer log it is not corrected, as a
 * wrong correction would get a checksum that matches.  A correction is one of
 * whatever is read from then on, by a device with patches: nothing is written
 * in place, which zones would not allow, and a dry run or a copy must not do.
 * The moved block is right, and the old one is freed.  A load that was made
 * before has what was read before, so it is to be made again.
 *
 * Logs are read while the batch is written, which takes effect later: on a disk
 * that takes no longer then.
 *
 * Trials and forecasts write logs to an overlay, partly without content.  Logs
 * are verified on the device underneath, and only if the log there is the one
 * to be moved.
 *
 * What is moved after a trial was verified by it.  How many logs of a segment
 * were right is remembered: all that have a block to be moved are in the load,
 * and until the segment is written again they only become fewer.
 */
#include "gc/move/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pool.h"
#include "base/search.h"
#include "check/logs/logbits.h"
#include "dev/patched.h"
#include "gc/move/blame.h"
#include "gc/move/load.h"
#include "vol/logcheck.h"
#include "vol/volume.h"

/* What is known of a log; the argument of a job. */
struct summed {
	struct summing *u;
	enum { UNKNOWN, RIGHT, WRONG } state;
};

struct summing {
	struct sums *s;
	const struct load *load;
	struct pool *pool;
	struct summed *logs;	/* as those of the load */
};

int sums_open(struct sums *s, struct context *cx, struct dev *dev)
{
	*s = (struct sums){ .dev = NULL };
	return patched_open(&s->dev, cx, dev);
}

void sums_close(struct sums *s)
{
	dev_close(s->dev);
	free(s->good);
	free(s->bad);
	free(s->bits);
	*s = (struct sums){ .dev = NULL };
}

static uint64_t segment_of(const struct load *load, size_t i)
{
	return geometry_segment_of(&load->facts->vol->geo, load->logs[i].pseg);
}

/* The logs of a segment are in a row: the first one after that of log I. */
static size_t next_segment(const struct load *load, size_t i)
{
	uint64_t segnum = segment_of(load, i);

	while (i < load->has.nlogs && segment_of(load, i) == segnum)
		i++;
	return i;
}

/* What lives only becomes less: no more logs than before are the same ones. */
static void find_known(struct summing *u)
{
	size_t i, end;
	bool known;

	for (i = 0; i < u->load->has.nlogs;) {
		end = next_segment(u->load, i);
		known = end - i <= u->s->good[segment_of(u->load, i)];
		for (; i < end; i++)
			u->logs[i] = (struct summed){
				u, known ? RIGHT : UNKNOWN
			};
	}
}

static void note_good(struct summing *u)
{
	size_t i, n, end;

	for (i = 0; i < u->load->has.nlogs; i = end) {
		uint16_t *good = &u->s->good[segment_of(u->load, i)];

		end = next_segment(u->load, i);
		for (n = i; n < end && u->logs[n].state == RIGHT; n++)
			;
		if (n == end && end - i > *good)
			*good = end - i < UINT16_MAX ? (uint16_t)(end - i) :
						       UINT16_MAX;
	}
}

/* Whether LOG is on the device, and not on an overlay: 1, 0. */
static int is_on_device(const struct sums *s, struct context *cx,
			const struct load *load, const struct load_log *log)
{
	const struct nilfs_geometry *geo = &load->facts->vol->geo;
	struct nilfs_segment_summary ss;
	int ret = dev_read(s->dev, cx, log->pseg << geo->block_bits, &ss,
			   sizeof(ss));

	return ret ? ret : !memcmp(&ss, &log->ss, sizeof(ss));
}

static int sum_up(struct context *cx, void *arg, unsigned int worker, bool skip)
{
	struct summed *job = arg;
	struct summing *u = job->u;
	const struct load_log *log = &u->load->logs[job - u->logs];
	int ret = skip ? 0 : is_on_device(u->s, cx, u->load, log);

	(void)worker;
	if (ret > 0) {
		ret = logcheck_is_right(u->s->dev, cx,
					&u->load->facts->vol->geo, log->pseg,
					&log->ss);
		if (ret >= 0)
			job->state = ret ? RIGHT : WRONG;
	}
	if (ret != -EIO)
		return ret < 0 ? ret : 0;
	fail_clear(cx);
	return 0;
}

static uint64_t block_of(const struct load *load, uint64_t bit)
{
	return bit >> 3 >> load->facts->vol->geo.block_bits;
}

static bool is_victim(const struct load *load, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&load->facts->vol->geo, blocknr);
	size_t i;

	for (i = 0; i < load->has.nvictims; i++)
		if (load->victims[i] == segnum)
			return true;
	return false;
}

/* The block of a flipped bit is free now. */
static void forget_bit(struct sums *s, const struct load *load, size_t i)
{
	const struct nilfs_geometry *geo = &load->facts->vol->geo;

	patched_remove(s->dev, block_of(load, s->bits[i]) << geo->block_bits,
		       geo->block_size);
	s->bits[i] = s->bits[--s->nbits];
}

void sums_forget(struct sums *s, const struct load *load)
{
	size_t i;

	for (i = 0; i < load->has.nvictims; i++)
		if (load->victims[i] < s->ngood)
			s->good[load->victims[i]] = 0;
	for (i = s->nbits; i--;)
		if (is_victim(load, block_of(load, s->bits[i])))
			forget_bit(s, load, i);
}

/* Whether LOAD moves BLOCKNR as it is on the device: 1, 0. */
static int is_moved(const struct sums *s, struct context *cx,
		    const struct load *load, uint64_t blocknr)
{
	size_t i;
	int ret;

	if (!blame_has(load, blocknr))
		return 0;
	for (i = 0; i < load->has.nlogs; i++)
		if (blocknr >= load->logs[i].pseg &&
		    blocknr - load->logs[i].pseg <
			    le32_get(load->logs[i].ss.ss_nblocks))
			break;
	if (i == load->has.nlogs)
		return 0;
	ret = is_on_device(s, cx, load, &load->logs[i]);
	if (ret >= 0)
		return ret;
	fail_clear(cx);
	return 0;
}

uint64_t sums_bits(const struct sums *s, struct context *cx,
		   const struct load *load)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->nbits; i++)
		n += (uint64_t)is_moved(s, cx, load,
					block_of(load, s->bits[i]));
	return n;
}

bool sums_is_bad(const struct sums *s, uint64_t segnum)
{
	size_t i = search_lower_bound(s->bad, s->nbad, segnum);

	return i < s->nbad && s->bad[i] == segnum;
}

static int note_bad(struct sums *s, struct context *cx, uint64_t segnum)
{
	size_t i = search_lower_bound(s->bad, s->nbad, segnum);

	if (sums_is_bad(s, segnum))
		return 0;
	if (array_reserve(cx, &s->bad, &s->bad_room, s->nbad + 1))
		return -ENOMEM;
	memmove(&s->bad[i + 1], &s->bad[i], (s->nbad++ - i) * sizeof(*s->bad));
	s->bad[i] = segnum;
	return 0;
}

/* Says that BIT was flipped, where it matters. */
static int report_bit(struct summing *u, struct context *cx,
		      const struct logbit *bit)
{
	const struct nilfs_geometry *geo = &u->load->facts->vol->geo;
	uint64_t blocknr = bit->byte >> geo->block_bits;
	char owner[BLAME_MAX], text[2 * BLAME_MAX];
	int ret = blame_block(owner, cx, u->load, blocknr);

	if (ret <= 0 || !u->s->found)
		return ret < 0 ? ret : 0;
	snprintf(text, sizeof(text), "block %" PRIu64 ": bit %u of byte %"
		 PRIu64 " was flipped, by the checksum of its log (by chance 1 "
		 "in %" PRIu64 "), and is corrected where it is moved: %s",
		 blocknr, bit->bit, bit->byte & (geo->block_size - 1),
		 (UINT64_C(1) << 32) / bit->positions, owner);
	u->s->found(u->s->arg, text);
	return 0;
}

/* From now on BIT reads as what it was. */
static int correct_bit(struct summing *u, struct context *cx,
		       const struct logbit *bit)
{
	const struct nilfs_geometry *geo = &u->load->facts->vol->geo;
	uint64_t off = bit->byte & ~(uint64_t)(geo->block_size - 1);
	struct sums *s = u->s;
	uint8_t *block;
	int ret;

	if (array_reserve(cx, &s->bits, &s->bits_room, s->nbits + 1))
		return -ENOMEM;
	block = malloc(geo->block_size);
	if (!block)
		return fail(cx, -ENOMEM, "block with a flipped bit");
	ret = dev_read(s->dev, cx, off, block, geo->block_size);
	block[bit->byte - off] ^= (uint8_t)(1u << bit->bit);
	if (!ret)
		ret = patched_set(s->dev, cx, off, block, geo->block_size);
	free(block);
	if (ret < 0)
		return ret;
	s->bits[s->nbits++] = bit->byte * 8 + bit->bit;
	return report_bit(u, cx, bit);
}

/*
 * Corrects the flipped bits of LOG, which does not match its checksum: 1, or 0
 * if there is another reason for that, or may be one.
 */
static int correct_log(struct summing *u, struct context *cx,
		       struct logbits *lb, const struct load_log *log)
{
	unsigned int i;
	int ret = logbits_header(lb, cx, log->pseg);
	int err = ret > 0 ? logbits_blocks(lb, cx) : 0;

	if (ret <= 0 || err || !lb->whole || !lb->nbits ||
	    !logbits_is_credible(lb))
		return ret < 0 ? ret : err;
	for (i = 0; i < lb->nbits && !err; i++)
		err = correct_bit(u, cx, &lb->bits[i]);
	return err ? err : 1;
}

/*
 * What to do about logs that are wrong: -EAGAIN if some were corrected; -EUCLEAN
 * if none, and *WRONG is the first one.
 */
static int judge_wrong(struct summing *u, struct context *cx, size_t *wrong)
{
	struct logbits lb = {
		.dev = u->s->dev,
		.geo = &u->load->facts->vol->geo,
	};
	size_t i, n = u->load->has.nlogs;
	bool corrected = false;
	int ret = 0;

	*wrong = n;
	for (i = 0; i < n && ret >= 0; i++) {
		if (u->logs[i].state != WRONG)
			continue;
		ret = correct_log(u, cx, &lb, &u->load->logs[i]);
		corrected |= ret > 0;
		if (ret)
			continue;
		ret = note_bad(u->s, cx, segment_of(u->load, i));
		*wrong = *wrong == n ? i : *wrong;
	}
	logbits_fini(&lb);
	if (ret < 0)
		return ret;
	if (corrected)
		return fail(cx, -EAGAIN, "flipped bits were found");
	return -EUCLEAN;
}

static int reserve_good(struct sums *s, uint64_t nsegments)
{
	uint16_t *good;

	if (nsegments <= s->ngood)
		return 0;
	good = realloc(s->good, nsegments * sizeof(*good));
	if (!good)
		return -ENOMEM;
	memset(good + s->ngood, 0, (nsegments - s->ngood) * sizeof(*good));
	s->good = good;
	s->ngood = nsegments;
	return 0;
}

/* All jobs fit into the queue: to give one is not to wait. */
static int begin_summing(struct summing *u, struct context *cx)
{
	size_t i, n = u->load->has.nlogs;
	unsigned int depth = n < UINT32_MAX ? (unsigned int)n : UINT32_MAX;
	int ret;

	u->logs = calloc(n, sizeof(*u->logs));
	if (!u->logs ||
	    reserve_good(u->s, u->load->facts->vol->geo.nsegments))
		return fail(cx, -ENOMEM, "checksums of %zu logs", n);
	find_known(u);
	ret = pool_open(&u->pool, cx, depth);
	for (i = 0; i < n && !ret; i++)
		if (!u->logs[i].state)
			ret = pool_give(u->pool, cx, sum_up, &u->logs[i], NULL);
	return ret;
}

int sums_begin(struct summing **up, struct context *cx, struct sums *s,
	       const struct load *load)
{
	struct summing *u;
	int ret;

	*up = NULL;
	if (!load->has.nlogs)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return fail(cx, -ENOMEM, "checksums of logs");
	u->s = s;
	u->load = load;
	ret = begin_summing(u, cx);
	if (ret)
		sums_end(u);
	else
		*up = u;
	return ret;
}

int sums_wait(struct summing *u, struct context *cx)
{
	size_t i;
	int ret = u ? pool_wait(u->pool, cx, NULL) : 0;

	if (!u || ret)
		return ret;
	note_good(u);
	for (i = 0; i < u->load->has.nlogs && !ret; i++)
		ret = u->logs[i].state == WRONG;
	return ret;
}

int sums_judge(struct summing *u, struct context *cx, uint64_t *bad)
{
	const struct load *load = u->load;
	char files[BLAME_MAX];
	size_t wrong;
	int ret = judge_wrong(u, cx, &wrong);

	if (ret != -EUCLEAN)
		return ret;
	ret = blame_log(files, cx, load, &load->logs[wrong]);
	if (ret)
		return ret;
	*bad = load->logs[wrong].pseg;
	return fail(cx, -EUCLEAN, "the log at block %" PRIu64 " does not match "
		    "its checksum; blocks of %s; run fsck.nilfs2 -y --data",
		    *bad, files);
}

void sums_end(struct summing *u)
{
	if (!u)
		return;
	pool_close(u->pool);
	free(u->logs);
	free(u);
}
