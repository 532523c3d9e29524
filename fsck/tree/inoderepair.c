// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An inode from what belongs to it.
 *
 * A type is what the names say, else what the content looks like: a directory
 * begins with an entry for itself, and whatever else has blocks can be read as
 * a file.  A size is where the last block ends; of a symbolic link, where the
 * first zero byte is.
 */
#include "fsck/tree/inoderepair.h"

#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "check/names/inodetype.h"
#include "disk/inode.h"
#include "vol/file.h"
#include "vol/symlink.h"

#define SECTOR 512
#define NSEC_PER_SEC 1000000000u

/* What a map holds, as far as it can be walked. */
struct extent_of {
	uint64_t end;		/* one past the last data block */
	uint64_t blocks;	/* nodes too */
	bool whole;
};

static int measure_file(struct volume *vol, struct context *cx, uint64_t ino,
			const struct nilfs_inode *inode, struct extent_of *e)
{
	struct blockmap_cursor cur = { .map = NULL };
	struct blockmap_item item;
	struct blockmap map;
	int ret;

	*e = (struct extent_of){ 0 };
	ret = blockmap_init(&map, cx, vol, ino, inode);
	if (!ret)
		ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		e->blocks++;
		if (!item.level)
			e->end = item.key + 1;
		ret = context_cancelled(cx);
	}
	if (cur.map)
		blockmap_cursor_close(&cur);
	if (damage_is_fatal(ret))
		return ret;
	e->whole = !ret;
	fail_clear(cx);
	return 0;
}

int inoderepair_map_is_whole(struct volume *vol, struct context *cx,
			     uint64_t ino, const struct nilfs_inode *inode)
{
	struct extent_of e = { .whole = true };
	int err = inode_has_bmap(inode) ?
			  measure_file(vol, cx, ino, inode, &e) : 0;

	return err ? err : e.whole;
}

void inoderepair_set_type(uint8_t type, struct nilfs_inode *inode)
{
	static const uint16_t modes[NILFS_FT_MAX] = {
		[NILFS_FT_REG_FILE] = S_IFREG, [NILFS_FT_DIR] = S_IFDIR,
		[NILFS_FT_CHRDEV] = S_IFCHR, [NILFS_FT_BLKDEV] = S_IFBLK,
		[NILFS_FT_FIFO] = S_IFIFO, [NILFS_FT_SOCK] = S_IFSOCK,
		[NILFS_FT_SYMLINK] = S_IFLNK,
	};

	inode->i_mode = le16_make(modes[type] |
				  (le16_get(inode->i_mode) & 07777));
}

static void set_blocks(const struct volume *vol, struct nilfs_inode *inode,
		       const struct extent_of *e)
{
	inode->i_blocks = le64_make(e->blocks *
				    (vol->geo.block_size / SECTOR));
}

int inoderepair_fit(struct volume *vol, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode)
{
	unsigned int bits = vol->geo.block_bits;
	struct extent_of e;
	int err = measure_file(vol, cx, ino, inode, &e);

	if (err)
		return err;
	set_blocks(vol, inode, &e);
	if ((le64_get(inode->i_size) + vol->geo.block_size - 1) >> bits != e.end)
		inode->i_size = le64_make(e.end << bits);
	return 0;
}

int inoderepair_check(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, enum rule *rule)
{
	struct nilfs_inode linked = *inode;
	size_t len;
	int ret;

	linked.i_links_count = le16_make(1);
	*rule = inode_check(&vol->geo, &linked, ino);
	if (*rule != RULE_OK || !S_ISLNK(le16_get(inode->i_mode)))
		return 0;
	ret = symlink_is_whole(vol, cx, ino, inode, &len);
	if (!ret)
		*rule = RULE_INODE_SYMLINK_TARGET;
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

/* Gives INODE a type: 1, 0 where nothing says which. */
static int repair_mode(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	static const le64 none[NILFS_INODE_BMAP_SIZE];
	int ret;

	if (ino == NILFS_ROOT_INO)
		type = NILFS_FT_DIR;
	if (type == NILFS_FT_UNKNOWN) {
		if (!memcmp(inode->i_bmap, none, sizeof(none)))
			return 0;
		ret = damage_forgive(cx, inodetype_is_directory(vol, cx, ino,
								inode));
		if (ret < 0)
			return ret;
		type = ret ? NILFS_FT_DIR : NILFS_FT_REG_FILE;
	}
	inoderepair_set_type(type, inode);
	if (!inode_has_bmap(inode))
		inode->i_blocks = le64_make(0);
	return 1;
}

/* Gives INODE the size of the target that it leads to: 1, 0 where there is none. */
static int repair_target(struct volume *vol, struct context *cx, uint64_t ino,
			 struct nilfs_inode *inode)
{
	struct nilfs_inode longest = *inode;
	size_t len = 0;
	int ret;

	longest.i_size = le64_make(vol->geo.block_size);
	ret = symlink_is_whole(vol, cx, ino, &longest, &len);
	if (ret < 0 || !len)
		return damage_forgive(cx, ret < 0 ? ret : 0);
	inode->i_size = le64_make(len);
	return 1;
}

int inoderepair_fields(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	enum rule rule, last = RULE_OK;
	struct extent_of e;
	int ret;

	while (!(ret = inoderepair_check(vol, cx, ino, inode, &rule)) &&
	       rule != RULE_OK) {
		/* What came of repairing the same was no better. */
		if (rule == last)
			return 0;
		last = rule;
		switch (rule) {
		case RULE_INODE_MODE:
			ret = repair_mode(vol, cx, ino, type, inode);
			break;
		case RULE_INODE_SYMLINK_SIZE:
		case RULE_INODE_SYMLINK_TARGET:
			ret = repair_target(vol, cx, ino, inode);
			break;
		case RULE_INODE_NSEC:
			if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC)
				inode->i_ctime_nsec = le32_make(0);
			if (le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
				inode->i_mtime_nsec = le32_make(0);
			ret = 1;
			break;
		default:
			ret = measure_file(vol, cx, ino, inode, &e);
			/* A root with blocks says how many. */
			if (ret || (rule == RULE_INODE_ROOT && !e.end))
				return ret;
			if (rule == RULE_INODE_ROOT) {
				inoderepair_set_type(NILFS_FT_DIR, inode);
				set_blocks(vol, inode, &e);
			}
			inode->i_size = le64_make(e.end << vol->geo.block_bits);
			ret = 1;
		}
		if (ret <= 0)
			return ret;
	}
	return ret ? ret : 1;
}
