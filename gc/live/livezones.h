/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones of a mounted volume: segments whose blocks were moved are freed only when
 * their zones are empty.
 */
#ifndef NILFS2_GC_LIVEZONES_H
#define NILFS2_GC_LIVEZONES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "disk/geometry.h"

struct dev;
struct live;
struct volume;

struct livezones {
	const struct live *live;
	struct dev *dev;	/* with its zones */
	struct nilfs_geometry geo;
	int fd;			/* of the device, for resets */
	uint64_t cursor;	/* the last segment that was in use by the kernel */
	uint64_t resets;	/* zones */
	struct bitmap used;	/* segments with blocks of numbers that are in use */
	uint64_t (*clock)(void);	/* milliseconds */
	uint64_t spent;		/* milliseconds, without calls of the cleaner */
};

/*
 * Prepares for VOL, a state of LIVE on a device with zones, which is opened for
 * writing.  CLOCK returns milliseconds.  To be closed also after a failure.  As open(2).
 */
int livezones_open(struct livezones *z, struct context *cx, const struct live *live,
		   const struct volume *vol, uint64_t (*clock)(void));
void livezones_close(struct livezones *z);

/*
 * Frees the segments that an interrupted run has left in use without blocks, and those
 * clean ones whose zones are not empty, after a reset.  VOL is the state on the device.
 */
int livezones_finish(struct livezones *z, struct context *cx, struct volume *vol);

/* Finds the segments with blocks of numbers that are in use, in the state VOL. */
int livezones_count(struct livezones *z, struct context *cx, struct volume *vol);

/*
 * Takes N clean segments, for a call of the kernel to free: they are in use, without
 * blocks, until then, or until livezones_release().  -EBUSY if there are fewer.
 */
int livezones_hold(struct livezones *z, struct context *cx, uint64_t *held, size_t n);
int livezones_release(struct livezones *z, struct context *cx, const uint64_t *held,
		      size_t n);

/*
 * Resets the zones of N segments without live blocks, which are in use, and frees them.
 * After a failure they are in use without blocks, for livezones_finish().
 */
int livezones_recycle(struct livezones *z, struct context *cx,
		      const uint64_t *segments, size_t n);

#endif
