/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout of one log: its blocks, and the summary that lists them.
 *
 * It computes a growing summary and does no I/O.  A log lies in one segment, so
 * callers ask how many more blocks fit: each block needs a place in the payload
 * and an item of the summary, and items never cross the end of a summary block.
 * The payload's position is known only once the summary is complete, so blocks
 * are counted from the payload's beginning.
 */
#ifndef NILFS2_LOG_LOGLAYOUT_H
#define NILFS2_LOG_LOGLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/geometry.h"

/* Data blocks of a file come before its nodes (nilfs_segctor_scan_file()). */
enum loglayout_kind {
	LOGLAYOUT_DATA,		/* binfo_v: vblocknr, blkoff */
	LOGLAYOUT_NODE,		/* vblocknr only */
	LOGLAYOUT_DAT_DATA,	/* blkoff only */
	LOGLAYOUT_DAT_NODE,	/* binfo_dat: key, level */
};

/* COUNT blocks with consecutive numbers, listed one after the other. */
struct loglayout_run {
	uint64_t ino;
	uint64_t cno;		/* fi_cno */
	enum loglayout_kind kind;
	uint8_t level;		/* of LOGLAYOUT_DAT_NODE, with COUNT 1 */
	uint64_t vblocknr;	/* of the first block; 0 in the DAT */
	uint64_t blkoff;	/* of the first block; key of a DAT node */
	uint32_t count;
};

struct loglayout {
	const struct nilfs_geometry *g;
	uint8_t *summary;	/* whole blocks; zero after the bytes in use */
	size_t summary_room;	/* bytes allocated */
	uint32_t sumbytes;	/* bytes in use */
	uint32_t limit;		/* maximum blocks of the log, summary included */
	uint32_t npayload;	/* blocks so far, the super root included */
	uint32_t nfinfo;
	uint32_t finfo;		/* byte of the open finfo, 0: none */
	bool super_root;
};

/*
 * Starts an empty log of at most LIMIT blocks (>= 2), G borrowed.  LIMIT is
 * reduced to 16 Mi blocks.
 */
void loglayout_init(struct loglayout *l, const struct nilfs_geometry *g,
		    uint32_t limit);
void loglayout_fini(struct loglayout *l);	/* frees the summary */

/* How many blocks of RUN (0 ... run->count) still fit. */
uint32_t loglayout_room(const struct loglayout *l,
			const struct loglayout_run *run);

/*
 * Lists RUN, all of which must fit; *INDEX is the index of its first block in
 * the payload.  A run of the same file as the one before continues its finfo if
 * the kind of block allows it.  -ENOMEM, -ENOSPC if it does not fit.
 */
int loglayout_add(struct loglayout *l, struct context *cx,
		  const struct loglayout_run *run, uint32_t *index);

/*
 * Reserves the last place for a super root; false if there is no room.  Runs
 * may be added afterwards and are placed before it.
 */
bool loglayout_add_super_root(struct loglayout *l);

/* Blocks of the summary and of the whole log so far. */
uint32_t loglayout_nsumblk(const struct loglayout *l);
uint32_t loglayout_nblocks(const struct loglayout *l);

/* Fields of the header that the writer sets. */
struct loglayout_header {
	uint16_t flags;		/* NILFS_SS_...; SR is added automatically */
	uint64_t seq;
	uint64_t create;	/* seconds */
	uint64_t next;		/* block: start of the next segment */
	uint64_t cno;
};

/*
 * Completes the summary except its two checksums, padded with zeros, and passes
 * it to the caller: *SUMMARY is malloc()ed, loglayout_nsumblk() blocks.  The
 * counts stay valid; nothing may be added any more.  -ENOMEM.
 */
int loglayout_close(struct loglayout *l, struct context *cx,
		    const struct loglayout_header *h, void **summary);

#endif
