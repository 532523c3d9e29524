/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structures of the NILFS2 disk format.
 *
 * Structures, fields and constants have the kernel's names.  Every field is an array
 * of little-endian bytes (base/le.h): a pointer to one of these may point at any
 * offset of any buffer, and fields follow one another without gaps.  The compiler
 * checks the sizes, a unit test compares sizes and offsets with the kernel's header.
 */
#ifndef NILFS2_DISK_ONDISK_H
#define NILFS2_DISK_ONDISK_H

#include <stddef.h>
#include <stdint.h>

#include "base/le.h"

#define ONDISK_SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes), "size of " #type)

/* Special inode numbers. */
enum {
	NILFS_ROOT_INO = 2,
	NILFS_DAT_INO = 3,
	NILFS_CPFILE_INO = 4,
	NILFS_SUFILE_INO = 5,
	NILFS_IFILE_INO = 6,
	NILFS_ATIME_INO = 7,
	NILFS_XATTR_INO = 8,
	NILFS_SKETCH_INO = 10,
	NILFS_USER_INO = 11,		/* the first for users */
};

/* Limits. */
enum {
	NILFS_MIN_BLOCK_SIZE = 1024,
	NILFS_MAX_BLOCK_SIZE = 65536,
	NILFS_MIN_BLOCK_BITS = 10,
	NILFS_MAX_BLOCK_BITS = 16,
	NILFS_SEG_MIN_BLOCKS = 16,	/* blocks of a full segment */
	NILFS_PSEG_MIN_BLOCKS = 2,	/* blocks of a log */
	NILFS_MIN_NRSVSEGS = 8,		/* reserved segments */
	NILFS_MIN_INODE_SIZE = 128,
	NILFS_MIN_DAT_ENTRY_SIZE = 32,
	NILFS_MIN_CHECKPOINT_SIZE = 64 + NILFS_MIN_INODE_SIZE,
	NILFS_MIN_SEGMENT_USAGE_SIZE = 16,
	NILFS_EXT_SEGMENT_USAGE_SIZE = 32,
	NILFS_LINK_MAX = 32000,
	NILFS_NAME_LEN = 255,
};

/* The superblock, of which a volume has two copies. */

#define NILFS_SUPER_MAGIC 0x3434
#define NILFS_SB_OFFSET_BYTES 1024	/* offset of the first copy in bytes */
#define NILFS_CURRENT_REV 2
#define NILFS_MINOR_REV 0
#define NILFS_MIN_SUPP_REV 2
#define NILFS_OS_LINUX 0
#define NILFS_DFL_MAX_MNT_COUNT 50

/* s_state */
enum {
	NILFS_VALID_FS = 0x0001,	/* unmounted cleanly */
	NILFS_ERROR_FS = 0x0002,	/* errors were detected */
	NILFS_RESIZE_FS = 0x0004,	/* resize in progress */
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
	le64 s_last_pseg;		/* first block of the last log */
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

/* Inode */

#define NILFS_INODE_BMAP_SIZE 7

struct nilfs_inode {
	le64 i_blocks;
	le64 i_size;			/* bytes */
	le64 i_ctime;			/* seconds */
	le64 i_mtime;			/* seconds */
	le32 i_ctime_nsec;
	le32 i_mtime_nsec;
	le32 i_uid;
	le32 i_gid;
	le16 i_mode;
	le16 i_links_count;
	le32 i_flags;
	le64 i_bmap[NILFS_INODE_BMAP_SIZE];	/* [0]: number of a device */
	le64 i_xattr;
	le32 i_generation;
	le32 i_pad;
};

ONDISK_SIZE(struct nilfs_inode, 128);

/* Super root: the last block of a log with a checkpoint */

struct nilfs_super_root {
	le32 sr_sum;
	le16 sr_bytes;
	le16 sr_flags;
	le64 sr_nongc_ctime;		/* of the last log not by a cleaner */
	struct nilfs_inode sr_dat;	/* these three are s_inode_size apart */
	struct nilfs_inode sr_cpfile;
	struct nilfs_inode sr_sufile;
};

ONDISK_SIZE(struct nilfs_super_root, 400);

/* Segment summary: the beginning of a log */

#define NILFS_SEGSUM_MAGIC 0x1eaffa11
#define NILFS_SEGSUM_MIN_BYTES 56	/* older headers end before ss_cno */

/* ss_flags */
enum {
	NILFS_SS_LOGBGN = 0x0001,	/* begins a logical segment */
	NILFS_SS_LOGEND = 0x0002,	/* ends a logical segment */
	NILFS_SS_SR = 0x0004,		/* has a super root */
	NILFS_SS_SYNDT = 0x0008,	/* data only, by fdatasync */
	NILFS_SS_GC = 0x0010,		/* written for a cleaner */
};

struct nilfs_segment_summary {
	le32 ss_datasum;
	le32 ss_sumsum;
	le32 ss_magic;
	le16 ss_bytes;			/* bytes of this structure */
	le16 ss_flags;
	le64 ss_seq;
	le64 ss_create;
	le64 ss_next;			/* first block of the next segment */
	le32 ss_nblocks;
	le32 ss_nfinfo;
	le32 ss_sumbytes;
	le32 ss_pad;
	le64 ss_cno;
};

ONDISK_SIZE(struct nilfs_segment_summary, 64);

struct nilfs_finfo {
	le64 fi_ino;
	le64 fi_cno;
	le32 fi_nblocks;		/* data and node blocks */
	le32 fi_ndatablk;
};

ONDISK_SIZE(struct nilfs_finfo, 24);

/*
 * One per block of a file: nilfs_binfo_v for a data block, only its first member for
 * a node block.  In the DAT file a data block has only bi_blkoff, a node block
 * nilfs_binfo_dat.
 */
struct nilfs_binfo_v {
	le64 bi_vblocknr;
	le64 bi_blkoff;
};

ONDISK_SIZE(struct nilfs_binfo_v, 16);

struct nilfs_binfo_dat {
	le64 bi_blkoff;
	uint8_t bi_level;
	uint8_t bi_pad[7];
};

ONDISK_SIZE(struct nilfs_binfo_dat, 16);

/* B-tree node, also the root in an inode; keys and pointers follow */

#define NILFS_BTREE_NODE_ROOT 0x01	/* bn_flags; also: not a direct map */
#define NILFS_BTREE_LEVEL_DATA 0
#define NILFS_BTREE_LEVEL_NODE_MIN 1
#define NILFS_BTREE_LEVEL_MAX 14	/* one past the highest */
#define NILFS_BTREE_ROOT_NCHILDREN_MAX 3
#define NILFS_BTREE_NODE_EXTRA_PAD_SIZE 8	/* not in the root */
#define NILFS_DIRECT_NBLOCKS 6
#define NILFS_BMAP_INVALID_PTR 0

struct nilfs_btree_node {
	uint8_t bn_flags;
	uint8_t bn_level;
	le16 bn_nchildren;
	le32 bn_pad;
};

ONDISK_SIZE(struct nilfs_btree_node, 8);

/* Persistent allocator (DAT, ifile) */

struct nilfs_palloc_group_desc {
	le32 pg_nfrees;
};

ONDISK_SIZE(struct nilfs_palloc_group_desc, 4);

/* DAT: virtual block number -> block and its lifetime */

#define NILFS_CNO_MIN 1ULL
#define NILFS_CNO_MAX UINT64_MAX

struct nilfs_dat_entry {
	le64 de_blocknr;
	le64 de_start;			/* first checkpoint with the block */
	le64 de_end;			/* first later checkpoint without it */
	le64 de_rsv;
};

ONDISK_SIZE(struct nilfs_dat_entry, 32);

/* Checkpoint file */

struct nilfs_snapshot_list {
	le64 ssl_next;			/* checkpoint number, 0 at the end */
	le64 ssl_prev;
};

ONDISK_SIZE(struct nilfs_snapshot_list, 16);

/* cp_flags: numbers of bits */
enum {
	NILFS_CHECKPOINT_SNAPSHOT,
	NILFS_CHECKPOINT_INVALID,
	NILFS_CHECKPOINT_SKETCH,
	NILFS_CHECKPOINT_MINOR,
};

struct nilfs_checkpoint {
	le32 cp_flags;
	le32 cp_checkpoints_count;	/* first of a block: valid ones in it */
	struct nilfs_snapshot_list cp_snapshot_list;
	le64 cp_cno;
	le64 cp_create;
	le64 cp_nblk_inc;
	le64 cp_inodes_count;
	le64 cp_blocks_count;
	struct nilfs_inode cp_ifile_inode;
};

ONDISK_SIZE(struct nilfs_checkpoint, 192);

struct nilfs_cpfile_header {
	le64 ch_ncheckpoints;
	le64 ch_nsnapshots;
	struct nilfs_snapshot_list ch_snapshot_list;
};

ONDISK_SIZE(struct nilfs_cpfile_header, 32);

/* Segment usage file */

/* su_flags: numbers of bits */
enum {
	NILFS_SEGMENT_USAGE_ACTIVE,
	NILFS_SEGMENT_USAGE_DIRTY,
	NILFS_SEGMENT_USAGE_ERROR,
};

struct nilfs_segment_usage {
	le64 su_lastmod;
	le32 su_nblocks;
	le32 su_flags;
};

ONDISK_SIZE(struct nilfs_segment_usage, 16);

/*
 * With NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT, a published extension.  Mainline
 * kernels preserve these counts but never update them.
 */
struct nilfs_segment_usage_ext {
	struct nilfs_segment_usage su;
	le32 su_nlive_blks;
	le32 su_nsnapshot_blks;		/* of these, kept by snapshots only */
	le64 su_nlive_lastmod;
};

ONDISK_SIZE(struct nilfs_segment_usage_ext, NILFS_EXT_SEGMENT_USAGE_SIZE);

struct nilfs_sufile_header {
	le64 sh_ncleansegs;
	le64 sh_ndirtysegs;
	le64 sh_last_alloc;
};

ONDISK_SIZE(struct nilfs_sufile_header, 24);

/*
 * With entries of 32 bytes the header's place has 8 more bytes, otherwise unused:
 * the checkpoint for which all live-block counts were exact.  A writing kernel does
 * not update it, so an older number is out of date.
 */
struct nilfs_sufile_header_ext {
	struct nilfs_sufile_header sh;
	le64 sh_exact_cno;
};

ONDISK_SIZE(struct nilfs_sufile_header_ext, NILFS_EXT_SEGMENT_USAGE_SIZE);

/* Directory */

/* file_type */
enum {
	NILFS_FT_UNKNOWN,
	NILFS_FT_REG_FILE,
	NILFS_FT_DIR,
	NILFS_FT_CHRDEV,
	NILFS_FT_BLKDEV,
	NILFS_FT_FIFO,
	NILFS_FT_SOCK,
	NILFS_FT_SYMLINK,
	NILFS_FT_MAX
};

#define NILFS_DIR_PAD 8
#define NILFS_DIR_REC_LEN(name_len) (((name_len) + 12 + 7) & ~7)
#define NILFS_MAX_REC_LEN 65535		/* means 65536 */

struct nilfs_dir_entry {
	le64 inode;
	le16 rec_len;
	uint8_t name_len;
	uint8_t file_type;
	char name[NILFS_NAME_LEN];	/* name_len bytes are present */
	char pad;
};

ONDISK_SIZE(struct nilfs_dir_entry, 268);

#endif
