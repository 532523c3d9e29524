// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory entries that a checkpoint has and a newer one has not.
 *
 * Of a directory that changed, the blocks that only one of its two versions has
 * are read: those of the newer one into a set of names, then those of the
 * older one, whose entries are looked for in the set.  A directory that is gone,
 * or whose number another one has, has lost all its entries.
 */
#include "dump/past/removed.h"

#include <errno.h>
#include <string.h>

#include "base/pairtable.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "dump/past/dirchange.h"
#include "vol/mapdiff.h"
#include "vol/translate.h"
#include "vol/volume.h"

struct comparison {
	struct volume *vol;
	const struct removed_sink *sink;
	struct pairtable names; /* in the newer blocks: hash and inode */
	uint64_t dir;
	int (*visit)(struct comparison *c, struct context *cx,
		     const struct dirent_entry *entry);
	bool newer; /* the blocks to read */
};

static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS ||
	       err == -EPIPE;
}

static int report_directory(struct comparison *c, int err)
{
	if (!err || is_fatal(err))
		return err;
	c->sink->broken(c->sink->arg, c->dir, err);
	return 0;
}

/* FNV-1a. */
uint64_t removed_hash(const char *name, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (len--)
		hash = (hash ^ (uint8_t)*name++) * UINT64_C(0x100000001b3);
	return hash;
}

static int remember_name(struct comparison *c, struct context *cx,
			 const struct dirent_entry *e)
{
	uint64_t hash = removed_hash(e->name, e->name_len);

	if (pairtable_find(&c->names, hash, e->ino))
		return 0;
	return pairtable_add(&c->names, cx, hash, e->ino, 1);
}

static int match_name(struct comparison *c, struct context *cx,
		      const struct dirent_entry *e)
{
	const struct removed_entry entry = {
		.dir = c->dir,
		.ino = e->ino,
		.name = e->name,
		.len = e->name_len,
	};

	if (pairtable_find(&c->names, removed_hash(e->name, e->name_len), e->ino))
		return 0;
	return c->sink->found(c->sink->arg, cx, &entry);
}

static bool is_dots(const struct dirent_entry *e)
{
	return e->name[0] == '.' &&
	       (e->name_len == 1 || (e->name_len == 2 && e->name[1] == '.'));
}

static int visit_entries(struct comparison *c, struct context *cx,
			 const void *block)
{
	struct dirent_entry e;
	struct dirent_iter it;
	int err = 0;

	dirent_iter_init(&it, block, c->vol->geo.block_size);
	while (!err && dirent_iter_next(&it, &e))
		if (e.ino && e.name_len && !is_dots(&e))
			err = c->visit(c, cx, &e);
	if (!err && it.verdict != RULE_OK)
		err = fail(cx, -EUCLEAN, "%s", rule_info(it.verdict)->text);
	return err;
}

static int visit_block(void *arg, struct context *cx,
		       const struct mapdiff_item *item)
{
	struct comparison *c = arg;
	uint64_t ptr = c->newer ? item->b : item->a, blocknr;
	const void *block = NULL;
	int err;

	if (!ptr)
		return 0;
	err = translate_vblock(c->vol, cx, ptr, &blocknr);
	if (!err)
		err = cache_get(c->vol->cache, cx, blocknr, &block);
	if (!err)
		err = visit_entries(c, cx, block);
	cache_put(c->vol->cache, block);
	err = report_directory(c, err);
	return err ? err : context_cancelled(cx);
}

/* B is NULL where the directory is gone. */
static int compare_maps(struct comparison *c, struct context *cx,
			const struct nilfs_inode *a,
			const struct nilfs_inode *b)
{
	struct blockmap older, newer;
	int err = blockmap_init(&older, cx, c->vol, c->dir, a);

	c->newer = true;
	if (!err && b)
		err = blockmap_init(&newer, cx, c->vol, c->dir, b);
	c->visit = remember_name;
	if (!err && b)
		err = mapdiff_run(cx, &older, &newer, visit_block, c);
	c->visit = match_name;
	if (err || !b)
		return err ? err
			   : mapdiff_run(cx, NULL, &older, visit_block, c);
	c->newer = false;
	return mapdiff_run(cx, &older, &newer, visit_block, c);
}

static int compare_directory(void *arg, struct context *cx,
			     const struct dirchange *change)
{
	struct comparison *c = arg;
	const struct nilfs_inode *b = change->b;
	int err;

	if (!change->a)
		return 0;
	if (b && !inode_is_same_file(change->a, b))
		b = NULL;
	c->dir = change->ino;
	err = compare_maps(c, cx, change->a, b);
	pairtable_fini(&c->names);
	return report_directory(c, err);
}

int removed_run(struct context *cx, struct root *older, struct root *newer,
		const struct removed_sink *sink)
{
	struct comparison c = { .vol = older->vol, .sink = sink };

	return dirchange_run(cx, older, newer, compare_directory, &c);
}
