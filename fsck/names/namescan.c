// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading all directories for the directory repair.
 *
 * The first reading follows record lengths as the kernel does, as far as
 * possible in each block.  All blocks of a map count, whatever the size.  It
 * only determines which directories are rewritten: the writer judges each entry
 * again.
 *
 * A block that ends in an invalid entry, or an entry that is longer than
 * necessary, may hide names.  They are searched only if inodes miss names, and
 * only names of these are used.
 */

#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "fsck/names/namefix.h"

struct scan {
	struct namefix *f;
	struct blockbatch batch;
	size_t dir; /* index of the current directory, or ndirs */
	uint64_t ino;
};

static int namescan_begin_dir(struct scan *s, struct context *cx, uint64_t dir)
{
	struct names *n = &s->f->n;
	int err = 0;

	if (s->dir < n->list.ndirs)
		err = dupnames_end(&n->dups, cx);
	s->dir = dir;
	if (err || dir >= n->list.ndirs)
		return err;
	s->ino = n->list.dirs[dir].ino;
	return dupnames_begin(&n->dups, cx, (uint32_t)dir);
}

static int namescan_take_block(void *arg, struct context *cx,
			       const struct blockbatch_item *item,
			       const void *data, int err)
{
	struct scan *s = arg;
	struct namefix *f = s->f;
	struct entrywalk_entry entry;
	const struct dirent_entry *e = &entry.e;
	struct inodelist_dir *dir;
	struct entrywalk walk;
	unsigned int dots = 0; /* bits: "." and ".." that were found */
	uint16_t *flags = &f->flags[item->owner];
	int ret = 0;

	if (item->owner != s->dir)
		ret = namescan_begin_dir(s, cx, item->owner);
	if (ret)
		return ret;
	dir = &f->n.list.dirs[s->dir];
	ret = namefix_walk(f, cx, item, data, err, &walk);
	if (ret <= 0) {
		namefix_mark_loss(f, s->dir, NAMEFIX_UNREADABLE);
		return ret;
	}
	ret = 0;
	while (!ret && entrywalk_next(&walk, &entry)) {
		switch (entry.fate) {
		case ENTRYWALK_FREE:
			continue;
		case ENTRYWALK_DOT:
			dots |= 1;
			*flags |= e->ino != s->ino || !entry.right
					  ? NAMEFIX_FIX_ENTRIES
					  : NAMEFIX_IS_DIRECTORY;
			break;
		case ENTRYWALK_DOTDOT:
			dots |= 2;
			dir->dotdot = e->ino;
			if (entry.right)
				break;
			*flags |= NAMEFIX_FIX_ENTRIES;
			if (entry.row.chunk)
				dir->second_open = true;
			break;
		case ENTRYWALK_NAME:
			*flags |= NAMEFIX_HAS_NAMES;
			if (entry.bad_name)
				namefix_mark_loss(f, s->dir, NAMEFIX_BAD_NAME);
			if (entry.type != e->type)
				*flags |= NAMEFIX_FIX_ENTRIES;
			else if (entry.type == NILFS_FT_DIR &&
				 inodelist_is_dir(
					 entry.row.chunk->kind[entry.row.at]))
				f->flags[inodelist_find_dir(
					&f->n.list, e->ino)] |= NAMEFIX_IS_DIRECTORY;
			ret = parents_name(f, cx, s->dir, &entry.row, e->ino);
			break;
		default:
			f->ndangling += entry.fate == ENTRYWALK_DANGLING ||
					entry.fate == ENTRYWALK_RESERVED;
			namefix_mark_loss(f, s->dir, NAMEFIX_LOSES_NAMES);
			continue;
		}
		if (!ret)
			ret = dupnames_add(&f->n.dups, cx, e);
	}
	if (walk.it.verdict)
		namefix_mark_loss(f, s->dir, NAMEFIX_UNREADABLE);
	if (!item->blkoff && dots != 3)
		*flags |= NAMEFIX_FIX_ENTRIES;
	return ret;
}

int namescan_run(struct namefix *f, struct context *cx)
{
	struct scan s = {.f = f, .dir = f->n.list.ndirs};
	uint32_t block_size = f->n.root.vol->geo.block_size;
	const struct dupnames *d = &f->n.dups;
	struct inodelist_row row;
	struct inodelist_dir *dir;
	struct inodelist_blocks b;
	uint64_t ino;
	size_t i;
	int err;

	err = blockbatch_open(&s.batch, cx, f->n.root.vol, namescan_take_block,
			      &s);
	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		err = inodelist_add_blocks(&f->n.root, cx, &f->n.list, i, true, &s.batch,
				  &b);
		if (err)
			break;
		fail_clear(cx);
		row = inodelist_find(&f->n.list, f->n.list.dirs[i].ino);
		if (b.map.broken || b.map.found != b.map.end ||
		    b.map.found < b.expected) {
			namefix_mark_loss(f, i, NAMEFIX_UNREADABLE);
		} else if (!b.map.found ||
			   (b.size != b.map.found * block_size &&
			    row.chunk->links[row.at])) {
			/* A directory removed while open has size 0. */
			f->flags[i] |= NAMEFIX_FIX_ENTRIES;
		}
	}
	if (!err)
		err = blockbatch_flush(&s.batch, cx);
	if (!err)
		err = namescan_begin_dir(&s, cx, f->n.list.ndirs);
	blockbatch_close(&s.batch);
	if (!err)
		err = dupnames_gather(&f->n, cx);
	if (err)
		return err;
	/* Directories that may contain duplicate names. */
	for (i = 0; i < d->nsuspects; i++)
		namefix_mark_loss(f, d->suspects[i].dir, NAMEFIX_LOSES_NAMES);
	parents_choose(f);
	/* With the parents known, some second entries turn out to be names. */
	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		dir = &f->n.list.dirs[i];
		if (!dir->second_open ||
		    inodelist_second_is_parent(&f->n.list, dir))
			continue;
		ino = dir->dotdot;
		dir->dotdot = INODELIST_NONE;
		dir->second_is_name = true;
		if (ino == NILFS_ROOT_INO || ino == dir->ino) {
			namefix_mark_loss(f, i, NAMEFIX_LOSES_NAMES);
			continue;
		}
		f->flags[i] |= NAMEFIX_HAS_NAMES | NAMEFIX_FIX_ENTRIES;
		row = inodelist_find(&f->n.list, ino);
		err = parents_name(f, cx, i, &row, ino);
	}
	parents_choose(f);
	return err;
}

static int namescan_search_block(void *arg, struct context *cx,
				 const struct blockbatch_item *item,
				 const void *data, int err)
{
	struct namefix *f = arg;
	struct entrywalk_entry entry, found;
	struct entrywalk walk;
	uint32_t from, end;
	int more, ret = namefix_walk(f, cx, item, data, err, &walk);

	if (ret <= 0)
		return ret;
	/* Search the space after each entry, and after the last one. */
	do {
		more = entrywalk_next(&walk, &entry);
		from = more ? entry.end : walk.it.offset;
		end = more		? entry.e.offset + entry.e.rec_len
		      : walk.it.verdict ? walk.it.block_size
					: 0;
		ret = 0;
		while (!ret && entrywalk_search(&walk, from, end, &found)) {
			ret = namefix_take_found(f, cx, item->owner, &found.row,
						 found.e.ino, found.e.name,
						 found.e.name_len);
			from = found.e.offset + found.e.rec_len;
		}
	} while (!ret && more);
	return ret;
}

int namescan_search(struct namefix *f, struct context *cx)
{
	return inodelist_read_dirs(&f->n.root, cx, &f->n.list, 0,
				   f->n.list.ndirs, namescan_search_block, f);
}
