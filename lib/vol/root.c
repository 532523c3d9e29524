// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state of the file system at one checkpoint.
 *
 * A roll-forward preview belongs to the latest checkpoint only.  It is applied to
 * files by inode number, so a volume is opened either for the preview or for older
 * checkpoints.
 */
#include "vol/root.h"

#include <errno.h>

#include "disk/palloc.h"
#include "vol/cptable.h"
#include "vol/volume.h"

int root_open(struct root *root, struct context *cx, struct volume *vol,
	      uint64_t cno)
{
	int err;

	root->vol = vol;
	root->cno = cno ? cno : vol->latest.cno;
	err = cptable_read(vol, cx, root->cno, &root->cp);
	if (err)
		return err;
	return file_init(&root->ifile, cx, vol, NILFS_IFILE_INO,
			 &root->cp.cp_ifile_inode);
}

int root_inode_bytes(struct root *root, struct context *cx, uint64_t ino,
		     struct nilfs_inode *inode)
{
	const struct palloc *palloc = &root->vol->ifile_palloc;

	memset(inode, 0, sizeof(*inode));
	return file_copy(&root->ifile, cx, palloc_entry_blkoff(palloc, ino),
			 palloc_entry_offset(palloc, ino), inode,
			 sizeof(*inode));
}

int root_inode(struct root *root, struct context *cx, uint64_t ino,
	       struct nilfs_inode *inode)
{
	int ret = root_inode_bytes(root, cx, ino, inode);

	if (ret < 0)
		return ret;
	if (!ret || !le16_get(inode->i_links_count))
		return fail_said(cx, -ENOENT,
				 "inode %llu: not in checkpoint %llu",
				 (unsigned long long)ino,
				 (unsigned long long)root->cno);
	return 0;
}

int root_file(struct root *root, struct context *cx, uint64_t ino,
	      struct file *file)
{
	struct nilfs_inode inode;
	int err;

	err = root_inode(root, cx, ino, &inode);
	if (err)
		return err;
	return file_init(file, cx, root->vol, ino, &inode);
}
