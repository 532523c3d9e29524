/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The superblock, of which a volume has two copies. */
#ifndef NILFS2_DISK_ONDISK_SUPER_H
#define NILFS2_DISK_ONDISK_SUPER_H

#include <stdint.h>

#include "base/le.h"
#include "disk/ondisk_layout.h"

#define NILFS_SUPER_MAGIC 0x3434
#define NILFS_SB_OFFSET_BYTES 1024	/* byte where the first copy stands */
#define NILFS_CURRENT_REV 2
#define NILFS_MINOR_REV 0
#define NILFS_MIN_SUPP_REV 2
#define NILFS_OS_LINUX 0
#define NILFS_DFL_MAX_MNT_COUNT 50

/* s_state */
enum {
	NILFS_VALID_FS = 0x0001,	/* unmounted cleanly */
	NILFS_ERROR_FS = 0x0002,	/* errors were detected */
	NILFS_RESIZE_FS = 0x0004,	/* resize under way */
};

/* s_errors */
enum {
	NILFS_ERRORS_CONTINUE = 1,
	NILFS_ERRORS_RO = 2,
	NILFS_ERRORS_PANIC = 3,
};

/* s_feature_compat, s_feature_compat_ro; no incompatible one is known */
#define NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT 0x00000001ULL
#define NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS 0x00000002ULL
#define NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT 0x00000001ULL
#define NILFS_FEATURE_COMPAT_RO_SUPP NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT
#define NILFS_FEATURE_INCOMPAT_SUPP 0ULL

struct nilfs_super_block {
	le32 s_rev_level;
	le16 s_minor_rev_level;
	le16 s_magic;
	le16 s_bytes;			/* bytes that s_sum covers */
	le16 s_flags;
	le32 s_crc_seed;
	le32 s_sum;
	le32 s_log_block_size;		/* block size = 1024 << this */
	le64 s_nsegments;
	le64 s_dev_size;		/* bytes */
	le64 s_first_data_block;
	le32 s_blocks_per_segment;
	le32 s_r_segments_percentage;
	le64 s_last_cno;
	le64 s_last_pseg;		/* block where the last log begins */
	le64 s_last_seq;		/* its sequence number */
	le64 s_free_blocks_count;
	le64 s_ctime;
	le64 s_mtime;			/* of the last mount */
	le64 s_wtime;
	le16 s_mnt_count;
	le16 s_max_mnt_count;
	le16 s_state;
	le16 s_errors;
	le64 s_lastcheck;
	le32 s_checkinterval;		/* seconds */
	le32 s_creator_os;
	le16 s_def_resuid;
	le16 s_def_resgid;
	le32 s_first_ino;
	le16 s_inode_size;
	le16 s_dat_entry_size;
	le16 s_checkpoint_size;
	le16 s_segment_usage_size;
	uint8_t s_uuid[16];
	char s_volume_name[80];
	le32 s_c_interval;
	le32 s_c_block_max;
	le64 s_feature_compat;
	le64 s_feature_compat_ro;
	le64 s_feature_incompat;
	le32 s_reserved[186];
};

#define NILFS_SB_BYTES offsetof(struct nilfs_super_block, s_reserved)

ONDISK_SIZE(struct nilfs_super_block, 1024);
ONDISK_AT(struct nilfs_super_block, s_rev_level, 0x00);
ONDISK_AT(struct nilfs_super_block, s_minor_rev_level, 0x04);
ONDISK_AT(struct nilfs_super_block, s_magic, 0x06);
ONDISK_AT(struct nilfs_super_block, s_bytes, 0x08);
ONDISK_AT(struct nilfs_super_block, s_flags, 0x0a);
ONDISK_AT(struct nilfs_super_block, s_crc_seed, 0x0c);
ONDISK_AT(struct nilfs_super_block, s_sum, 0x10);
ONDISK_AT(struct nilfs_super_block, s_log_block_size, 0x14);
ONDISK_AT(struct nilfs_super_block, s_nsegments, 0x18);
ONDISK_AT(struct nilfs_super_block, s_dev_size, 0x20);
ONDISK_AT(struct nilfs_super_block, s_first_data_block, 0x28);
ONDISK_AT(struct nilfs_super_block, s_blocks_per_segment, 0x30);
ONDISK_AT(struct nilfs_super_block, s_r_segments_percentage, 0x34);
ONDISK_AT(struct nilfs_super_block, s_last_cno, 0x38);
ONDISK_AT(struct nilfs_super_block, s_last_pseg, 0x40);
ONDISK_AT(struct nilfs_super_block, s_last_seq, 0x48);
ONDISK_AT(struct nilfs_super_block, s_free_blocks_count, 0x50);
ONDISK_AT(struct nilfs_super_block, s_ctime, 0x58);
ONDISK_AT(struct nilfs_super_block, s_mtime, 0x60);
ONDISK_AT(struct nilfs_super_block, s_wtime, 0x68);
ONDISK_AT(struct nilfs_super_block, s_mnt_count, 0x70);
ONDISK_AT(struct nilfs_super_block, s_max_mnt_count, 0x72);
ONDISK_AT(struct nilfs_super_block, s_state, 0x74);
ONDISK_AT(struct nilfs_super_block, s_errors, 0x76);
ONDISK_AT(struct nilfs_super_block, s_lastcheck, 0x78);
ONDISK_AT(struct nilfs_super_block, s_checkinterval, 0x80);
ONDISK_AT(struct nilfs_super_block, s_creator_os, 0x84);
ONDISK_AT(struct nilfs_super_block, s_def_resuid, 0x88);
ONDISK_AT(struct nilfs_super_block, s_def_resgid, 0x8a);
ONDISK_AT(struct nilfs_super_block, s_first_ino, 0x8c);
ONDISK_AT(struct nilfs_super_block, s_inode_size, 0x90);
ONDISK_AT(struct nilfs_super_block, s_dat_entry_size, 0x92);
ONDISK_AT(struct nilfs_super_block, s_checkpoint_size, 0x94);
ONDISK_AT(struct nilfs_super_block, s_segment_usage_size, 0x96);
ONDISK_AT(struct nilfs_super_block, s_uuid, 0x98);
ONDISK_AT(struct nilfs_super_block, s_volume_name, 0xa8);
ONDISK_AT(struct nilfs_super_block, s_c_interval, 0xf8);
ONDISK_AT(struct nilfs_super_block, s_c_block_max, 0xfc);
ONDISK_AT(struct nilfs_super_block, s_feature_compat, 0x100);
ONDISK_AT(struct nilfs_super_block, s_feature_compat_ro, 0x108);
ONDISK_AT(struct nilfs_super_block, s_feature_incompat, 0x110);
ONDISK_AT(struct nilfs_super_block, s_reserved, 0x118);

#endif
