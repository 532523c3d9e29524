// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files that the command mount serves: inodes and their content, by node number.
 * mount_fuse.c calls these functions for each request of the kernel.
 *
 * No state of a file is kept between two calls, because its blocks are in the cache
 * of the volume.  So files are not opened, and the number of files in use is not
 * limited.
 */
#include "dump/mount/mountfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "disk/reserve.h"
#include "dump/mount/mountall.h"
#include "vol/extent.h"
#include "vol/sutable.h"

/* Whole blocks around the bytes of a read. */
#define BUFFER_SIZE (MOUNTFS_READ_MAX + 2 * 65536)

/* Bits of a node; fuse_ino_t has one more. */
#define NODE_BITS 63

int mountfs_init(struct mountfs *fs, struct context *cx, struct volume *vol,
		 const struct root *root, uint32_t uid, uint32_t gid)
{
	uint64_t cno = vol->latest.cno;
	int64_t created = (int64_t)le64_get(volume_super(vol)->s_wtime);

	*fs = (struct mountfs){
		.vol = vol,
		.all = !root,
		.ino_bits = NODE_BITS,
		.above = {
			.st_uid = uid,
			.st_gid = gid,
			.st_blksize = (blksize_t)vol->geo.block_size,
			.st_atim = { .tv_sec = created },
			.st_mtim = { .tv_sec = created },
			.st_ctim = { .tv_sec = created },
		},
	};
	if (root)
		fs->roots[fs->nroots++] = *root;
	for (; fs->all && cno; cno >>= 1)
		fs->ino_bits--;
	if (fs->ino_bits < 16)
		return fail(cx, -EOVERFLOW, "checkpoint %llu",
			    (unsigned long long)vol->latest.cno);
	fs->buffer = malloc(BUFFER_SIZE);
	return fs->buffer ? 0 : fail(cx, -ENOMEM, "buffer");
}

void mountfs_fini(struct mountfs *fs)
{
	free(fs->buffer);
	free(fs->times);
	fs->buffer = NULL;
	fs->times = NULL;
}

/* The file that NODE is, of type TYPE of its mode. */
static int mountfs_open(struct mountfs *fs, struct context *cx, uint64_t node,
		     mode_t type, int wrong_type, struct file *file)
{
	struct nilfs_inode inode;
	struct root *root;
	uint64_t ino;
	int err = mountnode_inode(fs, cx, node, &root, &ino, &inode);

	if (err)
		return err;
	if ((le16_get(inode.i_mode) & S_IFMT) != type)
		return fail(cx, wrong_type, "inode %llu",
			    (unsigned long long)ino);
	return file_init(file, cx, fs->vol, ino, &inode);
}

int mountfs_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		 struct stat *st)
{
	return mountall_has(fs, node) ? mountall_stat(fs, cx, node, st) :
					mountnode_stat(fs, cx, node, st);
}

int mountfs_lookup(struct mountfs *fs, struct context *cx, uint64_t parent,
		   const char *name, uint64_t *node, struct stat *st)
{
	struct file dir;
	uint64_t ino;
	int err;

	if (mountall_has(fs, parent)) {
		err = mountall_lookup(fs, cx, parent, name, node);
	} else {
		err = mountfs_open(fs, cx, parent, S_IFDIR, -ENOTDIR, &dir);
		if (!err)
			err = mountdir_find(&dir, cx, parent, &fs->hint, name,
					    &ino);
		if (!err)
			err = mountnode_make(fs, cx, parent >> fs->ino_bits, ino,
					     node);
	}
	return err ? err : mountfs_stat(fs, cx, *node, st);
}

struct listing {
	struct mountfs *fs;
	struct context *cx;
	uint64_t cno;
	mountfs_take take;
	void *arg;
};

/* Lists an entry with the attributes of its file.  A file whose attributes are lost
   is listed by name; "." and ".." have no node. */
static int list_entry(void *arg, const struct dir_entry *from, uint64_t next)
{
	const struct listing *l = arg;
	struct mountfs_entry entry = { .name = from->name, .next = next };
	int err = mountnode_make(l->fs, l->cx, l->cno, from->ino, &entry.node);

	if (!err)
		err = mountfs_stat(l->fs, l->cx, entry.node, &entry.st);
	if (damage_is_fatal(err))
		return err;
	if (err) {
		fail_clear(l->cx);
		entry.st = (struct stat){ .st_ino = from->ino };
	}
	if (err || dir_is_dots(from))
		entry.node = 0;
	return l->take(l->arg, &entry);
}

int mountfs_list(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t position, mountfs_take take, void *arg)
{
	struct listing l = { fs, cx, node >> fs->ino_bits, take, arg };
	struct file dir;
	int err;

	if (mountall_has(fs, node))
		return mountall_list(fs, cx, node, position, take, arg);
	err = mountfs_open(fs, cx, node, S_IFDIR, -ENOTDIR, &dir);
	return err ? err : mountdir_list(&dir, cx, position, list_entry, &l);
}

int mountfs_readlink(struct mountfs *fs, struct context *cx, uint64_t node,
		     char target[SYMLINK_TARGET_MAX + 1])
{
	struct file link;
	size_t len;
	int err;

	if (mountall_has(fs, node))
		return mountall_readlink(fs, cx, node, target);
	err = mountfs_open(fs, cx, node, S_IFLNK, -EINVAL, &link);
	if (!err)
		err = symlink_target(&link, cx, target, &len);
	if (!err && !len)
		err = fail(cx, -EUCLEAN, "inode %llu: symbolic link to nothing",
			   (unsigned long long)link.ino);
	return err;
}

/* The address in the buffer of file block BLKOFF, for a read from FIRST on. */
static char *buffer_at(const struct mountfs *fs, uint64_t first,
		       uint64_t blkoff)
{
	return fs->buffer + ((blkoff - first) << fs->vol->geo.block_bits);
}

/* Reads blocks [FIRST, END) of FILE into the buffer, in large requests. */
static int read_extents(struct mountfs *fs, struct context *cx,
			struct file *file, uint64_t first, uint64_t end)
{
	struct extent_cursor cur;
	struct extent e;
	int ret = extent_cursor_open(&cur, cx, file, first);

	memset(fs->buffer, 0, (end - first) << fs->vol->geo.block_bits);
	while (!ret &&
	       (ret = extent_cursor_next(&cur, cx, end - first, &e)) > 0) {
		ret = 0;
		if (e.blkoff >= end)
			break;
		if (e.count > end - e.blkoff)
			e.count = end - e.blkoff;
		ret = volume_read_blocks(fs->vol, cx, e.blocknr,
					 (uint32_t)e.count,
					 buffer_at(fs, first, e.blkoff));
		if (e.blkoff + e.count >= end)
			break;
	}
	extent_cursor_close(&cur);
	return ret;
}

int mountfs_read(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t offset, size_t len, const char **bytes, size_t *got)
{
	uint32_t bits = fs->vol->geo.block_bits;
	uint64_t size, first, end, at, blocknr;
	struct file file;
	int err = mountfs_open(fs, cx, node, S_IFREG, -EINVAL, &file);

	*got = 0;
	if (err)
		return err;
	size = le64_get(file.inode.i_size);
	if (offset >= size)
		return 0;
	if (len > MOUNTFS_READ_MAX)
		len = MOUNTFS_READ_MAX;
	if (len > size - offset)
		len = (size_t)(size - offset);
	first = offset >> bits;
	end = ((offset + len - 1) >> bits) + 1;
	err = read_extents(fs, cx, &file, first, end);
	if (err && err != -EUCLEAN && err != -EIO)
		return err;
	/* Damage after END may prevent the read of a run: read block by block. */
	for (at = first; err && at < end; at++) {
		int ret = file_lookup(&file, cx, at, &blocknr);

		if (!ret)
			memset(buffer_at(fs, first, at), 0,
			       fs->vol->geo.block_size);
		else if (ret > 0)
			ret = volume_read_blocks(fs->vol, cx, blocknr, 1,
						 buffer_at(fs, first, at));
		if (ret)
			return ret;
	}
	*bytes = fs->buffer + (offset - (first << bits));
	*got = len;
	return 0;
}

int mountfs_seek(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t offset, bool hole, uint64_t *found)
{
	uint32_t bits = fs->vol->geo.block_bits;
	struct extent_cursor cur;
	uint64_t size, begin;
	struct extent e;
	struct file file;
	int ret = mountfs_open(fs, cx, node, S_IFREG, -EINVAL, &file);

	if (ret)
		return ret;
	size = le64_get(file.inode.i_size);
	if (offset >= size)
		return fail(cx, -ENXIO, "after the end of the file");
	*found = hole ? offset : size;
	ret = extent_cursor_open(&cur, cx, &file, offset >> bits);
	while (!ret &&
	       (ret = extent_cursor_next(&cur, cx, UINT32_MAX, &e)) > 0) {
		begin = e.blkoff << bits;
		if (e.blkoff > (size - 1) >> bits)
			break;
		if (!hole) {
			*found = begin > offset ? begin : offset;
			break;
		}
		if (begin > *found)
			break;
		*found = (e.blkoff + e.count) << bits;
		ret = 0;
	}
	extent_cursor_close(&cur);
	if (ret < 0)
		return ret;
	if (*found > size)
		*found = size;
	if (!hole && *found == size)
		return fail(cx, -ENXIO, "no data up to the end of the file");
	return 0;
}

int mountfs_statfs(struct mountfs *fs, struct context *cx,
		   struct statvfs *st)
{
	const struct nilfs_geometry *geo = &fs->vol->geo;
	const struct nilfs_super_block *sb = volume_super(fs->vol);
	uint64_t reserved = reserve_segments(
		geo->nsegments, le32_get(sb->s_r_segments_percentage));
	struct nilfs_sufile_header header;
	const struct palloc *p = &fs->vol->ifile_palloc;
	struct root *root;
	uint64_t group = 0, clean, inodes, used, blocknr;
	int ret = mountnode_root(fs, cx, fs->vol->latest.cno, &root);

	if (ret)
		return ret;
	/*
	 * As many as there may be before the ifile needs another block of group
	 * descriptors: nilfs_palloc_count_max_entries().
	 */
	do {
		group += p->groups_per_desc;
		ret = file_lookup(&root->ifile, cx,
				  palloc_desc_blkoff(p, group), &blocknr);
	} while (ret > 0);
	if (!ret)
		ret = sutable_header(fs->vol, cx, &header);
	if (ret)
		return ret;
	inodes = group * p->entries_per_group;
	used = le64_get(root->cp.cp_inodes_count);
	clean = le64_get(header.sh_ncleansegs);
	*st = (struct statvfs){
		.f_bsize = geo->block_size,
		.f_frsize = geo->block_size,
		.f_blocks = geo->nsegments * geo->blocks_per_segment -
			    geo->first_data_block,
		.f_bfree = clean * geo->blocks_per_segment,
		.f_files = inodes,
		.f_ffree = inodes > used ? inodes - used : 0,
		.f_namemax = NILFS_NAME_LEN,
	};
	if (clean > reserved)
		st->f_bavail = (clean - reserved) * geo->blocks_per_segment;
	return 0;
}
