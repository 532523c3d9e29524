// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layout of a log: against a slow model that takes one item after the
 * other, and read back by the decoder of summaries.
 */
#include "log/write/loglayout.h"

#include <errno.h>
#include <stdlib.h>

#include "disk/segsum.h"

#include "sample.h"
#include "tap.h"

#define BLOCKS_MAX 3000
#define BYTES_MAX (64 * 4096)
#define ROUNDS 3000 /* if all are asked for, else a third */

struct model {
	const struct nilfs_geometry *g;
	uint32_t limit, offset, npayload, nfinfo, ndata;
	bool open, nodes;	/* a finfo is; it has nodes */
	bool super_root;
	struct loglayout_run file;	/* whose finfo is open */
	struct segsum_block blocks[BLOCKS_MAX];
	bool used[BYTES_MAX];
};

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static struct nilfs_geometry geometry(uint32_t block_bits)
{
	return (struct nilfs_geometry){
		.block_size = 1u << block_bits,
		.block_bits = block_bits,
		.blocks_per_segment = 4096,
		.first_data_block = 1,
		.nsegments = 1000,
		.crc_seed = 99,
	};
}

static uint32_t size_of(const struct loglayout_run *run)
{
	switch (run->kind) {
	case LOGLAYOUT_DATA:
	case LOGLAYOUT_DAT_NODE:
		return 16;
	default:
		return 8;
	}
}

static bool node(const struct loglayout_run *run)
{
	return run->kind == LOGLAYOUT_NODE || run->kind == LOGLAYOUT_DAT_NODE;
}

/* One item more: the end of it. */
static uint32_t step(uint32_t block_size, uint32_t offset, uint32_t size)
{
	if (offset / block_size != (offset + size - 1) / block_size)
		offset = (offset / block_size + 1) * block_size;
	return offset + size;
}

static bool same_finfo(const struct model *m, const struct loglayout_run *run)
{
	return m->open && m->file.ino == run->ino && m->file.cno == run->cno &&
	       (node(run) || !m->nodes);
}

static uint32_t model_room(const struct model *m,
			   const struct loglayout_run *run)
{
	uint32_t bs = m->g->block_size, offset = m->offset, n = 0;

	if (!same_finfo(m, run))
		offset = step(bs, offset, sizeof(struct nilfs_finfo));
	for (; n < run->count; n++) {
		offset = step(bs, offset, size_of(run));
		if ((offset + bs - 1) / bs + m->npayload + n + 1 > m->limit)
			break;
	}
	return n;
}

static void model_item(struct model *m, uint32_t size)
{
	m->offset = step(m->g->block_size, m->offset, size);
	memset(m->used + m->offset - size, true, size);
}

static void model_add(struct model *m, const struct loglayout_run *run)
{
	bool dat = run->kind == LOGLAYOUT_DAT_DATA ||
		   run->kind == LOGLAYOUT_DAT_NODE;
	uint32_t i;

	if (!same_finfo(m, run)) {
		model_item(m, sizeof(struct nilfs_finfo));
		m->nfinfo++;
		m->nodes = false;
	}
	m->open = true;
	m->nodes |= node(run);
	m->file = *run;
	for (i = 0; i < run->count; i++) {
		model_item(m, size_of(run));
		m->blocks[m->npayload - m->super_root] = (struct segsum_block){
			.ino = run->ino,
			.cno = run->cno,
			.vblocknr = dat ? 0 : run->vblocknr + i,
			.blkoff = run->kind == LOGLAYOUT_NODE ?
					  0 : run->blkoff + i,
			.finfo = m->nfinfo - 1,
			.level = run->kind == LOGLAYOUT_DAT_NODE ?
					 run->level : node(run),
			.is_node = node(run),
			.is_virtual = !dat,
		};
		m->npayload++;
	}
}

static struct loglayout_run random_run(uint32_t *seed, uint64_t last_ino)
{
	struct loglayout_run run = {
		.ino = rnd(seed, 3) ? last_ino : 11 + rnd(seed, 5),
		.cno = 1 + !rnd(seed, 8),
		.kind = rnd(seed, 2) ? LOGLAYOUT_NODE : LOGLAYOUT_DATA,
		.vblocknr = 1ull << 40 | rnd(seed, 1000000),
		.count = 1 + rnd(seed, rnd(seed, 4) ? 4 : 300),
	};

	if (rnd(seed, 4) == 0 || last_ino == NILFS_DAT_INO) {
		run.ino = NILFS_DAT_INO;
		run.vblocknr = 0;
		run.kind = rnd(seed, 2) ? LOGLAYOUT_DAT_NODE :
					  LOGLAYOUT_DAT_DATA;
	}
	if (run.kind == LOGLAYOUT_DAT_NODE) {
		run.level = 1 + rnd(seed, 4);
		run.count = 1;
	}
	if (run.kind != LOGLAYOUT_NODE)
		run.blkoff = 1ull << 33 | rnd(seed, 1000000);
	return run;
}

/* The bytes that hold no item, and the two sums, are zero. */
static bool rest_is_zero(const struct model *m, const uint8_t *summary,
			 uint32_t nsumblk)
{
	uint32_t i;

	for (i = 0; i < nsumblk * m->g->block_size; i++)
		if ((i < 8 || (i >= 64 && !m->used[i])) && summary[i])
			return false;
	return true;
}

static bool same_block(const struct segsum_block *a,
		       const struct segsum_block *b)
{
	return a->ino == b->ino && a->cno == b->cno &&
	       a->vblocknr == b->vblocknr && a->blkoff == b->blkoff &&
	       a->finfo == b->finfo && a->level == b->level &&
	       a->is_node == b->is_node && a->is_virtual == b->is_virtual;
}

/* Reads a summary: is it what the model was given? */
static bool reads_back(const struct model *m, const void *summary,
		       uint32_t nsumblk)
{
	const struct nilfs_segment_summary *ss = summary;
	struct segsum_iter it;
	struct segsum_block b;
	uint32_t i = 0;

	if (segsum_check(m->g, ss, 4096) != RULE_OK ||
	    segsum_check_links(m->g, ss) != RULE_OK ||
	    segsum_nsumblk(m->g, ss) != nsumblk ||
	    le32_get(ss->ss_sumbytes) != m->offset ||
	    segsum_has_super_root(ss) != m->super_root)
		return false;
	segsum_iter_init(&it, m->g, summary,
			 (size_t)nsumblk * m->g->block_size);
	for (; segsum_iter_next(&it, &b); i++)
		if (!same_block(&b, &m->blocks[i]) || b.index != nsumblk + i)
			return false;
	return it.verdict == RULE_OK && i == m->npayload - m->super_root;
}

/* The same where runs are taken as such: every block is met in its turn. */
static bool reads_back_in_runs(const struct model *m, const void *summary,
			       uint32_t nsumblk)
{
	struct segsum_iter it;
	struct segsum_run run;
	struct segsum_block b;
	uint32_t i = 0, n;

	segsum_iter_init(&it, m->g, summary,
			 (size_t)nsumblk * m->g->block_size);
	while (segsum_iter_next(&it, &b)) {
		if (!same_block(&b, &m->blocks[i]) || b.index != nsumblk + i++)
			return false;
		while (segsum_iter_run(&it, &run)) {
			for (n = 0; n < run.count; n++, i++)
				if (run.index + n != nsumblk + i ||
				    le64_get(run.items[n].bi_vblocknr) !=
				    m->blocks[i].vblocknr ||
				    le64_get(run.items[n].bi_blkoff) !=
				    m->blocks[i].blkoff)
					return false;
		}
	}
	return it.verdict == RULE_OK && i == m->npayload - m->super_root;
}

/* Fills a log with runs, cut to what fits, until nothing fits. */
static uint32_t fill(struct loglayout *l, struct context *cx, struct model *m,
		     uint32_t *seed)
{
	struct loglayout_run run = {.ino = 11};
	uint32_t index, wrong = 0, tries = rnd(seed, 60);
	struct loglayout_run endless = {.ino = 1000, .count = UINT32_MAX};

	do {
		run = random_run(seed, run.ino);
		run.count = model_room(m, &run);
		wrong += loglayout_room(l, &run) != run.count;
		wrong += loglayout_room(l, &endless) !=
			 model_room(m, &endless);
		run.count++;
		wrong += loglayout_room(l, &run) > run.count;
		if (model_room(m, &run) < run.count)
			wrong += loglayout_add(l, cx, &run, &index) != -ENOSPC;
		if (!--run.count)
			continue;
		wrong += loglayout_add(l, cx, &run, &index) != 0;
		wrong += index != m->npayload - m->super_root;
		model_add(m, &run);
		wrong += loglayout_nblocks(l) > m->limit;
		wrong += l->nfinfo != m->nfinfo;
		if (!m->super_root && !rnd(seed, 9) &&
		    loglayout_add_super_root(l)) {
			m->super_root = true;
			m->npayload++;
		}
	} while (tries--);
	return wrong;
}

static void test_random(uint32_t block_bits)
{
	static const struct loglayout_header h = {
		.flags = NILFS_SS_LOGBGN, .next = 8192,
	};
	static struct model m;
	const struct nilfs_geometry g = geometry(block_bits);
	uint32_t seed = block_bits + 64 * (uint32_t)sample_seed(), i;
	uint32_t rounds = tries_all() ? ROUNDS : ROUNDS / 3;
	uint32_t fill_wrong = 0, read_wrong = 0;
	uint32_t full = 0, super_roots = 0;
	struct context cx;
	struct loglayout l;
	void *summary;

	context_init(&cx);
	for (i = 0; i < rounds; i++) {
		memset(&m, 0, sizeof(m));
		m.g = &g;
		m.offset = sizeof(struct nilfs_segment_summary);
		m.limit = 2 + rnd(&seed, i % 2 ? 20 : BLOCKS_MAX - 3);
		loglayout_init(&l, &g, m.limit);
		fill_wrong += fill(&l, &cx, &m, &seed);
		full += loglayout_nblocks(&l) == m.limit;
		super_roots += m.super_root;
		if (i % 4 == 3) {
			loglayout_fini(&l);
			continue;
		}
		if (loglayout_close(&l, &cx, &h, &summary)) {
			read_wrong++;
			continue;
		}
		read_wrong += !reads_back(&m, summary, loglayout_nsumblk(&l));
		read_wrong += !reads_back_in_runs(&m, summary,
						  loglayout_nsumblk(&l));
		read_wrong += !rest_is_zero(&m, summary,
					    loglayout_nsumblk(&l));
		free(summary);
	}
	is_int(fill_wrong, 0, "room, places and sizes are those of the model");
	is_int(read_wrong, 0, "all that was listed is read, the rest is zero");
	ok(full > rounds / 4, "many logs were filled to the last block");
	ok(super_roots > rounds / 10, "many had a super root");
}

static void test_header(void)
{
	static const struct loglayout_header h = {
		.flags = NILFS_SS_LOGEND | NILFS_SS_GC,
		.seq = 0x1122334455667788,
		.create = 0x99aabbccddee,
		.next = 8192,
		.cno = 0x123456789a,
	};
	const struct nilfs_geometry g = geometry(12);
	const struct nilfs_segment_summary *ss;
	struct context cx;
	struct loglayout l;
	void *summary;

	context_init(&cx);
	loglayout_init(&l, &g, 2);
	is_int(loglayout_nblocks(&l), 1, "an empty log is its summary");
	ok(loglayout_add_super_root(&l), "a log of two blocks has a super root");
	ok(!loglayout_add_super_root(&l), "and only one");
	is_int(loglayout_close(&l, &cx, &h, &summary), 0, "it is complete");
	ss = summary;
	is_int(segsum_check_kernel(&g, ss, 4096, h.seq), RULE_OK,
	       "the kernel takes its header");
	is_int(le16_get(ss->ss_bytes), 64, "of 64 bytes");
	is_int(le16_get(ss->ss_flags),
	       NILFS_SS_LOGEND | NILFS_SS_GC | NILFS_SS_SR,
	       "SR is added to the flags");
	is_int(le64_get(ss->ss_create), h.create, "ss_create");
	is_int(le64_get(ss->ss_next), h.next, "ss_next");
	is_int(le64_get(ss->ss_cno), h.cno, "ss_cno");
	is_int(le32_get(ss->ss_nblocks), 2, "ss_nblocks");
	is_int(le32_get(ss->ss_nfinfo), 0, "ss_nfinfo");
	is_int(le32_get(ss->ss_sumbytes), 64, "ss_sumbytes");
	free(summary);
	loglayout_fini(&l);
}

/*
 * A segment of 8 MiB: 2048 blocks of 4 KiB.  250 data items in the first block
 * are after header and finfo (4096 - 64 - 24 = 4008 = 250 * 16 + 8).
 */
static void test_segment(void)
{
	const struct nilfs_geometry g = geometry(12);
	struct loglayout_run run = {
		.ino = 11, .cno = 1, .vblocknr = 1, .count = 5000,
	};
	struct context cx;
	struct loglayout l;
	uint32_t index;

	context_init(&cx);
	loglayout_init(&l, &g, 2048);
	/* 250 + 7 * 256 = 2042 items fill 8 blocks; 2040 + 8 = 2048. */
	is_int(loglayout_room(&l, &run), 2040, "data blocks of a segment");
	run.count = 2040;
	is_int(loglayout_add(&l, &cx, &run, &index), 0, "are listed");
	is_int(loglayout_nsumblk(&l), 8, "in eight blocks");
	is_int(loglayout_room(&l, &run), 0, "and fill it");
	ok(!loglayout_add_super_root(&l), "without room for a super root");
	loglayout_fini(&l);
}

int main(void)
{
	test_header();
	test_segment();
	test_random(10);
	test_random(12);
	return tap_done();
}
