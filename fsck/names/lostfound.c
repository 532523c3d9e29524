// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directory for inodes that nothing names.
 *
 * It is "lost+found" in the root, for the owner of the root only, as other
 * checkers have it; where a file has that name, another one.  An inode is
 * called by its number there.  What goes there is not kept in a list: a file
 * without a name is seen to be one in the list of inodes.
 *
 * None is made in a snapshot, which has the blocks that it has: what nothing
 * names is named in directories that have lost names, and in the root.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "fsck/names/namefix.h"
#include "log/inodes.h"
#include "vol/dir.h"

#define LOSTFOUND_NAMES 10
#define NAME_MAX_LEN 16 /* of one of its names */

/* A directory of that name in the root: 1, 0 where there is none, and NAME is
   the first one that is free. */
static int find_dir(struct namefix *f, struct context *cx,
		    char name[NAME_MAX_LEN])
{
	const struct inodelist *list = &f->n.list;
	struct file root;
	unsigned int i;
	uint64_t ino;
	size_t dir;
	int err = root_file(&f->n.root, cx, NILFS_ROOT_INO, &root);

	for (i = 0; i < LOSTFOUND_NAMES && !err; i++) {
		if (i)
			snprintf(name, NAME_MAX_LEN, "lost+found~%u", i);
		err = dir_lookup(&root, cx, name, strlen(name), &ino);
		dir = err ? list->ndirs : inodelist_find_dir(list, ino);
		if (dir == list->ndirs || !list->dirs[dir].parent ||
		    list->dirs[list->dirs[dir].parent - 1].ino !=
			    NILFS_ROOT_INO)
			continue;
		f->lost.dir = (uint32_t)dir;
		f->lost.ino = ino;
		f->flags[dir] |= NAMEFIX_ENTRIES;
		return 1;
	}
	return damage_forgive(cx, err);
}

/* As nilfs_mkdir() does, with the content to come. */
static int make_dir(struct namefix *f, struct context *cx, const char *name)
{
	size_t dir = inodelist_find_dir(&f->n.list, NILFS_ROOT_INO);
	struct writer *w = f->job->writer;
	struct nilfs_inode root,
		inode = {
			.i_ctime = le64_make(f->job->time),
			.i_mtime = le64_make(f->job->time),
			.i_mode = le16_make(S_IFDIR | S_IRWXU),
			.i_links_count =
				le16_make((uint16_t)(2 + f->lost.subdirs)),
		};
	int err = inodes_read(w, cx, NILFS_ROOT_INO, &root);

	if (!err)
		err = inodes_alloc(w, cx, &f->lost.ino);
	if (err)
		return err;
	inode.i_uid = root.i_uid;
	inode.i_gid = root.i_gid;
	inode.i_flags = root.i_flags;
	err = inodes_write(w, cx, f->lost.ino, &inode);
	if (err)
		return err;
	f->lost.made = true;
	f->lost.dir = NAMEFIX_MADE;
	f->flags[dir] |= NAMEFIX_ENTRIES;
	namefix_note(f, NAMEFIX_NOTE_DIR, "directory %llu: made as /%s",
		     (unsigned long long)f->lost.ino, name);
	return namefix_add(&f->adds, cx, (uint32_t)dir, f->lost.ino, name,
			   (uint8_t)strlen(name));
}

int lostfound_settle(struct namefix *f, struct context *cx)
{
	char name[NAME_MAX_LEN] = "lost+found";
	struct inodelist_row row;
	size_t i;
	int ret = 0;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (!namefix_is_orphaned(f, i) ||
		    f->lost.subdirs >= NILFS_LINK_MAX - 2)
			continue;
		f->flags[i] |= NAMEFIX_LOST;
		f->lost.subdirs++;
		f->lost.needed = true;
	}
	for (i = 0; !f->lost.needed && inodelist_next(&f->n.list, &i, &row);)
		f->lost.needed = namefix_is_unnamed(&row);
	if (f->past) {
		f->lost.dir = (uint32_t)inodelist_find_dir(&f->n.list,
							   NILFS_ROOT_INO);
		f->lost.ino = NILFS_ROOT_INO;
		/* Other directories may have no room for what they had. */
		f->lost.needed |= f->adds.count || f->nmissed;
	} else if (f->lost.needed) {
		ret = find_dir(f, cx, name);
		ret = ret ? ret : make_dir(f, cx, name);
	}
	for (i = 0; i < f->n.list.ndirs && ret >= 0; i++) {
		if (f->flags[i] & NAMEFIX_LOST)
			f->n.list.dirs[i].parent = f->lost.dir + 1;
	}
	return ret < 0 ? ret : 0;
}

bool lostfound_next(struct namefix *f, size_t dir, struct lostfound_at *at,
		    uint64_t *ino, uint8_t *type)
{
	struct inodelist_row row;
	bool found = false;

	while (!found && dir == f->lost.dir && at->dir < f->n.list.ndirs) {
		*ino = f->n.list.dirs[at->dir].ino;
		*type = NILFS_FT_DIR;
		found = f->flags[at->dir++] & NAMEFIX_LOST;
	}
	while (!found && inodelist_next(&f->n.list, &at->row, &row)) {
		/* In a snapshot links may be right if names were lost. */
		if (!namefix_is_unnamed(&row) &&
		    !(f->past && namefix_is_missed(&row) &&
		      (f->nmissed || f->flags[dir] & NAMEFIX_GONE)))
			continue;
		row.chunk->names[row.at]++;
		*ino = row.chunk->first + row.at;
		*type = row.chunk->kind[row.at] & INODELIST_TYPE;
		found = true;
	}
	return found;
}
