// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Logs without a superblock.
 *
 * A log has two checksums with the same seed.  Run backwards, the one over the
 * summary gives the seed; the one over all blocks then holds for one size of
 * blocks only.  So a single log that is whole proves both, and the segments
 * that logs name as their next ones show how large segments are.
 *
 * What lies inside a log is the content of files, such as images of other
 * volumes, and not looked at.  So the device is read once, piece by piece, and a
 * log summed as far as it is in the piece.  A device that was formatted more
 * than once has logs with several seeds.
 */
#include "fsck/super/volscan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"

#define STEP NILFS_MIN_BLOCK_SIZE	/* no log begins between two */
#define PIECE (1u << 20)
#define SUMMARY_MAX (16u << 20)
#define SIZES (NILFS_MAX_BLOCK_BITS - NILFS_MIN_BLOCK_BITS + 1)

#define DATASUM_FROM offsetof(struct nilfs_segment_summary, ss_sumsum)
#define SUMSUM_FROM offsetof(struct nilfs_segment_summary, ss_magic)

struct scan {
	struct volscan *q;
	struct dev *dev;
	uint8_t *piece;		/* of the device, PIECE bytes */
	uint64_t off;		/* where that is, and how much it has */
	size_t len;
	uint8_t *buffer;	/* PIECE bytes too */
	uint64_t budget;	/* bytes that may still be summed */
};

/* Sound logs are summed once; what only looks like logs may cost as much. */
#define BUDGET 8

/* The seed of the log at OFF, if its ss_sumsum is right. */
static int find_seed(struct scan *scan, struct context *cx, uint64_t off,
		     const struct nilfs_segment_summary *ss, uint32_t *seed)
{
	uint32_t len = le32_get(ss->ss_sumbytes);
	uint8_t *buf = len <= scan->dev->size - off ? malloc(len) : NULL;
	int err;

	if (!buf)
		return fail(cx, -EUCLEAN, "summary of %u bytes", len);
	err = dev_read(scan->dev, cx, off, buf, len);
	*seed = crc32_le_seed(le32_get(ss->ss_sumsum), buf + SUMSUM_FROM,
			      len - SUMSUM_FROM);
	free(buf);
	return err;
}

/* Goes on with *SUM over the bytes from FROM up to END of the device. */
static int sum_range(struct scan *scan, struct context *cx, uint64_t from,
		     uint64_t end, uint32_t *sum)
{
	const uint8_t *bytes;
	size_t len;

	for (; from < end; from += len) {
		bool known = from >= scan->off && from - scan->off < scan->len;
		uint64_t most = known ? scan->off + scan->len - from : PIECE;
		int err = context_cancelled(cx);

		len = (size_t)(end - from < most ? end - from : most);
		if (!err && scan->budget < len)
			err = fail(cx, -EUCLEAN, "too many broken logs");
		if (!err && !known)
			err = dev_read(scan->dev, cx, from, scan->buffer,
				       len);
		if (err)
			return err;
		bytes = known ? scan->piece + (from - scan->off) :
				scan->buffer;
		scan->budget -= len;
		*sum = crc32_le(*sum, bytes, len);
	}
	return 0;
}

/*
 * The size of blocks with which the log at OFF has the right ss_datasum by
 * SEED, or 0; only KNOWN is tried where that is not 0.
 */
static int find_block_size(struct scan *scan, struct context *cx,
			   uint64_t off, const struct nilfs_segment_summary *ss,
			   uint32_t seed, uint32_t known, uint32_t *size)
{
	uint64_t from = off + DATASUM_FROM, end;
	uint32_t sum = seed, try;
	int err = 0;

	*size = 0;
	for (try = known ? known : NILFS_MIN_BLOCK_SIZE;
	     try <= (known ? known : NILFS_MIN_BLOCK_SIZE << (SIZES - 1));
	     try <<= 1) {
		end = off + (uint64_t)le32_get(ss->ss_nblocks) * try;
		if (off % try || end > scan->dev->size)
			return 0;
		err = sum_range(scan, cx, from, end, &sum);
		if (err)
			return err;
		from = end;
		if (sum == le32_get(ss->ss_datasum)) {
			*size = try;
			return 0;
		}
	}
	return 0;
}

/* Of two with the same number the one that lies behind, met later, is newer. */
static void add_root(struct volscan_volume *v, uint64_t off,
		     const struct nilfs_segment_summary *ss)
{
	unsigned int i = v->nroots;

	while (i && le64_get(ss->ss_seq) >=
			    le64_get(v->roots[i - 1].ss.ss_seq)) {
		if (i < VOLSCAN_ROOTS)
			v->roots[i] = v->roots[i - 1];
		i--;
	}
	if (i == VOLSCAN_ROOTS)
		return;
	v->roots[i] = (struct volscan_root){ .offset = off, .ss = *ss };
	if (v->nroots < VOLSCAN_ROOTS)
		v->nroots++;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void add_log(struct volscan_volume *v, uint64_t off,
		    const struct nilfs_segment_summary *ss)
{
	uint64_t next = le64_get(ss->ss_next);

	v->logs++;
	if (le64_get(ss->ss_create) > v->newest)
		v->newest = le64_get(ss->ss_create);
	/* The first segment begins after the superblock. */
	if (next >= NILFS_SEG_MIN_BLOCKS)
		v->segment_blocks = common_divisor(v->segment_blocks, next);
	if (le16_get(ss->ss_flags) & NILFS_SS_SR)
		add_root(v, off, ss);
}

/* Takes what may be a log at OFF; its bytes, or 0 where it is none. */
static int take_log(struct scan *scan, struct context *cx, uint64_t off,
		    const struct nilfs_segment_summary *ss, uint64_t *bytes)
{
	uint32_t nblocks = le32_get(ss->ss_nblocks);
	uint32_t sumbytes = le32_get(ss->ss_sumbytes);
	uint32_t header = le16_get(ss->ss_bytes), seed = 0, size = 0;
	struct volscan *q = scan->q;
	unsigned int i = 0;
	int err;

	*bytes = 0;
	/* Sizes that some volume could have, for any size of blocks. */
	if (le32_get(ss->ss_magic) != NILFS_SEGSUM_MAGIC ||
	    header < NILFS_SEGSUM_MIN_BYTES || header > sumbytes ||
	    header > NILFS_MIN_BLOCK_SIZE || sumbytes > SUMMARY_MAX ||
	    nblocks < NILFS_PSEG_MIN_BLOCKS ||
	    (uint64_t)nblocks * STEP > scan->dev->size - off)
		return 0;
	err = find_seed(scan, cx, off, ss, &seed);
	if (err)
		return err;
	while (i < q->nvolumes && q->volumes[i].crc_seed != seed)
		i++;
	err = find_block_size(scan, cx, off, ss, seed,
			      i < q->nvolumes ? q->volumes[i].block_size : 0,
			      &size);
	if (err || !size)
		return err;
	if (i == q->nvolumes && i < VOLSCAN_VOLUMES) {
		q->volumes[q->nvolumes++] = (struct volscan_volume){
			.crc_seed = seed, .block_size = size,
		};
	}
	if (i < q->nvolumes)
		add_log(&q->volumes[i], off, ss);
	*bytes = (uint64_t)nblocks * size;
	return 0;
}

/* Looks at the piece; *NEXT: where to go on, after the last log in it. */
static int look_at(struct scan *scan, struct context *cx, uint64_t *next)
{
	struct nilfs_segment_summary ss;
	uint64_t at = 0, bytes;
	int err;

	for (; at + sizeof(ss) <= scan->len; at += bytes ? bytes : STEP) {
		memcpy(&ss, scan->piece + at, sizeof(ss));
		err = take_log(scan, cx, scan->off + at, &ss, &bytes);
		if (err && err != -EIO && err != -EUCLEAN)
			return err;
		if (err) {
			fail_clear(cx);
			bytes = 0;
		}
	}
	*next = scan->off + (at > scan->len ? at : scan->len);
	return 0;
}

/*
 * How much to read next, after a read of LEN bytes that FAILED or not: less
 * and less around a bad place, which may cost a disk seconds each time, and
 * more and more after it.
 */
static size_t next_piece(size_t len, bool failed)
{
	if (!failed)
		return len < PIECE / 2 ? 2 * len : PIECE;
	return len / 8 / STEP * STEP > STEP ? len / 8 / STEP * STEP : STEP;
}

static int walk_device(struct scan *scan, struct context *cx)
{
	uint64_t off = 0, size = scan->dev->size / STEP * STEP;
	size_t len, piece = PIECE;

	while (off < size) {
		int err = context_cancelled(cx);

		if (err)
			return err;
		len = size - off < piece ? (size_t)(size - off) : piece;
		if (dev_is_hole(scan->dev, off, len)) {
			off += len;
			continue;
		}
		scan->off = off;
		err = dev_read(scan->dev, cx, off, scan->piece, len);
		scan->len = err ? 0 : len;
		piece = next_piece(len, err);
		if (err == -EIO) {
			fail_clear(cx);
			off += len > STEP ? 0 : len;
			continue;
		}
		if (!err)
			err = look_at(scan, cx, &off);
		if (err)
			return err;
		if (scan->q->progress)
			scan->q->progress(scan->q->arg, off);
	}
	return 0;
}

int volscan_run(struct volscan *q, struct context *cx, struct dev *dev)
{
	struct scan scan = { .q = q, .dev = dev };
	int err = 0;

	scan.budget = BUDGET * dev->size;
	scan.piece = malloc(PIECE);
	scan.buffer = malloc(PIECE);
	if (!scan.piece || !scan.buffer)
		err = fail(cx, -ENOMEM, "search for logs");
	if (!err)
		err = walk_device(&scan, cx);
	free(scan.piece);
	free(scan.buffer);
	return err;
}
