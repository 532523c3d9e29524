// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The segment summary.
 *
 * A log begins with a header, followed by one item per file and, after each, one
 * item per block of that file, in the order of the payload.  The format of an item
 * depends on the file (the DAT has no virtual block numbers) and on the kind of
 * block.  An item that would cross the end of a block is placed at the beginning of
 * the next one.
 *
 * The walk keeps one file and one position.  It relies only on the length of the
 * buffer, and does not check the numbers in items.
 */
#include "disk/segsum.h"

#include <string.h>

#include "base/checked.h"
#include "base/crc.h"

#define KNOWN_FLAGS                                                            \
	(NILFS_SS_LOGBGN | NILFS_SS_LOGEND | NILFS_SS_SR | NILFS_SS_SYNDT |    \
	 NILFS_SS_GC)

enum rule segsum_check_kernel(const struct nilfs_geometry *g,
			      const struct nilfs_segment_summary *ss,
			      uint64_t start, uint64_t seq)
{
	uint32_t nblocks = le32_get(ss->ss_nblocks);
	uint64_t segnum = geometry_segment_of(g, start);

	if (le32_get(ss->ss_magic) != NILFS_SEGSUM_MAGIC)
		return RULE_LOG_MAGIC;
	if (le64_get(ss->ss_seq) != seq)
		return RULE_LOG_SEQ;
	if (!nblocks || nblocks > g->blocks_per_segment)
		return RULE_LOG_NBLOCKS;
	if (!geometry_has_block(g, start) ||
	    nblocks > geometry_segment_end(g, segnum) - start)
		return RULE_LOG_SEGMENT;
	return RULE_OK;
}

enum rule segsum_check(const struct nilfs_geometry *g,
		       const struct nilfs_segment_summary *ss, uint64_t start)
{
	uint32_t bytes = le16_get(ss->ss_bytes);
	uint32_t sumbytes = le32_get(ss->ss_sumbytes);
	uint32_t nblocks = le32_get(ss->ss_nblocks);
	enum rule rule = segsum_check_kernel(g, ss, start, le64_get(ss->ss_seq));
	uint64_t reserved;

	if (rule)
		return rule;
	if (bytes < NILFS_SEGSUM_MIN_BYTES || bytes > g->block_size)
		return RULE_LOG_BYTES;
	reserved = segsum_has_super_root(ss);
	if (sumbytes < bytes || segsum_nsumblk(g, ss) + reserved > nblocks)
		return RULE_LOG_SUMBYTES;
	if (le32_get(ss->ss_nfinfo) >
	    (sumbytes - bytes) / sizeof(struct nilfs_finfo))
		return RULE_LOG_NFINFO;
	return RULE_OK;
}

enum rule segsum_check_links(const struct nilfs_geometry *g,
			     const struct nilfs_segment_summary *ss)
{
	uint64_t next = le64_get(ss->ss_next);

	if (le16_get(ss->ss_flags) & ~KNOWN_FLAGS)
		return RULE_LOG_FLAGS;
	if (!geometry_has_block(g, next) ||
	    next != geometry_segment_start(g, geometry_segment_of(g, next)))
		return RULE_LOG_NEXT;
	return RULE_OK;
}

uint32_t segsum_nsumblk(const struct nilfs_geometry *g,
			const struct nilfs_segment_summary *ss)
{
	return div_round_up(le32_get(ss->ss_sumbytes), g->block_size);
}

bool segsum_has_super_root(const struct nilfs_segment_summary *ss)
{
	return le16_get(ss->ss_flags) & NILFS_SS_SR;
}

bool segsum_has_cno(const struct nilfs_segment_summary *ss)
{
	return le16_get(ss->ss_bytes) >= sizeof(*ss);
}

uint64_t segsum_cno(const struct nilfs_segment_summary *ss)
{
	return segsum_has_cno(ss) ? le64_get(ss->ss_cno) : 0;
}

void segsum_crc_init(struct segsum_crc *crc, enum segsum_sum kind,
		     const struct nilfs_geometry *g,
		     const struct nilfs_segment_summary *ss)
{
	uint64_t bytes = kind == SEGSUM_SUMSUM ? le32_get(ss->ss_sumbytes) :
			 (uint64_t)le32_get(ss->ss_nblocks) << g->block_bits;

	crc->kind = kind;
	crc->sum = g->crc_seed;
	crc->skip = kind == SEGSUM_SUMSUM ?
		    offsetof(struct nilfs_segment_summary, ss_magic) :
		    offsetof(struct nilfs_segment_summary, ss_sumsum);
	crc->left = bytes > crc->skip ? bytes - crc->skip : 0;
}

void segsum_crc_update(struct segsum_crc *crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	size_t n = len < crc->skip ? len : crc->skip;

	crc->skip -= n;
	p += n;
	len -= n;
	if (len > crc->left)
		len = crc->left;
	crc->sum = crc32_le(crc->sum, p, len);
	crc->left -= len;
}

enum rule segsum_crc_check(const struct segsum_crc *crc,
			   const struct nilfs_segment_summary *ss)
{
	bool is_sumsum = crc->kind == SEGSUM_SUMSUM;

	if (!crc->left &&
	    crc->sum == le32_get(is_sumsum ? ss->ss_sumsum : ss->ss_datasum))
		return RULE_OK;
	return is_sumsum ? RULE_LOG_SUMSUM : RULE_LOG_DATASUM;
}

void segsum_iter_init(struct segsum_iter *it, const struct nilfs_geometry *g,
		      const void *buf, size_t len)
{
	const struct nilfs_segment_summary *ss = buf;

	memset(it, 0, sizeof(*it));
	it->buf = buf;
	it->block_size = g->block_size;
	if (len < sizeof(*ss)) {
		it->verdict = RULE_LOG_TRUNCATED;
		return;
	}
	it->offset = le16_get(ss->ss_bytes);
	it->sumbytes = le32_get(ss->ss_sumbytes);
	if (it->sumbytes > len)
		it->sumbytes = len;
	it->index = segsum_nsumblk(g, ss);
	it->end = le32_get(ss->ss_nblocks) - segsum_has_super_root(ss);
	it->finfo_left = le32_get(ss->ss_nfinfo);
	it->block.finfo = UINT32_MAX;
}

/* The next item of SIZE bytes, or NULL with a verdict at the end of the summary. */
static const void *next_item(struct segsum_iter *it, uint32_t size)
{
	uint64_t offset = it->offset;
	/* The block size is a power of two; a division would dominate the cost. */
	uint32_t in_block = it->offset & (it->block_size - 1);

	if (in_block + size > it->block_size)
		offset += it->block_size - in_block;
	if (offset + size > it->sumbytes) {
		it->verdict = RULE_LOG_TRUNCATED;
		return NULL;
	}
	it->offset = offset + size;
	return it->buf + offset;
}

uint32_t segsum_iter_run(struct segsum_iter *it, struct segsum_run *run)
{
	struct segsum_block *b = &it->block;
	uint32_t bytes = it->block_size - (it->offset & (it->block_size - 1));
	uint32_t count;

	if (it->verdict || !b->is_virtual ||
	    b->file_block >= b->file_ndatablk || it->offset > it->sumbytes)
		return 0;
	if (bytes > it->sumbytes - it->offset)
		bytes = it->sumbytes - it->offset;
	count = bytes / sizeof(*run->items);
	if (count > b->file_ndatablk - b->file_block)
		count = b->file_ndatablk - b->file_block;
	if (count > it->end - it->index)
		count = it->end - it->index;
	run->items = (const void *)(it->buf + it->offset);
	run->index = it->index;
	run->count = count;
	it->offset += count * sizeof(*run->items);
	it->index += count;
	b->file_block += count;
	return count;
}

int segsum_iter_next(struct segsum_iter *it, struct segsum_block *block)
{
	struct segsum_block *b = &it->block;
	const struct nilfs_binfo_v *v;
	const struct nilfs_binfo_dat *dat;
	const struct nilfs_finfo *fi;
	const le64 *number;

	if (it->verdict)
		return 0;
	if (b->file_block == b->file_nblocks) {
		if (!it->finfo_left) {
			if (it->index != it->end)
				it->verdict = RULE_LOG_PAYLOAD;
			else if (it->offset != it->sumbytes)
				it->verdict = RULE_LOG_SUMBYTES_UNUSED;
			return 0;
		}
		fi = next_item(it, sizeof(*fi));
		if (!fi)
			return 0;
		it->finfo_left--;
		b->finfo++;
		b->ino = le64_get(fi->fi_ino);
		b->cno = le64_get(fi->fi_cno);
		b->is_virtual = b->ino != NILFS_DAT_INO;
		b->file_nblocks = le32_get(fi->fi_nblocks);
		b->file_ndatablk = le32_get(fi->fi_ndatablk);
		b->file_block = 0;
		if (!b->file_nblocks || b->file_ndatablk > b->file_nblocks)
			it->verdict = RULE_LOG_FINFO;
	}
	if (!it->verdict && it->index >= it->end)
		it->verdict = RULE_LOG_PAYLOAD;
	if (it->verdict)
		return 0;
	b->is_node = b->file_block >= b->file_ndatablk;
	b->level = b->is_node;
	b->vblocknr = 0;
	b->blkoff = 0;
	if (b->is_virtual && !b->is_node) {
		v = next_item(it, sizeof(*v));
		if (v) {
			b->vblocknr = le64_get(v->bi_vblocknr);
			b->blkoff = le64_get(v->bi_blkoff);
		}
	} else if (!b->is_virtual && b->is_node) {
		dat = next_item(it, sizeof(*dat));
		if (dat) {
			b->blkoff = le64_get(dat->bi_blkoff);
			b->level = dat->bi_level;
		}
	} else {
		number = next_item(it, sizeof(*number));
		if (number)
			*(b->is_virtual ? &b->vblocknr : &b->blkoff) =
				le64_get(*number);
	}
	if (it->verdict)
		return 0;
	b->index = it->index++;
	*block = *b;
	b->file_block++;
	return 1;
}
