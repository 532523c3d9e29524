/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structures of the NILFS2 disk format.
 *
 * Structures, fields and constants keep the kernel's names, so that kernel
 * text, this code and our output say the same thing.  Every field is an array
 * of little-endian bytes (base/le.h): a pointer to one of these may point at
 * any offset of any buffer.  Under each structure stand its size and offsets,
 * checked by the compiler; a unit test compares them with the kernel's header.
 */
#ifndef NILFS2_DISK_ONDISK_H
#define NILFS2_DISK_ONDISK_H

#include "base/le.h"
#include "disk/ondisk_layout.h"
#include "disk/ondisk_super.h"

/* Inode numbers with a meaning. */
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
ONDISK_AT(struct nilfs_inode, i_blocks, 0);
ONDISK_AT(struct nilfs_inode, i_size, 8);
ONDISK_AT(struct nilfs_inode, i_ctime, 16);
ONDISK_AT(struct nilfs_inode, i_mtime, 24);
ONDISK_AT(struct nilfs_inode, i_ctime_nsec, 32);
ONDISK_AT(struct nilfs_inode, i_mtime_nsec, 36);
ONDISK_AT(struct nilfs_inode, i_uid, 40);
ONDISK_AT(struct nilfs_inode, i_gid, 44);
ONDISK_AT(struct nilfs_inode, i_mode, 48);
ONDISK_AT(struct nilfs_inode, i_links_count, 50);
ONDISK_AT(struct nilfs_inode, i_flags, 52);
ONDISK_AT(struct nilfs_inode, i_bmap, 56);
ONDISK_AT(struct nilfs_inode, i_xattr, 112);
ONDISK_AT(struct nilfs_inode, i_generation, 120);
ONDISK_AT(struct nilfs_inode, i_pad, 124);

/* Super root: the last block of a log that makes a checkpoint */

struct nilfs_super_root {
	le32 sr_sum;
	le16 sr_bytes;
	le16 sr_flags;
	le64 sr_nongc_ctime;		/* of the last log not of a cleaner */
	struct nilfs_inode sr_dat;	/* these three stand s_inode_size apart */
	struct nilfs_inode sr_cpfile;
	struct nilfs_inode sr_sufile;
};

ONDISK_SIZE(struct nilfs_super_root, 400);
ONDISK_AT(struct nilfs_super_root, sr_sum, 0);
ONDISK_AT(struct nilfs_super_root, sr_bytes, 4);
ONDISK_AT(struct nilfs_super_root, sr_flags, 6);
ONDISK_AT(struct nilfs_super_root, sr_nongc_ctime, 8);
ONDISK_AT(struct nilfs_super_root, sr_dat, 16);
ONDISK_AT(struct nilfs_super_root, sr_cpfile, 144);
ONDISK_AT(struct nilfs_super_root, sr_sufile, 272);

/* Segment summary: how a log begins */

#define NILFS_SEGSUM_MAGIC 0x1eaffa11
#define NILFS_SEGSUM_MIN_BYTES 56	/* older headers end before ss_cno */

/* ss_flags */
enum {
	NILFS_SS_LOGBGN = 0x0001,	/* begins a logical segment */
	NILFS_SS_LOGEND = 0x0002,	/* ends a logical segment */
	NILFS_SS_SR = 0x0004,		/* has a super root */
	NILFS_SS_SYNDT = 0x0008,	/* data only, of fdatasync */
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
ONDISK_AT(struct nilfs_segment_summary, ss_datasum, 0);
ONDISK_AT(struct nilfs_segment_summary, ss_sumsum, 4);
ONDISK_AT(struct nilfs_segment_summary, ss_magic, 8);
ONDISK_AT(struct nilfs_segment_summary, ss_bytes, 12);
ONDISK_AT(struct nilfs_segment_summary, ss_flags, 14);
ONDISK_AT(struct nilfs_segment_summary, ss_seq, 16);
ONDISK_AT(struct nilfs_segment_summary, ss_create, 24);
ONDISK_AT(struct nilfs_segment_summary, ss_next, 32);
ONDISK_AT(struct nilfs_segment_summary, ss_nblocks, 40);
ONDISK_AT(struct nilfs_segment_summary, ss_nfinfo, 44);
ONDISK_AT(struct nilfs_segment_summary, ss_sumbytes, 48);
ONDISK_AT(struct nilfs_segment_summary, ss_pad, 52);
ONDISK_AT(struct nilfs_segment_summary, ss_cno, 56);

struct nilfs_finfo {
	le64 fi_ino;
	le64 fi_cno;
	le32 fi_nblocks;		/* data and node blocks */
	le32 fi_ndatablk;
};

ONDISK_SIZE(struct nilfs_finfo, 24);
ONDISK_AT(struct nilfs_finfo, fi_ino, 0);
ONDISK_AT(struct nilfs_finfo, fi_cno, 8);
ONDISK_AT(struct nilfs_finfo, fi_nblocks, 16);
ONDISK_AT(struct nilfs_finfo, fi_ndatablk, 20);

/*
 * One per block of a file: a data block has nilfs_binfo_v, a node block its
 * first member only.  In the DAT file a data block has bi_blkoff only, a node
 * block nilfs_binfo_dat.
 */
struct nilfs_binfo_v {
	le64 bi_vblocknr;
	le64 bi_blkoff;
};

ONDISK_SIZE(struct nilfs_binfo_v, 16);
ONDISK_AT(struct nilfs_binfo_v, bi_vblocknr, 0);
ONDISK_AT(struct nilfs_binfo_v, bi_blkoff, 8);

struct nilfs_binfo_dat {
	le64 bi_blkoff;
	uint8_t bi_level;
	uint8_t bi_pad[7];
};

ONDISK_SIZE(struct nilfs_binfo_dat, 16);
ONDISK_AT(struct nilfs_binfo_dat, bi_blkoff, 0);
ONDISK_AT(struct nilfs_binfo_dat, bi_level, 8);
ONDISK_AT(struct nilfs_binfo_dat, bi_pad, 9);

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
ONDISK_AT(struct nilfs_btree_node, bn_flags, 0);
ONDISK_AT(struct nilfs_btree_node, bn_level, 1);
ONDISK_AT(struct nilfs_btree_node, bn_nchildren, 2);
ONDISK_AT(struct nilfs_btree_node, bn_pad, 4);

/* Persistent allocator (DAT, ifile) */

struct nilfs_palloc_group_desc {
	le32 pg_nfrees;
};

ONDISK_SIZE(struct nilfs_palloc_group_desc, 4);
ONDISK_AT(struct nilfs_palloc_group_desc, pg_nfrees, 0);

/* DAT: virtual block number -> block, and when it lived */

#define NILFS_CNO_MIN 1ULL
#define NILFS_CNO_MAX UINT64_MAX

struct nilfs_dat_entry {
	le64 de_blocknr;
	le64 de_start;			/* first checkpoint that has it */
	le64 de_end;			/* first one that has it no longer */
	le64 de_rsv;
};

ONDISK_SIZE(struct nilfs_dat_entry, 32);
ONDISK_AT(struct nilfs_dat_entry, de_blocknr, 0);
ONDISK_AT(struct nilfs_dat_entry, de_start, 8);
ONDISK_AT(struct nilfs_dat_entry, de_end, 16);
ONDISK_AT(struct nilfs_dat_entry, de_rsv, 24);

/* Checkpoint file */

struct nilfs_snapshot_list {
	le64 ssl_next;			/* checkpoint number, 0 at the end */
	le64 ssl_prev;
};

ONDISK_SIZE(struct nilfs_snapshot_list, 16);
ONDISK_AT(struct nilfs_snapshot_list, ssl_next, 0);
ONDISK_AT(struct nilfs_snapshot_list, ssl_prev, 8);

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
ONDISK_AT(struct nilfs_checkpoint, cp_flags, 0);
ONDISK_AT(struct nilfs_checkpoint, cp_checkpoints_count, 4);
ONDISK_AT(struct nilfs_checkpoint, cp_snapshot_list, 8);
ONDISK_AT(struct nilfs_checkpoint, cp_cno, 24);
ONDISK_AT(struct nilfs_checkpoint, cp_create, 32);
ONDISK_AT(struct nilfs_checkpoint, cp_nblk_inc, 40);
ONDISK_AT(struct nilfs_checkpoint, cp_inodes_count, 48);
ONDISK_AT(struct nilfs_checkpoint, cp_blocks_count, 56);
ONDISK_AT(struct nilfs_checkpoint, cp_ifile_inode, 64);

struct nilfs_cpfile_header {
	le64 ch_ncheckpoints;
	le64 ch_nsnapshots;
	struct nilfs_snapshot_list ch_snapshot_list;
};

ONDISK_SIZE(struct nilfs_cpfile_header, 32);
ONDISK_AT(struct nilfs_cpfile_header, ch_ncheckpoints, 0);
ONDISK_AT(struct nilfs_cpfile_header, ch_nsnapshots, 8);
ONDISK_AT(struct nilfs_cpfile_header, ch_snapshot_list, 16);

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
ONDISK_AT(struct nilfs_segment_usage, su_lastmod, 0);
ONDISK_AT(struct nilfs_segment_usage, su_nblocks, 8);
ONDISK_AT(struct nilfs_segment_usage, su_flags, 12);

/*
 * With NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT, a published extension that
 * mainline kernels carry along but never update.
 */
struct nilfs_segment_usage_ext {
	struct nilfs_segment_usage su;
	le32 su_nlive_blks;
	le32 su_nsnapshot_blks;		/* of these, kept by snapshots only */
	le64 su_nlive_lastmod;
};

ONDISK_SIZE(struct nilfs_segment_usage_ext, NILFS_EXT_SEGMENT_USAGE_SIZE);
ONDISK_AT(struct nilfs_segment_usage_ext, su, 0x00);
ONDISK_AT(struct nilfs_segment_usage_ext, su_nlive_blks, 0x10);
ONDISK_AT(struct nilfs_segment_usage_ext, su_nsnapshot_blks, 0x14);
ONDISK_AT(struct nilfs_segment_usage_ext, su_nlive_lastmod, 0x18);

struct nilfs_sufile_header {
	le64 sh_ncleansegs;
	le64 sh_ndirtysegs;
	le64 sh_last_alloc;
};

ONDISK_SIZE(struct nilfs_sufile_header, 24);
ONDISK_AT(struct nilfs_sufile_header, sh_ncleansegs, 0);
ONDISK_AT(struct nilfs_sufile_header, sh_ndirtysegs, 8);
ONDISK_AT(struct nilfs_sufile_header, sh_last_alloc, 16);

/*
 * With entries of 32 bytes the header's place has 8 bytes more, which nobody
 * else uses: the checkpoint as of which all live-block counts were exact.  A
 * kernel that writes leaves it behind, so an older number says "not any more".
 */
struct nilfs_sufile_header_ext {
	struct nilfs_sufile_header sh;
	le64 sh_exact_cno;
};

ONDISK_SIZE(struct nilfs_sufile_header_ext, NILFS_EXT_SEGMENT_USAGE_SIZE);
ONDISK_AT(struct nilfs_sufile_header_ext, sh, 0);
ONDISK_AT(struct nilfs_sufile_header_ext, sh_exact_cno, 24);

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
#define NILFS_MAX_REC_LEN 65535		/* stands for 65536 */

struct nilfs_dir_entry {
	le64 inode;
	le16 rec_len;
	uint8_t name_len;
	uint8_t file_type;
	char name[NILFS_NAME_LEN];	/* name_len bytes of it are there */
	char pad;
};

ONDISK_SIZE(struct nilfs_dir_entry, 268);
ONDISK_AT(struct nilfs_dir_entry, inode, 0);
ONDISK_AT(struct nilfs_dir_entry, rec_len, 8);
ONDISK_AT(struct nilfs_dir_entry, name_len, 10);
ONDISK_AT(struct nilfs_dir_entry, file_type, 11);
ONDISK_AT(struct nilfs_dir_entry, name, 12);
ONDISK_AT(struct nilfs_dir_entry, pad, 267);

#endif
