// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes that a checker cannot find, each with its reason.
 *
 * A row names the least that is excused: the structure, the field, and where
 * only some values are, which.  What stands in no row has to be found.
 */
#include "silent.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "disk/bmap.h"
#include "disk/inode.h"
#include "disk/ondisk.h"

#define PERMISSIONS 07777u
#define NSEC_PER_SEC 1000000000u

/* Whether only bits of MASK differ. */
static bool differs_within(const struct silent_change *c, uint64_t mask)
{
	return !((c->old ^ c->now) & ~mask);
}

static bool is_time(const struct silent_change *c)
{
	return c->now < NSEC_PER_SEC;
}

static bool is_permission(const struct silent_change *c)
{
	return differs_within(c, PERMISSIONS);
}

static bool has_links(const struct silent_change *c)
{
	return c->now && c->now <= NILFS_LINK_MAX;
}

static bool is_size(const struct silent_change *c)
{
	return c->now <= INT64_MAX;
}

/* The last bytes of the last block, or a hole after it. */
static bool is_tail(const struct silent_change *c)
{
	const uint64_t page = 4096;

	return is_size(c) && (c->now > c->old ||
			      (c->now + page - 1) / page ==
				      (c->old + page - 1) / page);
}

static bool is_minor_flag(const struct silent_change *c)
{
	return differs_within(c, 1u << NILFS_CHECKPOINT_MINOR |
					 1u << NILFS_CHECKPOINT_SKETCH);
}

/* Elements of a node after its last child, or the unused bytes of a header. */
static bool is_of_no_child(const struct silent_change *c)
{
	const struct nilfs_btree_node *node = c->bytes;

	return c->element >= le16_get(node->bn_nchildren);
}

static bool is_no_root_flag(const struct silent_change *c)
{
	return differs_within(c, 0xfe);
}

static bool is_of_free_slot(const le64 *map, const struct silent_change *c)
{
	struct bmap_node node;
	unsigned int i = c->element;

	if (!bmap_is_btree(map))
		return !i;
	if (!i)
		return differs_within(c, 0xffffffffull << 32);
	bmap_root_read(map, &node);
	return (i - 1) % 3 >= node.nchildren;
}

static bool is_free_in_inode(const struct silent_change *c)
{
	const struct nilfs_inode *inode = c->bytes;

	return !inode_has_bmap(inode) || is_of_free_slot(inode->i_bmap, c);
}

/* The inode in the super root that has the current map. */
static bool is_free_in_superroot(const struct silent_change *c)
{
	const struct nilfs_inode *inode =
		(const void *)((const char *)c->bytes + c->offset -
			       offsetof(struct nilfs_inode, i_bmap));

	return is_of_free_slot(inode->i_bmap, c);
}

static bool is_free_in_checkpoint(const struct silent_change *c)
{
	const struct nilfs_checkpoint *cp = c->bytes;

	return is_of_free_slot(cp->cp_ifile_inode.i_bmap, c);
}

/* One sector more or less; the block beside it. */
static bool is_near(const struct silent_change *c)
{
	return c->now + 1 == c->old || c->now == c->old + 1;
}

/*
 * The first blocks of an ifile: the descriptors of a group, and its bitmap.
 * What was written beside them may be of what a snapshot shares, and is not
 * met again.
 */
static bool is_allocator(const struct silent_change *c)
{
	const struct nilfs_checkpoint *cp = c->bytes;

	return !bmap_is_btree(cp->cp_ifile_inode.i_bmap) &&
	       (!c->now || is_near(c)) &&
	       (c->element == 1 || c->element == 2);
}

static bool is_older(const struct silent_change *c)
{
	return !c->latest;
}

/* Of cpfile, sufile and ifile it is known who leads to a block. */
static bool is_of_file(const struct silent_change *c)
{
	return is_older(c) || c->old < NILFS_CPFILE_INO ||
	       c->old > NILFS_IFILE_INO;
}

static bool is_active_flag(const struct silent_change *c)
{
	return differs_within(c, 1u << NILFS_SEGMENT_USAGE_ACTIVE);
}

static bool is_no_snapshot(const struct silent_change *c)
{
	const struct nilfs_checkpoint *cp = c->bytes;

	return !(le32_get(cp->cp_flags) & 1u << NILFS_CHECKPOINT_SNAPSHOT);
}

static bool is_entry_0(const struct silent_change *c)
{
	return !strcmp(c->structure, "dat:0");
}

/* Whether no checkpoint lies between two numbers, which nothing can distinguish. */
static bool is_between(const struct silent_change *c)
{
	uint64_t from = c->old < c->now ? c->old : c->now;
	uint64_t end = c->old < c->now ? c->now : c->old;
	size_t i;

	for (i = 0; i < c->ncheckpoints; i++)
		if (c->checkpoints[i] >= from && c->checkpoints[i] < end)
			return false;
	return true;
}

/* It stays on for some checkpoints more, not for ever. */
static bool ends_later(const struct silent_change *c)
{
	return is_entry_0(c) || is_between(c) ||
	       (c->now > c->old && c->now != NILFS_CNO_MAX);
}

static bool starts_earlier(const struct silent_change *c)
{
	return is_entry_0(c) || is_between(c) || c->now < c->old;
}

/* An entry that no checkpoint needs loses its block. */
static bool was_never_kept(const struct silent_change *c)
{
	const struct nilfs_dat_entry *de = c->bytes;
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	size_t i;

	for (i = 0; i < c->ncheckpoints; i++)
		if (c->checkpoints[i] >= start && c->checkpoints[i] < end)
			return false;
	return !c->now;
}

static bool is_block_count(const struct silent_change *c)
{
	return differs_within(c, NILFS_FEATURE_COMPAT_RO_BLOCK_COUNT);
}

/* Which logs belong together, and who wrote them. */
static bool is_of_writer(const struct silent_change *c)
{
	return differs_within(c, NILFS_SS_LOGBGN | NILFS_SS_LOGEND |
					 NILFS_SS_GC);
}

/* Of the only log of a segment; others say which number it has. */
static bool is_older_seq(const struct silent_change *c)
{
	return is_older(c) && c->now < c->old;
}

static bool is_near_of_root(const struct silent_change *c)
{
	return !strcmp(c->structure, "inode:2") && is_near(c);
}

static bool is_zero(const struct silent_change *c)
{
	return !c->now;
}

struct row {
	const char *structures;	/* how the name begins; NULL: any */
	const char *field;
	bool (*only)(const struct silent_change *c);	/* NULL: any change */
	const char *reason;
};

static const char user_value[] = "any value is one that users can set";
static const char unread[] = "it is not read, and nothing else says it";
static const char padding[] = "has no meaning";
static const char unused[] = "does not count while the entry is not in use";
static const char passing[] = "was right at some time, and is never compared";
static const char old_log[] = "matters while a log is the last, no longer";
static const char sectors[] =
	"nilfs-utils' mkfs counts its blocks of a metadata file as sectors";
static const char hole[] = "a hole is as good as a byte of the last block";

static const struct row rows[] = {
	{ NULL, "i_pad", NULL, padding },
	{ NULL, "bn_pad", NULL, padding },
	{ NULL, "de_rsv", NULL, padding },
	{ NULL, "ss_pad", NULL, padding },
	{ NULL, "s_reserved", NULL, padding },
	{ NULL, "i_xattr", NULL, unread },
	{ NULL, "i_flags", NULL, user_value },
	{ NULL, "i_generation", NULL, user_value },
	{ NULL, "i_uid", NULL, user_value },
	{ NULL, "i_gid", NULL, user_value },
	{ NULL, "i_ctime", NULL, user_value },
	{ NULL, "i_mtime", NULL, user_value },
	{ NULL, "i_ctime_nsec", is_time, user_value },
	{ NULL, "i_mtime_nsec", is_time, user_value },
	{ NULL, "i_mode", is_permission, user_value },

	{ "inode:dat", "i_links_count", has_links, unread },
	{ "inode:cpfile", "i_links_count", has_links, unread },
	{ "inode:sufile", "i_links_count", has_links, unread },
	{ "inode:ifile", "i_links_count", has_links, unread },
	{ "superroot", "i_links_count", has_links, unread },
	{ "checkpoint:", "i_links_count", has_links, unread },
	{ "inode:dat", "i_size", is_size, unread },
	{ "inode:cpfile", "i_size", is_size, unread },
	{ "inode:sufile", "i_size", is_size, unread },
	{ "inode:ifile", "i_size", is_size, unread },
	{ "superroot", "i_size", is_size, unread },
	{ "checkpoint:", "i_size", is_size, unread },
	{ "inode:", "i_size", is_tail, hole },
	{ "checkpoint:", "i_blocks", NULL, unread },
	{ "inode:", "i_bmap", is_free_in_inode, padding },
	{ "superroot", "i_bmap", is_free_in_superroot, padding },
	{ "checkpoint:", "i_bmap", is_free_in_checkpoint, padding },
	{ "checkpoint:", "i_bmap", is_allocator,
	  "no inode is taken in an old checkpoint" },
	{ "inode:2", "i_blocks", is_near_of_root, sectors },
	{ "inode:cpfile", "i_blocks", is_near, sectors },
	{ "inode:dat", "i_blocks", is_near, sectors },
	{ "inode:ifile", "i_blocks", is_near, sectors },
	{ "inode:sufile", "i_blocks", is_near, sectors },
	{ "superroot", "i_blocks", is_near, sectors },

	{ "checkpoint:", "cp_blocks_count", NULL,
	  "is not kept from mkfs on without the feature block_count" },
	{ "checkpoint:", "cp_checkpoints_count", NULL,
	  "counts only in the first entry of a block" },
	{ "checkpoint:", "cp_create", NULL, user_value },
	{ "checkpoint:", "cp_nblk_inc", NULL, unread },
	{ "checkpoint:", "cp_flags", is_minor_flag, unread },
	{ "checkpoint:", "ssl_next", is_no_snapshot, unused },
	{ "checkpoint:", "ssl_prev", is_no_snapshot, unused },

	{ "dat:0", "de_blocknr", NULL, unused },
	{ "dat:", "de_blocknr", was_never_kept,
	  "belongs to no checkpoint that is left, as if it had not been written" },
	{ "dat:", "de_start", starts_earlier,
	  "costs nothing, or is of no checkpoint that is left" },
	{ "dat:", "de_end", ends_later,
	  "costs space until a checkpoint goes that was to go anyway" },

	{ "node:", "bn_flags", is_no_root_flag, padding },
	{ "node:", "key", is_of_no_child, unused },
	{ "node:", "ptr", is_of_no_child, unused },

	{ "dirent:2/.nilfs", "inode", is_zero,
	  "mkfs.nilfs2 of 2010 left this entry free" },
	{ "dirent:", "name_len", NULL, "a shorter name is a name" },

	{ "segment:", "su_flags", is_active_flag,
	  "mkfs leaves it in the first segments, and it is not read" },
	{ "segment:", "su_lastmod", NULL, user_value },
	{ "suheader", "sh_last_alloc", NULL,
	  "is a hint, which the kernel does not trust" },

	{ "log:", "ss_create", NULL, unread },
	{ "log:", "ss_next", is_older, old_log },
	{ "log:", "ss_cno", is_older, old_log },
	{ "log:", "ss_flags", is_of_writer, old_log },
	{ "log:", "ss_seq", is_older_seq, old_log },
	{ "finfo:", "fi_cno", NULL, "the cleaner keeps what it moves by it" },
	{ "finfo:", "fi_ino", is_of_file,
	  "the cleaner keeps what it moves by it" },
	{ "binfo:", "bi_blkoff", NULL,
	  "the cleaner keeps what it moves by it" },

	{ "superroot", "sr_nongc_ctime", NULL,
	  "is older than its log where that is a cleaner's" },

	{ "super:", "s_bytes", NULL, "any size has a checksum" },
	{ "super:", "s_c_block_max", NULL, user_value },
	{ "super:", "s_c_interval", NULL, user_value },
	{ "super:", "s_checkinterval", NULL, user_value },
	{ "super:", "s_creator_os", NULL, unread },
	{ "super:", "s_def_resgid", NULL, user_value },
	{ "super:", "s_def_resuid", NULL, user_value },
	{ "super:", "s_dev_size", is_older, "counts only in the newer one" },
	{ "super:", "s_errors", NULL, user_value },
	{ "super:", "s_feature_compat", NULL,
	  "what is unknown may be ignored" },
	{ "super:", "s_feature_compat_ro", is_block_count, user_value },
	{ "super:", "s_first_ino", NULL, "may be any number from 11 on" },
	{ "super:", "s_flags", NULL, unread },
	{ "super:", "s_free_blocks_count", NULL, passing },
	{ "super:", "s_last_cno", is_older, "counts only in the newer one" },
	{ "super:", "s_lastcheck", NULL, passing },
	{ "super:", "s_max_mnt_count", NULL, user_value },
	{ "super:", "s_minor_rev_level", NULL, unread },
	{ "super:", "s_mnt_count", NULL, passing },
	{ "super:", "s_mtime", NULL, passing },
	{ "super:", "s_r_segments_percentage", NULL, user_value },
	{ "super:", "s_state", NULL, "counts only in the copy that is used" },
	{ "super:", "s_wtime", NULL, passing },
};

static bool is_named(const struct row *row, const struct silent_change *c)
{
	return (!row->structures ||
		!strncmp(c->structure, row->structures,
			 strlen(row->structures))) &&
	       !strcmp(row->field, c->field);
}

const char *silent_reason(const struct silent_change *c)
{
	const struct row *row;

	for (row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++)
		if (is_named(row, c) && (!row->only || row->only(c)))
			return row->reason;
	return NULL;
}
