/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The superblock: is it one, what does it say, which copy counts. */
#ifndef NILFS2_DISK_SUPER_H
#define NILFS2_DISK_SUPER_H

#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* The least device in bytes on which the kernel looks for a volume. */
#define SUPER_MIN_DEVICE (NILFS_SEG_MIN_BLOCKS * NILFS_MIN_BLOCK_SIZE + 4096)

/*
 * The checksum that SB should have over its first s_bytes bytes; an s_bytes
 * out of range is taken as the nearest one in range.
 */
uint32_t super_checksum(const struct nilfs_super_block *sb);

/* Magic, s_bytes and checksum: nilfs_valid_sb(). */
enum rule super_check(const struct nilfs_super_block *sb);

/*
 * Fills G from a superblock that passed super_check(), on a device of
 * DEV_SIZE bytes.  Broken rules are those of nilfs_store_disk_layout() and of
 * the reading of the three metadata files, and a first data block where it
 * cannot be; G is left alone then, except for RULE_SB_DEVICE_SIZE (the device
 * was larger once), RULE_SB_FIRST_INO and RULE_SB_R_SEGMENTS_PERCENTAGE, with which
 * the volume can still be read: the kernel refuses it, G is filled.
 */
enum rule super_geometry(const struct nilfs_super_block *sb, uint64_t dev_size,
			 struct nilfs_geometry *g);

/*
 * The reverse of super_geometry(): what SB says of the layout G on a device of
 * DEV_SIZE bytes, with magic number, revision and s_bytes.  Features and the
 * checksum are the caller's.
 */
void super_set_geometry(struct nilfs_super_block *sb, uint64_t dev_size,
			const struct nilfs_geometry *g);

/*
 * Features that the kernel does not know: nilfs_check_feature_compatibility().
 * RULE_SB_FEATURE_COMPAT_RO forbids only writing.
 */
enum rule super_check_features(const struct nilfs_super_block *sb);

/* Whether s_last_pseg lies in a segment: nilfs_store_log_cursor(). */
enum rule super_check_log(const struct nilfs_super_block *sb,
			  const struct nilfs_geometry *g);

/*
 * Byte where the second copy stands on a device of DEV_SIZE bytes, 0 where
 * the device is smaller than SUPER_MIN_DEVICE: NILFS_SB2_OFFSET_BYTES().
 */
uint64_t super_offset2(uint64_t dev_size);

/*
 * True where byte OFFSET lies inside the segments that SB describes, or SB
 * makes no sense; a second copy there is none: nilfs_sb2_bad_offset().
 */
bool super_bad_offset2(const struct nilfs_super_block *sb, uint64_t offset);

enum super_reason {
	SUPER_NEITHER,		/* no copy is valid */
	SUPER_FIRST_ALONE,	/* the other copy is not valid */
	SUPER_SECOND_ALONE,
	SUPER_FIRST_NEWER,	/* greater s_last_cno */
	SUPER_SECOND_NEWER,
	SUPER_SAME,		/* equal s_last_cno: the first is used */
	SUPER_SECOND_MISPLACED,	/* the second lies in the segments: unused */
	SUPER_NEITHER_MISPLACED,	/* as above, and the first is not valid */
};

struct super_choice {
	int index;		/* 0 or 1: the copy to use; -1: neither */
	int spare;		/* the other copy if usable, or -1 */
	enum super_reason reason;
	enum rule verdict[2];	/* of super_check(); RULE_SB_PLACE */
};

/*
 * Chooses between two copies as the kernel does on a device of DEV_SIZE bytes;
 * one that could not be read is NULL.  Follows nilfs_load_super_block().
 */
void super_choose(const struct nilfs_super_block *first,
		  const struct nilfs_super_block *second, uint64_t dev_size,
		  struct super_choice *choice);

/* One phrase that says why a copy was chosen. */
const char *super_reason_text(enum super_reason reason);

#endif
