// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The inodes of one checkpoint.
 *
 * Numbers are given out from the lowest free one up, so five bytes a number in
 * chunks of 512 are near five bytes an inode; a number far away from all
 * others costs its chunk.  An inode takes a block of the ifile, hence the list
 * stays in proportion to the volume even for a hostile one.  The names of a
 * directory mostly lead to neighbours: the chunk found last is looked at first.
 *
 * Directories are few: what is known of them alone lies in a table of its own.
 * Of the first of them, mostly all, the maps are kept, so that no inode is read
 * twice.
 */
#include "fsck/names/inodelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

static bool begins_before(const void *item, const void *key)
{
	struct inodelist_chunk *const *chunk = item;

	return (*chunk)->first <= *(const uint64_t *)key;
}

/* The first chunk that begins behind INO; the one before may hold it. */
static size_t chunk_behind(const struct inodelist *list, uint64_t ino)
{
	return search_first(list->chunks, list->nchunks, sizeof(*list->chunks),
			    begins_before, &ino);
}

struct inodelist_row inodelist_find(struct inodelist *list, uint64_t ino)
{
	struct inodelist_row none = { NULL, 0 };
	struct inodelist_chunk *chunk;
	size_t behind;

	if (list->last < list->nchunks) {
		chunk = list->chunks[list->last];
		if (ino - chunk->first < INODELIST_CHUNK)
			return (struct inodelist_row){ chunk,
						       (unsigned int)(ino -
							chunk->first) };
	}
	behind = chunk_behind(list, ino);
	if (!behind)
		return none;
	chunk = list->chunks[behind - 1];
	if (ino - chunk->first >= INODELIST_CHUNK)
		return none;
	list->last = behind - 1;
	return (struct inodelist_row){ chunk,
				       (unsigned int)(ino - chunk->first) };
}

static int add_chunk(struct inodelist *list, struct context *cx, uint64_t ino)
{
	struct inodelist_chunk **chunks, *chunk;

	if (list->nchunks >= cx->max_memory / sizeof(*chunk))
		return fail(cx, -ENOMEM, "table of inodes");
	chunks = array_grow(cx, list->chunks, &list->chunks_room,
			    list->nchunks + 1, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	list->chunks = chunks;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return fail(cx, -ENOMEM, "table of inodes");
	chunk->first = ino & ~(uint64_t)(INODELIST_CHUNK - 1);
	list->last = list->nchunks;
	list->chunks[list->nchunks++] = chunk;
	return 0;
}

/* Keeps the map of INODE if there is room, and all before it were kept. */
static int add_map(struct inodelist *list, struct context *cx,
		   const struct nilfs_inode *inode)
{
	struct inodelist_map *map;

	if (list->nmaps != list->ndirs ||
	    list->nmaps >= cx->max_memory / INODELIST_MAPS_SHARE / sizeof(*map))
		return 0;
	map = array_grow(cx, list->maps, &list->maps_room, list->nmaps + 1,
			 sizeof(*map));
	if (!map)
		return -ENOMEM;
	list->maps = map;
	map += list->nmaps++;
	map->size = inode->i_size;
	memcpy(map->bmap, inode->i_bmap, sizeof(map->bmap));
	return 0;
}

static int add_dir(struct inodelist *list, struct context *cx, uint64_t ino,
		   const struct nilfs_inode *inode)
{
	struct inodelist_dir *dirs;

	if (list->ndirs >= UINT32_MAX)
		return fail(cx, -ENOMEM, "table of directories");
	dirs = array_grow(cx, list->dirs, &list->dirs_room, list->ndirs + 1,
			  sizeof(*dirs));
	if (!dirs)
		return -ENOMEM;
	list->dirs = dirs;
	if (add_map(list, cx, inode))
		return -ENOMEM;
	dirs[list->ndirs++] = (struct inodelist_dir){ .ino = ino };
	return 0;
}

int inodelist_add(struct inodelist *list, struct context *cx, uint64_t ino,
		  uint8_t kind, const struct nilfs_inode *inode)
{
	struct inodelist_chunk *chunk;
	unsigned int at = ino & (INODELIST_CHUNK - 1);
	int err = 0;

	if (!list->nchunks || ino - list->chunks[list->nchunks - 1]->first >=
				      INODELIST_CHUNK)
		err = add_chunk(list, cx, ino);
	if (!err && (kind & INODELIST_TYPE) == NILFS_FT_DIR)
		err = add_dir(list, cx, ino, inode);
	if (err)
		return err;
	chunk = list->chunks[list->nchunks - 1];
	chunk->kind[at] = kind;
	chunk->links[at] = le16_get(inode->i_links_count);
	return 0;
}

static bool is_dir_before(const void *item, const void *key)
{
	const struct inodelist_dir *dir = item;

	return dir->ino < *(const uint64_t *)key;
}

size_t inodelist_find_dir(const struct inodelist *list, uint64_t ino)
{
	size_t i = search_first(list->dirs, list->ndirs, sizeof(*list->dirs),
				is_dir_before, &ino);

	return i < list->ndirs && list->dirs[i].ino == ino ? i : list->ndirs;
}

bool inodelist_second_is_parent(const struct inodelist *list,
				const struct inodelist_dir *dir)
{
	if (dir->ino == NILFS_ROOT_INO)
		return dir->dotdot == NILFS_ROOT_INO;
	return dir->parent && dir->parent <= list->ndirs &&
	       list->dirs[dir->parent - 1].ino == dir->dotdot;
}

void inodelist_clear(struct inodelist *list)
{
	while (list->nchunks)
		free(list->chunks[--list->nchunks]);
	list->ndirs = list->nmaps = 0;
	list->last = 0;
}

void inodelist_fini(struct inodelist *list)
{
	inodelist_clear(list);
	free(list->chunks);
	free(list->dirs);
	free(list->maps);
	*list = (struct inodelist){ .chunks = NULL };
}
