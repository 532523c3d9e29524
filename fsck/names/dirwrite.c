// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rewriting a directory.
 *
 * Block by block: each is packed again from the entries that are kept, and the
 * others are noted.  One that would not change is kept in place, and space is
 * reserved for a missing one; so the blocks written are in proportion to the
 * damage.  Names to be added go into blocks that change anyway, the rest to the
 * end.
 *
 * The set of names of a directory is only needed to find a new unique name:
 * then it is read once more, before, for their tags.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "check/names/dupnames.h"
#include "disk/dirpack.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/namefix.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"

#define HOLE_MOST 64u /* blocks missing between others that keep theirs */

struct dirwrite {
	struct namefix *f;
	struct remap *remap;
	size_t dir;		/* index */
	uint64_t ino, parent;
	bool refused;		/* its types, "." and ".." stay as they are */
	bool is_lost_found;
	uint64_t out;		/* blocks of the new directory so far */
	bool begun;		/* the first of them is being packed, or was */
	struct dirpack pack;
	uint8_t *block;		/* that is being packed */
	struct blockbatch_item from;	/* what it is made from; vblocknr 0:
					   nothing */
	bool same;		/* it would be what that was */
	bool in_place;		/* it is written though empty */
	const struct addnames_item *adds;	/* still to be added */
	size_t nadds;
	/* Names that may be there twice, and all, if TAGS_KNOWN. */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct keptnames kept;
	struct nameset tags;
	bool tags_known;
};

/* The block is part of the directory no longer. */
static int end_block(struct dirwrite *w, struct context *cx, uint64_t vblocknr)
{
	int err = repairwriter_end(w->f->job->writer, cx, vblocknr,
				   METAFILE_MULTI);

	/* One that ended before had two users, and this was the last. */
	if (err == -EUCLEAN)
		fail_clear(cx);
	return err == -EUCLEAN ? 0 : err;
}

/*
 * Whether a name in the directory is the one that directory INO is to have:
 * true once for each.
 */
static bool is_its_name(struct dirwrite *w, uint64_t ino)
{
	size_t child = inodelist_find_dir(&w->f->n.list, ino);

	if (w->f->n.list.dirs[child].parent != w->dir + 1 ||
	    w->f->flags[child] & (NAMEFIX_NAMED | NAMEFIX_LOST))
		return false;
	w->f->flags[child] |= NAMEFIX_NAMED;
	return true;
}

static int begin_block(struct dirwrite *w, struct context *cx,
		       const struct blockbatch_item *from);

/* Adds an entry, to another block where this one is full. */
static int emit(struct dirwrite *w, struct context *cx, uint64_t ino,
		uint8_t type, const char *name, uint8_t len)
{
	int err;

	if (dirpack_add(&w->pack, ino, type, name, len))
		return 0;
	w->same = false;
	err = begin_block(w, cx, NULL);
	dirpack_add(&w->pack, ino, type, name, len);
	return err;
}

int dirwrite_add_new(struct dirwrite *w, struct context *cx, uint64_t ino,
		     uint8_t type, const char *name, uint8_t len)
{
	struct entrywalk_name free_name;
	int err;

	entrywalk_name_repair(&free_name, name, len, ino);
	err = entrywalk_name_find(&free_name, cx,
				  w->tags_known ? &w->tags : NULL, false, ino);
	return err ? err : emit(w, cx, ino, type, free_name.name,
				free_name.len);
}

/* Adds one of the names that were found again, or that of lost+found. */
static int add_name(struct dirwrite *w, struct context *cx)
{
	const struct addnames_item *add = w->adds++;
	struct inodelist_row row = inodelist_find(&w->f->n.list, add->ino);
	uint8_t type = NILFS_FT_DIR;

	w->nadds--;
	if (row.chunk && row.chunk->kind[row.at])
		type = row.chunk->kind[row.at] & INODELIST_TYPE;
	if (add->ino != w->f->lost.ino && type == NILFS_FT_DIR &&
	    !is_its_name(w, add->ino))
		return 0;
	return dirwrite_add_new(w, cx, add->ino, type,
				w->f->adds.text + add->at, add->len);
}

/* Done with the block being packed, and the one that it was made from. */
static int finish_block(struct dirwrite *w, struct context *cx)
{
	uint64_t vblocknr = w->from.vblocknr;
	int err = 0;

	if (!w->pack.block)
		return 0;
	if (w->same && w->from.blkoff == w->out) {
		w->pack.block = NULL;
		return remap_keep(w->remap, cx, w->out++, vblocknr);
	}
	/* The room that is left in a block which is written anyway. */
	while (w->nadds && !err && w->pack.block_size - w->pack.used >=
					   dirent_rec_len(NILFS_NAME_LEN))
		err = add_name(w, cx);
	if (!err && (w->pack.used || w->in_place)) {
		dirpack_end(&w->pack);
		err = remap_put(w->remap, cx, w->out++, w->block);
	}
	w->pack.block = NULL;
	w->from.vblocknr = 0;
	return err || !vblocknr ? err : end_block(w, cx, vblocknr);
}

static void start_block(struct dirwrite *w, const struct blockbatch_item *from)
{
	dirpack_init(&w->pack, w->block, w->f->n.root.vol->geo.block_size);
	w->same = from && !w->begun == !from->blkoff;
	w->in_place = !from || from->blkoff == w->out;
	if (from)
		w->from = *from;
	else
		w->from.vblocknr = 0;
	if (w->begun)
		return;
	w->begun = true;
	if (w->refused)
		return;
	dirpack_add(&w->pack, w->ino, NILFS_FT_DIR, ".", 1);
	dirpack_add(&w->pack, w->parent, NILFS_FT_DIR, "..", 2);
}

/*
 * Begins a block, made from block FROM of the directory as it was (NULL: of
 * nothing), and ends the one before.
 */
static int begin_block(struct dirwrite *w, struct context *cx,
		       const struct blockbatch_item *from)
{
	int err = finish_block(w, cx);

	while (from && !err && w->out < from->blkoff &&
	       from->blkoff - w->out <= HOLE_MOST) {
		start_block(w, NULL);
		err = finish_block(w, cx);
	}
	start_block(w, from);
	return err;
}

/* Writes E, which leads to INO, of TYPE, now. */
static int keep_entry(struct dirwrite *w, struct context *cx,
		      const struct dirent_entry *e, uint64_t ino, uint8_t type)
{
	w->same &= ino == e->ino && type == e->type;
	return emit(w, cx, ino, type, e->name, e->name_len);
}

/* Reports that E is removed, and WHY. */
static int remove_entry(struct dirwrite *w, const struct dirent_entry *e,
			const char *why)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	w->same = false;
	text_escape(text, sizeof(text), e->name, e->name_len);
	namefix_note(w->f, NAMEFIX_NOTE_REMOVED,
		     "directory %llu: removed '%s' of inode %llu, %s",
		     (unsigned long long)w->ino, text,
		     (unsigned long long)e->ino, why);
	return 0;
}

/* Writes the name as another one that is free. */
static int rename_entry(struct dirwrite *w, struct context *cx,
			const struct entrywalk_entry *entry, bool change)
{
	char old[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	char new[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	const struct dirent_entry *e = &entry->e;
	struct entrywalk_name name;
	int err;

	w->same = false;
	entrywalk_name_repair(&name, e->name, e->name_len, e->ino);
	err = entrywalk_name_find(&name, cx, w->tags_known ? &w->tags : NULL,
				  change, e->ino);
	if (err)
		return err;
	text_escape(old, sizeof(old), e->name, e->name_len);
	text_escape(new, sizeof(new), name.name, name.len);
	namefix_note(w->f, NAMEFIX_NOTE_RENAMED,
		     "directory %llu: '%s' of inode %llu is now '%s'",
		     (unsigned long long)w->ino, old,
		     (unsigned long long)e->ino, new);
	return emit(w, cx, e->ino, entry->type, name.name, name.len);
}

static int take_name(struct dirwrite *w, struct context *cx,
		     const struct entrywalk_entry *entry)
{
	const struct dirent_entry *e = &entry->e;
	const struct inodelist_row *row = &entry->row;
	uint64_t ino = namefix_target(w->f, w->dir, w->from.blkoff, e);
	struct dupnames_suspect *s;
	uint64_t first = 0;
	int ret = 0;

	if (!ino)
		return remove_entry(w, e, "which has other names");
	if (ino != e->ino)
		return keep_entry(w, cx, e, ino, e->type);
	if (inodelist_is_dir(row->chunk->kind[row->at]) &&
	    !is_its_name(w, e->ino))
		return remove_entry(w, e, "a directory with another name");
	if (entry->bad_name)
		return rename_entry(w, cx, entry, false);
	s = dupnames_find(w->suspects, w->nsuspects,
			  nameset_tag(e->name, e->name_len));
	if (s)
		ret = dupnames_meet(&w->kept, cx, s, e, &first);
	if (ret < 0)
		return ret;
	if (ret && first != e->ino)
		return rename_entry(w, cx, entry, true);
	if (ret) {
		row->chunk->names[row->at]--;
		return remove_entry(w, e, "which is there twice");
	}
	return keep_entry(w, cx, e, e->ino, w->refused ? e->type : entry->type);
}

/* Keeps ENTRY, or reports it. */
static int take_entry(struct dirwrite *w, struct context *cx,
		      const struct entrywalk_entry *entry)
{
	static const char *const why[] = {
		[ENTRYWALK_STRAY] = "which belongs elsewhere",
		[ENTRYWALK_RESERVED] = "which is reserved",
		[ENTRYWALK_DANGLING] = "which does not exist",
		[ENTRYWALK_ABOVE] = "which this directory lies in",
	};
	const struct dirent_entry *e = &entry->e;
	bool dot = entry->fate == ENTRYWALK_DOT;
	uint64_t ino;

	switch (entry->fate) {
	case ENTRYWALK_FREE:
		return 0;
	case ENTRYWALK_DOT:
	case ENTRYWALK_DOTDOT:
		if (w->refused)
			return keep_entry(w, cx, e, e->ino, e->type);
		/* They were written when the block began. */
		w->same &= e->ino == (dot ? w->ino : w->parent) &&
			   e->type == NILFS_FT_DIR &&
			   e->name_len == (dot ? 1 : 2) &&
			   !memcmp(e->name, "..", e->name_len);
		return 0;
	case ENTRYWALK_NAME:
		return take_name(w, cx, entry);
	default:
		ino = namefix_target(w->f, w->dir, w->from.blkoff, e);
		if (ino && ino != e->ino)
			return keep_entry(w, cx, e, ino, e->type);
		return remove_entry(w, e, why[entry->fate]);
	}
}

/* What stays of a block of the directory as it was. */
static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct dirwrite *w = arg;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	unsigned int dots = 0;
	int ret;

	if (!data)
		fail_clear(cx);
	if (!data && damage_is_fatal(err))
		return err;
	ret = begin_block(w, cx, item);
	if (!data) {
		w->same = false;
		return ret;
	}
	entrywalk_init(&walk, &w->f->n.list, w->ino, item->blkoff, data,
		       w->f->n.root.vol->geo.block_size);
	while (!ret && entrywalk_next(&walk, &entry)) {
		dots += entry.fate == ENTRYWALK_DOT ||
			entry.fate == ENTRYWALK_DOTDOT;
		ret = take_entry(w, cx, &entry);
	}
	if (walk.it.verdict || (!item->blkoff && dots < 2 && !w->refused))
		w->same = false;
	return ret;
}

/* What is known of the directory before it is read: names that may be there
   twice and, where any will be added or changed, which there are. */
static int prepare(struct dirwrite *w, struct context *cx)
{
	const struct dupnames *d = &w->f->n.dups;
	size_t i = 0;
	int ret;

	if (w->dir == NAMEFIX_MADE) {
		w->tags_known = true;
		return nameset_clear(&w->tags, cx);
	}
	while (i < d->nsuspects && d->suspects[i].dir < w->dir)
		i++;
	w->suspects = d->suspects + i;
	while (i + w->nsuspects < d->nsuspects &&
	       w->suspects[w->nsuspects].dir == w->dir)
		w->nsuspects++;
	if (!w->nadds && !w->nsuspects && !w->is_lost_found &&
	    !(w->f->flags[w->dir] & NAMEFIX_BAD_NAME))
		return 0;
	ret = namefix_tags(w->f, cx, w->dir, &w->tags);
	w->tags_known = ret > 0;
	return ret < 0 ? ret : 0;
}

/* Ends the nodes of the map that INODE had, as far as they can be read. */
static int end_nodes(struct dirwrite *w, struct context *cx,
		     const struct nilfs_inode *inode)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct blockmap map;
	int ret, err = 0;

	ret = blockmap_init(&map, cx, w->f->n.root.vol, w->ino, inode);
	if (ret) {
		fail_clear(cx);
		return damage_is_fatal(ret) ? ret : 0;
	}
	ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
	while (!ret && !err &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (item.level)
			err = end_block(w, cx, item.ptr);
	}
	blockmap_cursor_close(&cur);
	if (!err && ret)
		fail_clear(cx);
	return err ? err : damage_is_fatal(ret) ? ret : 0;
}

/* Adds the names that are new, and completes the map. */
static int complete_dir(struct dirwrite *w, struct context *cx,
			struct nilfs_inode *inode)
{
	int err = 0;

	if (!w->begun)
		err = begin_block(w, cx, NULL);
	if (w->nadds || w->is_lost_found)
		w->same = false;
	while (w->nadds && !err)
		err = add_name(w, cx);
	if (!err && w->is_lost_found)
		err = lostfound_fill(w->f, cx, w);
	if (!err)
		err = finish_block(w, cx);
	if (!err)
		err = remap_finish(w->remap, cx, inode);
	inode->i_size = le64_make(w->out * w->f->n.root.vol->geo.block_size);
	return err;
}

int dirwrite_run(struct namefix *f, struct context *cx, size_t dir)
{
	bool made = dir == NAMEFIX_MADE;
	struct dirwrite w = {
		.f = f,
		.dir = dir,
		.ino = made ? f->lost.ino : f->n.list.dirs[dir].ino,
		.parent = made ? NILFS_ROOT_INO : namefix_parent(f, dir),
		.refused = !made && f->flags[dir] & NAMEFIX_REFUSED,
		.is_lost_found = f->lost.needed && f->lost.dir == dir,
	};
	struct nilfs_inode inode, old;
	int err;

	if (!made && f->flags[dir] & NAMEFIX_GONE)
		namefix_note(f, NAMEFIX_NOTE_DIR, "directory %llu: written "
			     "again from what can be read of it",
			     (unsigned long long)w.ino);
	err = inodes_read(f->job->writer, cx, w.ino, &inode);
	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	old = inode;
	w.adds = namefix_adds_of(&f->adds, (uint32_t)dir, &w.nadds);
	w.block = malloc(f->n.root.vol->geo.block_size);
	if (!w.block)
		return fail(cx, -ENOMEM, "block of a directory");
	err = prepare(&w, cx);
	if (!err)
		err = remap_open(&w.remap, cx, f->job->writer, w.ino);
	if (!err && !made) {
		err = dirread_run(&f->n.root, cx, &f->n.list, dir, dir + 1,
				  take_block, &w);
		fail_clear(cx);
	}
	if (!err)
		err = complete_dir(&w, cx, &inode);
	if (!err && !made)
		err = end_nodes(&w, cx, &old);
	if (!err)
		err = inodes_write(f->job->writer, cx, w.ino, &inode);
	remap_close(w.remap);
	dupnames_forget(&w.kept);
	nameset_fini(&w.tags);
	free(w.block);
	return err;
}
