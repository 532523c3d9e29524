// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State shared by the directory repair.
 */
#include "fsck/names/namefix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/ondisk.h"

#define NOTE_MAX 512
#define NOTE_MAX_EACH 100u

static const char *const rest[NAMEFIX_NOTE_COUNT] = {
	[NAMEFIX_NOTE_DIR] = "directories rewritten",
	[NAMEFIX_NOTE_REMOVED] = "names removed",
	[NAMEFIX_NOTE_RENAMED] = "names changed",
	[NAMEFIX_NOTE_FOUND] = "names restored",
	[NAMEFIX_NOTE_LINKS] = "link counts set",
	[NAMEFIX_NOTE_LOST] = "inodes named by their numbers",
	[NAMEFIX_NOTE_FREED] = "inodes freed",
};

void namefix_note(struct namefix *f, enum namefix_topic topic, const char *fmt,
		  ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (f->noted[topic]++ >= NOTE_MAX_EACH)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fixers_note(f->job, "%s%s", f->prefix, text);
}

void namefix_note_rest(struct namefix *f)
{
	unsigned int i;

	for (i = 0; i < NAMEFIX_NOTE_COUNT; i++) {
		if (f->noted[i] > NOTE_MAX_EACH)
			fixers_note(f->job, "%s%s: %" PRIu64 " more", f->prefix,
				    rest[i], f->noted[i] - NOTE_MAX_EACH);
	}
}

const void *namefix_copy_of(const struct namefix *f, uint64_t vblocknr)
{
	size_t i;

	for (i = 0; i < f->ncopies; i++)
		if (f->copies[i].vblocknr == vblocknr)
			return f->copies[i].content;
	return NULL;
}

int namefix_walk(struct namefix *f, struct context *cx,
		 const struct blockbatch_item *item, const void *data, int err,
		 struct entrywalk *walk)
{
	const struct snapblocks_block *b =
		f->snap ? snapblocks_find(f->snap, item->vblocknr) : NULL;

	const void *copy = namefix_copy_of(f, item->vblocknr);

	fail_clear(cx);
	if (b || copy)
		data = b ? b->content : copy;
	if (!data)
		return damage_is_fatal(err) ? err : 0;
	entrywalk_init(walk, &f->n.list, f->n.list.dirs[item->owner].ino,
		       item->blkoff, data, f->n.root.vol->geo.block_size);
	return 1;
}

void namefix_mark_loss(struct namefix *f, size_t dir, unsigned int flag)
{
	f->flags[dir] |= flag;
	names_mark_unread(&f->n, f->n.list.dirs[dir].ino);
}

uint64_t namefix_parent(const struct namefix *f, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];

	if (d->ino == NILFS_ROOT_INO || (!d->parent && !d->dotdot))
		return NILFS_ROOT_INO;
	if (!d->parent)
		return d->dotdot;
	return d->parent == NAMEFIX_NEW_LOST_FOUND + 1
		       ? f->lost_ino
		       : f->n.list.dirs[d->parent - 1].ino;
}

int namefix_missing_names(const struct inodelist_row *row)
{
	uint8_t kind = row->chunk->kind[row->at];

	if (!(kind & INODELIST_ALLOCATED) || kind & INODELIST_REFUSED ||
	    (kind & INODELIST_TYPE) == NILFS_FT_UNKNOWN ||
	    inodelist_is_dir(kind) ||
	    row->chunk->first + row->at < NILFS_USER_INO)
		return 0;
	return row->chunk->links[row->at] - row->chunk->names[row->at];
}

bool namefix_is_unnamed(const struct inodelist_row *row)
{
	return namefix_missing_names(row) > 0 && !row->chunk->names[row->at] &&
	       !(row->chunk->kind[row->at] & INODELIST_MKFS);
}

bool namefix_is_orphaned(struct namefix *f, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];
	struct inodelist_row row;

	if (d->parent || d->ino < NILFS_USER_INO)
		return false;
	row = inodelist_find(&f->n.list, d->ino);
	return row.chunk->kind[row.at] & INODELIST_ALLOCATED &&
	       !(row.chunk->kind[row.at] & INODELIST_REFUSED) &&
	       (row.chunk->links[row.at] || f->flags[dir] & NAMEFIX_HAS_NAMES);
}

bool namefix_has_missed(struct namefix *f)
{
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++)
		if (namefix_is_orphaned(f, i))
			return true;
	for (i = 0; inodelist_next(&f->n.list, &i, &row);)
		if (namefix_missing_names(&row))
			return true;
	return false;
}

struct tag_reader {
	struct namefix *f;
	struct nameset *tags;
	bool known; /* all tags are known */
};

/* Collects the tags of names that are kept, except those of duplicates. */
static int take_tags(void *arg, struct context *cx,
		     const struct blockbatch_item *item, const void *data,
		     int err)
{
	struct tag_reader *r = arg;
	struct inodelist *list = &r->f->n.list;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	size_t child;
	int ret = namefix_walk(r->f, cx, item, data, err, &walk);

	if (ret <= 0)
		return ret;
	while (ret >= 0 && r->known && entrywalk_next(&walk, &entry)) {
		if (entry.fate != ENTRYWALK_NAME || entry.bad_name)
			continue;
		child = inodelist_find_dir(list, entry.e.ino);
		if (child == list->ndirs ||
		    list->dirs[child].parent == item->owner + 1)
			ret = dupnames_add_tag(
				r->tags, cx,
				dupnames_tag(entry.e.name, entry.e.name_len));
		r->known = ret != -ENOBUFS;
	}
	return ret < 0 && r->known ? ret : 0;
}

int namefix_tags(struct namefix *f, struct context *cx, size_t dir,
		 struct nameset *tags)
{
	struct tag_reader r = {f, tags, true};
	int err = dupnames_clear_set(tags, cx);

	if (err)
		return err;
	err = inodelist_read_dirs(&f->n.root, cx, &f->n.list, dir, dir + 1, take_tags,
			  &r);
	fail_clear(cx);
	return err ? err : r.known;
}

int namefix_take_found(struct namefix *f, struct context *cx, size_t dir,
		       const struct inodelist_row *row, uint64_t ino,
		       const char *name, uint8_t len)
{
	const struct namefix_add *add;
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	/* Computing a tag reads past the end of the name. */
	char room[ENTRYWALK_NAME_ROOM] = "";
	size_t child = inodelist_find_dir(&f->n.list, ino), i;
	int ret = 0;

	if (child < f->n.list.ndirs) {
		if (child == dir || !namefix_is_orphaned(f, child))
			return 0;
		f->n.list.dirs[child].parent = (uint32_t)dir + 1;
		f->flags[child] |= NAMEFIX_IS_DIRECTORY;
		goto add;
	}
	if (namefix_missing_names(row) <= 0 ||
	    (f->snap && row->chunk->names[row->at] &&
	     !(f->flags[dir] & (NAMEFIX_UNREADABLE | NAMEFIX_LOSES_NAMES))))
		return 0;
	/* The names that the directory has or gets. */
	if (!f->found_tags.slots || f->found_dir != dir) {
		f->found_dir = dir;
		ret = namefix_tags(f, cx, dir, &f->found_tags);
		f->found_known = ret > 0;
		for (i = 0; i < f->nadds && ret >= 0 && f->found_known; i++) {
			add = &f->adds[i];
			if (add->dir != dir)
				continue;
			ret = dupnames_add_tag(
				&f->found_tags, cx,
				dupnames_tag(f->add_text + add->at, add->len));
			f->found_known = ret >= 0;
		}
	}
	memcpy(room, name, len);
	if (f->found_known)
		ret = dupnames_add_tag(&f->found_tags, cx, dupnames_tag(room, len));
	f->found_known &= ret >= 0;
	if (ret < 0 && ret != -ENOBUFS)
		return ret;
	/* If there are too many names to know, it may have this one already. */
	if (row->chunk->names[row->at] && (!f->found_known || !ret))
		return 0;
	row->chunk->names[row->at]++;
add:
	text_escape(text, sizeof(text), name, len);
	namefix_note(f, NAMEFIX_NOTE_FOUND,
		     "directory %" PRIu64 ": restored '%s' of inode %" PRIu64,
		     f->n.list.dirs[dir].ino, text, ino);
	f->flags[dir] |= NAMEFIX_FIX_ENTRIES;
	return namefix_add(f, cx, (uint32_t)dir, ino, name, len);
}

int namefix_add(struct namefix *f, struct context *cx, uint32_t dir,
		uint64_t ino, const char *name, uint8_t len)
{
	char *text;

	if (f->add_used > UINT32_MAX - ENTRYWALK_NAME_ROOM)
		return fail(cx, -ENOMEM, "names to be added");
	if (array_reserve(cx, &f->add_text, &f->add_room,
			  f->add_used + ENTRYWALK_NAME_ROOM))
		return -ENOMEM;
	text = f->add_text + f->add_used;
	memset(text, 0, ENTRYWALK_NAME_ROOM);
	memcpy(text, name, len);
	f->add_used += len;
	return array_push(cx, &f->adds, &f->nadds, &f->adds_room,
			  (struct namefix_add){
				  .ino = ino,
				  .dir = dir,
				  .at = (uint32_t)(text - f->add_text),
				  .len = len,
			  });
}
