// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directory for inodes that nothing names.
 *
 * It is "lost+found" in the root, for the owner of the root only, as other
 * checkers have it; where a file has that name, another one.  An inode is
 * called by its number there.  What goes there is not kept in a list: a file
 * without a name is seen to be one in the list of inodes.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fsck/names/entrywalk.h"
#include "fsck/names/namefix.h"
#include "log/inodes.h"

static const char base[] = "lost+found";

#define NAME_MAX_LEN 16 /* of one of its names */
#define INO_NAME_MAX 24

static void name_of(unsigned int i, char name[NAME_MAX_LEN])
{
	if (i)
		snprintf(name, NAME_MAX_LEN, "%s~%u", base, i);
	else
		snprintf(name, NAME_MAX_LEN, "%s", base);
}

void lostfound_meet(struct lostfound *lost,
		    const struct entrywalk_entry *entry)
{
	char name[NAME_MAX_LEN];
	unsigned int i;

	if (entry->e.name_len < strlen(base) ||
	    memcmp(entry->e.name, base, strlen(base)))
		return;
	for (i = 0; i < LOSTFOUND_NAMES; i++) {
		name_of(i, name);
		if (entry->e.name_len != strlen(name) ||
		    memcmp(entry->e.name, name, strlen(name)))
			continue;
		lost->is_dir[i] = entry->type == NILFS_FT_DIR &&
				  !lost->taken[i];
		lost->taken[i] = entry->e.ino;
	}
}

/* Marks the directories that go there; true if anything does. */
static bool look_up(struct namefix *f)
{
	struct inodelist_row row;
	bool any = false;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (!namefix_is_orphaned(f, i) ||
		    f->lost.subdirs >= NILFS_LINK_MAX - 2)
			continue;
		f->flags[i] |= NAMEFIX_LOST;
		f->lost.subdirs++;
		any = true;
	}
	for (i = 0; !any && inodelist_next(&f->n.list, &i, &row);)
		any = namefix_is_unnamed(&row);
	return any;
}

/* A directory of that name in the root; true if there is one. */
static bool find_dir(struct namefix *f)
{
	const struct inodelist *list = &f->n.list;
	unsigned int i;
	size_t dir;

	for (i = 0; i < LOSTFOUND_NAMES; i++) {
		if (!f->lost.is_dir[i])
			continue;
		dir = inodelist_find_dir(list, f->lost.taken[i]);
		if (!list->dirs[dir].parent ||
		    list->dirs[list->dirs[dir].parent - 1].ino !=
			    NILFS_ROOT_INO)
			continue;
		f->lost.dir = (uint32_t)dir;
		f->lost.ino = f->lost.taken[i];
		f->flags[dir] |= NAMEFIX_ENTRIES;
		return true;
	}
	return false;
}

/* As nilfs_mkdir() does, with the content to come. */
static int make_dir(struct namefix *f, struct context *cx)
{
	size_t dir = inodelist_find_dir(&f->n.list, NILFS_ROOT_INO);
	struct writer *w = f->job->writer;
	struct nilfs_inode root, inode = {
		.i_ctime = le64_make(f->job->time),
		.i_mtime = le64_make(f->job->time),
		.i_mode = le16_make(S_IFDIR | S_IRWXU),
		.i_links_count = le16_make((uint16_t)(2 + f->lost.subdirs)),
	};
	char name[NAME_MAX_LEN];
	unsigned int i;
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
	for (i = 0; i < LOSTFOUND_NAMES - 1 && f->lost.taken[i]; i++)
		;
	name_of(i, name);
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
	size_t i;
	int err = 0;

	f->lost.needed = look_up(f);
	if (!f->lost.needed)
		return 0;
	if (!find_dir(f))
		err = make_dir(f, cx);
	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		if (f->flags[i] & NAMEFIX_LOST)
			f->n.list.dirs[i].parent = f->lost.dir + 1;
	}
	return err;
}

static int add_inode(struct namefix *f, struct context *cx, struct dirwrite *w,
		     uint64_t ino, uint8_t type)
{
	char name[INO_NAME_MAX];
	int len = snprintf(name, sizeof(name), "#%llu",
			   (unsigned long long)ino);

	namefix_note(f, NAMEFIX_NOTE_LOST, "inode %llu: put into the "
		     "lost+found directory", (unsigned long long)ino);
	return dirwrite_add_new(w, cx, ino, type, name, (uint8_t)len);
}

int lostfound_fill(struct namefix *f, struct context *cx, struct dirwrite *w)
{
	struct inodelist_row row;
	size_t i;
	int err = 0;

	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		if (f->flags[i] & NAMEFIX_LOST)
			err = add_inode(f, cx, w, f->n.list.dirs[i].ino,
					NILFS_FT_DIR);
	}
	for (i = 0; !err && inodelist_next(&f->n.list, &i, &row);) {
		if (!namefix_is_unnamed(&row))
			continue;
		row.chunk->names[row.at] = 1;
		err = add_inode(f, cx, w, row.chunk->first + row.at,
				row.chunk->kind[row.at] & INODELIST_TYPE);
	}
	return err;
}
