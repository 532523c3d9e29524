// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading all directories for a repair of names.
 *
 * The first reading takes entries as the kernel would, one length after the
 * other, as far as that goes in a block; all blocks of a map count, whatever
 * the size says.  It decides which directories are written again, and that
 * decides nothing about their entries: the writer judges each once more.
 *
 * A block that ends in nonsense, or an entry that is longer than it need be,
 * may hide names.  They are looked for only when inodes are missed, and only
 * names of these are taken.
 */

#include "check/damage.h"
#include "check/names/dirread.h"
#include "fsck/names/namefix.h"

struct scan {
	struct namefix *f;
	struct blockbatch batch;
	size_t dir; /* the current one, or ndirs */
	uint64_t ino;
};

/* Names go, or change, where directory number DIR is written again. */
static void mark_loss(struct scan *s, unsigned int flag)
{
	s->f->flags[s->dir] |= flag;
	names_lose(&s->f->n, s->ino);
}

static int begin_dir(struct scan *s, struct context *cx, uint64_t dir)
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

static bool is_right(const struct entrywalk_entry *entry, const char *dots)
{
	const struct dirent_entry *e = &entry->e;

	return e->type == NILFS_FT_DIR && e->name_len == strlen(dots) &&
	       !memcmp(e->name, dots, e->name_len);
}

static void count_name(const struct inodelist_row *row)
{
	if (row->chunk->names[row->at] < UINT16_MAX)
		row->chunk->names[row->at]++;
}

static int take_entry(struct scan *s, struct context *cx,
		      const struct entrywalk_entry *entry)
{
	const struct inodelist_row *row = &entry->row;
	struct namefix *f = s->f;
	struct inodelist_dir *dir = &f->n.list.dirs[s->dir];
	int err = 0;

	switch (entry->fate) {
	case ENTRYWALK_FREE:
		return 0;
	case ENTRYWALK_DOT:
		f->flags[s->dir] |=
			entry->e.ino != s->ino || !is_right(entry, ".")
				? NAMEFIX_ENTRIES
				: NAMEFIX_KNOWN;
		break;
	case ENTRYWALK_DOTDOT:
		dir->dotdot = entry->e.ino;
		if (is_right(entry, ".."))
			break;
		f->flags[s->dir] |= NAMEFIX_ENTRIES;
		if (!row->chunk)
			break;
		dir->second_open = true;
		break;
	case ENTRYWALK_NAME:
		f->flags[s->dir] |= NAMEFIX_PARENT;
		if (entry->bad_name)
			mark_loss(s, NAMEFIX_BAD_NAME);
		if (entry->type != entry->e.type)
			f->flags[s->dir] |= NAMEFIX_ENTRIES;
		count_name(row);
		if (entry->type == NILFS_FT_DIR &&
		    inodelist_is_dir(row->chunk->kind[row->at])) {
			if (entry->e.type == NILFS_FT_DIR)
				f->flags[inodelist_find_dir(&f->n.list,
							    entry->e.ino)] |=
					NAMEFIX_KNOWN;
			err = parents_name(f, cx, s->dir, entry->e.ino);
		}
		break;
	default:
		f->ndangling += entry->fate == ENTRYWALK_DANGLING ||
				entry->fate == ENTRYWALK_RESERVED;
		mark_loss(s, NAMEFIX_LOSES);
		return 0;
	}
	return err ? err : dupnames_add(&f->n.dups, cx, &entry->e);
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct scan *s = arg;
	struct namefix *f = s->f;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool dot = false, dotdot = false;
	int ret = 0;

	if (item->owner != s->dir)
		ret = begin_dir(s, cx, item->owner);
	if (ret)
		return ret;
	ret = namefix_walk(f, cx, item, data, err, &walk);
	if (ret <= 0) {
		mark_loss(s, NAMEFIX_GONE);
		return ret;
	}
	ret = 0;
	while (!ret && entrywalk_next(&walk, &entry)) {
		dot |= entry.fate == ENTRYWALK_DOT;
		dotdot |= entry.fate == ENTRYWALK_DOTDOT;
		ret = take_entry(s, cx, &entry);
	}
	if (walk.it.verdict)
		mark_loss(s, NAMEFIX_GONE);
	if (!item->blkoff && !(dot && dotdot))
		f->flags[s->dir] |= NAMEFIX_ENTRIES;
	return ret;
}

/* Second entries that turn out to be names, now that parents are known. */
static int settle_seconds(struct namefix *f, struct context *cx)
{
	struct inodelist_row row;
	uint64_t ino;
	size_t i;
	int err = 0;

	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		struct inodelist_dir *dir = &f->n.list.dirs[i];

		if (!dir->second_open ||
		    inodelist_second_is_parent(&f->n.list, dir))
			continue;
		ino = dir->dotdot;
		dir->dotdot = INODELIST_NONE;
		dir->second_is_name = true;
		if (ino == NILFS_ROOT_INO || ino == dir->ino) {
			f->flags[i] |= NAMEFIX_LOSES;
			names_lose(&f->n, dir->ino);
			continue;
		}
		f->flags[i] |= NAMEFIX_PARENT | NAMEFIX_ENTRIES;
		row = inodelist_find(&f->n.list, ino);
		count_name(&row);
		err = parents_name(f, cx, i, ino);
	}
	return err;
}

int namescan_run(struct namefix *f, struct context *cx)
{
	struct scan s = {.f = f, .dir = f->n.list.ndirs};
	uint32_t block_size = f->n.root.vol->geo.block_size;
	const struct dupnames *d = &f->n.dups;
	struct inodelist_row row;
	struct dirread b;
	uint64_t ino;
	size_t i;
	int err;

	err = blockbatch_open(&s.batch, cx, f->n.root.vol, take_block, &s);
	for (i = 0; i < f->n.list.ndirs && !err; i++) {
		err = dirread_add(&f->n.root, cx, &f->n.list, i, true, &s.batch,
				  &b);
		if (err)
			break;
		fail_clear(cx);
		ino = f->n.list.dirs[i].ino;
		row = inodelist_find(&f->n.list, ino);
		if (b.map.broken || b.map.found != b.map.end ||
		    b.map.found < b.expected) {
			f->flags[i] |= NAMEFIX_GONE;
			names_lose(&f->n, ino);
		} else if (!b.map.found ||
			   (b.size != b.map.found * block_size &&
			    row.chunk->links[row.at])) {
			/* The size of one that was removed in use is 0. */
			f->flags[i] |= NAMEFIX_ENTRIES;
		}
	}
	if (!err)
		err = blockbatch_flush(&s.batch, cx);
	if (!err)
		err = begin_dir(&s, cx, f->n.list.ndirs);
	blockbatch_close(&s.batch);
	if (!err)
		err = dupnames_gather(&f->n, cx);
	if (err)
		return err;
	/* Directories with a name that may be there twice. */
	for (i = 0; i < d->nsuspects; i++) {
		f->flags[d->suspects[i].dir] |= NAMEFIX_LOSES;
		names_lose(&f->n, f->n.list.dirs[d->suspects[i].dir].ino);
	}
	parents_choose(f);
	err = settle_seconds(f, cx);
	parents_choose(f);
	return err;
}

/* Takes what is found in bytes FROM to END of the block of W, of directory
   number DIR, if its inode is missed. */
static int search_names(struct namefix *f, struct context *cx, size_t dir,
			struct entrywalk *w, uint32_t from, uint32_t end)
{
	struct entrywalk_entry entry;
	int err = 0;

	while (!err && entrywalk_search(w, from, end, &entry)) {
		err = namefix_found(f, cx, dir, &entry.row, entry.e.ino,
				    entry.e.name, entry.e.name_len);
		from = entry.e.offset + entry.e.rec_len;
	}
	return err;
}

static int search_block(void *arg, struct context *cx,
			const struct blockbatch_item *item, const void *data,
			int err)
{
	struct namefix *f = arg;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	int ret = namefix_walk(f, cx, item, data, err, &walk);

	if (ret <= 0)
		return ret;
	ret = 0;
	while (!ret && entrywalk_next(&walk, &entry))
		ret = search_names(f, cx, item->owner, &walk,
				   entrywalk_end(&entry),
				   entry.e.offset + entry.e.rec_len);
	if (!ret && walk.it.verdict)
		ret = search_names(f, cx, item->owner, &walk, walk.it.offset,
				   walk.it.block_size);
	return ret;
}

int namescan_search(struct namefix *f, struct context *cx)
{
	return dirread_run(&f->n.root, cx, &f->n.list, 0, f->n.list.ndirs,
			   search_block, f);
}
