// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layer below.
 *
 * A source looks up the names of a directory one by one, and finally lists all
 * of them.  So a directory is read as a whole, with an index, and the last few
 * are cached: a source alternates between a directory and its subdirectories.
 *
 * An inode number in use below belongs to an old directory, since no number is
 * freed before the layer is complete.
 */
#include "mkfs/populate/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "vol/dir.h"
#include "vol/root.h"

#define KEPT 16

struct lower {
	struct root root;
	struct lower_dir kept[KEPT];
	uint64_t asked;
};

int lower_open(struct lower **lp, struct context *cx, struct volume *vol)
{
	struct lower *l;
	int err;

	*lp = NULL;
	if (!vol)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return fail(cx, -ENOMEM, "layer below");
	err = root_open(&l->root, cx, vol, 0);
	if (err) {
		free(l);
		return err;
	}
	*lp = l;
	return 0;
}

static void forget(struct lower_dir *dir)
{
	free(dir->names);
	free(dir->index);
	free(dir->text);
	memset(dir, 0, sizeof(*dir));
}

void lower_close(struct lower *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < KEPT; i++)
		forget(&l->kept[i]);
	free(l);
}

int lower_inode(struct lower *l, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode)
{
	int err;

	if (!l)
		return 0;
	err = root_inode(&l->root, cx, ino, inode);
	if (err == -ENOENT)
		fail_clear(cx);
	else if (err)
		return err;
	return !err;
}

static size_t hash_of(const char *name, size_t len)
{
	uint64_t hash = len;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3ULL;
	return (size_t)(hash ^ hash >> 32);
}

/* The place of NAME in the index: its entry, or 0. */
static uint32_t *slot_of(const struct lower_dir *dir, const char *name,
			 size_t len)
{
	size_t i = hash_of(name, len) & (dir->index_room - 1);
	const struct populate_name *other;

	for (; dir->index[i]; i = (i + 1) & (dir->index_room - 1)) {
		other = &dir->names[dir->index[i] - 1];
		if (other->len == len && !memcmp(other->name, name, len))
			break;
	}
	return &dir->index[i];
}

const struct populate_name *lower_find(const struct lower_dir *dir,
				       const char *name, size_t len)
{
	uint32_t at = *slot_of(dir, name, len);

	return at ? &dir->names[at - 1] : NULL;
}

static int add_name(struct lower_dir *dir, struct context *cx,
		    const struct dir_entry *entry)
{
	struct populate_name *names;
	char *text;

	names = array_grow(cx, dir->names, &dir->room, dir->n + 1,
			   sizeof(*names));
	if (!names)
		return -ENOMEM;
	dir->names = names;
	text = array_grow(cx, dir->text, &dir->text_room,
			  dir->text_used + entry->len, 1);
	if (!text)
		return -ENOMEM;
	dir->text = text;
	memcpy(text + dir->text_used, entry->name, entry->len);
	dir->text_used += entry->len;
	names[dir->n++] = (struct populate_name){
		.len = entry->len,
		.type = entry->type,
		.ino = entry->ino,
	};
	return 0;
}

static bool is_dots(const struct dir_entry *entry)
{
	return entry->name[0] == '.' &&
	       (entry->len == 1 || (entry->len == 2 && entry->name[1] == '.'));
}

static int read_names(struct lower_dir *dir, struct context *cx,
		      struct file *file)
{
	struct dir_cursor cursor;
	struct dir_entry entry;
	int err;

	err = dir_cursor_open(&cursor, cx, file);
	if (err)
		return err;
	while ((err = dir_cursor_next(&cursor, cx, &entry)) > 0) {
		if (is_dots(&entry))
			continue;
		err = add_name(dir, cx, &entry);
		if (err)
			break;
	}
	dir_cursor_close(&cursor);
	return err;
}

/* The names no longer move: they get their text and go into the index. */
static int index_names(struct lower_dir *dir, struct context *cx)
{
	const char *text = dir->text;
	struct populate_name *name;
	size_t i;

	for (dir->index_room = 16; dir->index_room < 2 * dir->n;)
		dir->index_room *= 2;
	dir->index = calloc(dir->index_room, sizeof(*dir->index));
	if (!dir->index)
		return fail(cx, -ENOMEM, "index of %zu names", dir->n);
	for (i = 0; i < dir->n; i++) {
		name = &dir->names[i];
		name->name = text;
		text += name->len;
		*slot_of(dir, name->name, name->len) = (uint32_t)(i + 1);
	}
	return 0;
}

/* The cached directory, or the one to be replaced. */
static struct lower_dir *choose(struct lower *l, uint64_t ino)
{
	struct lower_dir *oldest = &l->kept[0];
	size_t i;

	for (i = 0; i < KEPT; i++) {
		if (l->kept[i].ino == ino)
			return &l->kept[i];
		if (l->kept[i].age < oldest->age)
			oldest = &l->kept[i];
	}
	return oldest;
}

static int load(struct lower *l, struct context *cx, struct lower_dir *dir,
		uint64_t ino)
{
	struct nilfs_inode inode;
	struct file file;
	int err;

	err = lower_inode(l, cx, ino, &inode);
	if (err <= 0)
		return err;
	if (!S_ISDIR(le16_get(inode.i_mode)))
		return 0;
	forget(dir);
	err = file_init(&file, cx, l->root.vol, ino, &inode);
	if (!err)
		err = read_names(dir, cx, &file);
	if (!err)
		err = index_names(dir, cx);
	if (err) {
		forget(dir);
		return err;
	}
	dir->ino = ino;
	return 1;
}

int lower_directory(struct lower *l, struct context *cx, uint64_t ino,
		    const struct lower_dir **dirp)
{
	struct lower_dir *dir;
	int found = 1;

	if (!l)
		return 0;
	dir = choose(l, ino);
	if (dir->ino != ino)
		found = load(l, cx, dir, ino);
	if (found <= 0)
		return found;
	dir->age = ++l->asked;
	*dirp = dir;
	return 1;
}
