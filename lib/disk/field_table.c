// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tables of fields.
 *
 * One row per field, in order; the rows of a structure cover it without gap or
 * overlap (checked by a unit test).  Offsets and sizes are taken from the
 * structures; a row adds the kind and the names.  The table of a directory entry
 * ends before the name, which has a variable length.
 */
#include "disk/field.h"

#include <string.h>

#include "disk/ondisk.h"

#define MEMBER(s, m) (((struct s *)0)->m)
#define PLACE(s, label, m, n, k)                                           \
	.name = label, .offset = offsetof(struct s, m),                    \
	.size = sizeof(MEMBER(s, m)) / (n), .count = (n), .kind = FIELD_##k
#define F(s, m, k) { PLACE(s, #m, m, 1, k) }
#define ARRAY(s, m, k) \
	{ PLACE(s, #m, m, sizeof(MEMBER(s, m)) / sizeof(MEMBER(s, m)[0]), k) }
#define NAMED(s, m, k, list) { PLACE(s, #m, m, 1, k), .names = list }
#define INNER(s, m, table) { PLACE(s, #m, m, 1, STRUCT), .inner = &table }
/* A member of the first member, under its own name. */
#define FIRST(s, f, m, k) { PLACE(s, #m, f.m, 1, k) }
#define FIRST_NAMED(s, f, m, k, list) \
	{ PLACE(s, #m, f.m, 1, k), .names = list }

/* STRUCTURE's name without its "nilfs_"; its rows are STRUCTURE_fields. */
#define SIZED(structure, bytes)                                         \
	{ .name = #structure, .size = (bytes),                          \
	  .fields = structure##_fields,                                 \
	  .nfields = sizeof(structure##_fields) / sizeof(struct field) }
#define TABLE(structure) SIZED(structure, sizeof(struct nilfs_##structure))

static const struct field_name state_names[] = {
	{ NILFS_VALID_FS, "valid" },
	{ NILFS_ERROR_FS, "error" },
	{ NILFS_RESIZE_FS, "resize" },
	{ 0, NULL },
};

static const struct field_name errors_names[] = {
	{ NILFS_ERRORS_CONTINUE, "continue" },
	{ NILFS_ERRORS_RO, "remount-ro" },
	{ NILFS_ERRORS_PANIC, "panic" },
	{ 0, NULL },
};

static const struct field_name os_names[] = {
	{ NILFS_OS_LINUX, "linux" },
	{ 0, NULL },
};

static const struct field_name compat_names[] = {
	{ NILFS_FEATURE_COMPAT_SUFILE_LIVE_BLKS_EXT, "sufile_live_blks_ext" },
	{ NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS, "track_live_blks" },
	{ 0, NULL },
};

static const struct field_name compat_ro_names[] = {
	{ NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT, "block_count" },
	{ 0, NULL },
};

static const struct field_name log_names[] = {
	{ NILFS_SS_LOGBGN, "logbgn" }, { NILFS_SS_LOGEND, "logend" },
	{ NILFS_SS_SR, "sr" },	       { NILFS_SS_SYNDT, "syndt" },
	{ NILFS_SS_GC, "gc" },	       { 0, NULL },
};

static const struct field_name node_names[] = {
	{ NILFS_BTREE_NODE_ROOT, "root" },
	{ 0, NULL },
};

static const struct field_name checkpoint_names[] = {
	{ 1u << NILFS_CHECKPOINT_SNAPSHOT, "snapshot" },
	{ 1u << NILFS_CHECKPOINT_INVALID, "invalid" },
	{ 1u << NILFS_CHECKPOINT_SKETCH, "sketch" },
	{ 1u << NILFS_CHECKPOINT_MINOR, "minor" },
	{ 0, NULL },
};

static const struct field_name usage_names[] = {
	{ 1u << NILFS_SEGMENT_USAGE_ACTIVE, "active" },
	{ 1u << NILFS_SEGMENT_USAGE_DIRTY, "dirty" },
	{ 1u << NILFS_SEGMENT_USAGE_ERROR, "error" },
	{ 0, NULL },
};

/* As set by chattr(1); the kernel stores all of them and obeys some. */
static const struct field_name inode_names[] = {
	{ 0x01, "secrm" },     { 0x02, "unrm" },    { 0x04, "compr" },
	{ 0x08, "sync" },      { 0x10, "immutable" }, { 0x20, "append" },
	{ 0x40, "nodump" },    { 0x80, "noatime" }, { 0x10000, "dirsync" },
	{ 0, NULL },
};

static const struct field_name type_names[] = {
	{ NILFS_FT_UNKNOWN, "unknown" }, { NILFS_FT_REG_FILE, "regular" },
	{ NILFS_FT_DIR, "directory" },	 { NILFS_FT_CHRDEV, "character" },
	{ NILFS_FT_BLKDEV, "block" },	 { NILFS_FT_FIFO, "fifo" },
	{ NILFS_FT_SOCK, "socket" },	 { NILFS_FT_SYMLINK, "symlink" },
	{ 0, NULL },
};

static const struct field inode_fields[] = {
	F(nilfs_inode, i_blocks, UINT),
	F(nilfs_inode, i_size, UINT),
	F(nilfs_inode, i_ctime, TIME),
	F(nilfs_inode, i_mtime, TIME),
	F(nilfs_inode, i_ctime_nsec, UINT),
	F(nilfs_inode, i_mtime_nsec, UINT),
	F(nilfs_inode, i_uid, UINT),
	F(nilfs_inode, i_gid, UINT),
	F(nilfs_inode, i_mode, OCTAL),
	F(nilfs_inode, i_links_count, UINT),
	NAMED(nilfs_inode, i_flags, FLAGS, inode_names),
	ARRAY(nilfs_inode, i_bmap, HEX),
	F(nilfs_inode, i_xattr, UINT),
	F(nilfs_inode, i_generation, UINT),
	F(nilfs_inode, i_pad, PAD),
};

static const struct field_table inode_table = TABLE(inode);

static const struct field snapshot_list_fields[] = {
	F(nilfs_snapshot_list, ssl_next, UINT),
	F(nilfs_snapshot_list, ssl_prev, UINT),
};

static const struct field_table snapshot_list_table = TABLE(snapshot_list);

static const struct field super_block_fields[] = {
	F(nilfs_super_block, s_rev_level, UINT),
	F(nilfs_super_block, s_minor_rev_level, UINT),
	F(nilfs_super_block, s_magic, HEX),
	F(nilfs_super_block, s_bytes, UINT),
	F(nilfs_super_block, s_flags, HEX),
	F(nilfs_super_block, s_crc_seed, HEX),
	F(nilfs_super_block, s_sum, SUM),
	F(nilfs_super_block, s_log_block_size, UINT),
	F(nilfs_super_block, s_nsegments, UINT),
	F(nilfs_super_block, s_dev_size, UINT),
	F(nilfs_super_block, s_first_data_block, UINT),
	F(nilfs_super_block, s_blocks_per_segment, UINT),
	F(nilfs_super_block, s_r_segments_percentage, UINT),
	F(nilfs_super_block, s_last_cno, UINT),
	F(nilfs_super_block, s_last_pseg, UINT),
	F(nilfs_super_block, s_last_seq, UINT),
	F(nilfs_super_block, s_free_blocks_count, UINT),
	F(nilfs_super_block, s_ctime, TIME),
	F(nilfs_super_block, s_mtime, TIME),
	F(nilfs_super_block, s_wtime, TIME),
	F(nilfs_super_block, s_mnt_count, UINT),
	F(nilfs_super_block, s_max_mnt_count, UINT),
	NAMED(nilfs_super_block, s_state, FLAGS, state_names),
	NAMED(nilfs_super_block, s_errors, CHOICE, errors_names),
	F(nilfs_super_block, s_lastcheck, TIME),
	F(nilfs_super_block, s_checkinterval, UINT),
	NAMED(nilfs_super_block, s_creator_os, CHOICE, os_names),
	F(nilfs_super_block, s_def_resuid, UINT),
	F(nilfs_super_block, s_def_resgid, UINT),
	F(nilfs_super_block, s_first_ino, UINT),
	F(nilfs_super_block, s_inode_size, UINT),
	F(nilfs_super_block, s_dat_entry_size, UINT),
	F(nilfs_super_block, s_checkpoint_size, UINT),
	F(nilfs_super_block, s_segment_usage_size, UINT),
	F(nilfs_super_block, s_uuid, UUID),
	F(nilfs_super_block, s_volume_name, TEXT),
	F(nilfs_super_block, s_c_interval, UINT),
	F(nilfs_super_block, s_c_block_max, UINT),
	NAMED(nilfs_super_block, s_feature_compat, FLAGS, compat_names),
	NAMED(nilfs_super_block, s_feature_compat_ro, FLAGS, compat_ro_names),
	F(nilfs_super_block, s_feature_incompat, HEX),
	ARRAY(nilfs_super_block, s_reserved, PAD),
};

static const struct field segment_summary_fields[] = {
	F(nilfs_segment_summary, ss_datasum, SUM),
	F(nilfs_segment_summary, ss_sumsum, SUM),
	F(nilfs_segment_summary, ss_magic, HEX),
	F(nilfs_segment_summary, ss_bytes, UINT),
	NAMED(nilfs_segment_summary, ss_flags, FLAGS, log_names),
	F(nilfs_segment_summary, ss_seq, UINT),
	F(nilfs_segment_summary, ss_create, TIME),
	F(nilfs_segment_summary, ss_next, UINT),
	F(nilfs_segment_summary, ss_nblocks, UINT),
	F(nilfs_segment_summary, ss_nfinfo, UINT),
	F(nilfs_segment_summary, ss_sumbytes, UINT),
	F(nilfs_segment_summary, ss_pad, PAD),
	F(nilfs_segment_summary, ss_cno, UINT),
};

static const struct field finfo_fields[] = {
	F(nilfs_finfo, fi_ino, UINT),
	F(nilfs_finfo, fi_cno, UINT),
	F(nilfs_finfo, fi_nblocks, UINT),
	F(nilfs_finfo, fi_ndatablk, UINT),
};

static const struct field binfo_v_fields[] = {
	F(nilfs_binfo_v, bi_vblocknr, UINT),
	F(nilfs_binfo_v, bi_blkoff, UINT),
};

static const struct field binfo_v_node_fields[] = {
	F(nilfs_binfo_v, bi_vblocknr, UINT),
};

static const struct field binfo_dat_data_fields[] = {
	F(nilfs_binfo_dat, bi_blkoff, UINT),
};

static const struct field binfo_dat_fields[] = {
	F(nilfs_binfo_dat, bi_blkoff, UINT),
	F(nilfs_binfo_dat, bi_level, UINT),
	ARRAY(nilfs_binfo_dat, bi_pad, PAD),
};

static const struct field super_root_fields[] = {
	F(nilfs_super_root, sr_sum, SUM),
	F(nilfs_super_root, sr_bytes, UINT),
	F(nilfs_super_root, sr_flags, HEX),
	F(nilfs_super_root, sr_nongc_ctime, TIME),
	INNER(nilfs_super_root, sr_dat, inode_table),
	INNER(nilfs_super_root, sr_cpfile, inode_table),
	INNER(nilfs_super_root, sr_sufile, inode_table),
};

static const struct field btree_node_fields[] = {
	NAMED(nilfs_btree_node, bn_flags, FLAGS, node_names),
	F(nilfs_btree_node, bn_level, UINT),
	F(nilfs_btree_node, bn_nchildren, UINT),
	F(nilfs_btree_node, bn_pad, PAD),
};

static const struct field palloc_group_desc_fields[] = {
	F(nilfs_palloc_group_desc, pg_nfrees, UINT),
};

static const struct field dat_entry_fields[] = {
	F(nilfs_dat_entry, de_blocknr, UINT),
	F(nilfs_dat_entry, de_start, UINT),
	F(nilfs_dat_entry, de_end, UINT),
	F(nilfs_dat_entry, de_rsv, PAD),
};

static const struct field cpfile_header_fields[] = {
	F(nilfs_cpfile_header, ch_ncheckpoints, UINT),
	F(nilfs_cpfile_header, ch_nsnapshots, UINT),
	INNER(nilfs_cpfile_header, ch_snapshot_list, snapshot_list_table),
};

static const struct field checkpoint_fields[] = {
	NAMED(nilfs_checkpoint, cp_flags, FLAGS, checkpoint_names),
	F(nilfs_checkpoint, cp_checkpoints_count, UINT),
	INNER(nilfs_checkpoint, cp_snapshot_list, snapshot_list_table),
	F(nilfs_checkpoint, cp_cno, UINT),
	F(nilfs_checkpoint, cp_create, TIME),
	F(nilfs_checkpoint, cp_nblk_inc, UINT),
	F(nilfs_checkpoint, cp_inodes_count, UINT),
	F(nilfs_checkpoint, cp_blocks_count, UINT),
	INNER(nilfs_checkpoint, cp_ifile_inode, inode_table),
};

static const struct field sufile_header_fields[] = {
	F(nilfs_sufile_header, sh_ncleansegs, UINT),
	F(nilfs_sufile_header, sh_ndirtysegs, UINT),
	F(nilfs_sufile_header, sh_last_alloc, UINT),
};

static const struct field sufile_header_ext_fields[] = {
	FIRST(nilfs_sufile_header_ext, sh, sh_ncleansegs, UINT),
	FIRST(nilfs_sufile_header_ext, sh, sh_ndirtysegs, UINT),
	FIRST(nilfs_sufile_header_ext, sh, sh_last_alloc, UINT),
	F(nilfs_sufile_header_ext, sh_exact_cno, UINT),
};

static const struct field segment_usage_fields[] = {
	F(nilfs_segment_usage, su_lastmod, TIME),
	F(nilfs_segment_usage, su_nblocks, UINT),
	NAMED(nilfs_segment_usage, su_flags, FLAGS, usage_names),
};

static const struct field segment_usage_ext_fields[] = {
	FIRST(nilfs_segment_usage_ext, su, su_lastmod, TIME),
	FIRST(nilfs_segment_usage_ext, su, su_nblocks, UINT),
	FIRST_NAMED(nilfs_segment_usage_ext, su, su_flags, FLAGS, usage_names),
	F(nilfs_segment_usage_ext, su_nlive_blks, UINT),
	F(nilfs_segment_usage_ext, su_nsnapshot_blks, UINT),
	F(nilfs_segment_usage_ext, su_nlive_lastmod, TIME),
};

static const struct field dir_entry_fields[] = {
	F(nilfs_dir_entry, inode, UINT),
	F(nilfs_dir_entry, rec_len, UINT),
	F(nilfs_dir_entry, name_len, UINT),
	NAMED(nilfs_dir_entry, file_type, CHOICE, type_names),
};

const struct field_table field_table_all[] = {
	TABLE(inode),
	TABLE(super_block),
	TABLE(segment_summary),
	TABLE(finfo),
	TABLE(binfo_v),
	SIZED(binfo_v_node, sizeof(le64)),
	SIZED(binfo_dat_data, sizeof(le64)),
	TABLE(binfo_dat),
	TABLE(super_root),
	TABLE(btree_node),
	TABLE(palloc_group_desc),
	TABLE(dat_entry),
	TABLE(snapshot_list),
	TABLE(cpfile_header),
	TABLE(checkpoint),
	TABLE(sufile_header),
	TABLE(sufile_header_ext),
	TABLE(segment_usage),
	TABLE(segment_usage_ext),
	SIZED(dir_entry, offsetof(struct nilfs_dir_entry, name)),
	{ .name = NULL },
};

const struct field_table *field_table_find(const char *name)
{
	const struct field_table *table;

	for (table = field_table_all; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}
