// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first log against every rule of the format that a log alone can break,
 * for each block size, with and without live-block counts.
 */
#include <stdlib.h>

#include "tests/testdev/memory.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "disk/superroot.h"
#include "mkfs/content.h"
#include "mkfs/format.h"

#include "tap.h"

#define SIZE (32u << 20)

struct log {
	struct plan plan;
	const struct nilfs_geometry *g;
	uint8_t *device;		/* SIZE bytes */
	uint8_t *buf;			/* the log on it */
	struct writer_end end;
	struct nilfs_segment_summary ss;
	uint32_t nblocks;
	const uint8_t *blocks[NILFS_USER_INO][8];	/* by ino, blkoff */
	uint64_t vblocknr_at[16];	/* by index in the log */
};

static void log_write(struct log *log, struct context *cx)
{
	struct content content = { 0 };
	struct dev *dev = NULL;

	log->device = calloc(1, SIZE);
	memory_open(&dev, cx, log->device, SIZE);
	is_int(content_write(&content, cx, dev, &log->plan), 0, "a log");
	log->end = content.end;
	log->buf = log->device + log->end.pseg * log->g->block_size;
	memcpy(&log->ss, log->buf, sizeof(log->ss));
	log->nblocks = le32_get(log->ss.ss_nblocks);
	dev_close(dev);
}

static void log_make(struct log *log, uint64_t block_size,
		     const char *features)
{
	struct mkfs_options o = options_defaults;
	struct plan_facts facts = {
		.name = "device", .size = SIZE, .sector_size = 512,
		.now = 1000,
	};
	struct context cx;

	memset(log, 0, sizeof(*log));
	context_init(&cx);
	o.block_size = block_size;
	o.blocks_per_segment = 16;
	o.features = features;
	is_int(plan_make(&cx, &o, &facts, &log->plan), 0, "a plan");
	log->g = &log->plan.g;
	log_write(log, &cx);
}

static void check_super(const struct log *log)
{
	struct nilfs_super_block sb;
	struct nilfs_geometry g;

	format_super(&log->plan, &log->end, &sb);
	is_int(super_check(&sb), RULE_OK, "the superblock is valid");
	is_int(super_geometry(&sb, log->plan.size, &g), RULE_OK, "it fits");
	is_int(super_check_log(&sb, &g), RULE_OK, "its log is in a segment");
	is_int(g.nsegments, log->g->nsegments, "it has the plan's segments");
	is_int(g.has_live_blks, log->g->has_live_blks, "and its records");
	ok(!super_bad_offset2(&sb, super_offset2(log->plan.size)),
	   "the second one is outside the segments");
}

static void check_summary(const struct log *log)
{
	const struct nilfs_geometry *g = log->g;
	size_t bytes = (size_t)log->nblocks * g->block_size;
	struct segsum_crc sum, data;

	is_int(segsum_check_kernel(g, &log->ss, g->first_data_block, 0),
	       RULE_OK, "the kernel takes the summary");
	is_int(segsum_check(g, &log->ss, g->first_data_block), RULE_OK,
	       "it can be decoded");
	is_int(segsum_check_links(g, &log->ss), RULE_OK, "its links");
	segsum_crc_init(&sum, SEGSUM_SUMSUM, g, &log->ss);
	segsum_crc_init(&data, SEGSUM_DATASUM, g, &log->ss);
	segsum_crc_update(&sum, log->buf, bytes);
	segsum_crc_update(&data, log->buf, bytes);
	is_int(segsum_crc_check(&sum, &log->ss), RULE_OK, "ss_sumsum");
	is_int(segsum_crc_check(&data, &log->ss), RULE_OK,
	       "ss_datasum");
}

static void collect(struct log *log)
{
	struct segsum_iter it;
	struct segsum_block b;
	uint32_t n = 0;

	segsum_iter_init(&it, log->g, log->buf, log->g->block_size);
	while (segsum_iter_next(&it, &b)) {
		log->blocks[b.ino][b.blkoff] =
			log->buf + (size_t)b.index * log->g->block_size;
		log->vblocknr_at[b.index] = b.vblocknr;
		n++;
	}
	is_int(it.verdict, RULE_OK, "the summary lists its blocks");
	is_int(n, log->nblocks - 2, "all but itself and the root");
}

/* Each listed virtual block is where its DAT entry says, and no other. */
static void check_dat(const struct log *log)
{
	const struct nilfs_geometry *g = log->g;
	struct nilfs_dat_entry de;
	struct palloc p;
	uint32_t i, used = 1;
	bool good = true;

	palloc_init(&p, g->block_size, g->dat_entry_size);
	for (i = 1; i < log->nblocks; i++) {
		uint64_t v = log->vblocknr_at[i];

		if (!v)
			continue;
		used++;
		memcpy(&de, log->blocks[NILFS_DAT_INO]
				       [palloc_entry_blkoff(&p, v)] +
			       palloc_entry_offset(&p, v), sizeof(de));
		good = good && dat_check(g, &de, 1) == RULE_OK &&
		       dat_is_in(&de, 1) && dat_is_current(&de) &&
		       le64_get(de.de_blocknr) == g->first_data_block + i;
	}
	ok(good, "the DAT says where each block is");
	is_int(palloc_count(&p, log->blocks[NILFS_DAT_INO][1]), used,
	       "no other number is in use");
}

static void check_group(const struct log *log, uint64_t ino, uint32_t size)
{
	const struct nilfs_palloc_group_desc *desc;
	struct palloc p;

	palloc_init(&p, log->g->block_size, size);
	desc = (const void *)log->blocks[ino][0];
	is_int(le32_get(desc->pg_nfrees),
	       p.entries_per_group - palloc_count(&p, log->blocks[ino][1]),
	       "the count of free entries is that of the bitmap");
}

/* The map of INODE lists the blocks of file INO in the log. */
static void check_map(const struct log *log, uint64_t ino,
		      const struct nilfs_inode *inode)
{
	uint64_t n = le64_get(inode->i_blocks) * 512 / log->g->block_size, i;
	bool good = n <= 6;

	for (i = 0; good && i < n; i++) {
		uint64_t index = (uint64_t)(log->blocks[ino][i] - log->buf) /
				 log->g->block_size;
		uint64_t want = ino == NILFS_DAT_INO ?
					log->g->first_data_block + index :
					log->vblocknr_at[index];

		good = log->blocks[ino][i] &&
		       le64_get(inode->i_bmap[1 + i]) == want;
	}
	ok(good && n && !log->blocks[ino][n], "the map of file %d",
	   (int)ino);
	is_int(inode_check(log->g, inode, ino), RULE_OK, "its inode");
}

static void check_inodes(const struct log *log)
{
	const struct nilfs_geometry *g = log->g;
	const void *sr = log->buf +
			 (size_t)(log->nblocks - 1) * g->block_size;
	struct nilfs_checkpoint cp;
	struct palloc p;
	uint64_t ino;

	is_int(superroot_check(g, sr), RULE_OK, "the super root");
	for (ino = NILFS_DAT_INO; ino <= NILFS_SUFILE_INO; ino++)
		check_map(log, ino, superroot_inode(g, sr, ino));
	memcpy(&cp, log->blocks[NILFS_CPFILE_INO][0] +
		       checkpoint_offset(g, 1), sizeof(cp));
	is_int(checkpoint_check(&cp, 1), RULE_OK, "the checkpoint");
	check_map(log, NILFS_IFILE_INO, &cp.cp_ifile_inode);
	palloc_init(&p, g->block_size, g->inode_size);
	check_map(log, NILFS_ROOT_INO, (const void *)
		  (log->blocks[NILFS_IFILE_INO]
			      [palloc_entry_blkoff(&p, NILFS_ROOT_INO)] +
		   palloc_entry_offset(&p, NILFS_ROOT_INO)));
	is_int(palloc_count(&p, log->blocks[NILFS_IFILE_INO][1]), 11,
	       "the reserved inodes are taken");
}

static void check_usage(const struct log *log)
{
	const uint8_t *block = log->blocks[NILFS_SUFILE_INO][0];
	struct nilfs_segment_usage_ext su;
	uint64_t i;

	for (i = 0; i < 3; i++) {
		memcpy(&su, block + segusage_offset(log->g, i), sizeof(su));
		is_int(segusage_check(log->g, &su.su), RULE_OK, "a usage");
		is_int(segusage_is_dirty(&su.su), i < 2, "0 and 1 are taken");
		is_int(le32_get(su.su.su_nblocks),
		       i ? 0 : log->nblocks, "blocks in use");
	}
	if (!log->g->has_live_blks)
		return;
	memcpy(&su, block + 32, sizeof(su));
	is_int(segusage_check_ext(&su), RULE_OK, "live blocks");
	is_int(le32_get(su.su_nlive_blks), le32_get(su.su.su_nblocks) - 2,
	       "all but the summary and the super root");
}

static void test_log(uint64_t block_size, const char *features)
{
	struct log log;

	printf("# blocks of %d bytes, %s\n", (int)block_size, features);
	log_make(&log, block_size, features);
	check_super(&log);
	check_summary(&log);
	collect(&log);
	check_dat(&log);
	check_group(&log, NILFS_DAT_INO, log.g->dat_entry_size);
	check_group(&log, NILFS_IFILE_INO, log.g->inode_size);
	check_inodes(&log);
	check_usage(&log);
	is_int(dirent_check_block(log.blocks[NILFS_ROOT_INO][0],
				  log.g->block_size),
	       RULE_OK, "the root directory");
	free(log.device);
}

int main(void)
{
	uint64_t block_size;

	for (block_size = 1024; block_size <= 65536; block_size *= 2) {
		test_log(block_size, "block_count");
		test_log(block_size, "sufile_live_blks_ext");
	}
	return tap_done();
}
