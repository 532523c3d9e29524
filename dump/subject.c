// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inode given by INO|PATH on a command line.
 *
 * Files that users see are looked up in the checkpoint; the four metadata files
 * have a name and a reserved number each.  An inode is read whatever its
 * content is, because commands show it without judging.
 */
#include "dump/subject.h"

#include <errno.h>
#include <string.h>

#include "cli/option.h"
#include "disk/inode.h"
#include "dump/position.h"
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

/* Looks into the bitmap of the ifile; a missing one says no. */
static int read_bit(struct subject *s, struct context *cx, struct root *root)
{
	const struct palloc *palloc = &root->vol->ifile_palloc;
	uint64_t group = palloc_group(palloc, s->ino);
	const void *bitmap;
	int ret;

	ret = file_block(&root->ifile, cx,
			 palloc_bitmap_blkoff(palloc, group), &bitmap);
	if (ret <= 0)
		return ret;
	s->allocated = palloc_bit(bitmap,
				  palloc_group_offset(palloc, s->ino));
	file_put(&root->ifile, bitmap);
	return 0;
}

static int read_inode(struct subject *s, struct context *cx, struct root *root)
{
	const struct palloc *palloc = &root->vol->ifile_palloc;
	const char *block;
	const void *data;
	int ret;

	ret = file_block(&root->ifile, cx, palloc_entry_blkoff(palloc, s->ino),
			 &data);
	if (ret < 0)
		return ret;
	if (!ret)
		return fail_said(cx, -ENOENT,
				 "inode %llu: the ifile has no block for it",
				 (unsigned long long)s->ino);
	block = data;
	memcpy(&s->inode, block + palloc_entry_offset(palloc, s->ino),
	       sizeof(s->inode));
	file_put(&root->ifile, data);
	return read_bit(s, cx, root);
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
