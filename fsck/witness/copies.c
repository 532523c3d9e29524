// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks restored from another version, proved by a checksum.
 *
 * A version of a block at another place may be equal: mkfs.nilfs2 --redundant writes
 * metadata twice, and a cleaner leaves the old place of what it moved as it was until
 * the segment is used again.  If the checksum of a log matches with such a version in
 * place of one of its blocks, that is the only wrong block, and the version is what
 * was written there, except with a probability of the number of versions in 2^32.
 *
 * B-tree nodes are left out, as logs do not list their place in the file.
 */
#include "fsck/witness/copies.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/crc.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/segsum.h"

/* More wrong logs are not the work of one block in each. */
#define LOGS_MOST 64

struct copies_log {
	uint64_t pseg, end;	/* its blocks */
	uint32_t difference;	/* of its checksum */
	uint64_t blocknr, copy;	/* the wrong block, and a right one; 0: none */
};

/* A data block of one of the logs. */
struct copies_block {
	uint64_t ino, blkoff, blocknr;
	struct copies_log *log;
};

int copies_add(struct copies *c, struct context *cx, const struct logbits *lb)
{
	size_t i;

	if (lb->whole || lb->nbits || !lb->readable || c->n == LOGS_MOST)
		return 0;
	for (i = 0; i < c->n; i++)
		if (c->logs[i].pseg == lb->pseg)
			return 0;
	return array_push(cx, &c->logs, &c->n, &c->room, (struct copies_log){
		.pseg = lb->pseg,
		.end = lb->pseg + le32_get(lb->ss.ss_nblocks),
		.difference = lb->difference,
	});
}

static int compare_blocks(const void *x, const void *y)
{
	const struct copies_block *a = x, *b = y;

	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) :
	       (a->blkoff > b->blkoff) - (a->blkoff < b->blkoff);
}

static bool is_block_below(const void *item, const void *wanted)
{
	return compare_blocks(item, wanted) < 0;
}

/* The summary of the log of logbits_header(), in *BUF, for IT: 0, -EIO, -ENOMEM. */
static int read_list(const struct logbits *lb, struct context *cx, uint64_t pseg,
		     char **buf, size_t *room, struct segsum_iter *it)
{
	size_t len = (size_t)segsum_nsumblk(lb->geo, &lb->ss) <<
		     lb->geo->block_bits;
	int err = array_reserve(cx, buf, room, len) ?:
		  logbits_read(lb, cx, pseg << lb->geo->block_bits, *buf, len);

	if (!err)
		segsum_iter_init(it, lb->geo, *buf, len);
	return err;
}

/* Whether the log of B matches with the block at COPY in place of B: 1, 0. */
static int is_right_copy(const struct logbits *lb, struct context *cx,
			 const struct copies_block *b, uint64_t copy, char *two)
{
	uint32_t size = lb->geo->block_size, bits = lb->geo->block_bits;
	int err = dev_read(lb->dev, cx, b->blocknr << bits, two, size) ?:
		  dev_read(lb->dev, cx, copy << bits, two + size, size);

	return err ? damage_forgive(cx, err) :
		     crc32_le_exchange(two, two + size, size,
				       (b->log->end - 1 - b->blocknr) << bits) ==
			     b->log->difference;
}

/* Compares the blocks of the log of LB at PSEG with the N BLOCKS, which are sorted. */
static int compare_log(struct logbits *lb, struct context *cx, uint64_t pseg,
		       const struct copies_block *blocks, size_t n, char *two,
		       struct segsum_iter *it)
{
	struct segsum_block b;
	size_t i;
	int ret;

	while (segsum_iter_next(it, &b) && b.index < le32_get(lb->ss.ss_nblocks)) {
		struct copies_block at = {
			.ino = b.ino, .blkoff = b.blkoff,
			.blocknr = pseg + b.index,
		};

		i = b.is_node ? n : search_first(blocks, n, sizeof(*blocks),
						 is_block_below, &at);
		for (; i < n && !compare_blocks(&blocks[i], &at); i++) {
			struct copies_log *log = blocks[i].log;

			if (log->copy || blocks[i].blocknr == at.blocknr)
				continue;
			ret = is_right_copy(lb, cx, &blocks[i], at.blocknr, two);
			if (ret < 0)
				return ret;
			if (ret) {
				log->blocknr = blocks[i].blocknr;
				log->copy = at.blocknr;
			}
		}
	}
	return 0;
}

int copies_search(struct copies *c, struct context *cx, struct logbits *lb,
		  struct findings *findings)
{
	const struct nilfs_geometry *geo = lb->geo;
	struct copies_block *blocks = NULL;
	size_t n = 0, room = 0, list_room = 0, i;
	char *list = NULL, *two = malloc(2 * (size_t)geo->block_size);
	uint64_t segnum, pseg, end;
	struct segsum_iter it;
	struct segsum_block b;
	int ret = two ? 0 : fail(cx, -ENOMEM, "blocks of logs");

	for (i = 0; i < c->n && ret >= 0; i++) {
		ret = logbits_header(lb, cx, c->logs[i].pseg);
		if (ret <= 0)
			continue;
		ret = read_list(lb, cx, c->logs[i].pseg, &list, &list_room, &it);
		if (ret) {
			ret = damage_forgive(cx, ret);
			continue;
		}
		while (!ret && segsum_iter_next(&it, &b) &&
		       b.index < le32_get(lb->ss.ss_nblocks))
			if (!b.is_node && array_push(cx, &blocks, &n, &room,
						     (struct copies_block){
				.ino = b.ino,
				.blkoff = b.blkoff,
				.blocknr = c->logs[i].pseg + b.index,
				.log = &c->logs[i],
			}))
				ret = -ENOMEM;
	}
	sort_in_place(blocks, n, sizeof(*blocks), compare_blocks);
	for (segnum = 0; n && segnum < geo->nsegments && ret >= 0; segnum++) {
		ret = context_cancelled(cx);
		pseg = geometry_segment_start(geo, segnum);
		end = geometry_segment_end(geo, segnum);
		while (!ret && pseg + NILFS_PSEG_MIN_BLOCKS <= end) {
			ret = logbits_header(lb, cx, pseg);
			if (ret <= 0)
				break;
			ret = read_list(lb, cx, pseg, &list, &list_room, &it) ?:
			      compare_log(lb, cx, pseg, blocks, n, two, &it);
			ret = damage_forgive(cx, ret);
			pseg += le32_get(lb->ss.ss_nblocks);
		}
	}
	for (i = 0; i < c->n && ret >= 0; i++)
		if (c->logs[i].copy)
			findings_add(findings, &(struct finding){
				.rule = RULE_LOG_COPY,
				.place = place_number(PLACE_BLOCK,
						      c->logs[i].blocknr),
				.has_got = true,
				.got = c->logs[i].copy,
			});
	free(blocks);
	free(list);
	free(two);
	return ret < 0 ? ret : 0;
}

void copies_fini(struct copies *c)
{
	free(c->logs);
	*c = (struct copies){ .n = 0 };
}
