/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The superblock: its checks, content and features, and the choice between the copies. */
#ifndef NILFS2_DISK_SUPER_H
#define NILFS2_DISK_SUPER_H

#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* The minimum device size, in bytes, on which the kernel searches for a volume. */
#define SUPER_MIN_DEVICE (NILFS_SEG_MIN_BLOCKS * NILFS_MIN_BLOCK_SIZE + 4096)

/*
 * The expected checksum of SB over its first s_bytes bytes; an s_bytes out of range is
 * replaced by the nearest one in range.
 */
uint32_t super_checksum(const struct nilfs_super_block *sb);

/* Checks magic, s_bytes and checksum: nilfs_valid_sb(). */
enum rule super_check(const struct nilfs_super_block *sb);

/*
 * Fills G from a superblock that passed super_check(), on a device of DEV_SIZE
 * bytes.  The rules are those of nilfs_store_disk_layout() and of reading the three
 * metadata files, and the range of the first data block.  If a rule is broken G is
 * unchanged, except for RULE_SB_DEVICE_SIZE (the device was larger before),
 * RULE_SB_FIRST_INO and RULE_SB_R_SEGMENTS_PERCENTAGE: the kernel refuses these, but
 * the volume can be read, and G is filled.
 */
enum rule super_geometry(const struct nilfs_super_block *sb, uint64_t dev_size,
			 struct nilfs_geometry *g);

/*
 * The reverse of super_geometry(): sets the fields of SB for the layout G on a
 * device of DEV_SIZE bytes, with magic number, revision and s_bytes.  The caller
 * sets features and checksum.
 */
void super_set_geometry(struct nilfs_super_block *sb, uint64_t dev_size,
			const struct nilfs_geometry *g);

/*
 * Checks for features that the kernel does not know:
 * nilfs_check_feature_compatibility().  RULE_SB_FEATURE_COMPAT_RO forbids only
 * writing.
 */
enum rule super_check_features(const struct nilfs_super_block *sb);

/* Whether s_last_pseg lies in a segment: nilfs_store_log_cursor(). */
enum rule super_check_log(const struct nilfs_super_block *sb,
			  const struct nilfs_geometry *g);

/*
 * Offset of the second copy on a device of DEV_SIZE bytes, 0 if the device is
 * smaller than SUPER_MIN_DEVICE: NILFS_SB2_OFFSET_BYTES().
 */
uint64_t super_offset2(uint64_t dev_size);

/*
 * True if byte OFFSET lies inside the segments described by SB, or SB is
 * implausible; then there is no second copy at OFFSET: nilfs_sb2_bad_offset().
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
 * Chooses between two copies as the kernel does on a device of DEV_SIZE bytes; a
 * copy that could not be read is NULL.  Follows nilfs_load_super_block().
 */
void super_choose(const struct nilfs_super_block *first,
		  const struct nilfs_super_block *second, uint64_t dev_size,
		  struct super_choice *choice);

/* Phrases with the reason for the choice of a copy, by enum super_reason. */
extern const char *const super_reasons[];

enum super_feature_set {
	SUPER_COMPAT,
	SUPER_COMPAT_RO,
	SUPER_INCOMPAT,
};

struct super_feature {
	const char *name;
	const char *alias;	/* another spelling, or NULL */
	enum super_feature_set set;
	uint64_t bit;
};

/* All features; ends with a NULL name. */
extern const struct super_feature super_features[];

/* The name of feature number I, NULL for the number after the last one. */
const char *super_feature_name(size_t i);

/* The feature with that name or alias, or NULL. */
const struct super_feature *super_feature_find(const char *name);

#endif
