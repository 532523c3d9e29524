// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses one parent for each directory, and a place for unnamed inodes.
 *
 * The first directory that names a directory becomes its parent; other
 * candidates are kept until all ".." are known.  Extra links are removed when
 * the directory that contains them is rewritten.
 *
 * A loop is found by following parents from every directory to one with a known
 * path.  It is broken at a directory that has another name outside of the loop,
 * else where ".." disagrees with the name.
 *
 * Unnamed inodes go into "lost+found" in the root, accessible to the owner of
 * the root only, as with other checkers; if a file has that name, another name
 * is used.  Their names are their numbers.  They are not kept in a list,
 * because the list of inodes shows them.  No lost+found is created in a
 * snapshot, which keeps its blocks: unnamed inodes are named in directories
 * that have lost names, and in the root.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bitmap.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "fsck/names/namefix.h"
#include "log/inodes.h"
#include "vol/dir.h"

#define MOST (1u << 20) /* limit of other names; beyond it the first parent stays */
#define LOSTFOUND_NAMES 10
#define NAME_MAX_LEN 16 /* length of the name of lost+found */

int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 const struct inodelist_row *row, uint64_t ino)
{
	struct inodelist *list = &f->n.list;
	size_t at;

	if (row->chunk->names[row->at] < UINT16_MAX)
		row->chunk->names[row->at]++;
	if (!inodelist_is_dir(row->chunk->kind[row->at]))
		return 0;
	at = inodelist_find_dir(list, ino);
	if (!list->dirs[at].parent) {
		list->dirs[at].parent = (uint32_t)dir + 1;
		return 0;
	}
	namefix_mark_loss(f, dir, NAMEFIX_LOSES_NAMES);
	if (f->nothers >= MOST)
		return 0;
	return array_push(cx, &f->others, &f->nothers, &f->others_room,
			  (uint64_t)at << 32 | dir);
}

/* Makes BY (index + 1, 0: none) the parent of directory CHILD. */
static void set_parent(struct namefix *f, size_t child, uint32_t by)
{
	struct inodelist_dir *d = &f->n.list.dirs[child];

	f->flags[d->parent - 1] |= NAMEFIX_LOSES_NAMES;
	d->parent = by;
}

void parents_choose(struct namefix *f)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	size_t i;

	sort_in_place(f->others, f->nothers, sizeof(*f->others),
		      sort_compare_number);
	for (i = 0; i < f->nothers; i++) {
		size_t child = f->others[i] >> 32;
		uint32_t by = (uint32_t)f->others[i];

		if (dirs[by].ino == dirs[child].dotdot &&
		    dirs[dirs[child].parent - 1].ino != dirs[by].ino)
			set_parent(f, child, by + 1);
	}
}

/*
 * Marks directory I and its ancestors in MARKS, up to a directory without
 * parent, a marked or a known one, and returns the last one.
 */
static size_t parents_follow(const struct namefix *f,
			     const struct bitmap *known, struct bitmap *marks,
			     size_t i)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;

	while (!bitmap_test(known, i) && !bitmap_test(marks, i)) {
		bitmap_set(marks, i);
		if (!dirs[i].parent)
			break;
		i = dirs[i].parent - 1;
	}
	return i;
}

/*
 * Breaks the loop that contains directory FIRST at one directory, which gets
 * another parent or none.  Returns its former parent.
 */
static size_t break_loop(struct namefix *f, const struct bitmap *known,
			 size_t first)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	size_t at = first, victim = first, parent, i;
	uint32_t other = 0;

	do {
		parent = dirs[at].parent - 1;
		/* Another parent that is known to be outside of the loop. */
		i = search_lower_bound(f->others, f->nothers,
				       (uint64_t)at << 32);
		for (; !other && i < f->nothers && f->others[i] >> 32 == at;
		     i++)
			if (bitmap_test(known, (uint32_t)f->others[i]))
				other = (uint32_t)f->others[i] + 1;
		if (other ||
		    (victim == first && dirs[at].dotdot != dirs[parent].ino))
			victim = at;
		at = parent;
	} while (at != first && !other);
	parent = dirs[victim].parent - 1;
	namefix_note(f, NAMEFIX_NOTE_REMOVED,
		     "directory %" PRIu64 ": removed from directory %" PRIu64
		     ", which it contains",
		     dirs[victim].ino, dirs[parent].ino);
	set_parent(f, victim, other);
	return parent;
}

int parents_break_loops(struct namefix *f, struct context *cx)
{
	const struct inodelist_dir *dirs = f->n.list.dirs;
	size_t i, at, ndirs = f->n.list.ndirs;
	struct bitmap known = {.words = NULL}, way = {.words = NULL},
		      again = {.words = NULL};
	int err = bitmap_init(&known, cx, ndirs);

	if (!err)
		err = bitmap_init(&way, cx, ndirs);
	if (!err)
		err = bitmap_init(&again, cx, ndirs);
	for (i = 0; i < ndirs && !err; i++) {
		at = parents_follow(f, &known, &way, i);
		if (bitmap_test(&known, at) || !dirs[at].parent)
			parents_follow(f, &known, &known, i);
	}
	for (i = 0; i < ndirs && !err; i++) {
		if (bitmap_test(&known, i))
			continue;
		at = parents_follow(f, &known, &again, i);
		if (!bitmap_test(&known, at)) {
			names_mark_unread(&f->n, dirs[at].ino);
			if (f->lossy)
				at = break_loop(f, &known, at);
			parents_follow(f, &known, &known, at);
		}
		parents_follow(f, &known, &known, i);
	}
	bitmap_fini(&known);
	bitmap_fini(&way);
	bitmap_fini(&again);
	return err;
}

/* Creates the directory as nilfs_mkdir() does; its content is written later. */
static int make_lost(struct namefix *f, struct context *cx, const char *name)
{
	size_t dir = inodelist_find_dir(&f->n.list, NILFS_ROOT_INO);
	struct writer *w = f->job->writer;
	struct nilfs_inode root, inode;
	int err = inodes_read(w, cx, NILFS_ROOT_INO, &root);

	if (!err)
		err = inodes_alloc(w, cx, &f->lost_ino);
	if (err)
		return err;
	inode = (struct nilfs_inode){
		.i_ctime = le64_make(f->job->time),
		.i_mtime = le64_make(f->job->time),
		.i_uid = root.i_uid,
		.i_gid = root.i_gid,
		.i_flags = root.i_flags,
		.i_mode = le16_make(S_IFDIR | S_IRWXU),
		.i_links_count = le16_make((uint16_t)(2 + f->lost_subdirs)),
	};
	err = inodes_write(w, cx, f->lost_ino, &inode);
	if (err)
		return err;
	f->lost_dir = NAMEFIX_NEW_LOST_FOUND;
	f->flags[dir] |= NAMEFIX_FIX_ENTRIES;
	namefix_note(f, NAMEFIX_NOTE_DIR, "directory %" PRIu64 ": created as /%s",
		     f->lost_ino, name);
	return namefix_add(f, cx, (uint32_t)dir, f->lost_ino, name,
			   (uint8_t)strlen(name));
}

int parents_settle_lost(struct namefix *f, struct context *cx)
{
	size_t i, at, ndirs = f->n.list.ndirs;
	struct inodelist_dir *dirs = f->n.list.dirs;
	char name[NAME_MAX_LEN] = "lost+found";
	struct inodelist_row row;
	struct file root;
	int err = 0;

	for (i = 0; i < ndirs; i++) {
		if (!namefix_is_orphaned(f, i) ||
		    f->lost_subdirs >= NILFS_LINK_MAX - 2)
			continue;
		f->flags[i] |= NAMEFIX_TO_LOST_FOUND;
		f->lost_subdirs++;
		f->lost_needed = true;
	}
	for (i = 0; !f->lost_needed && inodelist_next(&f->n.list, &i, &row);)
		f->lost_needed = namefix_is_unnamed(&row);
	if (f->snap) {
		f->lost_dir = (uint32_t)inodelist_find_dir(&f->n.list,
							   NILFS_ROOT_INO);
		f->lost_ino = NILFS_ROOT_INO;
		/* Other directories may have no room for their added names. */
		f->lost_needed |= f->nadds || f->nmissed;
	}
	if (f->snap || !f->lost_needed)
		goto out;
	/* A directory of that name in the root, or the first free name. */
	err = root_file(&f->n.root, cx, NILFS_ROOT_INO, &root);
	for (i = 0; i < LOSTFOUND_NAMES && !err; i++) {
		if (i)
			snprintf(name, sizeof(name), "lost+found~%zu", i);
		err = dir_lookup(&root, cx, name, strlen(name), &f->lost_ino);
		at = err ? ndirs : inodelist_find_dir(&f->n.list, f->lost_ino);
		if (at == ndirs || !dirs[at].parent ||
		    dirs[dirs[at].parent - 1].ino != NILFS_ROOT_INO)
			continue;
		f->lost_dir = (uint32_t)at;
		f->flags[at] |= NAMEFIX_FIX_ENTRIES;
		goto out;
	}
	err = damage_forgive(cx, err);
	if (!err)
		err = make_lost(f, cx, name);
out:
	for (i = 0; i < ndirs && !err; i++)
		if (f->flags[i] & NAMEFIX_TO_LOST_FOUND)
			dirs[i].parent = f->lost_dir + 1;
	return err;
}
