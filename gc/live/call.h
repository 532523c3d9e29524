/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One call of the kernel's cleaner: NILFS_IOCTL_CLEAN_SEGMENTS with the blocks of
 * some segments.
 */
#ifndef NILFS2_GC_CALL_H
#define NILFS2_GC_CALL_H

#include <linux/nilfs2_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "vol/liveness.h"
#include "vol/summary.h"

struct dev;
struct live;
struct livezones;
struct volume;

/* A segment of a call, as it was when its logs were read. */
struct call_victim {
	uint64_t segnum;
	uint64_t seq;
	uint32_t nblocks;
};

struct call {
	const struct live *live;
	struct volume *vol;	/* its superblock and cache, for the logs */
	/* Checkpoints that are kept: snapshots, and all from protect_cno on. */
	struct liveness kept;
	bool verify;		/* the checksums of logs whose blocks move; set by
				   the caller */
	struct livezones *zones;	/* the same; NULL: the device has none */
	struct nilfs_vdesc *vdescs;	/* blocks with virtual numbers to be moved */
	struct nilfs_bdesc *bdescs;	/* of the DAT */
	struct nilfs_period *periods;	/* checkpoints that lose blocks */
	uint64_t *freed;	/* virtual numbers */
	struct call_victim *victims;
	struct call_size {
		size_t vdescs, bdescs, periods, freed, victims;
		size_t entries;		/* blocks of the DAT that are changed */
	} n, room;
	struct summary summary;
};

/*
 * Prepares calls for the volume of LIVE, whose device DEV is read without the page
 * cache.  Blocks of the checkpoint PROTECT_CNO and later ones are kept; UINT64_MAX:
 * only those of the latest state and of snapshots.  To be closed also after a failure.
 */
int call_open(struct call *c, struct context *cx, const struct live *live,
	      struct dev *dev, uint64_t protect_cno);
void call_close(struct call *c);

enum call_taken {
	CALL_TAKEN = 1,
	CALL_YOUNG,	/* a superblock may need it, or it is in use */
	CALL_DAMAGED,	/* the failure text has the reason */
	CALL_LARGE,	/* the call would be larger than its limit */
};

/* Limits of a call. */
struct call_limit {
	uint64_t moved;		/* blocks; exceeded only by a single segment */
	uint64_t written;	/* blocks; never exceeded */
	uint64_t held;		/* segments, where there are zones; never exceeded */
	uint64_t seq;		/* segments from this number on may be needed */
};

/*
 * Adds the blocks of SEGNUM, which is not in the call yet: enum call_taken, of which
 * only CALL_TAKEN changes the call, or -errno.
 */
int call_add(struct call *c, struct context *cx, uint64_t segnum,
	     const struct call_limit *limit);

/* The number of blocks that the call moves. */
uint64_t call_blocks(const struct call *c);

/* Clean segments that a call on a device with zones takes and frees again. */
uint64_t call_held(const struct call *c);

/* About the number of blocks that it writes, rather more than less. */
uint64_t call_need(const struct call *c);

/*
 * Makes the call: its blocks are moved, its segments are clean, their zones reset, and
 * checkpoints that lost blocks are deleted, in one new checkpoint.  Nothing has changed
 * after -EBUSY, if a snapshot was made meanwhile, or -ESTALE, if a segment of it was
 * changed.  The call is empty then.
 */
int call_make(struct call *c, struct context *cx);

#endif
