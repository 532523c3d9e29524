// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rewriting a directory.
 *
 * The directory is rewritten block by block.  Entries that are kept stay in
 * place.  Others are reported, and their space goes to the entry before, as in
 * the kernel.  So a corrected block often matches the checksum of its log.  An
 * unchanged block is kept in place, so the number of blocks written is in
 * proportion to the damage.  New names go into free space of blocks that change
 * anyway, the rest to the end.
 *
 * A directory of a snapshot keeps its blocks: names go into any free space, and
 * inodes whose names find none are named in the root.
 *
 * The set of names of a directory is only needed to find new unique names.
 * Then the directory is read once more before, for their tags.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/names.h"
#include "disk/dirpack.h"
#include "fsck/names/namefix.h"
#include "log/directwriter.h"
#include "log/inodes.h"
#include "log/remap.h"

#define INO_NAME_MAX 24
#define HOLE_MOST 64u /* limit of missing blocks between others that stay in place */

struct dirwrite {
	struct namefix *f;
	struct remap *remap;
	size_t dir; /* index of the directory */
	uint64_t ino, parent;
	bool refused;	 /* types, "." and ".." stay unchanged */
	bool takes_lost; /* inodes without a name are named in it: */
	size_t lost_dir, lost_row; /* position of the search for the next one */
	uint64_t out;		   /* number of blocks of the new directory */
	bool begun; /* a first block was begun */
	struct dirpack pack;
	uint8_t *block;		     /* the block being packed */
	uint8_t *source;	     /* the old block that it is made from */
	struct blockbatch_item from; /* place of that block; vblocknr 0: none */
	bool readable;		     /* SOURCE could be read, and is no copy */
	/* The next inode to be named, if PENDING. */
	bool pending;
	uint64_t pending_ino;
	uint8_t pending_type;
	struct entrywalk_name pending_name;
	/* Names that may be duplicates; if TAGS_KNOWN, the tags of all names. */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct keptnames kept;
	struct nameset tags;
	bool tags_known;
};

/* Ends a block that no longer belongs to the directory. */
static int end_block(struct dirwrite *w, struct context *cx, uint64_t vblocknr)
{
	int err = directwriter_end(w->f->job->writer, cx, vblocknr,
				   METAFILE_MULTI);

	/* A block that has ended already had two users; this was the last. */
	return err == -EUCLEAN ? damage_forgive(cx, err) : err;
}

/*
 * Whether a name in the directory is the one chosen for directory INO: true
 * once for each.
 */
static bool is_its_name(struct dirwrite *w, uint64_t ino)
{
	size_t child = inodelist_find_dir(&w->f->n.list, ino);

	if (w->f->n.list.dirs[child].parent != w->dir + 1 ||
	    w->f->flags[child] & (NAMEFIX_NAME_IN_PLACE | NAMEFIX_TO_LOST_FOUND))
		return false;
	w->f->flags[child] |= NAMEFIX_NAME_IN_PLACE;
	return true;
}

/* Finds the next name to be added, and makes it unique: 1 if it is pending, 0. */
static int dirwrite_next_name(struct dirwrite *w, struct context *cx)
{
	struct namefix *f = w->f;
	struct inodelist *list = &f->n.list;
	const char *name = NULL;
	struct inodelist_row row;
	char number[INO_NAME_MAX];
	uint8_t type, len = 0;
	int err;

	if (w->pending)
		return 1;
	while (!name && f->next_add < f->nadds &&
	       f->adds[f->next_add].dir == w->dir) {
		const struct namefix_add *add = &f->adds[f->next_add++];

		row = inodelist_find(list, add->ino);
		type = row.chunk && row.chunk->kind[row.at]
			       ? row.chunk->kind[row.at] & INODELIST_TYPE
			       : NILFS_FT_DIR;
		if (add->ino != f->lost_ino && type == NILFS_FT_DIR &&
		    !is_its_name(w, add->ino))
			continue;
		w->pending_ino = add->ino;
		w->pending_type = type;
		name = f->add_text + add->at;
		len = add->len;
	}
	while (!name && w->takes_lost && w->dir == f->lost_dir &&
	       w->lost_dir < list->ndirs) {
		w->pending_ino = list->dirs[w->lost_dir].ino;
		w->pending_type = NILFS_FT_DIR;
		if (f->flags[w->lost_dir++] & NAMEFIX_TO_LOST_FOUND)
			name = number;
	}
	while (!name && w->takes_lost &&
	       inodelist_next(list, &w->lost_row, &row)) {
		/* In a snapshot the link count may be right if names were lost. */
		if (!namefix_is_unnamed(&row) &&
		    !(f->snap && namefix_missing_names(&row) > 0 &&
		      (f->nmissed || f->flags[w->dir] & NAMEFIX_UNREADABLE)))
			continue;
		row.chunk->names[row.at]++;
		w->pending_ino = row.chunk->first + row.at;
		w->pending_type = row.chunk->kind[row.at] & INODELIST_TYPE;
		name = number;
	}
	if (!name)
		return 0;
	w->pending = true;
	if (name == number) {
		len = (uint8_t)snprintf(number, sizeof(number), "#%" PRIu64,
					w->pending_ino);
		namefix_note(f, NAMEFIX_NOTE_LOST,
			     f->snap ? "inode %" PRIu64 ": named by its number"
				     : "inode %" PRIu64 ": linked into the "
				       "lost+found directory",
			     w->pending_ino);
	}
	entrywalk_name_repair(&w->pending_name, name, len, w->pending_ino);
	err = entrywalk_name_find(&w->pending_name, cx,
				  w->tags_known ? &w->tags : NULL, false,
				  w->pending_ino);
	return err ? err : 1;
}

/* Adds pending names as far as there is room in the block: 1 if any was added, 0. */
static int dirwrite_add_names(struct dirwrite *w, struct context *cx)
{
	int ret, any = 0;

	while ((ret = dirwrite_next_name(w, cx)) > 0 &&
	       dirpack_insert(w->block, w->pack.block_size, w->pending_ino,
			      w->pending_type, w->pending_name.name,
			      w->pending_name.len)) {
		w->pending = false;
		any = 1;
	}
	return ret < 0 ? ret : any;
}

/* Finishes the block being packed; in a snapshot, the old block gets the new
   content.  The LAST block gets names even if it does not change otherwise. */
static int finish_block(struct dirwrite *w, struct context *cx, bool last)
{
	const struct snapblocks_block what = {
		.ino = w->ino,
		.vblocknr = w->from.vblocknr,
		.key = w->from.blkoff,
	};
	bool in_place = !what.vblocknr || what.key == w->out, same;
	bool used = w->pack.used || in_place;
	struct snapblocks *snap = w->f->snap;
	struct snapblocks_block *b;
	size_t n = snap ? snap->n : 0;
	int ret = 0;

	if (!w->pack.block)
		return 0;
	dirpack_end(&w->pack);
	w->pack.block = NULL;
	same = what.vblocknr && in_place && w->readable &&
	       !memcmp(w->block, w->source, w->pack.block_size);
	if (!snap) {
		if (used && (!same || last))
			ret = dirwrite_add_names(w, cx);
		if (ret < 0)
			return ret;
		if (same && !ret)
			return remap_keep(w->remap, cx, w->out++,
					  what.vblocknr);
		ret = used ? remap_put(w->remap, cx, w->out++, w->block) : 0;
		return ret || !what.vblocknr ? ret
					     : end_block(w, cx, what.vblocknr);
	}
	if (!what.vblocknr)
		return 0;
	ret = snapblocks_change(snap, cx, &what, true, &b);
	w->f->waits |= !ret && !same;
	if (ret <= 0)
		return ret;
	ret = dirwrite_add_names(w, cx);
	if (!ret && same) {
		if (snap->n > n)
			snapblocks_drop(snap, what.vblocknr);
		return 0;
	}
	memcpy(b->content, w->block, w->pack.block_size);
	namefix_note(w->f, NAMEFIX_NOTE_DIR,
		     "directory %" PRIu64 ": block %" PRIu64 ": repaired",
		     w->ino, what.key);
	return ret < 0 ? ret : 0;
}

/*
 * Ends the current block and begins the next one, made from block FROM of the
 * old directory (NULL: none) with content DATA (NULL: unreadable).
 */
static int begin_block(struct dirwrite *w, struct context *cx,
		       const struct blockbatch_item *from, const void *data)
{
	uint32_t size = w->f->n.root.vol->geo.block_size;
	int err = finish_block(w, cx, false);

	while (from && !err && !w->f->snap && w->out < from->blkoff &&
	       from->blkoff - w->out <= HOLE_MOST) {
		err = begin_block(w, cx, NULL, NULL);
		if (!err)
			err = finish_block(w, cx, false);
	}
	dirpack_init(&w->pack, w->block, size);
	w->readable = data;
	if (data) {
		memcpy(w->source, data, size);
		memcpy(w->block, data, size);
	}
	if (from)
		w->from = *from;
	else
		w->from.vblocknr = 0;
	if (w->f->snap && from)
		w->out = from->blkoff;
	if (w->begun)
		return err;
	w->begun = true;
	if (w->refused || (w->f->snap && w->from.blkoff))
		return err;
	dirpack_add(&w->pack, w->ino, NILFS_FT_DIR, ".", 1);
	dirpack_add(&w->pack, w->parent, NILFS_FT_DIR, "..", 2);
	return err;
}

/*
 * Keeps E in place, with INO and TYPE; or moves it to another block if there is
 * no room.  In a snapshot it is removed then, and the inode has a name less.
 */
static int keep_entry(struct dirwrite *w, struct context *cx,
		      const struct dirent_entry *e, uint64_t ino, uint8_t type)
{
	struct inodelist_row row;
	int err = 0;

	dirpack_skip(&w->pack, e->offset);
	if (dirpack_add(&w->pack, ino, type, e->name, e->name_len))
		return 0;
	if (!w->f->snap) {
		err = begin_block(w, cx, NULL, NULL);
		dirpack_add(&w->pack, ino, type, e->name, e->name_len);
		return err;
	}
	row = inodelist_find(&w->f->n.list, ino);
	if (row.chunk && row.chunk->names[row.at])
		row.chunk->names[row.at]--;
	return 0;
}

/* Reports that E is removed; WHY describes its inode. */
static int dirwrite_remove_entry(struct dirwrite *w,
				 const struct dirent_entry *e, const char *why)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	text_escape(text, sizeof(text), e->name, e->name_len);
	namefix_note(w->f, NAMEFIX_NOTE_REMOVED,
		     "directory %" PRIu64 ": removed '%s' of inode %" PRIu64
		     ", %s",
		     w->ino, text, e->ino, why);
	return 0;
}

/* Writes the entry with another, unique name. */
static int rename_entry(struct dirwrite *w, struct context *cx,
			const struct entrywalk_entry *entry, bool change)
{
	char old[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	char new[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	const struct dirent_entry *e = &entry->e;
	struct dirent_entry renamed = *e;
	struct entrywalk_name name;
	int err = change ? 0 : othernames_find_name(w->f, cx, w->ino, e->ino, &name);

	if (!err)
		entrywalk_name_repair(&name, e->name, e->name_len, e->ino);
	if (err >= 0)
		err = entrywalk_name_find(&name, cx,
					  w->tags_known ? &w->tags : NULL,
					  change, e->ino);
	if (err)
		return err;
	text_escape(old, sizeof(old), e->name, e->name_len);
	text_escape(new, sizeof(new), name.name, name.len);
	namefix_note(w->f, NAMEFIX_NOTE_RENAMED,
		     "directory %" PRIu64 ": '%s' of inode %" PRIu64
		     " is now '%s'",
		     w->ino, old, e->ino, new);
	renamed.name = name.name;
	renamed.name_len = name.len;
	return keep_entry(w, cx, &renamed, e->ino, entry->type);
}

/* Keeps ENTRY, corrected if necessary, or removes and reports it. */
static int dirwrite_take_entry(struct dirwrite *w, struct context *cx,
			       const struct entrywalk_entry *entry)
{
	static const char *const why[] = {
		[ENTRYWALK_NAME] = "which has other names",
		[ENTRYWALK_STRAY] = "which is misplaced",
		[ENTRYWALK_RESERVED] = "which is reserved",
		[ENTRYWALK_DANGLING] = "which does not exist",
		[ENTRYWALK_ABOVE] = "which contains this directory",
	};
	const struct dirent_entry *e = &entry->e;
	const struct inodelist_row *row = &entry->row;
	struct namefix *f = w->f;
	const struct namefix_target *t = f->targets + f->next_target,
				    *end = f->targets + f->ntargets;
	uint64_t ino = e->ino, first = 0;
	struct dupnames_suspect *s;
	int ret = 0;

	if (entry->fate == ENTRYWALK_FREE)
		/* The entry before may have its space already. */
		return e->offset < w->pack.used
			       ? 0
			       : keep_entry(w, cx, e, 0, e->type);
	if (entry->fate == ENTRYWALK_DOT || entry->fate == ENTRYWALK_DOTDOT)
		/* Otherwise they were written when the block began. */
		return w->refused ? keep_entry(w, cx, e, e->ino, e->type) : 0;
	while (t < end && t->dir == w->dir &&
	       (t->blkoff < w->from.blkoff ||
		(t->blkoff == w->from.blkoff && t->offset < e->offset)))
		t++;
	if (t < end && t->dir == w->dir && t->blkoff == w->from.blkoff &&
	    t->offset == e->offset)
		ino = t->ino;
	f->next_target = (size_t)(t - f->targets);
	if (ino && ino != e->ino)
		return keep_entry(w, cx, e, ino, e->type);
	if (!ino || entry->fate != ENTRYWALK_NAME)
		return dirwrite_remove_entry(w, e, why[entry->fate]);
	if (inodelist_is_dir(row->chunk->kind[row->at]) &&
	    !is_its_name(w, e->ino))
		return dirwrite_remove_entry(w, e,
					     "a directory with another name");
	if (entry->bad_name)
		return rename_entry(w, cx, entry, false);
	s = dupnames_find(w->suspects, w->nsuspects,
			  dupnames_tag(e->name, e->name_len));
	if (s)
		ret = dupnames_remember(&w->kept, cx, s, e, &first);
	if (ret < 0)
		return ret;
	if (ret && first != e->ino)
		return rename_entry(w, cx, entry, true);
	if (ret) {
		row->chunk->names[row->at]--;
		return dirwrite_remove_entry(w, e, "which is a duplicate");
	}
	return keep_entry(w, cx, e, e->ino, w->refused ? e->type : entry->type);
}

/* Processes a block of the old directory. */
static int dirwrite_take_block(void *arg, struct context *cx,
			       const struct blockbatch_item *item,
			       const void *data, int err)
{
	struct dirwrite *w = arg;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	int known = namefix_walk(w->f, cx, item, data, err, &walk), ret;

	if (known < 0)
		return known;
	ret = begin_block(w, cx, item, known ? walk.it.block : NULL);
	w->readable &= !namefix_copy_of(w->f, item->vblocknr);
	while (known && !ret && entrywalk_next(&walk, &entry))
		ret = dirwrite_take_entry(w, cx, &entry);
	/* No entry of the block belongs to a directory. */
	if (known && !walk.slot)
		memset(w->block + w->pack.used, 0,
		       w->pack.block_size - w->pack.used);
	return ret;
}

/* Writes a directory of the latest state with a new map. */
static int write_latest(struct dirwrite *w, struct context *cx)
{
	struct writer *writer = w->f->job->writer;
	struct volume *vol = w->f->n.root.vol;
	bool made = w->dir == NAMEFIX_NEW_LOST_FOUND;
	struct blockmap_cursor cur = {.map = NULL};
	struct blockmap_item item;
	struct blockmap map;
	struct nilfs_inode inode, old;
	int ret, more = 0, err = inodes_read(writer, cx, w->ino, &inode);

	if (err == -ENOENT)
		return damage_forgive(cx, err);
	old = inode;
	if (!err)
		err = remap_open(&w->remap, cx, writer, w->ino);
	if (!err && !made) {
		err = inodelist_read_dirs(&w->f->n.root, cx, &w->f->n.list,
					  w->dir, w->dir + 1,
					  dirwrite_take_block, w);
		fail_clear(cx);
	}
	if (!err && !w->begun)
		err = begin_block(w, cx, NULL, NULL);
	if (!err)
		err = finish_block(w, cx, true);
	while (!err && (more = dirwrite_next_name(w, cx)) > 0) {
		err = begin_block(w, cx, NULL, NULL);
		if (!err)
			err = finish_block(w, cx, true);
	}
	err = err ? err : more;
	if (!err)
		err = remap_finish(w->remap, cx, &inode);
	inode.i_size = le64_make(w->out * vol->geo.block_size);
	/* Ends the nodes of the old map, as far as they can be read. */
	if (!err && !made) {
		ret = blockmap_init(&map, cx, vol, w->ino, &old);
		if (!ret)
			ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
		while (!ret && !err &&
		       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
			ret = 0;
			if (item.level)
				err = end_block(w, cx, item.ptr);
		}
		blockmap_cursor_close(&cur);
		err = err ? err : damage_forgive(cx, ret);
	}
	if (!err)
		err = inodes_write(writer, cx, w->ino, &inode);
	remap_close(w->remap);
	return err;
}

int dirwrite_run(struct namefix *f, struct context *cx, size_t dir)
{
	uint32_t size = f->n.root.vol->geo.block_size;
	const struct dupnames *d = &f->n.dups;
	bool made = dir == NAMEFIX_NEW_LOST_FOUND;
	struct dirwrite w = {
		.f = f,
		.dir = dir,
		.ino = made ? f->lost_ino : f->n.list.dirs[dir].ino,
		.parent = made ? NILFS_ROOT_INO : namefix_parent(f, dir),
		.refused = !made && f->flags[dir] & NAMEFIX_REPAIR_REFUSED,
		.takes_lost = !f->waits &&
			      ((f->lost_needed && f->lost_dir == dir) ||
			       (f->snap && f->flags[dir] & NAMEFIX_UNREADABLE)),
		.tags_known = made,
	};
	struct inodelist_row row;
	size_t i = 0;
	int more = 0, err = 0;

	if (!made && f->flags[dir] & NAMEFIX_UNREADABLE)
		namefix_note(f, NAMEFIX_NOTE_DIR,
			     "directory %" PRIu64
			     ": rewritten from its readable entries",
			     w.ino);
	/* Directories are written in ascending order, except lost+found. */
	if (dir == f->lost_dir)
		f->next_add = f->next_target = 0;
	while (f->next_add < f->nadds && f->adds[f->next_add].dir < dir)
		f->next_add++;
	while (f->next_target < f->ntargets &&
	       f->targets[f->next_target].dir < dir)
		f->next_target++;
	w.block = malloc(2 * (size_t)size);
	if (!w.block)
		return fail(cx, -ENOMEM, "block of a directory");
	w.source = w.block + size;
	/* Suspects for duplicate names and, if any name will be added or
	   changed, all names. */
	while (i < d->nsuspects && d->suspects[i].dir < dir)
		i++;
	w.suspects = d->suspects + i;
	while (i + w.nsuspects < d->nsuspects &&
	       w.suspects[w.nsuspects].dir == dir)
		w.nsuspects++;
	if (made) {
		err = dupnames_clear_set(&w.tags, cx);
	} else if ((f->next_add < f->nadds &&
		    f->adds[f->next_add].dir == dir) ||
		   w.nsuspects || w.takes_lost ||
		   f->flags[dir] & NAMEFIX_BAD_NAME) {
		err = namefix_tags(f, cx, dir, &w.tags);
		w.tags_known = err > 0;
	}
	if (err < 0)
		goto out;
	if (!f->snap) {
		err = write_latest(&w, cx);
		goto out;
	}
	/* Inodes whose names found no room count as unnamed. */
	err = inodelist_read_dirs(&f->n.root, cx, &f->n.list, dir, dir + 1,
				  dirwrite_take_block, &w);
	if (!err)
		err = finish_block(&w, cx, true);
	w.takes_lost = false;
	while (!err && (more = dirwrite_next_name(&w, cx)) > 0) {
		row = inodelist_find(&f->n.list, w.pending_ino);
		if (row.chunk && row.chunk->names[row.at])
			row.chunk->names[row.at]--;
		w.pending = false;
	}
	err = err ? err : more;
out:
	dupnames_forget(&w.kept);
	dupnames_free_set(&w.tags);
	free(w.block);
	return err;
}
