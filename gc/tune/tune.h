/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changing properties of a volume that are in its superblocks alone. */
#ifndef NILFS2_GC_TUNE_H
#define NILFS2_GC_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/ondisk.h"

/* A number that is not to be changed. */
#define TUNE_KEEP INT64_MIN

/* Numbers in a superblock. */
enum tune_number {
	TUNE_CHECK_INTERVAL,	/* seconds, 0: no check is due */
	TUNE_MAX_MOUNTS,	/* -1, 0: no check is due */
	TUNE_COMMIT_INTERVAL,	/* seconds, 0: the kernel's default */
	TUNE_COMMIT_BLOCKS,	/* dirty blocks, 0: the kernel's default */
	TUNE_NUMBERS,
};

/* The requested changes. */
struct tune {
	const char *label;		/* NULL: kept */
	const uint8_t *uuid;		/* 16 bytes; NULL: kept */
	int64_t numbers[TUNE_NUMBERS];	/* or TUNE_KEEP */
};

/* The result. */
struct tune_done {
	bool changed;
	struct nilfs_super_block super;	/* as written */
};

/* The option that sets NUMBER. */
const char *tune_option(enum tune_number number);

/*
 * -EINVAL with the text for the user if a value of T does not fit into its
 * field.
 */
int tune_check(struct context *cx, const struct tune *t);

/*
 * Writes T, which passed tune_check(), to both superblocks of the volume on
 * DEV; nothing if both have it.  Each write replaces one superblock as a whole,
 * the first one first, so one of them is valid at any moment.  The log that
 * they name, the state and the times stay.  -EUCLEAN if the volume must be
 * recovered or repaired first, -EIO, -ENOMEM.
 */
int tune_set(struct tune_done *done, struct context *cx, struct dev *dev,
	     const struct tune *t);

#endif
