// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inode given by INO|PATH on a command line.
 *
 * Files of users are looked up in the checkpoint; the four metadata files have
 * a name and a reserved number each.  The content of the inode is not checked,
 * because commands print damaged inodes as well.
 */
#include "dump/common/subject.h"

#include <errno.h>
#include <string.h>

#include "cli/option.h"
#include "disk/inode.h"
#include "dump/common/position.h"
#include "vol/dir.h"
#include "vol/volume.h"

int subject_read(struct subject *s, struct context *cx, struct root *root,
		 uint64_t ino)
{
	struct volume *vol = root->vol;
	const struct file *const metadata[] = {
		[NILFS_DAT_INO] = &vol->dat,
		[NILFS_CPFILE_INO] = &vol->cpfile,
		[NILFS_SUFILE_INO] = &vol->sufile,
		[NILFS_IFILE_INO] = &root->ifile,
	};
	int ret;

	*s = (struct subject){ .ino = ino };
	if (inode_is_metadata(ino)) {
		s->inode = metadata[ino]->inode;
		s->allocated = true;
		return 0;
	}
	ret = root_inode_bytes(root, cx, ino, &s->inode);
	if (!ret)
		return fail_said(cx, -ENOENT,
				 "inode %llu: the ifile has no block for it",
				 (unsigned long long)ino);
	/* Without a block of the bitmap the inode is not in use. */
	if (ret > 0)
		ret = file_bit(&root->ifile, cx, &vol->ifile_palloc, ino,
			       &s->allocated);
	return ret < 0 ? ret : 0;
}

int subject_find(struct subject *s, struct context *cx, struct root *root,
		 const char *text)
{
	uint64_t ino, i;
	int err = 0;

	if (*text == '/' || *text == '<') {
		err = dir_resolve(root, cx, text, &ino);
		return err ? err : subject_read(s, cx, root, ino);
	}
	for (i = NILFS_DAT_INO; i <= NILFS_IFILE_INO; i++)
		if (!strcmp(position_file_name(i), text))
			return subject_read(s, cx, root, i);
	err = option_number(cx, "INO|PATH", text, UINT64_MAX, &ino);
	return err ? err : subject_read(s, cx, root, ino);
}

int subject_file(const struct subject *s, struct context *cx,
		 struct root *root, struct file *file)
{
	if (inode_is_metadata(s->ino)) {
		memset(file, 0, sizeof(*file));
		file->vol = root->vol;
		file->ino = s->ino;
		file->inode = s->inode;
		return blockmap_init(&file->map, cx, root->vol, s->ino,
				     &s->inode);
	}
	return file_init(file, cx, root->vol, s->ino, &s->inode);
}
