// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inode given by INO|PATH on a command line.
 *
 * Files that users see are looked up in the checkpoint; the four metadata files
 * have a name and a reserved number each.  An inode is read whatever its
 * content is, because commands show it without judging.
 */
#include "dump/common/subject.h"

#include <errno.h>
#include <string.h>

#include "cli/option.h"
#include "disk/inode.h"
#include "dump/common/position.h"
#include "vol/dir.h"
#include "vol/volume.h"

static bool is_metadata_name(const char *text, uint64_t *ino)
{
	uint64_t i;

	for (i = NILFS_DAT_INO; i <= NILFS_IFILE_INO; i++) {
		if (!strcmp(position_file_name(i), text)) {
			*ino = i;
			return true;
		}
	}
	return false;
}

static void take_metadata(struct subject *s, struct root *root)
{
	struct volume *vol = root->vol;
	const struct file *const files[] = {
		[NILFS_DAT_INO] = &vol->dat,
		[NILFS_CPFILE_INO] = &vol->cpfile,
		[NILFS_SUFILE_INO] = &vol->sufile,
		[NILFS_IFILE_INO] = &root->ifile,
	};

	s->inode = files[s->ino]->inode;
	s->allocated = true;
}

/* A missing bitmap says that it is not in use. */
static int read_inode(struct subject *s, struct context *cx, struct root *root)
{
	int ret = root_inode_bytes(root, cx, s->ino, &s->inode);

	if (!ret)
		return fail_said(cx, -ENOENT,
				 "inode %llu: the ifile has no block for it",
				 (unsigned long long)s->ino);
	if (ret > 0)
		ret = file_bit(&root->ifile, cx, &root->vol->ifile_palloc,
			       s->ino, &s->allocated);
	return ret < 0 ? ret : 0;
}

int subject_read(struct subject *s, struct context *cx, struct root *root,
		 uint64_t ino)
{
	*s = (struct subject){ .ino = ino };
	if (inode_is_metadata(ino)) {
		take_metadata(s, root);
		return 0;
	}
	return read_inode(s, cx, root);
}

int subject_find(struct subject *s, struct context *cx, struct root *root,
		 const char *text)
{
	uint64_t ino;
	int err = 0;

	if (*text == '/')
		err = dir_resolve(root, cx, text, &ino);
	else if (!is_metadata_name(text, &ino))
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
