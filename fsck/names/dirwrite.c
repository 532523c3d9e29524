// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rewriting a directory.
 *
 * Block by block: each is packed again from the entries that are kept.  One
 * that would not change is kept in place, and space is reserved for a missing
 * one; so the blocks written are in proportion to the damage.  Names to be
 * added go into blocks that change anyway, the rest to the end.
 *
 * The set of names of a directory is only needed to find a new unique name:
 * then it is read once more, before, for their tags.
 *
 * Selecting the entries of a block that are kept when a directory is rewritten,
 * and reporting the others.
 *
 * Any difference from the old entries marks the block to be rewritten.
 */
#include "fsck/names/dirwrite.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/namefix.h"
#include "fsck/names/newname.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"

struct dirwrite;

/* Reports that E is removed, and WHY. */
static void note_removed(struct dirwrite *w, const struct dirent_entry *e,
			 const char *why)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	text_escape(text, sizeof(text), e->name, e->name_len);
	namefix_note(w->f, NAMEFIX_NOTE_REMOVED,
		     "directory %llu: removed '%s' of inode %llu, %s",
		     (unsigned long long)w->ino, text,
		     (unsigned long long)e->ino, why);
}

/* Writes NAME as another one that is free. */
static int emit_renamed(struct dirwrite *w, struct context *cx,
			const struct entrywalk_entry *entry, bool change)
{
	char old[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	char new[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	const struct dirent_entry *e = &entry->e;
	struct newname name;
	int err;

	w->same = false;
	newname_repair(&name, e->name, e->name_len, e->ino);
	err = newname_find(&name, cx, dirwrite_tags(w), change, e->ino);
	if (err)
		return err;
	text_escape(old, sizeof(old), e->name, e->name_len);
	text_escape(new, sizeof(new), name.name, name.len);
	namefix_note(w->f, NAMEFIX_NOTE_RENAMED,
		     "directory %llu: '%s' of inode %llu is now '%s'",
		     (unsigned long long)w->ino, old,
		     (unsigned long long)e->ino, new);
	return dirwrite_emit(w, cx, e->ino, entry->type, name.name, name.len);
}

/* Writes an entry that leads to INO instead. */
static int emit_turned(struct dirwrite *w, struct context *cx,
		       const struct dirent_entry *e, uint64_t ino)
{
	w->same = false;
	return dirwrite_emit(w, cx, ino, e->type, e->name, e->name_len);
}

static int emit_as_is(struct dirwrite *w, struct context *cx,
		      const struct dirent_entry *e)
{
	return dirwrite_emit(w, cx, e->ino, e->type, e->name, e->name_len);
}

/*
 * Whether a name in the directory is the one that directory INO is to have:
 * true once for each.
 */
static bool dirkeep_is_its_name(struct dirwrite *w, uint64_t ino)
{
	size_t child = inodelist_find_dir(&w->f->n.list, ino);

	if (w->f->n.list.dirs[child].parent != w->dir + 1 ||
	    w->f->flags[child] & (NAMEFIX_NAMED | NAMEFIX_LOST))
		return false;
	w->f->flags[child] |= NAMEFIX_NAMED;
	return true;
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

	if (!ino) {
		w->same = false;
		note_removed(w, e, "which has other names");
		return 0;
	}
	if (ino != e->ino)
		return emit_turned(w, cx, e, ino);
	if ((row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR &&
	    !dirkeep_is_its_name(w, e->ino)) {
		w->same = false;
		note_removed(w, e, "a directory with another name");
		return 0;
	}
	if (entry->bad_name)
		return emit_renamed(w, cx, entry, false);
	s = dupnames_find(w->suspects, w->nsuspects,
			  nameset_tag(e->name, e->name_len));
	if (s)
		ret = keptnames_meet(&w->kept, cx, s, e, &first);
	if (ret < 0)
		return ret;
	if (ret && first != e->ino)
		return emit_renamed(w, cx, entry, true);
	if (ret) {
		w->same = false;
		row->chunk->names[row->at]--;
		note_removed(w, e, "which is there twice");
		return 0;
	}
	if (w->refused)
		return emit_as_is(w, cx, e);
	w->same &= entry->type == e->type;
	return dirwrite_emit(w, cx, e->ino, entry->type, e->name, e->name_len);
}

static bool is_dots(const struct dirent_entry *e, const char *name,
		    uint64_t ino)
{
	return e->ino == ino && e->type == NILFS_FT_DIR &&
	       e->name_len == strlen(name) &&
	       !memcmp(e->name, name, e->name_len);
}

static int take_entry(struct dirwrite *w, struct context *cx,
		      const struct entrywalk_entry *entry)
{
	static const char *const why[] = {
		[ENTRYWALK_STRAY] = "which belongs elsewhere",
		[ENTRYWALK_RESERVED] = "which is reserved",
		[ENTRYWALK_DANGLING] = "which does not exist",
		[ENTRYWALK_ABOVE] = "which this directory lies in",
	};
	uint64_t ino;

	switch (entry->fate) {
	case ENTRYWALK_FREE:
		return 0;
	case ENTRYWALK_DOT:
		if (w->refused)
			return emit_as_is(w, cx, &entry->e);
		w->same &= is_dots(&entry->e, ".", w->ino);
		return 0;
	case ENTRYWALK_DOTDOT:
		if (w->refused)
			return emit_as_is(w, cx, &entry->e);
		w->same &= is_dots(&entry->e, "..", w->parent);
		return 0;
	case ENTRYWALK_NAME:
		return take_name(w, cx, entry);
	default:
		ino = namefix_target(w->f, w->dir, w->from.blkoff, &entry->e);
		if (ino && ino != entry->e.ino)
			return emit_turned(w, cx, &entry->e, ino);
		w->same = false;
		note_removed(w, &entry->e, why[entry->fate]);
		return 0;
	}
}

/*
 * Gives W what stays of the block ITEM, which was read to DATA.  Fails as
 * dirwrite_emit().
 */
static int dirkeep_block(struct dirwrite *w, struct context *cx,
			 const struct blockbatch_item *item, const void *data)
{
	struct entrywalk_entry entry;
	struct entrywalk walk;
	unsigned int dots = 0;
	int err = dirwrite_begin_block(w, cx, item);

	entrywalk_init(&walk, &w->f->n.list, w->ino, item->blkoff, data,
		       w->f->n.root.vol->geo.block_size);
	while (!err && entrywalk_next(&walk, &entry)) {
		dots += entry.fate == ENTRYWALK_DOT ||
			entry.fate == ENTRYWALK_DOTDOT;
		err = take_entry(w, cx, &entry);
	}
	if (walk.it.verdict || (!item->blkoff && dots < 2 && !w->refused))
		w->same = false;
	return err;
}

#define HOLE_MOST 64u /* blocks missing between others that keep theirs */

static struct writer *writer_of(const struct dirwrite *w)
{
	return w->f->job->writer;
}

/* The block is part of the directory no longer. */
static int end_block(struct dirwrite *w, struct context *cx,
		     uint64_t vblocknr)
{
	int err = repairwriter_end(writer_of(w), cx, vblocknr, METAFILE_MULTI);

	/* One that ended before had two users, and this was the last. */
	if (err != -EUCLEAN)
		return err;
	fail_clear(cx);
	return 0;
}

/* Adds one of the names that were found again, or that of lost+found. */
static int add_name(struct dirwrite *w, struct context *cx,
		    const struct addnames_item *add)
{
	struct inodelist_row row = inodelist_find(&w->f->n.list, add->ino);
	const char *name = w->f->adds.text + add->at;
	uint8_t type = NILFS_FT_DIR;

	if (row.chunk && row.chunk->kind[row.at])
		type = row.chunk->kind[row.at] & INODELIST_TYPE;
	if (add->ino != w->f->lost.ino && type == NILFS_FT_DIR &&
	    !dirkeep_is_its_name(w, add->ino))
		return 0;
	return dirwrite_add_new(w, cx, add->ino, type, name, add->len);
}

/* Uses the room that is left in a block which is written anyway. */
static int fill_block(struct dirwrite *w, struct context *cx)
{
	int err = 0;

	while (w->nadds && !err && w->pack.block_size - w->pack.used >=
					   dirent_rec_len(NILFS_NAME_LEN)) {
		w->nadds--;
		err = add_name(w, cx, w->adds++);
	}
	return err;
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
	err = fill_block(w, cx);
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

int dirwrite_begin_block(struct dirwrite *w, struct context *cx,
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

int dirwrite_emit(struct dirwrite *w, struct context *cx, uint64_t ino,
		  uint8_t type, const char *name, uint8_t len)
{
	int err;

	if (dirpack_add(&w->pack, ino, type, name, len))
		return 0;
	w->same = false;
	err = dirwrite_begin_block(w, cx, NULL);
	dirpack_add(&w->pack, ino, type, name, len);
	return err;
}

struct nameset *dirwrite_tags(struct dirwrite *w)
{
	return w->tags_known ? &w->tags : NULL;
}

int dirwrite_add_new(struct dirwrite *w, struct context *cx, uint64_t ino,
		     uint8_t type, const char *name, uint8_t len)
{
	struct newname free_name;
	int err;

	newname_repair(&free_name, name, len, ino);
	err = newname_find(&free_name, cx, dirwrite_tags(w), false, ino);
	return err ? err : dirwrite_emit(w, cx, ino, type, free_name.name,
					 free_name.len);
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct dirwrite *w = arg;

	if (data)
		return dirkeep_block(w, cx, item, data);
	fail_clear(cx);
	if (damage_is_fatal(err))
		return err;
	err = dirwrite_begin_block(w, cx, item);
	w->same = false;
	return err;
}

/* Reads all blocks of the directory. */
static int read_dir(struct dirwrite *w, struct context *cx)
{
	struct namefix *f = w->f;
	int err = dirread_run(&f->n.root, cx, &f->n.list, w->dir, w->dir + 1,
			      take_block, w);

	fail_clear(cx);
	return err;
}

static bool is_lost_found(const struct dirwrite *w)
{
	return w->f->lost.needed && w->f->lost.dir == w->dir;
}

/* Finds out which names it has, where names will be added or changed. */
static int learn_tags(struct dirwrite *w, struct context *cx)
{
	const struct namefix *f = w->f;
	int ret;

	if (!w->nadds && !w->nsuspects &&
	    !(f->flags[w->dir] & NAMEFIX_BAD_NAME) && !is_lost_found(w))
		return 0;
	ret = namefix_tags(w->f, cx, w->dir, &w->tags);
	w->tags_known = ret > 0;
	return ret < 0 ? ret : 0;
}

static void find_suspects(struct dirwrite *w)
{
	const struct dupnames *d = &w->f->n.dups;
	size_t i = 0;

	while (i < d->nsuspects && d->suspects[i].dir < w->dir)
		i++;
	w->suspects = d->suspects + i;
	while (i + w->nsuspects < d->nsuspects &&
	       w->suspects[w->nsuspects].dir == w->dir)
		w->nsuspects++;
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
	struct namefix *f = w->f;
	int err = 0;

	if (!w->begun)
		err = dirwrite_begin_block(w, cx, NULL);
	if (w->nadds || is_lost_found(w))
		w->same = false;
	while (w->nadds && !err) {
		w->nadds--;
		err = add_name(w, cx, w->adds++);
	}
	if (!err && is_lost_found(w))
		err = lostfound_fill(f, cx, w);
	if (!err)
		err = finish_block(w, cx);
	if (!err)
		err = remap_finish(w->remap, cx, inode);
	inode->i_size = le64_make(w->out * f->n.root.vol->geo.block_size);
	return err;
}

/* Writes the new content of the directory with INODE, which was read or is
   new. */
static int write_dir(struct dirwrite *w, struct context *cx,
		     struct nilfs_inode *inode)
{
	struct namefix *f = w->f;
	const struct nilfs_inode old = *inode;
	bool made = w->dir == NAMEFIX_MADE;
	int err;

	w->adds = addnames_of(&f->adds, (uint32_t)w->dir, &w->nadds);
	w->block = malloc(f->n.root.vol->geo.block_size);
	if (!w->block)
		return fail(cx, -ENOMEM, "block of a directory");
	err = made ? nameset_clear(&w->tags, cx) : learn_tags(w, cx);
	w->tags_known |= made;
	if (!err)
		err = remap_open(&w->remap, cx, f->job->writer, w->ino);
	if (!err && !made)
		err = read_dir(w, cx);
	if (!err)
		err = complete_dir(w, cx, inode);
	if (!err && !made)
		err = end_nodes(w, cx, &old);
	return err ? err : inodes_write(f->job->writer, cx, w->ino, inode);
}

static int write_entries(struct dirwrite *w, struct context *cx)
{
	struct nilfs_inode inode;
	int err = inodes_read(w->f->job->writer, cx, w->ino, &inode);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = write_dir(w, cx, &inode);
	remap_close(w->remap);
	keptnames_fini(&w->kept);
	nameset_fini(&w->tags);
	free(w->block);
	return err;
}

int dirwrite_run(struct namefix *f, struct context *cx, size_t dir)
{
	struct dirwrite w = {
		.f = f,
		.dir = dir,
		.ino = f->n.list.dirs[dir].ino,
		.parent = namefix_parent(f, dir),
		.refused = f->flags[dir] & NAMEFIX_REFUSED,
	};

	find_suspects(&w);
	if (f->flags[dir] & NAMEFIX_GONE)
		namefix_note(f, NAMEFIX_NOTE_DIR, "directory %llu: written "
			     "again from what can be read of it",
			     (unsigned long long)w.ino);
	return write_entries(&w, cx);
}

int dirwrite_make(struct namefix *f, struct context *cx)
{
	struct dirwrite w = {
		.f = f,
		.dir = NAMEFIX_MADE,
		.ino = f->lost.ino,
		.parent = NILFS_ROOT_INO,
	};

	return write_entries(&w, cx);
}
