// SPDX-License-Identifier: GPL-2.0-or-later
/* Logs: of a foreign mkfs, made by hand, older, damaged. */
#include "disk/inode.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "disk/superroot.h"

#include "disk_image.h"
#include "tap.h"

#define LEN (64u << 20)
#define BLOCK 1024u

static enum rule sum_of(const struct nilfs_geometry *g, const void *log,
			bool data, size_t step)
{
	const struct nilfs_segment_summary *ss = log;
	const uint8_t *p = log;
	struct segsum_crc crc;

	if (data)
		segsum_crc_init(&crc, SEGSUM_DATASUM, g, ss);
	else
		segsum_crc_init(&crc, SEGSUM_SUMSUM, g, ss);
	while (crc.left) {
		segsum_crc_update(&crc, p, step);
		p += step;
	}
	return segsum_crc_check(&crc, ss);
}

static void test_super_root(const struct nilfs_geometry *g, uint8_t *block)
{
	const struct nilfs_inode *inode;
	uint64_t ino;

	is_int(superroot_check(g, block), RULE_OK, "the log has a super root");
	for (ino = NILFS_DAT_INO; ino <= NILFS_SUFILE_INO; ino++) {
		inode = superroot_inode(g, block, ino);
		is_int(inode_check(g, inode, ino), RULE_OK,
		       "a metadata inode is sound");
	}
	ok(!superroot_inode(g, block, NILFS_IFILE_INO),
	   "the ifile is not in the super root");
	block[399] ^= 1;
	is_int(superroot_check(g, block), RULE_SR_SUM, "its last byte counts");
	block[399] ^= 1;
	block[400] ^= 1;
	is_int(superroot_check(g, block), RULE_OK, "the next one does not");
	block[400] ^= 1;
}

/* What mkfs.nilfs2 writes: root, ifile, cpfile, sufile, DAT, one block each
 * but three of the ifile and the DAT. */
static void test_foreign_blocks(const struct nilfs_geometry *g,
				const uint8_t *log)
{
	static const uint64_t inos[] = { 2, 6, 6, 6, 4, 5, 3, 3, 3 };
	static const uint64_t blkoffs[] = { 0, 0, 1, 2, 0, 0, 0, 1, 2 };
	struct segsum_block b;
	struct segsum_iter it;
	uint32_t i = 0;
	bool same = true;

	segsum_iter_init(&it, g, log, g->block_size);
	for (; segsum_iter_next(&it, &b); i++) {
		same = same && i < 9 && b.ino == inos[i] &&
		       b.blkoff == blkoffs[i] && b.index == i + 1 &&
		       !b.is_node && b.cno == 1 &&
		       b.vblocknr == (b.ino == NILFS_DAT_INO ? 0 : i + 1);
	}
	is_int(i, 9, "nine blocks are listed");
	ok(same, "and they are those of mkfs.nilfs2");
	is_int(it.verdict, RULE_OK, "the list fits the log");
}

static void test_foreign(void)
{
	unsigned char *image = disk_image("-b 4096 -B 256", LEN);
	struct nilfs_segment_summary *ss;
	struct nilfs_super_block *sb;
	struct nilfs_geometry g;
	uint64_t start;

	if (!image) {
		ok(true, "# SKIP no %s", DISK_IMAGE_MKFS);
		return;
	}
	sb = (struct nilfs_super_block *)(image + 1024);
	is_int(super_geometry(sb, LEN, &g), RULE_OK, "a volume");
	start = le64_get(sb->s_last_pseg);
	ss = (struct nilfs_segment_summary *)(image + start * g.block_size);
	is_int(segsum_check_kernel(&g, ss, start, le64_get(sb->s_last_seq)),
	       RULE_OK, "the kernel takes the header");
	is_int(segsum_check(&g, ss, start), RULE_OK, "and so do we");
	is_int(segsum_check_links(&g, ss), RULE_OK, "it links to a segment");
	is_int(segsum_nsumblk(&g, ss), 1, "one block of summary");
	is_int(sum_of(&g, ss, false, 4096), RULE_OK, "sumsum");
	is_int(sum_of(&g, ss, true, 4096), RULE_OK, "datasum");
	is_int(sum_of(&g, ss, false, 1), RULE_OK, "sumsum byte by byte");
	is_int(sum_of(&g, ss, true, 3), RULE_OK, "datasum by threes");
	test_foreign_blocks(&g, (uint8_t *)ss);
	test_super_root(&g, (uint8_t *)ss + 10 * g.block_size);

	image[start * g.block_size + 80] ^= 1;
	is_int(sum_of(&g, ss, false, 4096), RULE_LOG_SUMSUM, "damaged list");
	is_int(sum_of(&g, ss, true, 4096), RULE_LOG_DATASUM, "in both sums");
	image[start * g.block_size + 80] ^= 1;
	image[(start + 10) * g.block_size + 4095] ^= 1;
	is_int(sum_of(&g, ss, false, 4096), RULE_OK, "damaged payload");
	is_int(sum_of(&g, ss, true, 4096), RULE_LOG_DATASUM, "in datasum");
	munmap(image, LEN);
}

static const struct nilfs_geometry small = {
	.block_size = BLOCK, .block_bits = 10, .blocks_per_segment = 1024,
	.first_data_block = 4, .nsegments = 4, .nblocks = 4096,
	.inode_size = 128,
};

static uint8_t summary[8 * BLOCK];

static struct nilfs_segment_summary *begin(uint32_t bytes)
{
	struct nilfs_segment_summary *ss = (void *)summary;

	memset(summary, 0, sizeof(summary));
	ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
	ss->ss_bytes = le16_make(bytes);
	return ss;
}

static uint32_t put_finfo(uint32_t at, uint64_t ino, uint32_t nblocks,
			  uint32_t ndata)
{
	struct nilfs_finfo *fi = (void *)(summary + at);

	fi->fi_ino = le64_make(ino);
	fi->fi_cno = le64_make(7);
	fi->fi_nblocks = le32_make(nblocks);
	fi->fi_ndatablk = le32_make(ndata);
	return at + sizeof(*fi);
}

static uint32_t put(uint32_t at, uint64_t number)
{
	le64 le = le64_make(number);

	memcpy(summary + at, &le, sizeof(le));
	return at + sizeof(le);
}

static void end(struct nilfs_segment_summary *ss, uint32_t nfinfo,
		uint32_t sumbytes, uint32_t nblocks)
{
	ss->ss_nfinfo = le32_make(nfinfo);
	ss->ss_sumbytes = le32_make(sumbytes);
	ss->ss_nblocks = le32_make(nblocks);
}

/*
 * One file of 62 data blocks and 3 nodes, then the DAT with 1 data block and
 * 2 nodes, in blocks of 1 KiB: 64 + 24 bytes, 58 items of 16 leave 8 bytes,
 * so item 59 begins block 1.
 */
static struct nilfs_segment_summary *make_straddling(void)
{
	struct nilfs_segment_summary *ss = begin(64);
	uint32_t at = put_finfo(64, 12, 65, 62), i;

	for (i = 0; i < 62; i++) {
		if (i == 58)
			at = BLOCK;
		at = put(at, 100 + i);
		at = put(at, i);
	}
	for (i = 0; i < 3; i++)
		at = put(at, 200 + i);
	at = put_finfo(at, NILFS_DAT_INO, 3, 1);
	at = put(at, 40);
	for (i = 1; i < 3; i++) {
		at = put(at, 50 + i);
		at = put(at, i);
	}
	end(ss, 2, at, 2 + 65 + 3);
	return ss;
}

static void test_straddling(void)
{
	struct nilfs_segment_summary *ss = make_straddling();
	struct segsum_iter it;
	struct segsum_block b;
	uint32_t data = 0, nodes = 0, dat = 0, i;

	is_int(segsum_check(&small, ss, 4), RULE_OK, "a log made by hand");
	segsum_iter_init(&it, &small, summary, 2 * BLOCK);
	for (i = 0; segsum_iter_next(&it, &b) && b.index == 2 + i; i++) {
		if (b.ino == 12 && !b.is_node)
			data += b.vblocknr == 100 + i && b.blkoff == i &&
				!b.finfo && b.file_block == i;
		else if (b.ino == 12)
			nodes += b.vblocknr == 200 + i - 62 && !b.blkoff;
		else if (b.ino == NILFS_DAT_INO && !b.is_node)
			dat += b.blkoff == 40 && !b.level && b.finfo == 1;
		else
			dat += b.blkoff == 50 + i - 65 && !b.vblocknr &&
			       b.level == i - 65;
	}
	is_int(data, 62, "data blocks across the end of a block");
	is_int(nodes, 3, "node blocks");
	is_int(dat, 3, "blocks of the DAT");
	is_int(it.verdict, RULE_OK, "nothing is left");
}

static enum rule walk(size_t len)
{
	struct segsum_iter it;
	struct segsum_block b;

	segsum_iter_init(&it, &small, summary, len);
	while (segsum_iter_next(&it, &b))
		;
	return it.verdict;
}

/* 117 items of 8 bytes fill the first block to its last byte. */
static void test_exact_fit(void)
{
	struct nilfs_segment_summary *ss = begin(64);
	uint32_t at = put_finfo(64, NILFS_DAT_INO, 118, 118), i;
	struct segsum_iter it;
	struct segsum_block b;

	for (i = 0; i < 118; i++)
		at = put(at, i);
	is_int(at, BLOCK + 8, "one item stands in the second block");
	end(ss, 1, at, 2 + 118);
	segsum_iter_init(&it, &small, summary, 2 * BLOCK);
	for (i = 0; segsum_iter_next(&it, &b) && b.blkoff == i; i++)
		;
	is_int(i, 118, "the last item of the first block is not passed over");
	is_int(it.verdict, RULE_OK, "nor anything else");

	end(ss, 1, at, 2 + 116);
	segsum_iter_init(&it, &small, summary, 2 * BLOCK);
	for (i = 0; segsum_iter_next(&it, &b); i++)
		;
	is_int(i, 116, "no more blocks are given than the log has");
	is_int(it.verdict, RULE_LOG_PAYLOAD, "although more are listed");
}

static void test_header_bounds(void)
{
	struct nilfs_segment_summary *ss = begin(64);

	end(ss, 0, 64, 0);
	is_int(segsum_check(&small, ss, 4), RULE_LOG_NBLOCKS, "no blocks");
	end(ss, 0, 64, 1020);
	is_int(segsum_check(&small, ss, 4), RULE_OK, "a whole segment 0");
	is_int(segsum_check(&small, ss, 3), RULE_LOG_SEGMENT, "before it");
	is_int(segsum_check(&small, ss, 4096), RULE_LOG_SEGMENT, "after all");
	is_int(segsum_check(&small, ss, UINT64_MAX), RULE_LOG_SEGMENT,
	       "at the last block number there is");
	ss->ss_bytes = le16_make(BLOCK + 8);
	end(ss, 0, BLOCK + 8, 1020);
	is_int(segsum_check(&small, ss, 4), RULE_LOG_BYTES,
	       "a header larger than a block");
	ss->ss_next = le64_make(4096);
	is_int(segsum_check_links(&small, ss), RULE_LOG_NEXT,
	       "a segment after the last");
	ss->ss_next = le64_make(4);
	is_int(segsum_check_links(&small, ss), RULE_OK, "segment 0");
	ss->ss_next = le64_make(0);
	is_int(segsum_check_links(&small, ss), RULE_LOG_NEXT, "block 0");
}

static void test_older(void)
{
	struct nilfs_segment_summary *ss = begin(56);
	uint32_t at = put_finfo(56, 12, 1, 1);

	at = put(at, 100);
	at = put(at, 5);
	end(ss, 1, at, 2);
	is_int(segsum_check(&small, ss, 4), RULE_OK, "an older header");
	is_int(segsum_cno(ss), 0, "has no checkpoint number");
	is_int(walk(BLOCK), RULE_OK, "and is walked through");
	ss->ss_bytes = le16_make(55);
	is_int(segsum_check(&small, ss, 4), RULE_LOG_BYTES, "still shorter");
}

static void test_damaged(void)
{
	struct nilfs_segment_summary *ss = make_straddling();
	uint32_t sumbytes = le32_get(ss->ss_sumbytes);

	is_int(walk(BLOCK), RULE_LOG_TRUNCATED, "a block is missing");
	is_int(walk(10), RULE_LOG_TRUNCATED, "less than a header");
	end(ss, 2, sumbytes, 71);
	is_int(walk(2 * BLOCK), RULE_LOG_PAYLOAD, "too few blocks listed");
	end(ss, 2, sumbytes, 69);
	is_int(walk(2 * BLOCK), RULE_LOG_PAYLOAD, "too many blocks listed");
	end(ss, 2, sumbytes + 8, 70);
	is_int(walk(2 * BLOCK), RULE_LOG_SUMBYTES_UNUSED, "unused bytes");
	end(ss, 3, sumbytes, 70);
	is_int(walk(2 * BLOCK), RULE_LOG_TRUNCATED, "a file is missing");
	end(ss, 2, sumbytes, 70);
	ss->ss_flags = le16_make(NILFS_SS_SR);
	is_int(walk(2 * BLOCK), RULE_LOG_PAYLOAD,
	       "the super root is not in the list");
	end(ss, 2, sumbytes, 71);
	is_int(walk(2 * BLOCK), RULE_OK, "but one of the blocks");
	put_finfo(64, 12, 0, 0);
	is_int(walk(2 * BLOCK), RULE_LOG_FINFO, "a file without blocks");
	put_finfo(64, 12, 0xffffffff, 0xffffffff);
	is_int(walk(2 * BLOCK), RULE_LOG_TRUNCATED, "a file without end");
	end(ss, 0xffffffff, 0xffffffff, 0xffffffff);
	memset(summary + 64, 0xff, sizeof(summary) - 64);
	is_int(walk(sizeof(summary)), RULE_LOG_TRUNCATED, "all bits set");
}

/* No byte makes the walk leave its buffer, which ends at a guarded page. */
static void test_guard(void)
{
	size_t page = sysconf(_SC_PAGESIZE), i, len;
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct segsum_iter it;
	struct segsum_block b;
	unsigned int steps = 0;

	mprotect(map + page, page, PROT_NONE);
	make_straddling();
	for (len = 0; len <= 2 * BLOCK; len += 8) {
		memcpy(map + page - len, summary, len);
		for (i = 0; i < len; i += 5) {
			map[page - len + i] ^= 0xff;
			segsum_iter_init(&it, &small, map + page - len, len);
			while (segsum_iter_next(&it, &b))
				steps++;
			map[page - len + i] ^= 0xff;
		}
	}
	ok(steps > 1000000, "%u steps without leaving the buffer", steps);
	munmap(map, 2 * page);
}

/* Inodes of 256 bytes: the super root has three of them side by side. */
static void test_large_inodes(void)
{
	struct nilfs_geometry g = small;
	uint8_t block[BLOCK + 8] = { 0 };
	struct nilfs_super_root *sr = (void *)block;

	g.inode_size = 256;
	is_int(superroot_bytes(&g), 784, "bytes of the super root");
	ok((const uint8_t *)superroot_inode(&g, block, NILFS_SUFILE_INO) ==
		   block + 16 + 512,
	   "the third inode");
	sr->sr_bytes = le16_make(BLOCK);
	sr->sr_sum = le32_make(superroot_checksum(&g, block));
	is_int(superroot_check(&g, block), RULE_OK, "it may fill its block");
	sr->sr_bytes = le16_make(BLOCK + 1);
	sr->sr_sum = le32_make(superroot_checksum(&g, block));
	is_int(superroot_check(&g, block), RULE_SR_BYTES, "but not exceed it");
}

int main(void)
{
	test_foreign();
	test_straddling();
	test_exact_fit();
	test_header_bounds();
	test_older();
	test_damaged();
	test_large_inodes();
	test_guard();
	return tap_done();
}
