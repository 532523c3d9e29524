// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that older checkpoints have.
 *
 * What a directory was called by a checkpoint ago it mostly still is.  A name
 * is taken from there if its inode is missed now and is the same as then: of
 * the same type and generation, since numbers are given out again.
 *
 * Checkpoints that share a directory share its map, and are looked at once.
 */
#include "fsck/names/oldnames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "check/dirread.h"
#include "fsck/names/namefix.h"
#include "vol/cptable.h"
#include "vol/dir.h"

#include <errno.h>

/* A directory that loses names, as the last checkpoint had it. */
struct torn {
	uint32_t dir;		/* index */
	bool done;
	le32 generation;
	le64 bmap[NILFS_INODE_BMAP_SIZE];
};

struct oldnames {
	struct namefix *f;
	struct root root;	/* an older checkpoint */
	struct torn *torn;
	size_t count, room, done;
};

static int add_torn(struct oldnames *o, struct context *cx, size_t dir)
{
	struct namefix *f = o->f;
	struct nilfs_inode inode;
	struct torn *torn;
	int err = dirread_inode(&f->n.root, cx, f->n.list.dirs[dir].ino,
				&inode);

	if (err) {
		fail_clear(cx);
		return names_is_fatal(err) ? err : 0;
	}
	torn = array_grow(cx, o->torn, &o->room, o->count + 1, sizeof(*torn));
	if (!torn)
		return -ENOMEM;
	o->torn = torn;
	torn += o->count++;
	torn->dir = (uint32_t)dir;
	torn->done = false;
	torn->generation = inode.i_generation;
	memcpy(torn->bmap, inode.i_bmap, sizeof(torn->bmap));
	return 0;
}

static int find_torn(struct oldnames *o, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < o->f->n.list.ndirs && !err; i++) {
		if (o->f->flags[i] & (NAMEFIX_GONE | NAMEFIX_LOSES))
			err = add_torn(o, cx, i);
	}
	return err;
}

static bool is_missed(struct namefix *f, const struct inodelist_row *row,
		      uint64_t ino)
{
	if (!row->chunk || !row->chunk->kind[row->at])
		return false;
	if ((row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR)
		return namefix_is_orphaned(f, inodelist_find_dir(&f->n.list,
								 ino));
	return namefix_is_missed(row);
}

/* 1 if INO is now what it was then, 0 if not, -ENOMEM, -EINTR. */
static int is_the_same(struct oldnames *o, struct context *cx, uint64_t ino)
{
	struct nilfs_inode then, now;
	int err = root_inode(&o->root, cx, ino, &then);

	if (!err)
		err = dirread_inode(&o->f->n.root, cx, ino, &now);
	if (err) {
		fail_clear(cx);
		return names_is_fatal(err) ? err : 0;
	}
	return le32_get(then.i_generation) == le32_get(now.i_generation) &&
	       ((le16_get(then.i_mode) ^ le16_get(now.i_mode)) & S_IFMT) == 0;
}

static int take_entry(struct oldnames *o, struct context *cx, uint32_t dir,
		      const struct dir_entry *e)
{
	struct namefix *f = o->f;
	struct inodelist_row row = inodelist_find(&f->n.list, e->ino);
	int ret;

	if (e->len <= 2 && !memcmp(e->name, "..", e->len))
		return 0;
	if (e->ino == NILFS_ROOT_INO || !is_missed(f, &row, e->ino))
		return 0;
	ret = is_the_same(o, cx, e->ino);
	if (ret <= 0)
		return ret;
	row = inodelist_find(&f->n.list, e->ino);
	return namefix_found(f, cx, dir, &row, e->ino, e->name, e->len);
}

/* Reads the directory as FILE has it; done if that is whole. */
static int read_old(struct oldnames *o, struct context *cx, struct torn *torn,
		    struct file *file)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	bool whole = true;
	int ret, err = 0;

	ret = dir_cursor_open(&cur, cx, file);
	while (!ret && !err) {
		ret = dir_cursor_next(&cur, cx, &entry);
		if (ret > 0) {
			err = take_entry(o, cx, torn->dir, &entry);
			ret = 0;
			continue;
		}
		if (!ret)
			break;
		whole = false;
		if (cur.at_broken_block) {
			fail_clear(cx);
			ret = 0;
		}
	}
	dir_cursor_close(&cur);
	if (err || names_is_fatal(ret))
		return err ? err : ret;
	fail_clear(cx);
	torn->done = whole && !ret;
	o->done += torn->done;
	return 0;
}

static int look_at(struct oldnames *o, struct context *cx, struct torn *torn)
{
	struct file file;
	int err = root_file(&o->root, cx, o->f->n.list.dirs[torn->dir].ino,
			    &file);

	if (err) {
		fail_clear(cx);
		return names_is_fatal(err) ? err : 0;
	}
	if (!S_ISDIR(le16_get(file.inode.i_mode)) ||
	    le32_get(file.inode.i_generation) != le32_get(torn->generation) ||
	    !memcmp(file.inode.i_bmap, torn->bmap, sizeof(torn->bmap)))
		return 0;
	memcpy(torn->bmap, file.inode.i_bmap, sizeof(torn->bmap));
	return read_old(o, cx, torn, &file);
}

static int look_in(struct oldnames *o, struct context *cx, uint64_t cno)
{
	size_t i;
	int err = root_open(&o->root, cx, o->f->n.root.vol, cno);

	if (err) {
		fail_clear(cx);
		return names_is_fatal(err) ? err : 0;
	}
	for (i = 0; i < o->count && !err; i++) {
		if (!o->torn[i].done)
			err = look_at(o, cx, &o->torn[i]);
	}
	return err;
}

static int look_back(struct oldnames *o, struct context *cx)
{
	uint64_t *cnos = NULL;
	size_t count = 0;
	int err = cptable_list(o->f->n.root.vol, cx, false, &cnos, &count);

	if (err) {
		fail_clear(cx);
		return names_is_fatal(err) ? err : 0;
	}
	while (count-- && !err && o->done < o->count) {
		err = context_cancelled(cx);
		if (!err && cnos[count] < o->f->n.root.cno)
			err = look_in(o, cx, cnos[count]);
	}
	free(cnos);
	return err;
}

int oldnames_run(struct namefix *f, struct context *cx)
{
	struct oldnames o = { .f = f };
	int err = find_torn(&o, cx);

	if (!err && o.count)
		err = look_back(&o, cx);
	free(o.torn);
	return err;
}
