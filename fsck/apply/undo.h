/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undo files: the former content of the ranges that a repair wrote.
 *
 * All numbers are little-endian. A file has a header of 64 bytes; then for each
 * range a struct undo_range, its bytes, and a checksum of each piece that the
 * repair wrote there; then the checksum of all that, 4 bytes. Checksums are
 * crc32_le() from 0. A piece is smaller than the unit that a disk writes at
 * once, so after a power failure each piece is either old or new.
 */
#ifndef NILFS2_FSCK_UNDO_H
#define NILFS2_FSCK_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/le.h"
#include "dev/dev.h"

#define UNDO_MAGIC "nilfsund"
#define UNDO_VERSION 2
#define UNDO_PIECE 256u	/* bytes; the last piece of a range may be shorter */

struct undo_header {
	char magic[8];
	le32 version;
	le32 supers;		/* 2: the last ranges, which are superblocks */
	le64 device_size;	/* bytes */
	le64 nranges;
	le64 file_size;		/* bytes of the file, with the checksum */
	uint8_t uuid[16];	/* of the volume, zeros: not known */
	le32 block_size;	/* bytes, for messages; 0: not known */
	le32 piece;		/* UNDO_PIECE */
};
_Static_assert(sizeof(struct undo_header) == 64, "an undo file's header");

struct undo_range {
	le64 offset, length;	/* bytes */
};

/* The size of the checksums for LEN bytes. */
static inline uint64_t undo_sums_bytes(uint64_t len)
{
	return (len / UNDO_PIECE + (len % UNDO_PIECE != 0)) * sizeof(le32);
}

/* The volume of an undo file. */
struct undo_volume {
	uint64_t supers[2];	/* byte offsets of its superblocks */
	uint8_t uuid[16];	/* zeros: not known */
	uint32_t block_size;	/* bytes; 0: not known */
};

/*
 * Writes the new file PATH and flushes it: for each range that a commit of
 * OVERLAY would write to UNDER its present content, then the pages of the
 * superblocks. -EEXIST, or as a write to a file fails.
 */
int undo_save(struct context *cx, const char *path, struct dev *overlay,
	      struct dev *under, const struct undo_volume *volume);

/*
 * Writes the content of the file PATH back to DEV. Nothing is written unless
 * the whole file is sound and of this volume (-EINVAL), and each piece of DEV
 * that would be replaced is as before or after the repair (else -ESTALE; FORCE:
 * not required). -EUCLEAN, -EIO, -ENOMEM.
 */
int undo_restore(struct context *cx, const char *path, struct dev *dev,
		 bool force);

#endif
