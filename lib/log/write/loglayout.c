// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The layout of one log.
 *
 * The summary grows as blocks are listed: after the header one finfo per
 * file, after each its items.  Everything that is asked of it follows from
 * one number, the bytes in use: since the items of a file have one size, which
 * divides a block, the end of N more items is plain arithmetic, and so is the
 * largest N that fits.
 *
 * Memory after the bytes in use is zero at all times; the gaps in front of
 * items that moved to the next block, and the padding at the end, are what is
 * left of that.
 *
 * Nothing here knows which segment the log is in or what its blocks hold.
 */
#include "log/write/loglayout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "disk/ondisk.h"

#define ROOM_MIN 8192		/* bytes allocated at first */
#define LIMIT_MAX (1u << 24)	/* blocks; bytes of a summary fit 32 bits */

static uint32_t item_size(enum loglayout_kind kind)
{
	switch (kind) {
	case LOGLAYOUT_DATA:
		return sizeof(struct nilfs_binfo_v);
	case LOGLAYOUT_DAT_NODE:
		return sizeof(struct nilfs_binfo_dat);
	case LOGLAYOUT_NODE:
	case LOGLAYOUT_DAT_DATA:
		break;
	}
	return sizeof(le64);
}

static bool is_node(enum loglayout_kind kind)
{
	return kind == LOGLAYOUT_NODE || kind == LOGLAYOUT_DAT_NODE;
}

/* Where an item of SIZE bytes goes if OFFSET bytes are in use. */
static uint32_t item_at(const struct nilfs_geometry *g, uint32_t offset,
			uint32_t size)
{
	uint32_t left = -offset & (g->block_size - 1);

	return left < size ? offset + left : offset;
}

/* Items of SIZE bytes that the block which OFFSET lies in still takes. */
static uint32_t items_here(const struct nilfs_geometry *g, uint32_t offset,
			   uint32_t size)
{
	return (-offset & (g->block_size - 1)) / size;
}

static uint32_t blocks_of(const struct loglayout *l, uint32_t bytes)
{
	return (bytes + l->g->block_size - 1) >> l->g->block_bits;
}

void loglayout_init(struct loglayout *l, const struct nilfs_geometry *g,
		    uint32_t limit)
{
	memset(l, 0, sizeof(*l));
	l->g = g;
	loglayout_reset(l, limit);
}

void loglayout_fini(struct loglayout *l)
{
	free(l->summary);
	l->summary = NULL;
	l->summary_room = 0;
}

void loglayout_reset(struct loglayout *l, uint32_t limit)
{
	if (l->summary)
		memset(l->summary, 0, l->sumbytes);
	l->sumbytes = sizeof(struct nilfs_segment_summary);
	l->limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
	l->npayload = 0;
	l->nfinfo = 0;
	l->finfo = 0;
	l->super_root = false;
}

/* Whether RUN goes on in the open finfo: no data may follow a node there. */
static bool goes_on(const struct loglayout *l, const struct loglayout_run *run)
{
	struct nilfs_finfo fi;

	if (!l->finfo)
		return false;
	memcpy(&fi, l->summary + l->finfo, sizeof(fi));
	return le64_get(fi.fi_ino) == run->ino &&
	       le64_get(fi.fi_cno) == run->cno &&
	       (is_node(run->kind) ||
		le32_get(fi.fi_nblocks) == le32_get(fi.fi_ndatablk));
}

/* The end of a finfo, were it listed now. */
static uint32_t finfo_end(const struct loglayout *l)
{
	uint32_t size = sizeof(struct nilfs_finfo);

	return item_at(l->g, l->sumbytes, size) + size;
}

/* How many items of SIZE bytes, with their blocks, fit after OFFSET. */
static uint32_t room_behind(const struct loglayout *l, uint32_t offset,
			    uint32_t size)
{
	uint32_t here = items_here(l->g, offset, size);
	uint32_t each = l->g->block_size / size;
	uint32_t taken = l->npayload + blocks_of(l, offset);
	uint32_t left;

	if (taken >= l->limit)
		return 0;
	left = l->limit - taken;
	if (left <= here)
		return left;
	left -= here;
	/* Each further block of the summary comes with EACH of payload. */
	here += left / (each + 1) * each;
	left %= each + 1;
	return left ? here + left - 1 : here;
}

uint32_t loglayout_room(const struct loglayout *l,
			const struct loglayout_run *run)
{
	uint32_t offset = goes_on(l, run) ? l->sumbytes : finfo_end(l);
	uint32_t room = room_behind(l, offset, item_size(run->kind));

	return room < run->count ? room : run->count;
}

/* Makes room for BYTES of summary, in whole blocks. */
static int reserve(struct loglayout *l, struct context *cx, size_t bytes)
{
	size_t room = l->summary_room ? l->summary_room : ROOM_MIN;
	uint8_t *p;

	if (bytes <= l->summary_room)
		return 0;
	if (room < l->g->block_size)
		room = l->g->block_size;
	while (room < bytes)
		room *= 2;
	p = realloc(l->summary, room);
	if (!p)
		return fail(cx, -ENOMEM, "summary of a log");
	memset(p + l->summary_room, 0, room - l->summary_room);
	l->summary = p;
	l->summary_room = room;
	return 0;
}

static void put64(uint8_t *p, uint64_t v)
{
	le64 le = le64_make(v);

	memcpy(p, &le, sizeof(le));
}

/* Writes N items at P, the first of them number I of RUN. */
static void put_items(uint8_t *p, const struct loglayout_run *run, uint32_t i,
		      uint32_t n)
{
	uint64_t vblocknr = run->vblocknr + i, blkoff = run->blkoff + i;

	switch (run->kind) {
	case LOGLAYOUT_DATA:
		for (; n; n--, p += sizeof(struct nilfs_binfo_v)) {
			put64(p, vblocknr++);
			put64(p + sizeof(le64), blkoff++);
		}
		break;
	case LOGLAYOUT_NODE:
		for (; n; n--, p += sizeof(le64))
			put64(p, vblocknr++);
		break;
	case LOGLAYOUT_DAT_DATA:
		for (; n; n--, p += sizeof(le64))
			put64(p, blkoff++);
		break;
	case LOGLAYOUT_DAT_NODE:
		put64(p, blkoff);
		p[offsetof(struct nilfs_binfo_dat, bi_level)] = run->level;
		break;
	}
}

/* Lists all of RUN, block of the summary by block. */
static void list_run(struct loglayout *l, const struct loglayout_run *run)
{
	uint32_t size = item_size(run->kind);
	uint32_t i, n;

	for (i = 0; i < run->count; i += n) {
		l->sumbytes = item_at(l->g, l->sumbytes, size);
		n = l->g->block_size - (l->sumbytes & (l->g->block_size - 1));
		n /= size;
		if (n > run->count - i)
			n = run->count - i;
		put_items(l->summary + l->sumbytes, run, i, n);
		l->sumbytes += n * size;
	}
}

static void begin_finfo(struct loglayout *l, const struct loglayout_run *run)
{
	struct nilfs_finfo fi = {
		.fi_ino = le64_make(run->ino),
		.fi_cno = le64_make(run->cno),
	};

	l->finfo = item_at(l->g, l->sumbytes, sizeof(fi));
	memcpy(l->summary + l->finfo, &fi, sizeof(fi));
	l->sumbytes = l->finfo + sizeof(fi);
	l->nfinfo++;
}

static void count_blocks(struct loglayout *l, const struct loglayout_run *run)
{
	struct nilfs_finfo fi;

	memcpy(&fi, l->summary + l->finfo, sizeof(fi));
	fi.fi_nblocks = le32_make(le32_get(fi.fi_nblocks) + run->count);
	if (!is_node(run->kind))
		fi.fi_ndatablk =
			le32_make(le32_get(fi.fi_ndatablk) + run->count);
	memcpy(l->summary + l->finfo, &fi, sizeof(fi));
}

int loglayout_add(struct loglayout *l, struct context *cx,
		  const struct loglayout_run *run, uint32_t *index)
{
	size_t bytes = (size_t)run->count * item_size(run->kind);
	int ret;

	*index = l->npayload - l->super_root;
	if (!run->count)
		return 0;
	if (loglayout_room(l, run) < run->count)
		return fail(cx, -ENOSPC,
			    "log: no room for %" PRIu32
			    " blocks of inode %" PRIu64,
			    run->count, run->ino);
	/* Items divide a block: a gap is before the first, if anywhere. */
	bytes += 2 * sizeof(struct nilfs_finfo) + sizeof(struct nilfs_binfo_v);
	ret = reserve(l, cx, l->sumbytes + bytes);
	if (ret)
		return ret;
	if (!goes_on(l, run))
		begin_finfo(l, run);
	list_run(l, run);
	count_blocks(l, run);
	l->npayload += run->count;
	return 0;
}

bool loglayout_add_super_root(struct loglayout *l)
{
	if (l->super_root || loglayout_nblocks(l) >= l->limit)
		return false;
	l->super_root = true;
	l->npayload++;
	return true;
}

uint32_t loglayout_nsumblk(const struct loglayout *l)
{
	return blocks_of(l, l->sumbytes);
}

uint32_t loglayout_nblocks(const struct loglayout *l)
{
	return loglayout_nsumblk(l) + l->npayload;
}

int loglayout_close(struct loglayout *l, struct context *cx,
		    const struct loglayout_header *h, void **summary)
{
	uint16_t flags = h->flags | (l->super_root ? NILFS_SS_SR : 0);
	struct nilfs_segment_summary ss = {
		.ss_magic = le32_make(NILFS_SEGSUM_MAGIC),
		.ss_bytes = le16_make(sizeof(ss)),
		.ss_flags = le16_make(flags),
		.ss_seq = le64_make(h->seq),
		.ss_create = le64_make(h->create),
		.ss_next = le64_make(h->next),
		.ss_nblocks = le32_make(loglayout_nblocks(l)),
		.ss_nfinfo = le32_make(l->nfinfo),
		.ss_sumbytes = le32_make(l->sumbytes),
		.ss_cno = le64_make(h->cno),
	};
	int ret = reserve(l, cx, l->sumbytes);

	if (ret)
		return ret;
	memcpy(l->summary, &ss, sizeof(ss));
	*summary = l->summary;
	l->summary = NULL;
	l->summary_room = 0;
	l->finfo = 0;
	return 0;
}
