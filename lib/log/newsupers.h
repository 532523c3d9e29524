/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Superblocks that name a new log.
 *
 * Writing them is the last step of every change of a volume.  There is a flush
 * between the two writes, so one of them is intact at any moment.
 */
#ifndef NILFS2_LOG_NEWSUPERS_H
#define NILFS2_LOG_NEWSUPERS_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "log/writer.h"
#include "vol/volume.h"

/*
 * Updates SB, as read from the volume: the log of END, TIME (s_wtime), STATE
 * (s_state: NILFS_VALID_FS, plus NILFS_ERROR_FS if that stays), the number of
 * free blocks of END, and its checksum.  Follows nilfs_commit_super() and
 * nilfs_set_log_cursor().
 */
void newsupers_fill(struct nilfs_super_block *sb,
		    const struct nilfs_geometry *g,
		    const struct writer_end *end, uint64_t time,
		    uint16_t state);

/* Writes SB at OFFSET (bytes) of DEV, and flushes.  -EIO, -EROFS. */
int newsupers_write_copy(struct context *cx, struct dev *dev,
			 const struct nilfs_super_block *sb, uint64_t offset);

/*
 * Flushes DEV, writes SB as the first superblock, flushes, and the same for the
 * second one (OFFSET2 in bytes; 0: there is none).  -EIO, -EROFS.
 */
int newsupers_write(struct context *cx, struct dev *dev,
		    const struct nilfs_super_block *sb, uint64_t offset2);

/*
 * Offset of the second superblock of VOL; 0 if it has no place, because the
 * device is shorter than the volume, the place is in use, or it lies in a
 * sequential zone.
 */
uint64_t newsupers_offset2(const struct volume *vol);

/*
 * newsupers_fill() and newsupers_write() for VOL, whose superblocks are on DEV.
 */
int newsupers_name(struct context *cx, struct dev *dev,
		   const struct volume *vol, const struct writer_end *end,
		   uint64_t time, uint16_t state);

/*
 * Marks VOL, whose superblocks are on DEV, as not unmounted, unless it is: a mount then
 * goes on from the log that the superblocks name to the next ones, and finds the super
 * root that the caller writes next, or does not.
 */
int newsupers_begin(struct context *cx, struct dev *dev, const struct volume *vol);

#endif
