// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which files of a checkpoint lead to blocks that others lead to as well.  Whose
 * they are is for the logs to say.
 */
#include "fsck/derive/contests.h"

#include "base/search.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "vol/root.h"

struct contests {
	struct root root;
	const uint64_t *list;
	size_t n;
	int (*found)(void *arg, struct context *cx, uint64_t ino);
	void *arg;
};

static bool is_contested(const struct contests *c, uint64_t vblocknr)
{
	size_t i = search_lower_bound(c->list, c->n, vblocknr);

	return i < c->n && c->list[i] == vblocknr;
}

static int ask_map(struct contests *c, struct context *cx,
		   const struct file *file)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, &file->map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		ret = 0;
		if (is_contested(c, item.ptr)) {
			ret = c->found(c->arg, cx, file->ino);
			break;
		}
	}
	blockmap_cursor_close(&cur);
	return ret;
}

static int ask_inode(struct contests *c, struct context *cx, uint64_t ino)
{
	struct file file;
	int err = root_file(&c->root, cx, ino, &file);

	if (!err && inode_has_bmap(&file.inode))
		err = ask_map(c, cx, &file);
	/* That one has its own findings. */
	return damage_forgive(cx, err);
}

static int ask_chunk(struct contests *c, struct context *cx,
		     const struct inodelist_chunk *chunk)
{
	unsigned int i;
	int err = context_cancelled(cx);

	for (i = 0; i < INODELIST_CHUNK && !err; i++)
		if (chunk->kind[i] & INODELIST_THERE)
			err = ask_inode(c, cx, chunk->first + i);
	return err;
}

int contests_ask(struct volume *vol, struct context *cx, uint64_t cno,
		 const uint64_t *list, size_t n,
		 int (*found)(void *arg, struct context *cx, uint64_t ino),
		 void *arg)
{
	struct contests c = {
		.list = list, .n = n, .found = found, .arg = arg,
	};
	struct inodelist inodes = { .chunks = NULL };
	bool whole;
	size_t i;
	int err;

	if (!n)
		return 0;
	err = root_open(&c.root, cx, vol, cno);
	if (!err)
		err = inodelist_fill(&c.root, cx, &inodes, &whole);
	for (i = 0; i < inodes.nchunks && !err; i++)
		err = ask_chunk(&c, cx, inodes.chunks[i]);
	inodelist_fini(&inodes);
	return damage_forgive(cx, err);
}
