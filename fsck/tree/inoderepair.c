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

static uint16_t mode_of(uint8_t type)
{
	static const uint16_t modes[NILFS_FT_MAX] = {
		[NILFS_FT_REG_FILE] = S_IFREG, [NILFS_FT_DIR] = S_IFDIR,
		[NILFS_FT_CHRDEV] = S_IFCHR, [NILFS_FT_BLKDEV] = S_IFBLK,
		[NILFS_FT_FIFO] = S_IFIFO, [NILFS_FT_SOCK] = S_IFSOCK,
		[NILFS_FT_SYMLINK] = S_IFLNK,
	};

	return type < NILFS_FT_MAX ? modes[type] : 0;
}

static void set_mode(struct nilfs_inode *inode, uint16_t type)
{
	inode->i_mode = le16_make(type | (le16_get(inode->i_mode) & 07777));
}

void inoderepair_set_type(uint8_t type, struct nilfs_inode *inode)
{
	set_mode(inode, mode_of(type));
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

int inoderepair_judge(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, enum rule *rule)
{
	size_t len;
	int ret;

	*rule = inode_check(&vol->geo, inode, ino);
	if (*rule != RULE_OK || !S_ISLNK(le16_get(inode->i_mode)))
		return 0;
	ret = symlink_is_whole(vol, cx, ino, inode, &len);
	if (!ret)
		*rule = RULE_INODE_SYMLINK_TARGET;
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

int inoderepair_check(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, enum rule *rule)
{
	struct nilfs_inode linked = *inode;

	linked.i_links_count = le16_make(1);
	return inoderepair_judge(vol, cx, ino, &linked, rule);
}

/* The bytes before the first zero byte of the target that INODE leads to, or 0. */
static int target_length(struct volume *vol, struct context *cx, uint64_t ino,
			 const struct nilfs_inode *inode)
{
	struct nilfs_inode plain = *inode;
	struct file file;
	const void *data;
	int ret;

	plain.i_mode = le16_make(S_IFREG);
	ret = file_init(&file, cx, vol, ino, &plain);
	if (!ret)
		ret = file_block(&file, cx, 0, &data);
	if (ret > 0) {
		ret = (int)strnlen(data, vol->geo.block_size);
		file_put(&file, data);
		return ret;
	}
	if (!damage_is_fatal(ret))
		fail_clear(cx);
	return damage_is_fatal(ret) ? ret : 0;
}

static int repair_mode(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	static const le64 none[NILFS_INODE_BMAP_SIZE];
	uint16_t mode = ino == NILFS_ROOT_INO ? S_IFDIR : mode_of(type);
	int ret = 1;

	if (!mode && memcmp(inode->i_bmap, none, sizeof(none))) {
		ret = damage_forgive(cx, inodetype_is_directory(vol, cx, ino,
								inode));
		mode = ret > 0 ? S_IFDIR : S_IFREG;
	}
	if (ret < 0 || !mode)
		return ret < 0 ? ret : 0;
	set_mode(inode, mode);
	if (!inode_has_bmap(inode))
		inode->i_blocks = le64_make(0);
	return 1;
}

/* Repairs what breaks RULE: 1, 0 where nothing can be made of it. */
static int repair_one(struct volume *vol, struct context *cx, uint64_t ino,
		      uint8_t type, enum rule rule, struct nilfs_inode *inode)
{
	struct extent_of e;
	int ret;

	switch (rule) {
	case RULE_INODE_MODE:
		return repair_mode(vol, cx, ino, type, inode);
	case RULE_INODE_SYMLINK_SIZE:
	case RULE_INODE_SYMLINK_TARGET:
		ret = target_length(vol, cx, ino, inode);
		if (ret <= 0)
			return ret;
		inode->i_size = le64_make((uint64_t)ret);
		return 1;
	case RULE_INODE_NSEC:
		if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC)
			inode->i_ctime_nsec = le32_make(0);
		if (le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
			inode->i_mtime_nsec = le32_make(0);
		return 1;
	case RULE_INODE_ROOT:
		/* A root with blocks says how many. */
		ret = measure_file(vol, cx, NILFS_ROOT_INO, inode, &e);
		if (ret || !e.end)
			return ret;
		if (!S_ISDIR(le16_get(inode->i_mode)))
			set_mode(inode, S_IFDIR);
		set_blocks(vol, inode, &e);
		break;
	default:
		ret = measure_file(vol, cx, ino, inode, &e);
		if (ret)
			return ret;
	}
	inode->i_size = le64_make(e.end << vol->geo.block_bits);
	return 1;
}

int inoderepair_fields(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	enum rule rule, last = RULE_OK;
	int ret = inoderepair_check(vol, cx, ino, inode, &rule);

	while (!ret && rule != RULE_OK) {
		/* What came of repairing the same was no better. */
		if (rule == last)
			return 0;
		last = rule;
		ret = repair_one(vol, cx, ino, type, rule, inode);
		if (ret <= 0)
			return ret;
		ret = inoderepair_check(vol, cx, ino, inode, &rule);
	}
	return ret ? ret : 1;
}
