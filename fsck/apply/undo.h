/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undo files: the blocks that a repair has overwritten.
 *
 * All numbers are little-endian.  A header of 64 bytes, then for each range a
 * struct undo_range and its bytes, then the checksum (crc32_le() from 0) of all
 * that, 4 bytes.
 */
#ifndef NILFS2_FSCK_UNDO_H
#define NILFS2_FSCK_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/le.h"
#include "dev/dev.h"

#define UNDO_MAGIC "nilfsund"
#define UNDO_VERSION 1

struct undo_header {
	char magic[8];
	le32 version;
	le32 supers;		/* 2: the last ranges, which are superblocks */
	le64 device_size;	/* bytes */
	le64 nranges;
	le64 file_size;		/* bytes of all, checksum included */
	uint8_t uuid[16];	/* of the volume */
	le32 supers_sum[2];	/* of what was written over those ranges */
};
_Static_assert(sizeof(struct undo_header) == 64, "an undo file's header");

struct undo_range {
	le64 offset, length;	/* bytes */
};

/* Whether undo_save() may create PATH for DEVICE: as output_check(). */
int undo_check(struct context *cx, const char *path, const char *device);

/*
 * Writes the new file PATH, and flushes it: for each range that a commit of
 * OVERLAY would write to UNDER, what stands there; last the pages of the
 * superblocks at SUPERS.  -EEXIST, or as a write to a file fails.
 */
int undo_save(struct context *cx, const char *path, struct dev *overlay,
	      struct dev *under, const uint64_t supers[2],
	      const uint8_t uuid[16]);

/*
 * Writes back to DEV what the file PATH has.  Nothing is written unless the
 * whole file is sound and of a device of this size, and each superblock of DEV
 * is as the repair left it, or found it (else -ESTALE; FORCE: whatever it is).  -EUCLEAN, -EINVAL, -EIO, -ENOMEM.
 */
int undo_restore(struct context *cx, const char *path, struct dev *dev,
		 bool force);

#endif
