/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mounted volume, given by one of its directories.
 *
 * The kernel changes the volume, and is asked by ioctls to do so.  Its device is read
 * as any other, without the page cache (dev/devfile.h).  Structures and requests are
 * those of <linux/nilfs2_api.h>.
 */
#ifndef NILFS2_LIVE_LIVE_H
#define NILFS2_LIVE_LIVE_H

#include <linux/nilfs2_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/context.h"

struct live {
	int fd;			/* of the directory */
	char *dir;		/* as given */
	char *device;		/* the path of its block device */
	dev_t number;		/* of the device */
	bool read_only;		/* every mount of it */
};

/* Whether PATH is a directory, which names the volume mounted there. */
bool live_is_directory(const char *path);

/*
 * Opens the volume of the directory PATH; *LP is closed with live_close().  -ENOTTY
 * if the directory is not on a mounted NILFS2 volume, -ENODEV if its device has no
 * name in /dev, otherwise as open(2).
 */
int live_open(struct live **lp, struct context *cx, const char *path);

/* NULL is accepted. */
void live_close(struct live *l);

/*
 * Does REQUEST, one of NILFS_IOCTL_..., FITRIM, ..., with ARG: its result, 0 or
 * positive, or -errno with the failure text, where NAME is the request.
 */
int live_ioctl(const struct live *l, struct context *cx, const char *name,
	       unsigned long request, void *arg);

/* live_ioctl() whose name is that of the constant. */
#define live_request(l, cx, request, arg) \
	live_ioctl(l, cx, #request, request, arg)

/*
 * 0 if the kernel changes L for this process; else -EPERM, with the reason.  Reading
 * and live_sync() need no privilege.
 */
int live_permitted(const struct live *l, struct context *cx);

/*
 * Writes everything in memory to the device, in a checkpoint: *CNO is its number, or
 * that of the latest one if nothing has changed.
 */
int live_sync(const struct live *l, struct context *cx, uint64_t *cno);

/* One checkpoint, for the caller's ARG: 0, or -errno, which ends the list. */
typedef int live_checkpoint(void *arg, struct context *cx,
			    const struct nilfs_cpinfo *info);

/*
 * Calls EACH for the checkpoints of MODE (NILFS_CHECKPOINT: all; or NILFS_SNAPSHOT),
 * ascending.
 */
int live_each_checkpoint(const struct live *l, struct context *cx, unsigned int mode,
			 live_checkpoint *each, void *arg);

/*
 * Lists the numbers of the checkpoints of MODE, ascending.  The caller frees
 * *CNOS.
 */
int live_checkpoints(const struct live *l, struct context *cx, unsigned int mode,
		     uint64_t **cnos, size_t *n);

#endif
