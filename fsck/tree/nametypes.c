// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types of inodes, from their names.
 *
 * A directory entry repeats the type of its inode, so that readers need not
 * read that.  Where an inode has lost its type any entry that names it knows
 * it still; all directories are read for that, once.
 */
#include "fsck/tree/nametypes.h"

#include <stdlib.h>

#include "check/dirread.h"
#include "check/ifilelist.h"
#include "check/names.h"
#include "disk/dirent.h"
#include "disk/inode.h"

struct search {
	struct nametype *types;
	size_t n;
	struct root root;
	struct inodelist list;
	struct blockbatch batch;
};

static int compare(const void *a, const void *b)
{
	const struct nametype *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

static struct nametype *find(struct nametype *types, size_t n, uint64_t ino)
{
	const struct nametype key = { .ino = ino };

	return n ? bsearch(&key, types, n, sizeof(key), compare) : NULL;
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct search *s = arg;
	struct dirent_entry entry;
	struct dirent_iter it;
	struct nametype *type;

	(void)cx;
	(void)item;
	if (!data)
		return names_is_fatal(err) ? err : 0;
	dirent_iter_init(&it, data, s->root.vol->geo.block_size);
	while (dirent_iter_next(&it, &entry)) {
		type = find(s->types, s->n, entry.ino);
		if (type && type->type == NILFS_FT_UNKNOWN &&
		    entry.type < NILFS_FT_MAX)
			type->type = entry.type;
	}
	return 0;
}

static int read_directories(struct search *s, struct context *cx)
{
	struct dirread blocks;
	size_t i;
	int err = 0;

	for (i = 0; i < s->list.ndirs && !err; i++)
		err = dirread_add(&s->root, cx, &s->list, i, &s->batch,
				  &blocks);
	return err ? err : blockbatch_flush(&s->batch, cx);
}

int nametypes_find(struct nametype *types, size_t n, struct context *cx,
		   struct volume *vol)
{
	struct search s = { .types = types, .n = n };
	bool whole;
	int err = root_open(&s.root, cx, vol, 0);

	if (err && !names_is_fatal(err)) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = ifilelist_fill(&s.root, cx, &s.list, &whole);
	if (!err)
		err = blockbatch_open(&s.batch, cx, vol, take_block, &s);
	if (!err)
		err = read_directories(&s, cx);
	blockbatch_close(&s.batch);
	inodelist_fini(&s.list);
	if (!err)
		fail_clear(cx);
	return err;
}

uint8_t nametypes_of(const struct nametype *types, size_t n, uint64_t ino)
{
	const struct nametype key = { .ino = ino };
	const struct nametype *type = NULL;

	if (n)
		type = bsearch(&key, types, n, sizeof(key), compare);
	return type ? type->type : NILFS_FT_UNKNOWN;
}
