// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search for the other holder.
 *
 * The checker blames the second pointer that it meets, which may be the right
 * one.  Who has the first nobody remembers, so all maps are asked once.
 */
#include "fsck/maps/mapholders.h"

#include "check/damage.h"
#include "check/ifilelist.h"
#include "check/inodelist.h"
#include "disk/inode.h"
#include "vol/root.h"

/* True where ITEM of inode INO leads to a block that is another's. */
static bool is_wrong(const struct mapfiles *m, uint64_t ino,
		     const struct blockmap_item *item)
{
	const struct contested_block *b = contested_find(&m->contested,
							 item->ptr);

	return b && !contested_is_of(b, ino, item->key, item->level);
}

static int ask_map(struct mapfiles *m, struct context *cx,
		   const struct file *file)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &file->map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (is_wrong(m, file->ino, &item)) {
			ret = mapfile_add(m, cx, file->ino);
			break;
		}
	}
	blockmap_cursor_close(&cur);
	return ret;
}

static int ask_inode(struct mapfiles *m, struct context *cx,
		     struct root *root, uint64_t ino)
{
	struct file file;
	int err = root_file(root, cx, ino, &file);

	if (!err && inode_has_bmap(&file.inode))
		err = ask_map(m, cx, &file);
	/* That one has findings of its own. */
	return damage_forgive(cx, err);
}

static int ask_chunk(struct mapfiles *m, struct context *cx,
		     struct root *root, const struct inodelist_chunk *chunk)
{
	unsigned int i;
	int err = context_cancelled(cx);

	for (i = 0; i < INODELIST_CHUNK && !err; i++)
		if (chunk->kind[i] & INODELIST_THERE)
			err = ask_inode(m, cx, root, chunk->first + i);
	return err;
}

int mapholders_add(struct mapfiles *m, struct context *cx)
{
	struct inodelist list = { .chunks = NULL };
	struct root root;
	bool whole;
	size_t i;
	int err;

	if (!m->contested.n)
		return 0;
	err = root_open(&root, cx, m->job->vol, 0);
	if (!err)
		err = ifilelist_fill(&root, cx, &list, &whole);
	for (i = 0; i < list.nchunks && !err; i++)
		err = ask_chunk(m, cx, &root, list.chunks[i]);
	inodelist_fini(&list);
	return damage_forgive(cx, err);
}
