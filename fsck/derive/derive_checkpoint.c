// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The entry of a checkpoint that no block of the cpfile has any more, and the
 * map of an inode of one.
 *
 * A file of a checkpoint is what lived then of all that the logs list as blocks
 * of it, and so is its ifile: without nodes its map is direct, else the root
 * holds the nodes of the highest level.  The rest of the entry follows from the
 * log with its super root, or is the same in all checkpoints.
 */
#include "fsck/derive/derive_checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/lifelogs.h"
#include "check/listings.h"
#include "disk/dat.h"
#include "disk/segsum.h"
#include "log/meta/bmapnode.h"
#include "vol/blockmap.h"
#include "vol/translate.h"

#define SECTOR 512u
#define DIRECT_MAX (NILFS_INODE_BMAP_SIZE - 1)

struct child {
	uint64_t key, vblocknr;
};

struct map {
	const struct check *c;
	struct volume *vol;
	uint64_t ino, cno;
	uint64_t blocks, end;		/* how many; past the last of data */
	unsigned int level;		/* the highest one; 0: data */
	struct child top[DIRECT_MAX];	/* its blocks */
	unsigned int ntop;		/* may be more than TOP has room for */
};

/* Adds the block of L if it lived: 1, 0 where the map cannot be determined. */
static int add_listing(struct map *f, struct context *cx,
		       const struct listing *l)
{
	struct nilfs_dat_entry de;
	uint64_t key = l->blkoff;
	unsigned int level = 0;
	int ret = translate_entry(f->vol, cx, l->number, &de);

	if (ret == -ENOENT) {
		fail_clear(cx);
		return 1;
	}
	if (ret)
		return ret;
	if (!dat_is_in(&de, f->cno) || le64_get(de.de_blocknr) != l->blocknr)
		return 1;
	if (l->is_node)
		ret = blockmap_identify(f->vol, cx, l->blocknr, &level, &key);
	else
		ret = 1;
	if (ret <= 0)
		return ret;
	f->blocks++;
	if (!level && key >= f->end)
		f->end = key + 1;
	if (level > f->level) {
		f->level = level;
		f->ntop = 0;
	}
	if (level == f->level && f->ntop++ < DIRECT_MAX)
		f->top[f->ntop - 1] = (struct child){ key, l->number };
	return 1;
}

static int compare_child(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* The root of the map; false where it has no room for all. */
static bool make_root(struct map *f, le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct bmapnode root = bmapnode_root(map);
	bool direct;
	unsigned int i;

	if (!f->ntop || f->ntop > DIRECT_MAX)
		return false;
	sort_in_place(f->top, f->ntop, sizeof(f->top[0]), compare_child);
	direct = !f->level && f->top[f->ntop - 1].key < DIRECT_MAX;
	if (!direct)
		bmapnode_init_root(&root, f->level + 1);
	for (i = 0; i < f->ntop; i++) {
		if (direct)
			map[1 + f->top[i].key] =
				le64_make(f->top[i].vblocknr);
		else if (i < root.max)
			bmapnode_insert(&root, i, f->top[i].key,
					f->top[i].vblocknr);
		else
			return false;
	}
	return true;
}

static bool is_below(const void *item, const void *key)
{
	const struct listing *listing = item;

	return listing->ino < *(const uint64_t *)key;
}

/* Adds what L, of derive_gather(), has of the file. */
static int add_listings(struct map *f, struct context *cx,
			const struct listings *l)
{
	size_t i = search_first(l->items, l->n, sizeof(*l->items), is_below,
				&f->ino);
	int ret = 1;

	for (; i < l->n && l->items[i].ino == f->ino && ret > 0; i++)
		ret = add_listing(f, cx, &l->items[i]);
	return ret;
}

static int gather_blocks(struct map *f, struct context *cx)
{
	struct listings l = { 0 };
	int ret = listings_of_inode(&l, cx, f->c, f->ino);

	if (!ret)
		ret = add_listings(f, cx, &l);
	listings_fini(&l);
	return ret;
}

/* When the log with the super root was made: 1, 0 where it is gone. */
static int find_time(struct map *f, struct context *cx, uint64_t segnum,
		     uint64_t *time)
{
	struct lifelogs l;
	struct log log;
	int ret = lifelogs_open(&l, cx, f->c, segnum);
	bool found = false;

	while (ret > 0 && !found && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		found = segsum_cno(&log.ss) == f->cno &&
			segsum_has_super_root(&log.ss);
		if (found)
			*time = le64_get(log.ss.ss_create);
	}
	lifelogs_close(&l);
	return ret < 0 ? ret : found;
}

static int make_entry(struct map *f, struct context *cx,
		      struct nilfs_checkpoint *cp)
{
	struct nilfs_inode *inode = &cp->cp_ifile_inode;
	uint64_t segnum, time = f->vol->latest.ctime;
	int ret = f->cno == f->vol->latest.cno;

	for (segnum = 0; segnum < f->vol->geo.nsegments && !ret; segnum++)
		ret = find_time(f, cx, segnum, &time);
	cp->cp_cno = le64_make(f->cno);
	cp->cp_create = le64_make(time);
	inode->i_mode = le16_make(S_IFREG);
	inode->i_links_count = le16_make(1);
	inode->i_blocks = le64_make(f->blocks *
				    (f->vol->geo.block_size / SECTOR));
	return ret < 0 ? ret : 1;
}

int derive_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      struct nilfs_checkpoint *cp)
{
	struct map f = {
		.c = c, .vol = c->vol, .ino = NILFS_IFILE_INO, .cno = cno,
	};
	int ret = gather_blocks(&f, cx);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	memset(cp, 0, sizeof(*cp));
	if (!make_root(&f, cp->cp_ifile_inode.i_bmap))
		return 0;
	return make_entry(&f, cx, cp);
}

static int compare_ino(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int derive_gather(struct listings *l, struct context *cx,
		  const struct check *c, const uint64_t *inos, size_t n)
{
	int err = listings_of_inodes(l, cx, c, inos, n);

	if (!err && l->n)
		sort_in_place(l->items, l->n, sizeof(*l->items), compare_ino);
	return err;
}

int derive_map(const struct check *c, struct context *cx,
	       const struct listings *l, uint64_t ino, uint64_t cno,
	       struct nilfs_inode *inode, uint64_t *end)
{
	struct map f = { .c = c, .vol = c->vol, .ino = ino, .cno = cno };
	int ret = l ? add_listings(&f, cx, l) : gather_blocks(&f, cx);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	memset(inode->i_bmap, 0, sizeof(inode->i_bmap));
	inode->i_blocks = le64_make(f.blocks *
				    (f.vol->geo.block_size / SECTOR));
	*end = f.end;
	return make_root(&f, inode->i_bmap);
}
