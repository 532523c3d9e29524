// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inodes of one checkpoint.
 *
 * Inode numbers are allocated from the lowest free one, so chunks of 512
 * numbers with five bytes each take little more than five bytes per inode.  A
 * number far from all others costs a chunk; as each inode takes space in the
 * ifile, the list stays in proportion to the volume even if that is hostile.
 * The last chunk found is searched first, because the names of a directory
 * mostly lead to neighbours.  Directories are few and have their own table.
 * The maps of the first directories are kept, so that most inodes are read
 * once.
 *
 * An inode is listed if its bit in the bitmap is set.  One with links and a
 * type but no bit is listed too: its bit is wrong, which is reported elsewhere.
 * All others are deleted.  The pass over maps reports damage of the maps of
 * directories; here it only means that names may be missing.
 *
 * If a directory entry and its inode disagree about the type, a third source
 * decides.  A directory begins with an entry for itself.  Symbolic links have
 * all permissions (nilfs_symlink()) and a target without zero bytes, and
 * neither can be changed.  Other special files have no blocks.  If nothing
 * decides, the inode is right, because the kernel relies on it.
 */
#include "check/inodes/inodelist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/search.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/file.h"
#include "vol/symlink.h"

struct ifilelist {
	struct volume *vol;
	const struct palloc *palloc;
	struct inodelist *list;
	bool *whole;
	uint8_t *bitmap;
	uint64_t group; /* group of BITMAP; UINT64_MAX: none yet */
	uint64_t next;	/* inode numbers must ascend: the least one accepted */
};

uint8_t inodelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated)
{
	uint8_t type = inode_dirent_type(le16_get(inode->i_mode));
	uint16_t links = le16_get(inode->i_links_count);
	uint8_t kind = type | INODELIST_EXISTS;
	uint64_t made;

	if (!allocated && (!links || type == NILFS_FT_UNKNOWN))
		return 0;
	if (inode_is_private(ino))
		return 0;
	if (allocated)
		kind |= INODELIST_ALLOCATED;
	if (ino != NILFS_USER_INO)
		return kind;
	/*
	 * mkfs.nilfs2 created an empty file, ".nilfs", until nilfs-utils 2.2.10;
	 * in 2010 it left its directory entry free, so the missing name is no
	 * error.
	 */
	made = le64_get(volume_super(vol)->s_ctime);
	if (type == NILFS_FT_REG_FILE && links == 1 &&
	    !le64_get(inode->i_size) && !le64_get(inode->i_blocks) &&
	    le64_get(inode->i_ctime) == made &&
	    le64_get(inode->i_mtime) == made)
		kind |= INODELIST_MKFS;
	return kind;
}

static int inodelist_take_block(void *arg, struct context *cx,
				const struct blockbatch_item *item,
				const void *data, int err)
{
	struct ifilelist *scan = arg;
	const struct palloc *p = scan->palloc;
	const struct nilfs_inode *inode;
	struct palloc_block what;
	bool have_bitmap;
	uint32_t bit, i;
	uint64_t ino;
	uint8_t kind;

	if (!data) {
		*scan->whole = false;
		return damage_is_fatal(err) ? err : 0;
	}
	palloc_locate(p, item->blkoff, &what);
	if (what.kind == PALLOC_BITMAP) {
		memcpy(scan->bitmap, data, p->block_size);
		scan->group = what.group;
	}
	if (what.kind != PALLOC_ENTRIES)
		return 0;
	have_bitmap = scan->group == what.group;
	bit = palloc_group_offset(p, what.first);
	err = 0;
	for (i = 0; i < what.count && !err; i++) {
		inode = (const void *)((const char *)data +
				       (size_t)i * p->entry_size);
		ino = what.first + i;
		kind = inodelist_kind(scan->vol, ino, inode, have_bitmap &&
				      palloc_bit(scan->bitmap, bit + i));
		if (!kind || ino < scan->next)
			continue;
		scan->next = ino + 1;
		err = inodelist_add(scan->list, cx, ino, kind, inode);
	}
	return err;
}

int inodelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole)
{
	struct ifilelist scan = {
		.vol = root->vol,
		.palloc = &root->vol->ifile_palloc,
		.list = list,
		.whole = whole,
		.bitmap = malloc(root->vol->geo.block_size),
		.group = UINT64_MAX,
	};
	struct blockbatch_map found = { 0 };
	struct blockbatch batch;
	int ret = blockbatch_open(&batch, cx, root->vol, inodelist_take_block,
				  &scan);

	*whole = true;
	if (!ret && !scan.bitmap)
		ret = fail(cx, -ENOMEM, "bitmap of an ifile");
	if (!ret)
		ret = blockbatch_add_map(&batch, cx, &root->ifile.map, 0,
					 UINT64_MAX, &found) ?:
		      blockbatch_flush(&batch, cx);
	*whole &= !found.broken;
	free(scan.bitmap);
	blockbatch_close(&batch);
	return ret;
}

static bool begins_before(const void *item, const void *key)
{
	struct inodelist_chunk *const *chunk = item;

	return (*chunk)->first <= *(const uint64_t *)key;
}

struct inodelist_row inodelist_find(struct inodelist *list, uint64_t ino)
{
	const struct inodelist_row none = { NULL, 0 };
	struct inodelist_chunk *chunk;
	size_t behind;

	if (list->last >= list->nchunks ||
	    ino - list->chunks[list->last]->first >= INODELIST_CHUNK) {
		behind = search_first(list->chunks, list->nchunks,
				      sizeof(*list->chunks), begins_before,
				      &ino);
		if (!behind || ino - list->chunks[behind - 1]->first >=
				       INODELIST_CHUNK)
			return none;
		list->last = behind - 1;
	}
	chunk = list->chunks[list->last];
	return (struct inodelist_row){ chunk,
				       (unsigned int)(ino - chunk->first) };
}

/* Adds the chunk of INO at index AT. */
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

int inodelist_add(struct inodelist *list, struct context *cx, uint64_t ino,
		  uint8_t kind, const struct nilfs_inode *inode)
{
	size_t most = cx->max_memory / INODELIST_MAPS_SHARE /
		      sizeof(*list->maps);
	struct inodelist_chunk *chunk;
	struct inodelist_map map = { .size = inode->i_size };
	unsigned int at = ino & (INODELIST_CHUNK - 1);
	int err = 0;

	if (!list->nchunks || ino - list->chunks[list->nchunks - 1]->first >=
				      INODELIST_CHUNK)
		err = add_chunk(list, cx, ino, list->nchunks);
	if (!err && inodelist_is_dir(kind)) {
		if (list->ndirs >= UINT32_MAX)
			return fail(cx, -ENOMEM, "table of directories");
		/* Keeps its map if all before it were kept and there is room. */
		if (list->nmaps == list->ndirs && list->nmaps < most) {
			memcpy(map.bmap, inode->i_bmap, sizeof(map.bmap));
			err = array_push(cx, &list->maps, &list->nmaps,
					 &list->maps_room, map);
		}
		if (!err)
			err = array_push(cx, &list->dirs, &list->ndirs,
					 &list->dirs_room,
					 (struct inodelist_dir){ .ino = ino });
	}
	if (err)
		return err;
	chunk = list->chunks[list->nchunks - 1];
	chunk->kind[at] = kind;
	chunk->links[at] = le16_get(inode->i_links_count);
	return 0;
}

size_t inodelist_first_dir(const struct inodelist *list, uint64_t ino)
{
	return search_number(list->dirs, list->ndirs, sizeof(*list->dirs), ino);
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

int inodelist_apply(struct inodelist *list, struct context *cx,
		    const struct inodelist_change *changes, size_t count)
{
	size_t room = 0, places_room = 0, more = 0, less = 0, n = 0, i, end, c;
	struct inodelist_dir *dirs;
	struct inodelist_row row;
	uint32_t *places;	/* the new index of each directory + 1, or 0 */
	int err = 0;

	list->nmaps = 0;
	for (i = 0; i < count && !err; i++) {
		bool before = inodelist_is_dir(changes[i].before);
		bool now = inodelist_is_dir(changes[i].kind);

		more += now && !before;
		less += before && !now;
		row = inodelist_find(list, changes[i].ino);
		if (!row.chunk) {
			err = add_chunk(list, cx, changes[i].ino,
					search_first(list->chunks,
						     list->nchunks,
						     sizeof(*list->chunks),
						     begins_before,
						     &changes[i].ino));
			if (err)
				break;
			row = inodelist_find(list, changes[i].ino);
		}
		row.chunk->kind[row.at] = changes[i].kind;
		row.chunk->links[row.at] = changes[i].links;
		row.chunk->touched = true;
	}
	if (err || !(more + less))
		return err;
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
	for (c = i = 0; c <= count; c++) {
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
	for (i = 0; i < n; i++)
		if (dirs[i].parent)
			dirs[i].parent = places[dirs[i].parent - 1];
	free(places);
	free(list->dirs);
	list->dirs = dirs;
	list->ndirs = n;
	list->dirs_room = room;
	return 0;
}

void inodelist_settle(struct inodelist *list)
{
	static const uint8_t none[INODELIST_CHUNK];
	size_t n = 0, i;

	for (i = 0; i < list->nchunks; i++) {
		struct inodelist_chunk *chunk = list->chunks[i];

		if (chunk->touched &&
		    !memcmp(chunk->kind, none, sizeof(none))) {
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

int inodelist_add_blocks(struct root *root, struct context *cx,
			 const struct inodelist *list, size_t dir, bool all,
			 struct blockbatch *batch,
			 struct inodelist_blocks *blocks)
{
	uint64_t ino = list->dirs[dir].ino;
	struct nilfs_inode inode;
	struct blockmap map;
	int ret = 0;

	memset(blocks, 0, sizeof(*blocks));
	memset(&inode, 0, sizeof(inode));
	if (dir < list->nmaps) {
		inode.i_size = list->maps[dir].size;
		memcpy(inode.i_bmap, list->maps[dir].bmap,
		       sizeof(inode.i_bmap));
	} else {
		ret = root_inode_bytes(root, cx, ino, &inode);
	}
	if (ret >= 0)
		ret = blockmap_init(&map, cx, root->vol, ino, &inode);
	blocks->map.broken = ret < 0;
	if (ret < 0)
		return damage_is_fatal(ret) ? ret : 0;
	blocks->size = le64_get(inode.i_size);
	blocks->expected = div_round_up(blocks->size,
					root->vol->geo.block_size);
	return blockbatch_add_map(batch, cx, &map, dir, all ? UINT64_MAX :
				  blocks->expected, &blocks->map);
}

int inodelist_read_dirs(struct root *root, struct context *cx,
			const struct inodelist *list, size_t from, size_t end,
			blockbatch_take *take, void *arg)
{
	struct blockbatch batch;
	struct inodelist_blocks blocks;
	int err = blockbatch_open(&batch, cx, root->vol, take, arg);

	for (; from < end && !err; from++) {
		err = inodelist_add_blocks(root, cx, list, from, true, &batch,
					   &blocks);
		if (!err)
			fail_clear(cx);
	}
	if (!err)
		err = blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	return err;
}

int inodelist_is_directory(struct volume *vol, struct context *cx, uint64_t ino,
			   const struct nilfs_inode *inode)
{
	struct nilfs_inode plain = *inode;
	struct nilfs_dir_entry de;
	struct file file;
	const void *data;
	int ret;

	plain.i_mode = le16_make(S_IFREG);
	ret = file_init(&file, cx, vol, ino, &plain) ?:
	      file_block(&file, cx, 0, &data);
	if (ret <= 0)
		return ret;
	memcpy(&de, data, sizeof(de));
	file_put(&file, data);
	return le64_get(de.inode) == ino && de.name_len == 1 &&
	       de.name[0] == '.';
}

int inodelist_is_mistyped(struct volume *vol, struct context *cx, uint64_t ino,
			  const struct nilfs_inode *inode, uint8_t type)
{
	uint16_t mode = le16_get(inode->i_mode);
	size_t len;
	int ret = 0;

	if (inode_signs(&vol->geo, inode))
		return 0;
	if (type == NILFS_FT_DIR || S_ISDIR(mode)) {
		ret = inodelist_is_directory(vol, cx, ino, inode);
		if (ret >= 0 && type != NILFS_FT_DIR)
			ret = !ret;
	} else if (S_ISLNK(mode)) {
		if ((mode & 0777) == 0777)
			ret = symlink_is_whole(vol, cx, ino, inode, &len);
		ret = ret < 0 ? ret : !ret;
	} else if (type == NILFS_FT_REG_FILE || type == NILFS_FT_SYMLINK) {
		ret = le64_get(inode->i_blocks) && !inode_has_bmap(inode);
	}
	return damage_forgive(cx, ret);
}
