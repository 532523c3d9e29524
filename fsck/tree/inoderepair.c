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

#include <errno.h>
#include <stdlib.h>
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

/* Copies up to SIZE bytes of the first block: how many there are, 0 if none. */
static int read_first(struct volume *vol, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, void *buf, size_t size)
{
	struct nilfs_inode plain = *inode;
	struct file file;
	const void *data;
	int ret;

	plain.i_mode = le16_make(S_IFREG);
	ret = file_init(&file, cx, vol, ino, &plain);
	if (!ret) {
		ret = file_block(&file, cx, 0, &data);
		if (ret > 0) {
			memcpy(buf, data, size);
			file_put(&file, data);
			return (int)size;
		}
	}
	if (damage_is_fatal(ret))
		return ret;
	fail_clear(cx);
	return 0;
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

void inoderepair_set_type(uint8_t type, struct nilfs_inode *inode)
{
	inode->i_mode = le16_make(mode_of(type) |
				  (le16_get(inode->i_mode) & 07777));
}

static bool has_map(const struct nilfs_inode *inode)
{
	size_t i;

	for (i = 0; i < NILFS_INODE_BMAP_SIZE; i++)
		if (le64_get(inode->i_bmap[i]))
			return true;
	return false;
}

static int repair_mode(struct volume *vol, struct context *cx, uint64_t ino,
		       uint8_t type, struct nilfs_inode *inode)
{
	uint16_t mode = mode_of(type);
	int ret = 1;

	if (ino == NILFS_ROOT_INO)
		mode = S_IFDIR;
	if (!mode && has_map(inode)) {
		ret = damage_forgive(cx, inodetype_is_directory(vol, cx, ino,
								inode));
		mode = ret > 0 ? S_IFDIR : S_IFREG;
	}
	if (ret < 0 || !mode)
		return ret < 0 ? ret : 0;
	inode->i_mode = le16_make(mode | (le16_get(inode->i_mode) & 07777));
	if (!inode_has_bmap(inode))
		inode->i_blocks = le64_make(0);
	return 1;
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

/* The size that fits the last block. */
static int repair_size(struct volume *vol, struct context *cx, uint64_t ino,
		       struct nilfs_inode *inode)
{
	struct extent_of e;
	int err = measure_file(vol, cx, ino, inode, &e);

	if (err)
		return err;
	inode->i_size = le64_make(e.end << vol->geo.block_bits);
	return 1;
}

static int repair_target(struct volume *vol, struct context *cx, uint64_t ino,
			 struct nilfs_inode *inode)
{
	size_t size = vol->geo.block_size;
	char *text = malloc(size);
	int ret;

	if (!text)
		return fail(cx, -ENOMEM, "target of a symbolic link");
	ret = read_first(vol, cx, ino, inode, text, size);
	if (ret > 0)
		ret = (int)strnlen(text, size);
	free(text);
	if (ret <= 0)
		return ret;
	inode->i_size = le64_make((uint64_t)ret);
	return 1;
}

/* A root with blocks says how many. */
static int repair_root(struct volume *vol, struct context *cx,
		       struct nilfs_inode *inode)
{
	uint16_t mode = le16_get(inode->i_mode);
	struct extent_of e;
	int err = measure_file(vol, cx, NILFS_ROOT_INO, inode, &e);

	if (err || !e.end)
		return err;
	if (!S_ISDIR(mode))
		inode->i_mode = le16_make(S_IFDIR | (mode & 07777));
	inode->i_size = le64_make(e.end << vol->geo.block_bits);
	set_blocks(vol, inode, &e);
	return 1;
}

static int repair_times(struct nilfs_inode *inode)
{
	if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC)
		inode->i_ctime_nsec = le32_make(0);
	if (le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
		inode->i_mtime_nsec = le32_make(0);
	return 1;
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

/* Repairs what breaks RULE: 1, 0 where nothing can be made of it. */
static int repair_one(struct volume *vol, struct context *cx, uint64_t ino,
		      uint8_t type, enum rule rule, struct nilfs_inode *inode)
{
	switch (rule) {
	case RULE_INODE_MODE:
		return repair_mode(vol, cx, ino, type, inode);
	case RULE_INODE_ROOT:
		return repair_root(vol, cx, inode);
	case RULE_INODE_SYMLINK_SIZE:
	case RULE_INODE_SYMLINK_TARGET:
		return repair_target(vol, cx, ino, inode);
	case RULE_INODE_NSEC:
		return repair_times(inode);
	default:
		return repair_size(vol, cx, ino, inode);
	}
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
