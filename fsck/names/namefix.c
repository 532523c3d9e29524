// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the parts of a repair of names ask one another.
 */
#include "fsck/names/namefix.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "disk/ondisk.h"

#define NOTE_MAX 512
#define NOTE_MAX_EACH 100u

static const char *const rest[NAMEFIX_NOTE_COUNT] = {
	[NAMEFIX_NOTE_DIR] = "directories written again",
	[NAMEFIX_NOTE_REMOVED] = "names removed",
	[NAMEFIX_NOTE_RENAMED] = "names changed",
	[NAMEFIX_NOTE_FOUND] = "names found again",
	[NAMEFIX_NOTE_LINKS] = "link counts set",
	[NAMEFIX_NOTE_LOST] = "inodes called by their numbers",
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
			fixers_note(f->job, "%s%s: %llu more", f->prefix,
				    rest[i],
				    (unsigned long long)f->noted[i] -
					    NOTE_MAX_EACH);
	}
}

int namefix_walk(struct namefix *f, struct context *cx,
		 const struct blockbatch_item *item, const void *data, int err,
		 struct entrywalk *walk)
{
	const struct pastblocks_block *b =
		f->past ? pastblocks_find(f->past, item->vblocknr) : NULL;

	fail_clear(cx);
	if (b)
		data = b->content;
	if (!data)
		return damage_is_fatal(err) ? err : 0;
	entrywalk_init(walk, &f->n.list, f->n.list.dirs[item->owner].ino,
		       item->blkoff, data, f->n.root.vol->geo.block_size);
	return 1;
}

bool namefix_is_partial(const struct namefix *f)
{
	return !f->lossy && f->n.lost;
}

uint64_t namefix_parent(const struct namefix *f, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];

	if (d->ino == NILFS_ROOT_INO)
		return NILFS_ROOT_INO;
	if (d->parent == NAMEFIX_MADE + 1)
		return f->lost.ino;
	if (d->parent)
		return f->n.list.dirs[d->parent - 1].ino;
	return d->dotdot ? d->dotdot : NILFS_ROOT_INO;
}

static bool is_file(const struct inodelist_row *row)
{
	uint8_t kind = row->chunk->kind[row->at];

	return kind & INODELIST_ALLOCATED && !(kind & INODELIST_REFUSED) &&
	       (kind & INODELIST_TYPE) != NILFS_FT_UNKNOWN &&
	       (kind & INODELIST_TYPE) != NILFS_FT_DIR &&
	       row->chunk->first + row->at >= NILFS_USER_INO;
}

bool namefix_is_missed(const struct inodelist_row *row)
{
	return is_file(row) &&
	       row->chunk->names[row->at] < row->chunk->links[row->at];
}

bool namefix_is_unnamed(const struct inodelist_row *row)
{
	return namefix_is_missed(row) && !row->chunk->names[row->at] &&
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
	       (row.chunk->links[row.at] || f->flags[dir] & NAMEFIX_PARENT);
}

bool namefix_has_missed(struct namefix *f)
{
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (namefix_is_orphaned(f, i))
			return true;
	}
	for (i = 0; inodelist_next(&f->n.list, &i, &row);) {
		if (is_file(&row) &&
		    row.chunk->names[row.at] != row.chunk->links[row.at])
			return true;
	}
	return false;
}

static bool is_before(const void *item, const void *key)
{
	const struct namefix_target *a = item, *b = key;

	if (a->dir != b->dir)
		return a->dir < b->dir;
	if (a->blkoff != b->blkoff)
		return a->blkoff < b->blkoff;
	return a->offset < b->offset;
}

uint64_t namefix_target(const struct namefix *f, size_t dir, uint64_t blkoff,
			const struct dirent_entry *e)
{
	const struct namefix_target key = {
		.dir = (uint32_t)dir,
		.blkoff = blkoff,
		.offset = e->offset,
	};
	size_t i = search_first(f->targets, f->ntargets, sizeof(*f->targets),
				is_before, &key);

	if (i == f->ntargets || is_before(&key, &f->targets[i]))
		return e->ino;
	return f->targets[i].ino;
}

struct tag_reader {
	struct namefix *f;
	struct nameset *tags;
	size_t dir;
	bool known;
};

static int add_tag(struct tag_reader *r, struct context *cx, const char *name,
		   uint8_t len)
{
	int ret = nameset_add(r->tags, cx, nameset_tag(name, len));

	r->known &= ret != -ENOBUFS;
	return ret < 0 && ret != -ENOBUFS ? ret : 0;
}

/* Names that are to stay as they are, unless another is the same. */
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
	ret = 0;
	while (!ret && r->known && entrywalk_next(&walk, &entry)) {
		if (entry.fate != ENTRYWALK_NAME || entry.bad_name)
			continue;
		child = inodelist_find_dir(list, entry.e.ino);
		if (child < list->ndirs &&
		    list->dirs[child].parent != r->dir + 1)
			continue;
		ret = add_tag(r, cx, entry.e.name, entry.e.name_len);
	}
	return ret;
}

int namefix_tags(struct namefix *f, struct context *cx, size_t dir,
		 struct nameset *tags)
{
	struct tag_reader r = {
		.f = f,
		.tags = tags,
		.dir = dir,
		.known = true,
	};
	int err = nameset_clear(tags, cx);

	if (err)
		return err;
	err = dirread_run(&f->n.root, cx, &f->n.list, dir, dir + 1, take_tags,
			  &r);
	fail_clear(cx);
	return err ? err : r.known;
}

int namefix_found(struct namefix *f, struct context *cx, size_t dir,
		  const struct inodelist_row *row, uint64_t ino,
		  const char *name, uint8_t len)
{
	struct tag_reader r = {
		.f = f,
		.tags = &f->found_tags,
		.dir = dir,
		.known = f->found_known,
	};
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	/* A tag is made of what has room past its end. */
	char room[ENTRYWALK_NAME_ROOM] = "";
	size_t child = inodelist_find_dir(&f->n.list, ino), i;
	bool is_dir =
		(row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR;
	int ret = 0;

	if (is_dir ? child == dir || !namefix_is_orphaned(f, child)
		   : !namefix_is_missed(row) ||
			     (f->past && row->chunk->names[row->at] &&
			      !(f->flags[dir] &
				(NAMEFIX_GONE | NAMEFIX_LOSES))))
		return 0;
	if (is_dir) {
		f->n.list.dirs[child].parent = (uint32_t)dir + 1;
		f->flags[child] |= NAMEFIX_KNOWN;
		goto add;
	}
	/* The names that the directory has, and gets. */
	if (!f->found_tags.slots || f->found_dir != dir) {
		f->found_dir = dir;
		ret = namefix_tags(f, cx, dir, &f->found_tags);
		r.known = ret > 0;
		for (i = 0; i < f->adds.count && ret >= 0 && r.known; i++) {
			const struct addnames_item *item = &f->adds.items[i];

			if (item->dir != dir)
				continue;
			memset(room, 0, sizeof(room));
			memcpy(room, f->adds.text + item->at, item->len);
			ret = add_tag(&r, cx, room, item->len);
		}
	}
	memset(room, 0, sizeof(room));
	memcpy(room, name, len);
	if (ret >= 0 && r.known)
		ret = nameset_add(r.tags, cx, nameset_tag(room, len));
	else if (ret >= 0)
		ret = -ENOBUFS;
	f->found_known = ret != -ENOBUFS;
	if (ret < 0 && ret != -ENOBUFS)
		return ret;
	/* With too many to know, it may be there as well. */
	if (ret != 1 && row->chunk->names[row->at])
		return 0;
	row->chunk->names[row->at]++;
add:
	text_escape(text, sizeof(text), name, len);
	namefix_note(f, NAMEFIX_NOTE_FOUND,
		     "directory %llu: found '%s' of "
		     "inode %llu again",
		     (unsigned long long)f->n.list.dirs[dir].ino, text,
		     (unsigned long long)ino);
	f->flags[dir] |= NAMEFIX_ENTRIES;
	return namefix_add(&f->adds, cx, (uint32_t)dir, ino, name, len);
}

int namefix_add(struct addnames *a, struct context *cx, uint32_t dir,
		uint64_t ino, const char *name, uint8_t len)
{
	struct addnames_item *items;
	char *text;

	if (a->used > UINT32_MAX - NILFS_NAME_LEN)
		return fail(cx, -ENOMEM, "names to be added");
	items = array_grow(cx, a->items, &a->room, a->count + 1,
			   sizeof(*items));
	if (!items)
		return -ENOMEM;
	a->items = items;
	text = array_grow(cx, a->text, &a->text_room, a->used + len, 1);
	if (!text)
		return -ENOMEM;
	a->text = text;
	memcpy(text + a->used, name, len);
	items[a->count++] = (struct addnames_item){
		.ino = ino,
		.dir = dir,
		.at = (uint32_t)a->used,
		.len = len,
	};
	a->used += len;
	return 0;
}

static int compare_item(const void *a, const void *b)
{
	const struct addnames_item *x = a, *y = b;

	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void namefix_sort_adds(struct addnames *a)
{
	sort_in_place(a->items, a->count, sizeof(*a->items), compare_item);
}

static bool is_below(const void *item, const void *key)
{
	const struct addnames_item *name = item;

	return name->dir < *(const size_t *)key;
}

size_t namefix_first_add(const struct addnames *a, size_t dir)
{
	return search_first(a->items, a->count, sizeof(*a->items), is_below,
			    &dir);
}
