// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The type of an inode, where its directory entry says another.
 *
 * Two witnesses contradict each other, and a third decides.  A directory begins
 * with an entry for itself, and no other file is expected to.  The kernel makes
 * symbolic links with all permissions (nilfs_symlink()) and a target without
 * zero bytes, and neither allows to change them.  Files of other types than
 * these three have no blocks.  Where nothing decides, the inode is right: the
 * kernel goes by it.
 */
#include "check/names/inodetype.h"

#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "vol/file.h"
#include "vol/symlink.h"

int inodetype_is_directory(struct volume *vol, struct context *cx,
			   uint64_t ino, const struct nilfs_inode *inode)
{
	struct nilfs_inode plain = *inode;
	struct nilfs_dir_entry de;
	struct file file;
	const void *data;
	int ret;

	plain.i_mode = le16_make(S_IFREG);
	ret = file_init(&file, cx, vol, ino, &plain);
	if (!ret)
		ret = file_block(&file, cx, 0, &data);
	if (ret <= 0)
		return ret;
	memcpy(&de, data, sizeof(de));
	file_put(&file, data);
	return le64_get(de.inode) == ino && de.name_len == 1 &&
	       de.name[0] == '.';
}

int inodetype_is_wrong(struct volume *vol, struct context *cx, uint64_t ino,
		       const struct nilfs_inode *inode, uint8_t type)
{
	uint16_t mode = le16_get(inode->i_mode);
	size_t len;
	int ret = 0;

	if (inode_signs(&vol->geo, inode))
		return 0;
	if (type == NILFS_FT_DIR || S_ISDIR(mode)) {
		ret = inodetype_is_directory(vol, cx, ino, inode);
		if (ret >= 0 && type != NILFS_FT_DIR)
			ret = !ret;
	} else if (S_ISLNK(mode)) {
		if ((mode & 0777) == 0777)
			ret = symlink_is_whole(vol, cx, ino, inode, &len);
		ret = ret < 0 ? ret : !ret;
	} else if (type == NILFS_FT_REG_FILE || type == NILFS_FT_SYMLINK) {
		ret = le64_get(inode->i_blocks) && !inode_has_bmap(inode);
	}
	return damage_forgive(cx, ret);
}
