/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image file or block device to be formatted. */
#ifndef NILFS2_MKFS_TARGET_H
#define NILFS2_MKFS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "dev/dev.h"
#include "dev/output.h"
#include "dev/zone.h"
#include "mkfs/plan/options.h"

struct target {
	const char *path;
	struct dev *dev;	/* NULL while the image file does not exist */
	struct dev *file;	/* dev, or the device under its zones */
	const struct zones *zones;	/* NULL: none, or ignored */
	uint64_t size;		/* final size in bytes */
	bool fit;		/* the size is open until target_settle() */
	bool emptied;		/* an existing file was emptied for `fit` */
	uint64_t old_size;	/* size of that file before */
	uint32_t sector_size;
	bool blank;		/* reads as zeros everywhere */
	struct output *created;	/* by target_prepare(), or NULL */
	struct zones emulated;	/* of an image file */
	char *side;		/* file of their write pointers, or NULL */
};

/*
 * Examines PATH and opens it (read-only for a dry run).  Fails if it must not be
 * formatted: in use, zones that contradict --zoned, no file and no --size, a --size that
 * does not fit.  Changes nothing, but claims a block device.
 */
int target_open(struct context *cx, const char *path,
		const struct mkfs_options *o, struct target *t);

/* -EINVAL if PATH is in use; a loop device is accepted by force. */
int target_check_use(struct context *cx, const char *path,
		     const struct mkfs_options *o);

/* -EINVAL with a text that names the existing content, unless T is empty. */
int target_check_empty(struct context *cx, struct target *t);

/*
 * -EFBIG if the user's limits (setrlimit) do not permit an image file of SIZE bytes.
 */
int target_check_limit(const struct target *t, struct context *cx,
		       uint64_t size);

/*
 * Creates or enlarges the image file as requested by --size, and sets its zones.  A file
 * whose size follows from its content is emptied and gets a provisional size, which may
 * be less than t->size was.
 */
int target_prepare(struct context *cx, struct target *t);

/* Sets the final size of an image file of provisional size. */
int target_settle(struct context *cx, struct target *t, uint64_t size);

/* Gives a file created by target_prepare() its name.  Fails as output_commit(). */
int target_finish(struct context *cx, struct target *t);

/* Closes T.  A created file is removed if it was not finished, or FAILED. */
void target_close(struct target *t, bool failed);

#endif
