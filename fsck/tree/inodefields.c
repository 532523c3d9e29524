// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fields of an inode that follow from related data.
 *
 * A type follows from the names, else from the content: a directory begins with
 * an entry for itself; anything else with blocks can be read as a file.  A size
 * is the end of the last block; for a symbolic link, the position of the first
 * zero byte.
 */
#include "fsck/tree/inodeedit.h"

#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "vol/symlink.h"

#define SECTOR 512
#define NSEC_PER_SEC 1000000000u

/* Size of a map, as far as it can be walked. */
struct extent_of {
	uint64_t end;		/* one past the last data block */
	uint64_t blocks;	/* including nodes */
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

int inodefields_map_is_whole(struct volume *vol, struct context *cx,
			     uint64_t ino, const struct nilfs_inode *inode)
{
	struct extent_of e = { .whole = true };
	int err = inode_has_bmap(inode) ?
			  measure_file(vol, cx, ino, inode, &e) : 0;

	return err ? err : e.whole;
}

void inodefields_set_type(uint8_t type, struct nilfs_inode *inode)
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

int inodefields_fit(struct volume *vol, struct context *cx, uint64_t ino,
		    struct nilfs_inode *inode)
{
	unsigned int bits = vol->geo.block_bits;
	struct extent_of e;
	int err = measure_file(vol, cx, ino, inode, &e);

	if (err)
		return err;
	inode->i_blocks = le64_make(e.blocks * (vol->geo.block_size / SECTOR));
	if ((le64_get(inode->i_size) + vol->geo.block_size - 1) >> bits != e.end)
		inode->i_size = le64_make(e.end << bits);
	return 0;
}

int inodefields_check(struct volume *vol, struct context *cx, uint64_t ino,
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

int inodefields_repair(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	static const le64 none[NILFS_INODE_BMAP_SIZE];
	enum rule rule, last = RULE_OK;
	struct nilfs_inode longest;
	struct extent_of e;
	size_t len;
	int ret;

	while (!(ret = inodefields_check(vol, cx, ino, inode, &rule)) &&
	       rule != RULE_OK) {
		/* The same rule is broken after its repair. */
		if (rule == last)
			return 0;
		last = rule;
		switch (rule) {
		case RULE_INODE_MODE:
			if (ino == NILFS_ROOT_INO)
				type = NILFS_FT_DIR;
			if (type == NILFS_FT_UNKNOWN) {
				if (!memcmp(inode->i_bmap, none, sizeof(none)))
					return 0;
				ret = inodelist_is_directory(vol, cx, ino,
							     inode);
				type = ret > 0 ? NILFS_FT_DIR :
						 NILFS_FT_REG_FILE;
				ret = damage_forgive(cx, ret);
				if (ret < 0)
					return ret;
			}
			inodefields_set_type(type, inode);
			if (!inode_has_bmap(inode))
				inode->i_blocks = le64_make(0);
			continue;
		case RULE_INODE_SYMLINK_SIZE:
		case RULE_INODE_SYMLINK_TARGET:
			longest = *inode;
			longest.i_size = le64_make(vol->geo.block_size);
			len = 0;
			ret = symlink_is_whole(vol, cx, ino, &longest, &len);
			if (ret < 0 || !len)
				return damage_forgive(cx, ret < 0 ? ret : 0);
			inode->i_size = le64_make(len);
			continue;
		case RULE_INODE_NSEC:
			if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC)
				inode->i_ctime_nsec = le32_make(0);
			if (le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
				inode->i_mtime_nsec = le32_make(0);
			continue;
		default:
			break;
		}
		ret = measure_file(vol, cx, ino, inode, &e);
		/* If the root has blocks, they give its size. */
		if (ret || (rule == RULE_INODE_ROOT && !e.end))
			return ret;
		if (rule == RULE_INODE_ROOT) {
			inodefields_set_type(NILFS_FT_DIR, inode);
			inode->i_blocks = le64_make(
				e.blocks * (vol->geo.block_size / SECTOR));
		}
		inode->i_size = le64_make(e.end << vol->geo.block_bits);
	}
	return ret ? ret : 1;
}
