// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of a mount that are in a checkpoint, by their number in the mount, the
 * node (mountfs.h).
 */
#include "dump/mount/mountfs.h"

#include <errno.h>
#include <sys/sysmacros.h>

#include "disk/inode.h"

int mountnode_make(const struct mountfs *fs, struct context *cx, uint64_t cno,
		   uint64_t ino, uint64_t *node)
{
	if (ino >> fs->ino_bits)
		return fail(cx, -EOVERFLOW, "inode %llu",
			    (unsigned long long)ino);
	if (fs->all)
		*node = cno << fs->ino_bits | ino;
	else
		*node = ino == NILFS_ROOT_INO ? MOUNTFS_TOP : ino;
	return 0;
}

int mountnode_root(struct mountfs *fs, struct context *cx, uint64_t cno,
		   struct root **root)
{
	struct root opened;
	unsigned int i;
	int err;

	for (i = 0; i < fs->nroots; i++) {
		*root = &fs->roots[i];
		if (!fs->all || (*root)->cno == cno)
			return 0;
	}
	err = root_open(&opened, cx, fs->vol, cno);
	if (err)
		return err;
	*root = &fs->roots[fs->next_root];
	**root = opened;
	fs->next_root = (fs->next_root + 1) % MOUNTFS_ROOTS;
	if (fs->nroots < MOUNTFS_ROOTS)
		fs->nroots++;
	return 0;
}

/*
 * An inode that does not exist counts as lost, because nodes are made from names only.
 * So does an inode that the kernel refuses: nilfs_read_inode_common(), and VFS.
 */
int mountnode_inode(struct mountfs *fs, struct context *cx, uint64_t node,
		    struct root **root, uint64_t *ino, struct nilfs_inode *inode)
{
	uint16_t mode;
	int err;

	*ino = node & ((UINT64_C(1) << fs->ino_bits) - 1);
	if (!fs->all && node == MOUNTFS_TOP)
		*ino = NILFS_ROOT_INO;
	err = mountnode_root(fs, cx, node >> fs->ino_bits, root);
	if (err)
		return err;
	err = root_inode(*root, cx, *ino, inode);
	if (err == -ENOENT)
		return fail(cx, -EUCLEAN, "inode %llu: has a name, but is not "
			    "in checkpoint %llu", (unsigned long long)*ino,
			    (unsigned long long)(*root)->cno);
	if (err)
		return err;
	mode = le16_get(inode->i_mode);
	if (inode_is_private(*ino))
		return fail(cx, -EUCLEAN, "inode %llu: not one for users",
			    (unsigned long long)*ino);
	if (inode_dirent_type(mode) == NILFS_FT_UNKNOWN)
		return fail(cx, -EUCLEAN, "inode %llu: mode 0%o: not a type of "
			    "file", (unsigned long long)*ino,
			    (unsigned int)mode);
	if (le64_get(inode->i_size) > INT64_MAX)
		return fail(cx, -EUCLEAN, "inode %llu: size %llu",
			    (unsigned long long)*ino,
			    (unsigned long long)le64_get(inode->i_size));
	return 0;
}

int mountnode_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		   struct stat *st)
{
	struct nilfs_inode inode;
	struct inode_time mtime, ctime;
	uint32_t major, minor;
	struct root *root;
	uint64_t ino;
	int err;

	err = mountnode_inode(fs, cx, node, &root, &ino, &inode);
	if (err)
		return err;
	mtime = inode_mtime(&inode);
	ctime = inode_ctime(&inode);
	*st = (struct stat){
		.st_ino = fs->all ? node : ino,
		.st_mode = le16_get(inode.i_mode),
		.st_nlink = le16_get(inode.i_links_count),
		.st_uid = le32_get(inode.i_uid),
		.st_gid = le32_get(inode.i_gid),
		.st_size = (off_t)le64_get(inode.i_size),
		.st_blocks = (blkcnt_t)le64_get(inode.i_blocks),
		.st_blksize = (blksize_t)fs->vol->geo.block_size,
		/* The kernel shows the time of modification for both. */
		.st_atim = { .tv_sec = mtime.sec, .tv_nsec = mtime.nsec },
		.st_mtim = { .tv_sec = mtime.sec, .tv_nsec = mtime.nsec },
		.st_ctim = { .tv_sec = ctime.sec, .tv_nsec = ctime.nsec },
	};
	if (inode_has_rdev(&inode)) {
		inode_rdev(&inode, &major, &minor);
		st->st_rdev = makedev(major, minor);
	}
	return 0;
}
