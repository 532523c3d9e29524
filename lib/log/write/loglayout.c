// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The layout of one log.
 *
 * The summary grows as blocks are listed: after the header one finfo per file,
 * each followed by its items.  All results derive from one number, the bytes in
 * use: the items of a file have one size, which divides a block, so the end of
 * N more items is computed directly, and so is the largest N that fits.
 *
 * Memory after the bytes in use is zero at all times; so are the gaps in front
 * of items that moved to the next block, and the padding at the end.
 *
 * The layout does not depend on the segment of the log or the content of
 * blocks.
 */
#include "log/write/loglayout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "disk/ondisk.h"

#define ROOM_MIN 8192		/* bytes allocated at first */
#define LIMIT_MAX (1u << 24)	/* blocks; bytes of a summary fit 32 bits */

/* The size of an item: struct nilfs_binfo_v or _dat, or one number. */
static uint32_t item_size(enum loglayout_kind kind)
{
	bool two = kind == LOGLAYOUT_DATA || kind == LOGLAYOUT_DAT_NODE;

	return two ? 2 * sizeof(le64) : sizeof(le64);
}

/* The offset of an item of SIZE bytes if OFFSET bytes are in use. */
static uint32_t item_at(const struct nilfs_geometry *g, uint32_t offset,
			uint32_t size)
{
	uint32_t left = -offset & (g->block_size - 1);

	return left < size ? offset + left : offset;
}

void loglayout_init(struct loglayout *l, const struct nilfs_geometry *g,
		    uint32_t limit)
{
	memset(l, 0, sizeof(*l));
	l->g = g;
	l->sumbytes = sizeof(struct nilfs_segment_summary);
	l->limit = limit < LIMIT_MAX ? limit : LIMIT_MAX;
}

void loglayout_fini(struct loglayout *l)
{
	free(l->summary);
	l->summary = NULL;
	l->summary_room = 0;
}

/* Whether RUN continues the open finfo: no data may follow a node there. */
static bool goes_on(const struct loglayout *l, const struct loglayout_run *run)
{
	struct nilfs_finfo fi;

	if (!l->finfo)
		return false;
	memcpy(&fi, l->summary + l->finfo, sizeof(fi));
	return le64_get(fi.fi_ino) == run->ino &&
	       le64_get(fi.fi_cno) == run->cno &&
	       (run->kind == LOGLAYOUT_NODE || run->kind == LOGLAYOUT_DAT_NODE ||
		le32_get(fi.fi_nblocks) == le32_get(fi.fi_ndatablk));
}

uint32_t loglayout_room(const struct loglayout *l,
			const struct loglayout_run *run)
{
	uint32_t mask = l->g->block_size - 1, size = sizeof(struct nilfs_finfo);
	uint32_t offset = goes_on(l, run) ? l->sumbytes :
			  item_at(l->g, l->sumbytes, size) + size;
	uint32_t taken = l->npayload + ((offset + mask) >> l->g->block_bits);
	uint32_t left, room, each;

	if (taken >= l->limit)
		return 0;
	/* Items that still fit into the last block of the summary. */
	left = l->limit - taken;
	size = item_size(run->kind);
	room = (-offset & mask) / size;
	if (left <= room) {
		room = left;
	} else {
		/* Each further summary block lists EACH payload blocks. */
		each = l->g->block_size / size;
		left -= room;
		room += left / (each + 1) * each;
		left %= each + 1;
		room += left ? left - 1 : 0;
	}
	return room < run->count ? room : run->count;
}

/* Makes room for BYTES of summary, in whole blocks. */
static int reserve_summary(struct loglayout *l, struct context *cx, size_t bytes)
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

int loglayout_add(struct loglayout *l, struct context *cx,
		  const struct loglayout_run *run, uint32_t *index)
{
	uint32_t size = item_size(run->kind), i;
	struct nilfs_finfo fi = {
		.fi_ino = le64_make(run->ino),
		.fi_cno = le64_make(run->cno),
	};
	bool in_dat = run->kind == LOGLAYOUT_DAT_DATA ||
		      run->kind == LOGLAYOUT_DAT_NODE;
	size_t bytes = (size_t)run->count * size;
	int ret;

	*index = l->npayload - l->super_root;
	if (!run->count)
		return 0;
	if (loglayout_room(l, run) < run->count)
		return fail(cx, -ENOSPC,
			    "log: no room for %" PRIu32
			    " blocks of inode %" PRIu64,
			    run->count, run->ino);
	/* Items divide a block: only the first can have a gap before it. */
	bytes += 2 * sizeof(struct nilfs_finfo) + sizeof(struct nilfs_binfo_v);
	ret = reserve_summary(l, cx, l->sumbytes + bytes);
	if (ret)
		return ret;
	if (goes_on(l, run)) {
		memcpy(&fi, l->summary + l->finfo, sizeof(fi));
	} else {
		l->finfo = item_at(l->g, l->sumbytes, sizeof(fi));
		l->sumbytes = l->finfo + sizeof(fi);
		l->nfinfo++;
	}
	fi.fi_nblocks = le32_make(le32_get(fi.fi_nblocks) + run->count);
	if (run->kind == LOGLAYOUT_DATA || run->kind == LOGLAYOUT_DAT_DATA)
		fi.fi_ndatablk =
			le32_make(le32_get(fi.fi_ndatablk) + run->count);
	memcpy(l->summary + l->finfo, &fi, sizeof(fi));
	for (i = 0; i < run->count; i++) {
		le64 blkoff = le64_make(run->blkoff + i);
		le64 item[2] = { blkoff, le64_make(run->level) };

		if (!in_dat) {
			item[0] = le64_make(run->vblocknr + i);
			item[1] = blkoff;
		}
		l->sumbytes = item_at(l->g, l->sumbytes, size);
		memcpy(l->summary + l->sumbytes, item, size);
		l->sumbytes += size;
	}
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
	return (l->sumbytes + l->g->block_size - 1) >> l->g->block_bits;
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
	int ret = reserve_summary(l, cx, l->sumbytes);

	if (ret)
		return ret;
	memcpy(l->summary, &ss, sizeof(ss));
	*summary = l->summary;
	l->summary = NULL;
	l->summary_room = 0;
	l->finfo = 0;
	return 0;
}
