// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is left of a block of a directory of a snapshot.
 *
 * A snapshot has no lost+found, and none is made in it: whatever has lost its
 * name gets one in the block, by its number.  Which inodes these are is known
 * once all other names of the snapshot are counted.
 */
#include "fsck/names/pastentry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "disk/dirpack.h"
#include "fsck/names/entrywalk.h"

#define NAME_MAX_BYTES 32

struct salvage {
	struct pastentry *s;
	struct dirpack pack;
	char *block;	/* that is packed */
	bool others;	/* another block is broken, and may have names */
	bool full;
	bool is_dir;	/* an entry says that the directory is one */
	bool complete;	/* the current block is as it should be */
};

/* Counts the names in a block, but for the current one. */
static int count_block(void *arg, struct context *cx,
		       const struct blockbatch_item *item, const void *data,
		       int err)
{
	struct salvage *v = arg;
	struct inodelist *list = &v->s->list;
	struct inodelist_dir *dir = &list->dirs[item->owner];
	const struct pastblocks_block *b =
		pastblocks_find(v->s->p, item->vblocknr);
	struct entrywalk_entry entry;
	struct entrywalk walk;
	size_t child;

	fail_clear(cx);
	if (dir->ino == v->s->ino && item->blkoff == v->s->blkoff)
		return 0;
	v->others |= !data && !b;
	if (!data && !b)
		return damage_is_fatal(err) ? err : 0;
	entrywalk_init(&walk, list, dir->ino, item->blkoff,
		       b ? b->content : data, v->s->block_size);
	while (entrywalk_next(&walk, &entry)) {
		if (entry.fate != ENTRYWALK_NAME)
			continue;
		if (entry.e.ino == v->s->ino)
			v->is_dir = entry.e.type == NILFS_FT_DIR;
		entry.row.chunk->names[entry.row.at]++;
		child = inodelist_find_dir(list, entry.e.ino);
		if (child < list->ndirs)
			list->dirs[child].parent = (uint32_t)item->owner + 1;
	}
	v->others |= walk.it.verdict != RULE_OK;
	return 0;
}

static int count_names(struct salvage *v, struct context *cx)
{
	struct pastentry *s = v->s;
	size_t i;

	for (i = 0; i < s->list.nchunks; i++)
		memset(s->list.chunks[i]->names, 0,
		       sizeof(s->list.chunks[i]->names));
	return dirread_run(&s->root, cx, &s->list, 0, s->list.ndirs,
			   count_block, v);
}

/* How many names inode INO, of ROW, lacks. */
static unsigned int lacks(const struct inodelist_row *row, uint64_t ino)
{
	unsigned int names, links;
	uint8_t kind;

	if (!row->chunk || ino < NILFS_USER_INO)
		return 0;
	kind = row->chunk->kind[row->at];
	names = row->chunk->names[row->at];
	links = row->chunk->links[row->at];
	if (!(kind & INODELIST_ALLOCATED) || !links ||
	    (kind & INODELIST_TYPE) == NILFS_FT_UNKNOWN)
		return 0;
	if ((kind & INODELIST_TYPE) == NILFS_FT_DIR)
		links = 1;
	return links > names ? links - names : 0;
}

/* How many inode INO, of ROW, is to get; those of mkfs never had any. */
static unsigned int misses(const struct inodelist_row *row, uint64_t ino)
{
	return row->chunk->kind[row->at] & INODELIST_MKFS ? 0 : lacks(row, ino);
}

static bool is_taken(const struct salvage *v, const char *name, uint8_t len)
{
	struct dirent_entry e;
	struct dirent_iter it;

	dirent_iter_init(&it, v->block, v->s->block_size);
	while (it.offset < v->pack.used && dirent_iter_next(&it, &e))
		if (e.ino && e.name_len == len && !memcmp(e.name, name, len))
			return true;
	return false;
}

/* Enters a name of inode INO, of ROW, which lacks one. */
static void enter_name(struct salvage *v, const struct inodelist_row *row,
		       uint64_t ino, const char *name, uint8_t len)
{
	uint8_t type = row->chunk->kind[row->at] & INODELIST_TYPE;

	if (is_taken(v, name, len))
		return;
	if (dirpack_add(&v->pack, ino, type, name, len))
		row->chunk->names[row->at]++;
	else
		v->full = true;
}

/* Enters the names in BLOCK of inodes that lack them; of THEN: that are the
   same in that checkpoint. */
static int take_names(struct salvage *v, struct context *cx, const char *block,
		      bool then)
{
	struct pastentry *s = v->s;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	int ret = 1;

	entrywalk_init(&walk, &s->list, s->ino, s->blkoff, block,
		       s->block_size);
	while (ret >= 0 && entrywalk_next(&walk, &entry)) {
		if (entry.fate == ENTRYWALK_DOT && entry.e.ino != s->ino)
			return 0;
		if (entry.fate != ENTRYWALK_NAME || entry.bad_name ||
		    !lacks(&entry.row, entry.e.ino))
			continue;
		ret = then ? othernames_is_same(&s->o, cx, entry.e.ino) : 1;
		if (ret > 0)
			enter_name(v, &entry.row, entry.e.ino, entry.e.name,
				   entry.e.name_len);
	}
	return ret < 0 ? ret : 0;
}

/* Gives inode INO, of ROW, as many names of its number as it lacks. */
static void number_name(struct salvage *v, const struct inodelist_row *row,
			uint64_t ino)
{
	unsigned int n, most = misses(row, ino);
	char name[NAME_MAX_BYTES];
	int len;

	for (n = 0; n < most && !v->full; n++) {
		len = snprintf(name, sizeof(name), n ? "#%" PRIu64 "~%u"
						     : "#%" PRIu64, ino, n);
		enter_name(v, row, ino, name, (uint8_t)len);
	}
}

static void number_all(struct salvage *v)
{
	struct inodelist *list = &v->s->list;
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < list->nchunks && !v->full; i++) {
		row.chunk = list->chunks[i];
		for (row.at = 0; row.at < INODELIST_CHUNK; row.at++)
			number_name(v, &row, row.chunk->first + row.at);
	}
}

/* "." and "..", by the directory that names this one. */
static void take_dots(struct salvage *v)
{
	const struct pastentry *s = v->s;
	size_t dir = inodelist_find_dir(&s->list, s->ino);
	uint32_t by = dir < s->list.ndirs ? s->list.dirs[dir].parent : 0;

	if (s->blkoff)
		return;
	dirpack_add(&v->pack, s->ino, NILFS_FT_DIR, ".", 1);
	dirpack_add(&v->pack, by ? s->list.dirs[by - 1].ino : NILFS_ROOT_INO,
		    NILFS_FT_DIR, "..", 2);
}

static bool is_any_lacking(struct salvage *v)
{
	struct inodelist *list = &v->s->list;
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < list->nchunks; i++) {
		row.chunk = list->chunks[i];
		for (row.at = 0; row.at < INODELIST_CHUNK; row.at++)
			if (misses(&row, row.chunk->first + row.at))
				return true;
	}
	return false;
}

/* Adds BY to the count of each name in the current block: false where an entry
   makes no sense. */
static bool count_own(struct salvage *v, int by)
{
	struct pastentry *s = v->s;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool sound = true;

	entrywalk_init(&walk, &s->list, s->ino, s->blkoff, s->block,
		       s->block_size);
	while (entrywalk_next(&walk, &entry)) {
		sound &= entry.fate <= ENTRYWALK_NAME && !entry.bad_name;
		if (entry.fate == ENTRYWALK_NAME)
			entry.row.chunk->names[entry.row.at] =
				(uint16_t)(entry.row.chunk->names[entry.row.at] +
					   by);
	}
	return sound && walk.it.verdict == RULE_OK;
}

/* Whether the current block is sound, and no name is missing. */
static bool is_complete(struct salvage *v)
{
	bool complete = count_own(v, 1) && !is_any_lacking(v);

	count_own(v, -1);
	return complete;
}

static int fill_block(struct salvage *v, struct context *cx)
{
	int ret = count_names(v, cx);

	if (ret)
		return ret;
	v->complete = is_complete(v);
	if (v->complete || !v->is_dir)
		return 0;
	dirpack_init(&v->pack, v->block, v->s->block_size);
	take_dots(v);
	ret = take_names(v, cx, v->s->block, false);
	pastentry_ask(v->s);
	while (!ret && (ret = pastentry_next(v->s, cx)) > 0)
		ret = take_names(v, cx, v->s->other, true);
	if (!ret && !v->others)
		number_all(v);
	dirpack_end(&v->pack);
	return ret;
}

int pastsalvage_run(struct pastentry *s, struct context *cx, bool partly)
{
	struct salvage v = {
		.s = s,
		.block = malloc(s->block_size),
		.is_dir = s->ino == NILFS_ROOT_INO,
	};
	int ret;

	if (!v.block)
		return fail(cx, -ENOMEM, "block of a directory");
	ret = fill_block(&v, cx);
	if (!ret && v.is_dir && (!v.full || partly) && !v.complete)
		memcpy(s->block, v.block, s->block_size);
	free(v.block);
	return ret < 0 ? ret : v.complete || (v.is_dir && !v.full);
}
