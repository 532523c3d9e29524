// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every rule can be broken: for each row of the registry that a structure
 * alone can break, sound bytes are damaged in one way, and the check must name
 * that very rule.  What takes a whole volume to break has its case in
 * tests/fsck.
 */
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "disk/rule.h"
#include "disk/segusage.h"

#include <ctype.h>
#include <sys/stat.h>

#include "disk_damage.h"
#include "tap.h"

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
	return dat_check(&disk_damage_geometry, &de, 7);
}

static enum rule palloc_verdict(enum rule want)
{
	struct nilfs_palloc_group_desc desc;
	struct palloc p;

	palloc_init(&p, BLOCK, 32);
	desc.pg_nfrees =
		le32_make(want == RULE_PALLOC_NFREES_RANGE ? 8193 : 8192);
	return palloc_check_desc(&p, &desc);
}

static enum rule cp_verdict(enum rule want)
{
	struct nilfs_checkpoint cp = { 0 };

	cp.cp_flags = le32_make(want == RULE_CP_FLAGS ? 0x11 : 1);
	cp.cp_cno = le64_make(want == RULE_CP_CNO ? 6 : 5);
	cp.cp_snapshot_list.ssl_prev =
		le64_make(want == RULE_CP_SNAPSHOT_LIST ? 5 : 3);
	return checkpoint_check(&cp, 5);
}

static enum rule su_verdict(enum rule want)
{
	bool clean = want == RULE_SU_CLEAN_NBLOCKS ||
		     want == RULE_SU_CLEAN_NLIVE;
	struct nilfs_segment_usage_ext su = { 0 };
	enum rule rule;

	su.su.su_flags = le32_make(clean ? 0 : want == RULE_SU_FLAGS ? 10 : 2);
	su.su.su_nblocks = le32_make(want == RULE_SU_NBLOCKS	? 1025 :
				     want == RULE_SU_CLEAN_NLIVE ? 0 :
								   1024);
	su.su_nlive_blks = le32_make(want == RULE_SU_NLIVE_BLKS ? 1025 : 20);
	su.su_nsnapshot_blks =
		le32_make(want == RULE_SU_NSNAPSHOT_BLKS ? 21 : 20);
	rule = segusage_check(&disk_damage_geometry, &su.su);
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
	return inode_check(&disk_damage_geometry, &inode, ino);
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

/* By area, the last rule that the structure alone can break; 0: none. */
static const int last_of_structure[] = {
	[RULE_AREA_SUPER] = RULE_SB_LAST_PSEG,
	[RULE_AREA_LOG] = RULE_LOG_SUMBYTES_UNUSED,
	[RULE_AREA_ROOT] = RULE_SR_SUM,
	[RULE_AREA_MAP] = RULE_BMAP_NULL_POINTER,
	[RULE_AREA_DAT] = RULE_DAT_BLOCKNR,
	[RULE_AREA_ALLOCATOR] = RULE_PALLOC_NFREES_RANGE,
	[RULE_AREA_CHECKPOINTS] = RULE_CP_SNAPSHOT_LIST,
	[RULE_AREA_SEGMENTS] = RULE_SU_CLEAN_NLIVE,
	[RULE_AREA_INODE] = RULE_INODE_ROOT,
	[RULE_AREA_DIRECTORY] = RULE_DIR_NAME,
	[RULE_AREA_DEVICE] = 0,
};

/* The verdict on sound bytes of RULE's area, damaged to break RULE. */
static enum rule verdict(enum rule area, enum rule rule)
{
	switch (rule_info(area)->area) {
	case RULE_AREA_SUPER:
		return disk_damage_super(rule);
	case RULE_AREA_LOG:
		return disk_damage_log(rule);
	case RULE_AREA_ROOT:
		return disk_damage_superroot(rule);
	case RULE_AREA_MAP:
		if (area <= RULE_BMAP_ROOT_NCHILDREN)
			return bmap_root_verdict(rule);
		return bmap_node_verdict(rule);
	case RULE_AREA_DAT:
		return dat_verdict(rule);
	case RULE_AREA_ALLOCATOR:
		return palloc_verdict(rule);
	case RULE_AREA_CHECKPOINTS:
		return cp_verdict(rule);
	case RULE_AREA_SEGMENTS:
		return su_verdict(rule);
	case RULE_AREA_INODE:
		return inode_verdict(rule);
	case RULE_AREA_DIRECTORY:
		return dir_verdict(rule);
	case RULE_AREA_DEVICE:
		break;
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
#define RULE(name, number, slug, severity, danger, fix, ...) #name,
#include "disk/rules.def"
#undef RULE
};

static void test_structure(const struct rule_info *r)
{
	is_int(verdict(r->rule, r->rule), r->rule, r->slug);
	is_int(verdict(r->rule, RULE_OK), RULE_OK, "else sound");
}

int main(void)
{
	const struct rule_info *r;
	enum rule last = RULE_OK;
	size_t i;

	for (i = 0; (r = rule_at(i)); i++) {
		if ((int)r->rule <= last_of_structure[r->area])
			test_structure(r);
		ok(r->rule > last && rule_info(r->rule) == r &&
			   slug_fits(names[i], r->slug),
		   "%d is in order and found", r->rule);
		ok(rule_stage(r) != RULE_STAGE_OF_FIX ||
			   r->scope == RULE_SCOPE_PLACE,
		   "and has a stage");
		ok(r->fix != RULE_FIX_NONE || r->second == RULE_FIX_NONE,
		   "no second repair without a first");
		last = r->rule;
	}
	ok(!rule_info(RULE_OK), "no rule is RULE_OK");
	ok(!rule_info((enum rule)1999), "no rule is 1999");
	return tap_done();
}
