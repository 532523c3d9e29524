// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every rule can be broken: for each row of the registry, sound bytes are
 * damaged in one way, and the check must name that very rule.
 */
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "disk/rule.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/super.h"
#include "disk/superroot.h"

#include <ctype.h>
#include <sys/stat.h>

#include "tap.h"

#define BLOCK 1024u
#define DEVICE (4096ull * BLOCK)

static const struct nilfs_geometry geometry = {
	.block_size = BLOCK, .block_bits = 10, .blocks_per_segment = 1024,
	.inode_size = 128, .dat_entry_size = 32, .checkpoint_size = 192,
	.segment_usage_size = 16, .first_ino = 11, .first_data_block = 4,
	.nsegments = 4, .nblocks = 4096,
};

static void super_make(struct nilfs_super_block *sb)
{
	memset(sb, 0, sizeof(*sb));
	sb->s_rev_level = le32_make(2);
	sb->s_magic = le16_make(0x3434);
	sb->s_bytes = le16_make(280);
	sb->s_nsegments = le64_make(4);
	sb->s_first_data_block = le64_make(4);
	sb->s_blocks_per_segment = le32_make(1024);
	sb->s_r_segments_percentage = le32_make(5);
	sb->s_last_pseg = le64_make(4);
	sb->s_first_ino = le32_make(11);
	sb->s_inode_size = le16_make(128);
	sb->s_dat_entry_size = le16_make(32);
	sb->s_checkpoint_size = le16_make(192);
	sb->s_segment_usage_size = le16_make(16);
}

static void super_damage(struct nilfs_super_block *sb, enum rule rule)
{
	switch (rule) {
	case RULE_SB_MAGIC:
		sb->s_magic = le16_make(0x3435);
		break;
	case RULE_SB_BYTES:
		sb->s_bytes = le16_make(1025);
		break;
	case RULE_SB_REV_LEVEL:
		sb->s_rev_level = le32_make(1);
		break;
	case RULE_SB_BLOCK_SIZE:
		sb->s_log_block_size = le32_make(7);
		break;
	case RULE_SB_INODE_SIZE:
		sb->s_inode_size = le16_make(337);
		break;
	case RULE_SB_FIRST_INO:
		sb->s_first_ino = le32_make(10);
		break;
	case RULE_SB_BLOCKS_PER_SEGMENT:
		sb->s_blocks_per_segment = le32_make(15);
		break;
	case RULE_SB_R_SEGMENTS_PERCENTAGE:
		sb->s_r_segments_percentage = le32_make(100);
		break;
	case RULE_SB_NSEGMENTS:
		sb->s_nsegments = le64_make(UINT64_MAX / 1024);
		break;
	case RULE_SB_DEVICE_SIZE:
		sb->s_nsegments = le64_make(5);
		break;
	case RULE_SB_FIRST_DATA_BLOCK:
		sb->s_first_data_block = le64_make(1);
		break;
	case RULE_SB_DAT_ENTRY_SIZE:
		sb->s_dat_entry_size = le16_make(31);
		break;
	case RULE_SB_CHECKPOINT_SIZE:
		sb->s_checkpoint_size = le16_make(191);
		break;
	case RULE_SB_SEGMENT_USAGE_SIZE:
		sb->s_segment_usage_size = le16_make(1025);
		break;
	case RULE_SB_FEATURE_INCOMPAT:
		sb->s_feature_incompat = le64_make(1);
		break;
	case RULE_SB_FEATURE_COMPAT_RO:
		sb->s_feature_compat_ro = le64_make(2);
		break;
	case RULE_SB_LAST_PSEG:
		sb->s_last_pseg = le64_make(3);
		break;
	default:
		break;
	}
}

static enum rule super_verdict(enum rule want)
{
	struct nilfs_super_block sb;
	struct super_choice choice;
	struct nilfs_geometry g;
	enum rule rule;

	super_make(&sb);
	super_damage(&sb, want);
	sb.s_sum = le32_make(super_checksum(&sb) + (want == RULE_SB_SUM));
	if (want == RULE_SB_UNREADABLE || want == RULE_SB_PLACE) {
		super_choose(&sb, want == RULE_SB_PLACE ? &sb : NULL, DEVICE,
			     &choice);
		return choice.verdict[1];
	}
	rule = super_check(&sb);
	if (!rule)
		rule = super_geometry(
			&sb, want == RULE_SB_DEVICE_SMALL ? 20479 : DEVICE,
			&g);
	if (!rule)
		rule = super_check_features(&sb);
	return rule ? rule : super_check_log(&sb, &geometry);
}

/* A log of four blocks: summary, data, node, super root. */
static void log_make(uint8_t *block)
{
	struct nilfs_segment_summary *ss = (void *)block;
	struct nilfs_finfo *fi = (void *)(block + sizeof(*ss));

	memset(block, 0, BLOCK);
	ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
	ss->ss_bytes = le16_make(sizeof(*ss));
	ss->ss_flags = le16_make(NILFS_SS_SR);
	ss->ss_seq = le64_make(9);
	ss->ss_next = le64_make(2048);
	ss->ss_nblocks = le32_make(4);
	ss->ss_nfinfo = le32_make(1);
	ss->ss_sumbytes = le32_make(sizeof(*ss) + sizeof(*fi) + 16 + 8);
	fi->fi_ino = le64_make(12);
	fi->fi_nblocks = le32_make(2);
	fi->fi_ndatablk = le32_make(1);
}

static void log_damage(uint8_t *block, enum rule rule)
{
	struct nilfs_segment_summary *ss = (void *)block;
	struct nilfs_finfo *fi = (void *)(block + sizeof(*ss));

	switch (rule) {
	case RULE_LOG_MAGIC:
		ss->ss_magic = le32_make(0);
		break;
	case RULE_LOG_SEQ:
		ss->ss_seq = le64_make(8);
		break;
	case RULE_LOG_NBLOCKS:
		ss->ss_nblocks = le32_make(1025);
		break;
	case RULE_LOG_SEGMENT:
		ss->ss_nblocks = le32_make(1021);
		break;
	case RULE_LOG_BYTES:
		ss->ss_bytes = le16_make(55);
		break;
	case RULE_LOG_SUMBYTES:
		ss->ss_sumbytes = le32_make(4 * BLOCK);
		break;
	case RULE_LOG_NFINFO:
		ss->ss_nfinfo = le32_make(3);
		break;
	case RULE_LOG_FLAGS:
		ss->ss_flags = le16_make(NILFS_SS_SR | 0x20);
		break;
	case RULE_LOG_NEXT:
		ss->ss_next = le64_make(2049);
		break;
	case RULE_LOG_FINFO:
		fi->fi_ndatablk = le32_make(3);
		break;
	case RULE_LOG_TRUNCATED:
		fi->fi_ndatablk = le32_make(2);
		break;
	case RULE_LOG_PAYLOAD:
		ss->ss_nblocks = le32_make(5);
		break;
	case RULE_LOG_SUMBYTES_UNUSED:
		fi->fi_ndatablk = le32_make(0);
		break;
	default:
		break;
	}
}

static enum rule log_sums(uint8_t log[4 * BLOCK], enum rule want)
{
	struct nilfs_segment_summary *ss = (void *)log;
	struct segsum_crc sum, data;

	memset(log + BLOCK, 1, 3 * BLOCK);
	segsum_crc_init_sumsum(&sum, &geometry, ss);
	segsum_crc_update(&sum, log, 4 * BLOCK);
	ss->ss_sumsum = le32_make(sum.sum ^ (want == RULE_LOG_SUMSUM));
	segsum_crc_init_datasum(&data, &geometry, ss);
	segsum_crc_update(&data, log, 4 * BLOCK);
	ss->ss_datasum = le32_make(data.sum ^ (want == RULE_LOG_DATASUM));
	return segsum_crc_check_sumsum(&sum, ss) ?:
	       segsum_crc_check_datasum(&data, ss);
}

static enum rule log_verdict(enum rule want)
{
	uint8_t log[4 * BLOCK];
	struct nilfs_segment_summary *ss = (void *)log;
	struct segsum_block b;
	struct segsum_iter it;
	enum rule rule;

	log_make(log);
	log_damage(log, want);
	rule = segsum_check_kernel(&geometry, ss, 4, 9);
	if (!rule)
		rule = segsum_check(&geometry, ss, 4);
	if (!rule)
		rule = segsum_check_links(&geometry, ss);
	if (rule)
		return rule;
	segsum_iter_init(&it, &geometry, log, BLOCK);
	while (segsum_iter_next(&it, &b))
		;
	return it.verdict ? it.verdict : log_sums(log, want);
}

static enum rule superroot_verdict(enum rule want)
{
	uint8_t block[BLOCK] = { 0 };
	struct nilfs_super_root *sr = (void *)block;

	sr->sr_bytes = le16_make(want == RULE_SR_BYTES ? 399 : 400);
	sr->sr_sum = le32_make(superroot_checksum(&geometry, block) ^
			       (want == RULE_SR_SUM));
	return superroot_check(&geometry, block);
}

static enum rule bmap_root_verdict(enum rule want)
{
	le64 map[NILFS_INODE_BMAP_SIZE] = { 0 };
	struct nilfs_btree_node *bn = (void *)map;

	bn->bn_flags = NILFS_BTREE_NODE_ROOT;
	bn->bn_level = want == RULE_BMAP_ROOT_LEVEL ? 14 : 2;
	bn->bn_nchildren = le16_make(want == RULE_BMAP_ROOT_NCHILDREN ? 0 : 3);
	return bmap_root_check(map);
}

static enum rule bmap_node_verdict(enum rule want)
{
	uint8_t block[BLOCK] = { 0 };
	struct nilfs_btree_node *bn = (void *)block;
	le64 *keys = (void *)(block + 16), *ptrs = keys + 63;
	struct bmap_node node;
	enum rule rule;

	bn->bn_level = want != RULE_BMAP_NODE_LEVEL;
	bn->bn_flags = want == RULE_BMAP_NODE_FLAGS;
	bn->bn_nchildren = le16_make(want == RULE_BMAP_NODE_NCHILDREN ? 64 : 2);
	keys[1] = le64_make(want != RULE_BMAP_KEY_ORDER);
	ptrs[0] = le64_make(1);
	ptrs[1] = le64_make(want != RULE_BMAP_NULL_POINTER);
	rule = bmap_node_check(BLOCK, block);
	bmap_node_read(BLOCK, block, &node);
	return rule ? rule : bmap_node_check_entries(&node);
}

static enum rule dat_verdict(enum rule want)
{
	struct nilfs_dat_entry de = { 0 };

	de.de_blocknr = le64_make(want == RULE_DAT_BLOCKNR ? 4096 : 4095);
	de.de_start = le64_make(want == RULE_DAT_START ? 8 : 7);
	de.de_end = le64_make(want == RULE_DAT_END	? 8 :
			      want == RULE_DAT_LIFETIME ? 6 :
							  NILFS_CNO_MAX);
	return dat_check(&geometry, &de, 7);
}

static enum rule palloc_verdict(enum rule want)
{
	uint8_t bitmap[BLOCK] = { 0x81, [BLOCK - 1] = 0x80 };
	struct nilfs_palloc_group_desc desc;
	struct palloc p;

	palloc_init(&p, BLOCK, 32);
	desc.pg_nfrees = le32_make(want == RULE_PALLOC_NFREES_RANGE ? 8193 :
				   want == RULE_PALLOC_NFREES	    ? 8190 :
								      8189);
	return palloc_check_group(&p, &desc, bitmap);
}

static enum rule cp_verdict(enum rule want)
{
	struct nilfs_cpfile_header header = { 0 };
	struct nilfs_checkpoint cp = { 0 };
	enum rule rule;

	header.ch_ncheckpoints = le64_make(3);
	header.ch_nsnapshots = le64_make(want == RULE_CP_HEADER_COUNTS ? 4 : 2);
	header.ch_snapshot_list.ssl_next =
		le64_make(want == RULE_CP_HEADER_LIST ? 0 : 3);
	header.ch_snapshot_list.ssl_prev = le64_make(5);
	cp.cp_flags = le32_make(want == RULE_CP_FLAGS ? 0x11 : 1);
	cp.cp_cno = le64_make(want == RULE_CP_CNO ? 6 : 5);
	cp.cp_snapshot_list.ssl_prev =
		le64_make(want == RULE_CP_SNAPSHOT_LIST ? 5 : 3);
	rule = checkpoint_check_header(&header);
	return rule ? rule : checkpoint_check(&cp, 5);
}

static enum rule su_verdict(enum rule want)
{
	bool clean = want == RULE_SU_CLEAN_NBLOCKS ||
		     want == RULE_SU_CLEAN_NLIVE;
	struct nilfs_sufile_header header = { 0 };
	struct nilfs_segment_usage_ext su = { 0 };
	enum rule rule;

	header.sh_ncleansegs = le64_make(want == RULE_SU_HEADER_COUNTS ? 3 : 2);
	header.sh_ndirtysegs = le64_make(2);
	header.sh_last_alloc =
		le64_make(want == RULE_SU_HEADER_LAST_ALLOC ? 4 : 3);
	su.su.su_flags = le32_make(clean ? 0 : want == RULE_SU_FLAGS ? 10 : 2);
	su.su.su_nblocks = le32_make(want == RULE_SU_NBLOCKS	? 1025 :
				     want == RULE_SU_CLEAN_NLIVE ? 0 :
								   1024);
	su.su_nlive_blks = le32_make(want == RULE_SU_NLIVE_BLKS ? 1025 : 20);
	su.su_nsnapshot_blks =
		le32_make(want == RULE_SU_NSNAPSHOT_BLKS ? 21 : 20);
	rule = segusage_check_header(&geometry, &header);
	if (!rule)
		rule = segusage_check(&geometry, &su.su);
	return rule ? rule : segusage_check_ext(&su);
}

static enum rule inode_verdict(enum rule want)
{
	struct nilfs_inode inode = { 0 };
	uint64_t ino = 12, size = 2 * BLOCK, links = 1;
	uint16_t mode = S_IFREG | 0644;

	switch (want) {
	case RULE_INODE_MODE:
		mode = 0xf000;
		break;
	case RULE_INODE_METADATA_MODE:
		ino = NILFS_IFILE_INO;
		mode = S_IFDIR;
		break;
	case RULE_INODE_LINKS_ZERO:
		links = 0;
		break;
	case RULE_INODE_LINKS:
		links = 32001;
		break;
	case RULE_INODE_SIZE:
		size = 1ull << 63;
		break;
	case RULE_INODE_DIR_SIZE:
		mode = S_IFDIR;
		size = BLOCK + 1;
		break;
	case RULE_INODE_SYMLINK_SIZE:
		mode = S_IFLNK;
		size = BLOCK + 1;
		break;
	case RULE_INODE_NSEC:
		inode.i_mtime_nsec = le32_make(1000000000);
		break;
	case RULE_INODE_ROOT:
		ino = NILFS_ROOT_INO;
		mode = S_IFDIR;
		break;
	default:
		break;
	}
	inode.i_mode = le16_make(mode);
	inode.i_size = le64_make(size);
	inode.i_links_count = le16_make(links);
	return inode_check(&geometry, &inode, ino);
}

/* One entry "name" that fills the block, but for the damage. */
static enum rule dir_verdict(enum rule want)
{
	uint8_t block[BLOCK] = { 0 };
	struct nilfs_dir_entry *de = (void *)block;
	uint16_t len = want == RULE_DIR_REC_LEN_SHORT ? 12 :
		       want == RULE_DIR_REC_LEN_ALIGN ? 18 :
		       want == RULE_DIR_NAME_LEN      ? 16 :
		       want == RULE_DIR_SPAN	      ? BLOCK + 8 :
		       want == RULE_DIR_END	      ? BLOCK - 8 :
							BLOCK;

	de->inode = le64_make(want == RULE_DIR_PRIVATE_INO ? 6 : 12);
	de->rec_len = le16_make(len);
	de->name_len = want == RULE_DIR_NAME_LEN ? 5 : 4;
	de->file_type = want == RULE_DIR_TYPE ? NILFS_FT_MAX : NILFS_FT_DIR;
	memcpy(de->name, want == RULE_DIR_NAME ? "na/e" : "name", 4);
	return dirent_check_block(block, BLOCK);
}

/* The verdict on sound bytes of RULE's area, damaged to break RULE. */
static enum rule verdict(enum rule area, enum rule rule)
{
	switch (area / 1000) {
	case 1:
		return super_verdict(rule);
	case 2:
		return log_verdict(rule);
	case 3:
		return superroot_verdict(rule);
	case 4:
		if (area <= RULE_BMAP_ROOT_NCHILDREN)
			return bmap_root_verdict(rule);
		return bmap_node_verdict(rule);
	case 5:
		return dat_verdict(rule);
	case 6:
		return palloc_verdict(rule);
	case 7:
		return cp_verdict(rule);
	case 8:
		return su_verdict(rule);
	case 9:
		return inode_verdict(rule);
	case 10:
		return dir_verdict(rule);
	}
	return RULE_OK;
}

/* The name "SB_MAGIC" gives the slug "sb-magic". */
static bool slug_fits(const char *name, const char *slug)
{
	for (; *name && *slug; name++, slug++) {
		if (*slug != (*name == '_' ? '-' : tolower(*name)))
			return false;
	}
	return !*name && !*slug;
}

static const char *const names[] = {
#define RULE(name, number, slug, severity, text) #name,
#include "disk/rules.def"
#undef RULE
};

int main(void)
{
	const struct rule_info *r;
	enum rule last = RULE_OK;
	size_t i;

	for (i = 0; (r = rule_at(i)); i++) {
		is_int(verdict(r->rule, r->rule), r->rule, r->slug);
		is_int(verdict(r->rule, RULE_OK), RULE_OK, "else sound");
		ok(r->rule > last && rule_info(r->rule) == r &&
			   rule_find(r->slug) == r &&
			   slug_fits(names[i], r->slug),
		   "%d is in order and found", r->rule);
		last = r->rule;
	}
	ok(!rule_info(RULE_OK), "no rule is RULE_OK");
	ok(!rule_info((enum rule)1999), "no rule is 1999");
	ok(!rule_find("sb"), "no rule has half a slug");
	return tap_done();
}
