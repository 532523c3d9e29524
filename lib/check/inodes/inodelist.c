// SPDX-License-Identifier: LGPL-2.1-or-later
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
 *
 * Reading a whole ifile.
 *
 * Blocks come in order: the bitmap of a group, then its inodes.  An inode
 * counts if its bit is set; one that has links and a type but no bit also
 * counts: the bit is wrong, which is reported elsewhere, and the names that
 * lead to it are right.  The rest of a block of inodes are deleted ones.
 */
#include "check/damage.h"
#include "check/inodes/inodelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "check/blockbatch.h"
#include "disk/inode.h"
#include "disk/palloc.h"

struct ifilelist {
	struct volume *vol;
	const struct palloc *palloc;
	struct inodelist *list;
	bool *whole;
	uint8_t *bitmap;
	uint64_t group; /* of the bitmap, UINT64_MAX: none yet */
	uint64_t next;	/* numbers only ascend, whatever the blocks say */
};

/*
 * mkfs.nilfs2 created an empty file, ".nilfs", until nilfs-utils 2.2.10; in
 * 2010 it left its directory entry free, so the missing name is no error.
 */
static bool is_of_mkfs(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode)
{
	uint64_t time = le64_get(volume_super(vol)->s_ctime);

	return ino == NILFS_USER_INO &&
	       inode_dirent_type(le16_get(inode->i_mode)) ==
		       NILFS_FT_REG_FILE &&
	       !le64_get(inode->i_size) && !le64_get(inode->i_blocks) &&
	       le16_get(inode->i_links_count) == 1 &&
	       le64_get(inode->i_ctime) == time &&
	       le64_get(inode->i_mtime) == time;
}

uint8_t inodelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated)
{
	uint8_t type = inode_dirent_type(le16_get(inode->i_mode));

	if (!allocated &&
	    (!le16_get(inode->i_links_count) || type == NILFS_FT_UNKNOWN))
		return 0;
	if (inode_is_private(ino))
		return 0;
	return type | INODELIST_THERE |
	       (allocated ? INODELIST_ALLOCATED : 0) |
	       (is_of_mkfs(vol, ino, inode) ? INODELIST_MKFS : 0);
}

static int take_inode(struct ifilelist *scan, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, bool allocated)
{
	uint8_t kind = inodelist_kind(scan->vol, ino, inode, allocated);

	if (!kind || ino < scan->next)
		return 0;
	scan->next = ino + 1;
	return inodelist_add(scan->list, cx, ino, kind, inode);
}

static int take_inodes(struct ifilelist *scan, struct context *cx,
		       const struct palloc_block *what, const char *data)
{
	uint32_t bit = palloc_group_offset(scan->palloc, what->first), i;
	bool have_bitmap = scan->group == what->group;
	int err = 0;

	for (i = 0; i < what->count && !err; i++)
		err = take_inode(scan, cx, what->first + i,
				 (const struct nilfs_inode *)(data +
				 (size_t)i * scan->palloc->entry_size),
				 have_bitmap &&
					 palloc_bit(scan->bitmap, bit + i));
	return err;
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct ifilelist *scan = arg;
	struct palloc_block what;

	if (!data) {
		*scan->whole = false;
		return damage_is_fatal(err) ? err : 0;
	}
	palloc_locate(scan->palloc, item->blkoff, &what);
	if (what.kind == PALLOC_BITMAP) {
		memcpy(scan->bitmap, data, scan->palloc->block_size);
		scan->group = what.group;
	}
	if (what.kind != PALLOC_ENTRIES)
		return 0;
	return take_inodes(scan, cx, &what, data);
}

static int walk_ifile(struct ifilelist *scan, struct context *cx,
		      const struct blockmap *map, struct blockbatch *batch)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret;

	ret = blockmap_cursor_open(&cur, cx, map, 0, false);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		struct blockbatch_item block = { .blkoff = item.key };

		ret = blockmap_resolve(map, cx, item.ptr, &block.blocknr);
		if (!ret) {
			ret = blockbatch_add(batch, cx, &block);
		} else if (!damage_is_fatal(ret)) {
			*scan->whole = false;
			ret = 0;
		}
	}
	blockmap_cursor_close(&cur);
	if (ret && damage_is_fatal(ret))
		return ret;
	if (ret)
		*scan->whole = false;
	return blockbatch_flush(batch, cx);
}

int inodelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole)
{
	struct ifilelist scan = {
		.vol = root->vol,
		.palloc = &root->vol->ifile_palloc,
		.list = list,
		.whole = whole,
		.group = UINT64_MAX,
	};
	struct blockbatch batch;
	int err;

	*whole = true;
	err = blockbatch_open(&batch, cx, root->vol, take_block, &scan);
	scan.bitmap = malloc(root->vol->geo.block_size);
	if (!err && !scan.bitmap)
		err = fail(cx, -ENOMEM, "bitmap of an ifile");
	if (!err)
		err = walk_ifile(&scan, cx, &root->ifile.map, &batch);
	free(scan.bitmap);
	blockbatch_close(&batch);
	return err;
}

static bool begins_before(const void *item, const void *key)
{
	struct inodelist_chunk *const *chunk = item;

	return (*chunk)->first <= *(const uint64_t *)key;
}

/* The first chunk that begins after INO; the one before may hold it. */
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

/* Adds the chunk of INO as number AT. */
static int add_chunk(struct inodelist *list, struct context *cx, uint64_t ino,
		     size_t at)
{
	struct inodelist_chunk *chunk;

	if (list->nchunks >= cx->max_memory / sizeof(*chunk))
		return fail(cx, -ENOMEM, "table of inodes");
	if (array_reserve(cx, &list->chunks, &list->chunks_room,
			  list->nchunks + 1))
		return -ENOMEM;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return fail(cx, -ENOMEM, "table of inodes");
	chunk->first = ino & ~(uint64_t)(INODELIST_CHUNK - 1);
	memmove(list->chunks + at + 1, list->chunks + at,
		(list->nchunks - at) * sizeof(*list->chunks));
	list->last = at;
	list->chunks[at] = chunk;
	list->nchunks++;
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
	if (array_reserve(cx, &list->maps, &list->maps_room, list->nmaps + 1))
		return -ENOMEM;
	map = &list->maps[list->nmaps++];
	map->size = inode->i_size;
	memcpy(map->bmap, inode->i_bmap, sizeof(map->bmap));
	return 0;
}

static int add_dir(struct inodelist *list, struct context *cx, uint64_t ino,
		   const struct nilfs_inode *inode)
{
	if (list->ndirs >= UINT32_MAX)
		return fail(cx, -ENOMEM, "table of directories");
	if (array_reserve(cx, &list->dirs, &list->dirs_room, list->ndirs + 1))
		return -ENOMEM;
	if (add_map(list, cx, inode))
		return -ENOMEM;
	list->dirs[list->ndirs++] = (struct inodelist_dir){ .ino = ino };
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
		err = add_chunk(list, cx, ino, list->nchunks);
	if (!err && inodelist_is_dir(kind))
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

size_t inodelist_first_dir(const struct inodelist *list, uint64_t ino)
{
	return search_first(list->dirs, list->ndirs, sizeof(*list->dirs),
			    is_dir_before, &ino);
}

size_t inodelist_find_dir(const struct inodelist *list, uint64_t ino)
{
	size_t i = inodelist_first_dir(list, ino);

	return i < list->ndirs && list->dirs[i].ino == ino ? i : list->ndirs;
}

bool inodelist_has_dir(struct inodelist *list, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(list, ino);

	return row.chunk && row.chunk->links[row.at] &&
	       inodelist_is_dir(row.chunk->kind[row.at]);
}

bool inodelist_second_is_parent(const struct inodelist *list,
				const struct inodelist_dir *dir)
{
	if (dir->ino == NILFS_ROOT_INO)
		return dir->dotdot == NILFS_ROOT_INO;
	return dir->parent && dir->parent <= list->ndirs &&
	       list->dirs[dir->parent - 1].ino == dir->dotdot;
}

/* The row of a change, which is marked. */
static int set_row(struct inodelist *list, struct context *cx,
		   const struct inodelist_change *change)
{
	struct inodelist_row row = inodelist_find(list, change->ino);
	int err;

	if (!row.chunk) {
		err = add_chunk(list, cx, change->ino,
				chunk_behind(list, change->ino));
		if (err)
			return err;
		row = inodelist_find(list, change->ino);
	}
	row.chunk->kind[row.at] = change->kind;
	row.chunk->links[row.at] = change->links;
	row.chunk->touched = true;
	return 0;
}

/*
 * Fills DIRS with the directories of LIST as they are after CHANGES, PLACES
 * with the new index of each old one + 1, or 0: how many there are.
 */
static size_t merge_dirs(const struct inodelist *list,
			 const struct inodelist_change *changes, size_t count,
			 struct inodelist_dir *dirs, uint32_t *places)
{
	size_t n = 0, i = 0, end, c;

	for (c = 0; c <= count; c++) {
		end = c < count ? inodelist_first_dir(list, changes[c].ino) :
				  list->ndirs;
		for (; i < end; i++) {
			dirs[n++] = list->dirs[i];
			places[i] = (uint32_t)n;
		}
		if (c == count || inodelist_is_dir(changes[c].before) ==
					  inodelist_is_dir(changes[c].kind))
			continue;
		if (inodelist_is_dir(changes[c].before))
			places[i++] = 0;
		else
			dirs[n++] = (struct inodelist_dir){
				.ino = changes[c].ino };
	}
	return n;
}

/* The table of directories after CHANGES, by which MORE come to it. */
static int renumber_dirs(struct inodelist *list, struct context *cx,
			 const struct inodelist_change *changes, size_t count,
			 size_t more)
{
	size_t room = 0, places_room = 0, i;
	struct inodelist_dir *dirs;
	uint32_t *places;

	if (list->ndirs + more >= UINT32_MAX)
		return fail(cx, -ENOMEM, "table of directories");
	dirs = array_grow(cx, NULL, &room, list->ndirs + more, sizeof(*dirs));
	places = array_grow(cx, NULL, &places_room, list->ndirs + 1,
			    sizeof(*places));
	if (!dirs || !places) {
		free(dirs);
		free(places);
		return -ENOMEM;
	}
	list->ndirs = merge_dirs(list, changes, count, dirs, places);
	for (i = 0; i < list->ndirs; i++)
		if (dirs[i].parent)
			dirs[i].parent = places[dirs[i].parent - 1];
	free(places);
	free(list->dirs);
	list->dirs = dirs;
	list->dirs_room = room;
	return 0;
}

int inodelist_apply(struct inodelist *list, struct context *cx,
		    const struct inodelist_change *changes, size_t count)
{
	size_t more = 0, less = 0, i;
	int err = 0;

	list->nmaps = 0;
	for (i = 0; i < count && !err; i++) {
		bool before = inodelist_is_dir(changes[i].before);
		bool now = inodelist_is_dir(changes[i].kind);

		more += now && !before;
		less += before && !now;
		err = set_row(list, cx, &changes[i]);
	}
	if (err || !(more + less))
		return err;
	return renumber_dirs(list, cx, changes, count, more);
}

static bool is_empty(const struct inodelist_chunk *chunk)
{
	static const uint8_t none[INODELIST_CHUNK];

	return !memcmp(chunk->kind, none, sizeof(none));
}

void inodelist_settle(struct inodelist *list)
{
	size_t n = 0, i;

	for (i = 0; i < list->nchunks; i++) {
		struct inodelist_chunk *chunk = list->chunks[i];

		if (chunk->touched && is_empty(chunk)) {
			free(chunk);
			continue;
		}
		chunk->touched = false;
		list->chunks[n++] = chunk;
	}
	list->nchunks = n;
	list->last = 0;
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
