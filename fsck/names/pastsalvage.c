// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is left of a block of a directory of a snapshot.
 *
 * A snapshot has no lost+found, and none is made in it: whatever has lost its
 * name gets one in the block, by its number.  Which inodes these are is known
 * once all other names of the snapshot are counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "disk/dirpack.h"
#include "disk/inode.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/pastnames.h"

#define NAME_MAX_BYTES 32

struct salvage {
	struct pastnames *s;
	struct dirpack pack;
	char *block;	/* that is packed */
	bool others;	/* another block is broken, and may have names */
	bool full;
	bool is_dir;	/* an entry says that the directory is one */
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

/* How many names the inode of ROW lacks. */
static unsigned int lacks(const struct inodelist_row *row)
{
	unsigned int names, links;
	uint8_t kind;

	if (!row->chunk || row->chunk->first + row->at < NILFS_USER_INO)
		return 0;
	kind = row->chunk->kind[row->at];
	names = row->chunk->names[row->at];
	links = row->chunk->links[row->at];
	if (!(kind & INODELIST_ALLOCATED) || !links ||
	    (kind & INODELIST_TYPE) == NILFS_FT_UNKNOWN)
		return 0;
	if (inodelist_is_dir(kind))
		links = 1;
	return links > names ? links - names : 0;
}

/* Enters a name of inode INO, of ROW, which lacks one, unless it is taken. */
static void enter_name(struct salvage *v, const struct inodelist_row *row,
		       uint64_t ino, const char *name, uint8_t len)
{
	struct dirent_entry e;
	struct dirent_iter it;

	dirent_iter_init(&it, v->block, v->s->block_size);
	while (it.offset < v->pack.used && dirent_iter_next(&it, &e))
		if (e.ino && e.name_len == len && !memcmp(e.name, name, len))
			return;
	if (dirpack_add(&v->pack, ino, row->chunk->kind[row->at] &
			INODELIST_TYPE, name, len))
		row->chunk->names[row->at]++;
	else
		v->full = true;
}

/* Enters the names in BLOCK of inodes that lack them; of THEN: that are the
   same in that checkpoint. */
static int take_names(struct salvage *v, struct context *cx, const char *block,
		      bool then)
{
	struct pastnames *s = v->s;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	int ret = 1;

	entrywalk_init(&walk, &s->list, s->ino, s->blkoff, block,
		       s->block_size);
	while (ret >= 0 && entrywalk_next(&walk, &entry)) {
		if (entry.fate == ENTRYWALK_DOT && entry.e.ino != s->ino)
			return 0;
		if (entry.fate != ENTRYWALK_NAME || entry.bad_name ||
		    !lacks(&entry.row))
			continue;
		ret = then ? othernames_is_same(&s->o, cx, entry.e.ino) : 1;
		if (ret > 0)
			enter_name(v, &entry.row, entry.e.ino, entry.e.name,
				   entry.e.name_len);
	}
	return ret < 0 ? ret : 0;
}

/* Gives inodes as many names of their numbers as they lack, but for those of
   mkfs, which never had any. */
static void number_all(struct salvage *v)
{
	struct inodelist_row row;
	char name[NAME_MAX_BYTES];
	unsigned int n, most;
	size_t next = 0;
	uint64_t ino;
	int len;

	while (!v->full && inodelist_next(&v->s->list, &next, &row)) {
		if (row.chunk->kind[row.at] & INODELIST_MKFS)
			continue;
		ino = row.chunk->first + row.at;
		most = lacks(&row);
		for (n = 0; n < most && !v->full; n++) {
			len = snprintf(name, sizeof(name),
				       n ? "#%" PRIu64 "~%u" : "#%" PRIu64,
				       ino, n);
			enter_name(v, &row, ino, name, (uint8_t)len);
		}
	}
}

/* Adds BY to the count of each name in the current block: false where an entry
   makes no sense. */
static bool count_own(struct salvage *v, int by)
{
	struct pastnames *s = v->s;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	uint16_t *names;
	bool sound = true;

	entrywalk_init(&walk, &s->list, s->ino, s->blkoff, s->block,
		       s->block_size);
	while (entrywalk_next(&walk, &entry)) {
		sound &= entry.fate <= ENTRYWALK_NAME && !entry.bad_name;
		if (entry.fate != ENTRYWALK_NAME)
			continue;
		names = &entry.row.chunk->names[entry.row.at];
		*names = (uint16_t)(*names + by);
	}
	return sound && walk.it.verdict == RULE_OK;
}

/* Packs the block from all names that are known. */
static int fill_block(struct salvage *v, struct context *cx)
{
	struct pastnames *s = v->s;
	size_t dir = inodelist_find_dir(&s->list, s->ino);
	uint32_t by = dir < s->list.ndirs ? s->list.dirs[dir].parent : 0;
	int ret;

	dirpack_init(&v->pack, v->block, s->block_size);
	/* ".." by the directory that names this one. */
	if (!s->blkoff) {
		dirpack_add(&v->pack, s->ino, NILFS_FT_DIR, ".", 1);
		dirpack_add(&v->pack, by ? s->list.dirs[by - 1].ino :
					   NILFS_ROOT_INO,
			    NILFS_FT_DIR, "..", 2);
	}
	ret = take_names(v, cx, s->block, false);
	pastentry_ask(s);
	while (!ret && (ret = pastentry_next(s, cx)) > 0)
		ret = take_names(v, cx, s->other, true);
	if (!ret && !v->others)
		number_all(v);
	dirpack_end(&v->pack);
	return ret;
}

/* Whether the checkpoints that have the current block, and the next ones, have
   a directory by that number, or nothing: 1, 0. */
static int is_dir(struct pastnames *s, struct context *cx)
{
	const struct around *a = &s->o.around;
	struct nilfs_inode inode;
	size_t at, end;
	int err;

	pastentry_ask(s);
	at = a->below ? a->below - 1 : 0;
	end = a->above < a->n ? a->above + 1 : a->n;
	for (; at < end; at++) {
		err = root_open(&s->o.then, cx, s->vol, a->cnos[at]);
		if (!err)
			err = root_inode(&s->o.then, cx, s->ino, &inode);
		if (!err && !S_ISDIR(le16_get(inode.i_mode)) &&
		    inode_check(&s->vol->geo, &inode, s->ino) == RULE_OK)
			return 0;
		err = damage_forgive(cx, err);
		if (err)
			return err;
	}
	return 1;
}

int pastsalvage_run(struct pastnames *s, struct context *cx, bool partly)
{
	struct salvage v = { .s = s, .is_dir = s->ino == NILFS_ROOT_INO };
	struct inodelist_row row;
	size_t i;
	bool complete;
	int ret = is_dir(s, cx);

	if (ret <= 0)
		return ret;
	for (i = 0; i < s->list.nchunks; i++)
		memset(s->list.chunks[i]->names, 0,
		       sizeof(s->list.chunks[i]->names));
	ret = dirread_run(&s->root, cx, &s->list, 0, s->list.ndirs,
			  count_block, &v);
	if (ret)
		return ret;
	complete = count_own(&v, 1);
	for (i = 0; complete && inodelist_next(&s->list, &i, &row);)
		complete = row.chunk->kind[row.at] & INODELIST_MKFS ||
			   !lacks(&row);
	count_own(&v, -1);
	if (complete || !v.is_dir)
		return complete;
	v.block = malloc(s->block_size);
	if (!v.block)
		return fail(cx, -ENOMEM, "block of a directory");
	ret = fill_block(&v, cx);
	if (!ret && (!v.full || partly))
		memcpy(s->block, v.block, s->block_size);
	free(v.block);
	return ret < 0 ? ret : !v.full;
}
