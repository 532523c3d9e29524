// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging a layer with the one below.
 *
 * A directory keeps its old names in their order; a name that the new layer
 * contains too gets the new inode.  New names follow.  A replaced name removes a
 * link from its old inode.  A directory that loses its name is deleted with its
 * whole subtree, since a directory has only one name.
 *
 * Lost names are only recorded, and counted by inode at the end: a file is deleted
 * when it has no name left.  No inode number is freed before the layer is complete,
 * so that no number is used for two files in one layer.
 */
#include "mkfs/populate/layer.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/inode.h"
#include "disk/ondisk.h"
#include "log/inodes.h"
#include "log/newfile.h"
#include "mkfs/populate/populate.h"
#include "vol/dir.h"
#include "vol/root.h"
#include "vol/symlink.h"
#include "vol/volume.h"

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

/* A directory of the layer below, without "." and "..". */
struct lower_dir {
	uint64_t ino;
	uint64_t age;			/* time of the last use */
	struct populate_name *names;	/* in the order of the directory */
	size_t n, room;
	uint32_t *index;		/* name number + 1, by hash */
	size_t index_room;		/* a power of two */
	char *text;			/* storage of names */
	size_t text_used, text_room;
};

#define KEPT 16

struct lower {
	struct root root;
	struct lower_dir kept[KEPT];
	uint64_t asked;
};

/* BELOW (borrowed; NULL: none) is read at its latest checkpoint. */
int layer_init(struct layer *l, struct context *cx, struct writer *w,
	       struct volume *below)
{
	int err;

	memset(l, 0, sizeof(*l));
	l->w = w;
	l->blocks.block_size = writer_geometry(w)->block_size;
	if (!below)
		return 0;
	l->below = calloc(1, sizeof(*l->below));
	if (!l->below)
		return fail(cx, -ENOMEM, "layer below");
	err = root_open(&l->below->root, cx, below, 0);
	if (err) {
		free(l->below);
		l->below = NULL;
	}
	return err;
}

static void layer_forget(struct lower_dir *dir)
{
	free(dir->names);
	free(dir->index);
	free(dir->text);
	memset(dir, 0, sizeof(*dir));
}

void layer_fini(struct layer *l)
{
	size_t i;

	for (i = 0; l->below && i < KEPT; i++)
		layer_forget(&l->below->kept[i]);
	free(l->below);
	free(l->blocks.data);
	free(l->lost);
	free(l->over);
}

int layer_inode(struct layer *l, struct context *cx, uint64_t ino,
		struct nilfs_inode *inode)
{
	int err;

	if (!l->below)
		return 0;
	err = root_inode(&l->below->root, cx, ino, inode);
	if (err == -ENOENT)
		fail_clear(cx);
	else if (err)
		return err;
	return !err;
}

/* The slot of NAME in the index: its number plus 1, or 0. */
static uint32_t *layer_slot_of(const struct lower_dir *dir, const char *name,
			       size_t len)
{
	const struct populate_name *other;
	uint64_t hash = len;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3ULL;
	i = (size_t)(hash ^ hash >> 32) & (dir->index_room - 1);
	for (; dir->index[i]; i = (i + 1) & (dir->index_room - 1)) {
		other = &dir->names[dir->index[i] - 1];
		if (other->len == len && !memcmp(other->name, name, len))
			break;
	}
	return &dir->index[i];
}

/* NAME (LEN bytes) of DIR, or NULL. */
static const struct populate_name *lower_find(const struct lower_dir *dir,
					      const char *name, size_t len)
{
	uint32_t at = *layer_slot_of(dir, name, len);

	return at ? &dir->names[at - 1] : NULL;
}

/* Reads the names of FILE into DIR, which is empty, with their index. */
static int layer_read_names(struct lower_dir *dir, struct context *cx,
			    struct file *file)
{
	struct dir_cursor cursor;
	struct dir_entry entry;
	struct populate_name *name;
	const char *text;
	size_t i;
	int err;

	err = dir_cursor_open(&cursor, cx, file);
	if (err)
		return err;
	while ((err = dir_cursor_next(&cursor, cx, &entry)) > 0) {
		if (dir_is_dots(&entry))
			continue;
		err = array_reserve(cx, &dir->names, &dir->room, dir->n + 1);
		if (!err)
			err = array_reserve(cx, &dir->text, &dir->text_room,
					    dir->text_used + entry.len);
		if (err)
			break;
		memcpy(dir->text + dir->text_used, entry.name, entry.len);
		dir->text_used += entry.len;
		dir->names[dir->n++] = (struct populate_name){
			.len = entry.len,
			.type = entry.type,
			.ino = entry.ino,
		};
	}
	dir_cursor_close(&cursor);
	if (err)
		return err;

	/* The array no longer moves: set the pointers into the text. */
	for (dir->index_room = 16; dir->index_room < 2 * dir->n;)
		dir->index_room *= 2;
	dir->index = calloc(dir->index_room, sizeof(*dir->index));
	if (!dir->index)
		return fail(cx, -ENOMEM, "index of %zu names", dir->n);
	text = dir->text;
	for (i = 0; i < dir->n; i++) {
		name = &dir->names[i];
		name->name = text;
		text += name->len;
		*layer_slot_of(dir, name->name, name->len) = (uint32_t)(i + 1);
	}
	return 0;
}

/*
 * Finds directory INO: 1 and *DIR, which is valid until the next call, or 0 if the
 * layer below has no such directory.
 */
static int lower_directory(struct layer *l, struct context *cx, uint64_t ino,
			   const struct lower_dir **dirp)
{
	struct lower *below = l->below;
	struct nilfs_inode inode;
	struct lower_dir *dir;
	struct file file;
	size_t i;
	int err;

	if (!below)
		return 0;
	/* The cached directory, or the least recently used one. */
	dir = &below->kept[0];
	for (i = 0; i < KEPT && dir->ino != ino; i++)
		if (below->kept[i].ino == ino ||
		    below->kept[i].age < dir->age)
			dir = &below->kept[i];
	if (dir->ino != ino) {
		err = layer_inode(l, cx, ino, &inode);
		if (err <= 0)
			return err;
		if (!S_ISDIR(le16_get(inode.i_mode)))
			return 0;
		layer_forget(dir);
		err = file_init(&file, cx, below->root.vol, ino, &inode);
		if (!err)
			err = layer_read_names(dir, cx, &file);
		if (err) {
			layer_forget(dir);
			return err;
		}
		dir->ino = ino;
	}
	dir->age = ++below->asked;
	*dirp = dir;
	return 1;
}

int layer_old_name(struct layer *l, struct context *cx, uint64_t parent,
		   const char *name, size_t len, uint64_t *ino, uint8_t *type)
{
	const struct populate_name *old;
	const struct lower_dir *dir;
	int found = lower_directory(l, cx, parent, &dir);

	if (found <= 0)
		return found;
	old = lower_find(dir, name, len);
	if (!old)
		return 0;
	*ino = old->ino;
	*type = old->type;
	return 1;
}

int layer_link(struct layer *l, struct context *cx, uint64_t ino,
	       char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	struct nilfs_inode inode;
	struct file file;
	int err = root_inode(&l->below->root, cx, ino, &inode);

	if (!err)
		err = file_init(&file, cx, l->below->root.vol, ino, &inode);
	return err ? err : symlink_target(&file, cx, target, len);
}

int layer_lose(struct layer *l, struct context *cx, uint64_t ino)
{
	if (array_reserve(cx, &l->lost, &l->lost_room, l->nlost + 1))
		return -ENOMEM;
	l->lost[l->nlost++] = ino;
	return 0;
}

/* Records the loss of whole trees; the list of losses from AT on is also the queue. */
static int lose_trees(struct layer *l, struct context *cx, size_t at)
{
	const struct lower_dir *dir;
	size_t i;
	int ret;

	for (; at < l->nlost; at++) {
		ret = lower_directory(l, cx, l->lost[at], &dir);
		for (i = 0; ret > 0 && i < dir->n; i++)
			if (layer_lose(l, cx, dir->names[i].ino))
				ret = -ENOMEM;
		if (ret < 0)
			return ret;
	}
	return 0;
}

/*
 * Compares NAMES with those of OLD: which names are replaced, by which, and whether
 * any name is new.  With HIDDEN all other old names are removed.
 */
static int compare_names(struct layer *l, struct context *cx,
			 const struct lower_dir *old, bool hidden,
			 const struct populate_name *names, size_t n,
			 bool *changed)
{
	static const struct populate_name nothing;
	const struct populate_name *was;
	size_t i;
	int err = 0;

	if (array_reserve(cx, &l->over, &l->over_room, old->n))
		return -ENOMEM;
	memset(l->over, 0, old->n * sizeof(*l->over));
	*changed = false;
	for (i = 0; i < n && !err; i++) {
		was = lower_find(old, names[i].name, names[i].len);
		if (was)
			l->over[was - old->names] = &names[i];
		*changed |= was ? was->ino != names[i].ino : names[i].ino != 0;
		/* A file that gets its old name again has a link for each. */
		if (was && (was->ino != names[i].ino ||
			    was->type != NILFS_FT_DIR))
			err = layer_lose(l, cx, was->ino);
	}
	for (i = 0; hidden && i < old->n && !err; i++) {
		if (l->over[i])
			continue;
		*changed = true;
		l->over[i] = &nothing;
		err = layer_lose(l, cx, old->names[i].ino);
	}
	return err;
}

static int pack(struct layer *l, struct context *cx,
		const struct populate_name *name, uint64_t *links)
{
	if (!name->ino)
		return 0;
	if (name->type == NILFS_FT_DIR)
		++*links;
	if (*links > NILFS_LINK_MAX)
		return fail(cx, -EMLINK, "more than %d subdirectories",
			    NILFS_LINK_MAX - 2);
	return dirblocks_add(&l->blocks, cx, name->ino, name->type,
			     name->name, name->len);
}

int layer_directory(struct layer *l, struct context *cx, uint64_t ino,
		    uint64_t parent, bool hidden,
		    const struct populate_name *names, size_t n,
		    struct nilfs_inode *inode)
{
	const struct lower_dir *old = NULL;
	size_t lost = l->nlost, i;
	uint64_t links = 2;
	bool changed = true;
	int had, err;

	had = lower_directory(l, cx, ino, &old);
	err = had > 0 ? compare_names(l, cx, old, hidden, names, n, &changed) :
			had;
	if (err || !changed)
		return err;
	/* First the old names or their replacements, then the new names. */
	err = dirblocks_begin(&l->blocks, cx, ino, parent);
	for (i = 0; old && i < old->n && !err; i++)
		err = pack(l, cx, l->over[i] ? l->over[i] : &old->names[i],
			   &links);
	for (i = 0; i < n && !err; i++)
		if (!old || !lower_find(old, names[i].name, names[i].len))
			err = pack(l, cx, &names[i], &links);
	if (err)
		return err;
	dirpack_end(&l->blocks.pack);
	if (had)
		err = newfile_drop(l->w, cx, ino, inode);
	inode->i_size = le64_make((uint64_t)l->blocks.nblocks *
				  l->blocks.block_size);
	if (!err)
		err = newfile_collect(l->w, cx, ino, inode, l->blocks.data,
				      l->blocks.nblocks);
	if (err)
		return err;
	inode->i_links_count = le16_make((uint16_t)links);
	return lose_trees(l, cx, lost);
}

int layer_finish(struct layer *l, struct context *cx)
{
	struct nilfs_inode inode;
	size_t i, n, links;
	uint64_t ino;
	int err;

	sort_in_place(l->lost, l->nlost, sizeof(*l->lost), sort_compare_number);
	for (i = 0; i < l->nlost; i += n) {
		ino = l->lost[i];
		for (n = 1; i + n < l->nlost; n++)
			if (l->lost[i + n] != ino)
				break;
		err = inodes_read(l->w, cx, ino, &inode);
		if (err)
			return err;
		links = le16_get(inode.i_links_count);
		/* A directory has only one name. */
		if (n < links && !S_ISDIR(le16_get(inode.i_mode))) {
			inode.i_links_count = le16_make((uint16_t)(links - n));
			err = inodes_write(l->w, cx, ino, &inode);
		} else {
			if (inode_has_bmap(&inode))
				err = newfile_drop(l->w, cx, ino, &inode);
			if (!err)
				err = inodes_free(l->w, cx, ino);
		}
		if (err)
			return err;
	}
	l->nlost = 0;
	return 0;
}
