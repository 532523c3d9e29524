// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which entries of a block stay in a directory that is written again, and what
 * becomes of the others.
 *
 * Whatever differs from what is there already makes the block one that is to
 * be written.
 */
#include "fsck/names/dirkeep.h"

#include <string.h>

#include "base/text.h"
#include "fsck/names/dirwrite.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/freename.h"
#include "fsck/names/namefix.h"

/* Tells that E goes, and WHY. */
static void tell_removed(struct dirwrite *w, const struct dirent_entry *e,
			 const char *why)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	text_escape(text, sizeof(text), e->name, e->name_len);
	namefix_tell(w->f, NAMEFIX_TELL_REMOVED,
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
	struct freename name;
	int err;

	w->same = false;
	freename_repair(&name, e->name, e->name_len, e->ino);
	err = freename_find(&name, cx, dirwrite_tags(w), change, e->ino);
	if (err)
		return err;
	text_escape(old, sizeof(old), e->name, e->name_len);
	text_escape(new, sizeof(new), name.name, name.len);
	namefix_tell(w->f, NAMEFIX_TELL_RENAMED,
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

bool dirkeep_is_its_name(struct dirwrite *w, uint64_t ino)
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
		tell_removed(w, e, "which has other names");
		return 0;
	}
	if (ino != e->ino)
		return emit_turned(w, cx, e, ino);
	if ((row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR &&
	    !dirkeep_is_its_name(w, e->ino)) {
		w->same = false;
		tell_removed(w, e, "a directory with another name");
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
		tell_removed(w, e, "which is there twice");
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
		w->same = false;
		tell_removed(w, &entry->e, why[entry->fate]);
		return 0;
	}
}

int dirkeep_block(struct dirwrite *w, struct context *cx,
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
