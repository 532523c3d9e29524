// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flipped bits in logs of a volume in memory: every bit of a summary and of a
 * super root, some of each other block.  The bit that is found must be the one
 * that was flipped.  Blocks that are proven, alone and by twos, and the payload
 * of logs whose summary is damaged.
 */
#include <stdlib.h>
#include <string.h>

#include "disk/segsum.h"
#include "fsck/witness/witness.h"
#include "vol/volume.h"

#include "fsck_volume.h"
#include "tap.h"

struct rig {
	struct log_volume v;
	struct logbits lb;
	uint64_t pseg, nblocks; /* the latest log */
	uint32_t nsumblk;
};

/* What the sums of the log say of it: 1, or 0 where there is none. */
static int solve(struct rig *r)
{
	int ret = logbits_header(&r->lb, &r->v.cx, r->pseg);
	int err = ret > 0 ? logbits_blocks(&r->lb, &r->v.cx) : 0;

	return err ? err : ret;
}

static void find_log(struct rig *r)
{
	struct volume *vol = NULL;

	is_int(volume_open(&vol, &r->v.cx, r->v.dev, NULL), 0, "a volume");
	if (!vol)
		return;
	r->pseg = vol->latest.pseg_start;
	r->nblocks = vol->latest.super_root + 1 - r->pseg;
	volume_close(vol);
	r->lb = (struct logbits){.dev = r->v.dev, .geo = &r->v.g};
	ok(solve(r) == 1 && r->lb.whole &&
		   !r->lb.nbits,
	   "a log that matches has no flipped bit");
	r->nsumblk = segsum_nsumblk(&r->v.g, &r->lb.ss);
}

static void flip(struct rig *r, uint64_t byte, unsigned int bit)
{
	uint8_t c;

	dev_read(r->v.dev, &r->v.cx, byte, &c, 1);
	c ^= (uint8_t)(1u << bit);
	dev_write(r->v.dev, &r->v.cx, byte, &c, 1);
}

/* Whether the flip of that bit, and no other, is found. */
static bool is_found(struct rig *r, uint64_t byte, unsigned int bit)
{
	bool found;

	flip(r, byte, bit);
	found = solve(r) == 1 && r->lb.whole &&
		r->lb.nbits == 1 && r->lb.bits[0].byte == byte &&
		r->lb.bits[0].bit == bit;
	flip(r, byte, bit);
	return found;
}

/* How many of the bits from byte FROM to byte END, every STEPth, are not. */
static uint64_t count_missed(struct rig *r, uint64_t from, uint64_t end,
			     unsigned int step)
{
	uint64_t bit, missed = 0;

	for (bit = 8 * from; bit < 8 * end; bit += step)
		missed += !is_found(r, bit / 8, bit % 8);
	return missed;
}

static void test_bits(struct rig *r)
{
	uint32_t bs = r->v.g.block_size;
	uint64_t start = r->pseg * bs, end = start + r->nblocks * bs;

	is_int(count_missed(r, start, start + 64, 1), 0,
	       "every bit of a header is found");
	is_int(count_missed(r, start + 64, start + r->nsumblk * bs, 61), 0,
	       "bits of what the summary lists, and after that");
	is_int(count_missed(r, start + r->nsumblk * bs, end - bs, 997), 0,
	       "bits of the blocks");
	is_int(count_missed(r, end - bs, end - bs + 400, 7), 0,
	       "bits of the super root");
	is_int(count_missed(r, end - bs + 400, end, 307), 0,
	       "bits after the super root");
}

/* Two bits: each sum names its own, and one sum does not take two for one. */
static void test_two(struct rig *r)
{
	uint32_t bs = r->v.g.block_size;
	uint64_t start = r->pseg * bs, data = start + r->nsumblk * bs;
	uint64_t root = start + (r->nblocks - 1) * bs;
	unsigned int bit, missed = 0;

	flip(r, start + 40, 0);
	flip(r, data + 5, 3);
	flip(r, root + 100, 2);
	ok(solve(r) == 1 && r->lb.whole &&
		   r->lb.nbits == 3,
	   "a bit of the length, one of a block and one of the super root");
	flip(r, start + 40, 0);
	flip(r, root + 100, 2);
	flip(r, data + 50, 3);
	ok(solve(r) == 1 && !r->lb.whole &&
		   !r->lb.nbits,
	   "two bits of blocks are not taken for one");
	flip(r, data + 50, 3);
	for (bit = 0; bit < 16; bit++) {
		flip(r, root + 4 + bit / 8, bit % 8);
		missed += solve(r) != 1 || !r->lb.whole || r->lb.nbits != 2;
		flip(r, root + 4 + bit / 8, bit % 8);
	}
	is_int(missed, 0, "a bit of a block and any of sr_bytes");
	flip(r, data + 5, 3);
	flip(r, start + 8, 3);
	flip(r, start + 9, 3);
	is_int(solve(r), 0,
	       "with two bits of the magic number wrong there is no log");
	flip(r, start + 8, 3);
	flip(r, start + 9, 3);
}

static void test_proof(struct rig *r)
{
	struct witness w = {
		.logbits = {.dev = r->v.dev, .geo = &r->v.g},
	};
	struct context *cx = &r->v.cx;
	uint32_t bs = r->v.g.block_size;
	uint64_t first = r->pseg + r->nsumblk;
	char *was = malloc(2 * bs), *zeros = calloc(2, bs);
	struct witness_block blocks[2] = {{first, was}, {first + 2, was + bs}};

	dev_read(r->v.dev, cx, first * bs, was, bs);
	dev_read(r->v.dev, cx, (first + 2) * bs, was + bs, bs);
	dev_write(r->v.dev, cx, first * bs, zeros, bs);
	is_int(witness_proves(&w, cx, r->pseg, blocks, 1), 1,
	       "what was in a block that is zeros now is proven");
	blocks[0].bytes = zeros;
	is_int(witness_proves(&w, cx, r->pseg, blocks, 1), 0,
	       "and nothing else");
	blocks[0].bytes = was;
	dev_write(r->v.dev, cx, (first + 2) * bs, zeros, bs);
	w.known = false;
	is_int(witness_proves(&w, cx, r->pseg, blocks, 1), 0,
	       "one of two that are zeros is not");
	is_int(witness_proves(&w, cx, r->pseg, blocks, 2), 1,
	       "but both together");
	blocks[0].blocknr = r->pseg;
	is_int(witness_proves(&w, cx, r->pseg, blocks, 1), 0,
	       "a summary is not asked for");
	is_int(witness_proves(&w, cx, r->pseg + 1, blocks, 1), 0,
	       "nor is a log where none begins");
	dev_write(r->v.dev, cx, first * bs, was, bs);
	dev_write(r->v.dev, cx, (first + 2) * bs, was + bs, bs);
	witness_fini(&w);
	free(was);
	free(zeros);
}

/* Other bytes in [FROM, END) of the log, none as before where FROM is. */
static void spoil(struct rig *r, uint32_t from, uint32_t end)
{
	uint32_t at;
	uint8_t c;

	for (at = from; at < end; at++) {
		uint64_t byte = r->pseg * r->v.g.block_size + at;

		dev_read(r->v.dev, &r->v.cx, byte, &c, 1);
		c = (uint8_t)(at == from ? c ^ 255u : c * 7u + at * 13 + 1);
		dev_write(r->v.dev, &r->v.cx, byte, &c, 1);
	}
}

/* Whether the payload is proven, with no more than MOST blocks. */
static int is_proven(struct rig *r, uint64_t most)
{
	uint64_t nblocks = 0;
	int ret = logbits_payload(&r->lb, &r->v.cx, r->pseg, most, &nblocks);

	return ret > 0 ? nblocks == r->nblocks : ret;
}

/* A summary may be anything but for the two sums and its length. */
static void test_payload(struct rig *r)
{
	const uint32_t sumbytes_at = 48, nblocks_at = 40;
	uint32_t bs = r->v.g.block_size, all = r->nsumblk * bs;
	uint64_t start = r->pseg * bs;
	char *was = malloc(all);

	dev_read(r->v.dev, &r->v.cx, start, was, all);
	is_int(is_proven(r, r->nblocks + 3), 1, "the payload of a sound log");
	spoil(r, 8, nblocks_at);
	spoil(r, sumbytes_at + 4, le32_get(r->lb.ss.ss_sumbytes));
	is_int(is_proven(r, r->nblocks + 3), 1,
	       "the payload of one whose summary is anything");
	flip(r, start + all + 77, 3);
	is_int(is_proven(r, r->nblocks + 3), 0, "with one bit wrong it is not");
	flip(r, start + all + 77, 3);
	spoil(r, nblocks_at, sumbytes_at);
	is_int(is_proven(r, r->nblocks + 3), 0, "nor with no length known");
	is_int(is_proven(r, r->nblocks), 1, "but with that of the gap");
	dev_write(r->v.dev, &r->v.cx, start, was, all);
	spoil(r, 4, 8);
	is_int(is_proven(r, r->nblocks + 3), 1,
	       "the payload where the sum of the summary is wrong");
	spoil(r, 8, 16);
	is_int(is_proven(r, r->nblocks + 3), 0, "and not more than that sum");
	dev_write(r->v.dev, &r->v.cx, start, was, all);
	free(was);
}

int main(void)
{
	struct rig r = {0};

	is_int(fsck_volume_make(&r.v, NULL), 0,
	       "a volume with two checkpoints");
	find_log(&r);
	if (r.nblocks) {
		test_bits(&r);
		test_two(&r);
		test_proof(&r);
		test_payload(&r);
	}
	logbits_fini(&r.lb);
	log_volume_fini(&r.v);
	return tap_done();
}
