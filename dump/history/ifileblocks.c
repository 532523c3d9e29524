// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks with the inodes of a checkpoint whose ifile is damaged.
 *
 * The map of the ifile leads to its blocks.  Logs list the same blocks and older
 * versions of them.  For each block the first candidate is taken that is plausible,
 * or in a log with the right checksum: that of the map, then those of logs, the newest
 * first.  The bytes decide before the checksum, because that is wrong if any other
 * block of the log is damaged, and takes reading the whole log.
 */
#include "dump/history/ifileblocks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/volume.h"

/* Versions of a block that are kept if all of them exceed the memory budget. */
#define VERSIONS_KEPT 8u

struct version {
	uint64_t blkoff;
	uint64_t cno;		/* UINT64_MAX: as the map says */
	uint64_t seq;
	uint64_t blocknr;	/* 0: none, the map is damaged */
	uint32_t index;		/* in its log */
};

struct versions {
	struct version *items;
	size_t count, room;
};

/* By block, then the newest first. */
static int compare_version(const void *a, const void *b)
{
	const struct version *x = a, *y = b;

	return sort_order(x->blkoff, y->blkoff) ?: sort_order(y->cno, x->cno) ?:
	       sort_order(y->seq, x->seq) ?: sort_order(y->blocknr, x->blocknr);
}

static int push_version(struct versions *v, struct context *cx,
			const struct version *version)
{
	const size_t most = cx->max_memory / 2 / sizeof(*version);
	size_t i, kept = 0, of_block = 0;

	if (v->count >= most) {
		sort_in_place(v->items, v->count, sizeof(*v->items),
			      compare_version);
		for (i = 0; i < v->count; i++) {
			of_block = i && v->items[i].blkoff ==
					v->items[i - 1].blkoff ? of_block + 1 : 0;
			if (of_block < VERSIONS_KEPT)
				v->items[kept++] = v->items[i];
		}
		v->count = kept;
		if (kept >= most / 4 * 3)
			return fail(cx, -ENOMEM, "blocks of inode files in logs");
	}
	if (array_reserve(cx, &v->items, &v->room, v->count + 1))
		return -ENOMEM;
	v->items[v->count++] = *version;
	return 0;
}

static bool has_inodes(const struct volume *vol, uint64_t blkoff,
		       struct palloc_block *where)
{
	if (!palloc_has_block(&vol->ifile_palloc, blkoff))
		return false;
	palloc_locate(&vol->ifile_palloc, blkoff, where);
	return where->kind == PALLOC_ENTRIES;
}

int ifileblocks_of_log(struct logitems *logs, struct context *cx,
		       const struct segsum_block *b, struct palloc_block *where,
		       const void **block)
{
	int err;

	if (b->ino != NILFS_IFILE_INO || b->is_node ||
	    !has_inodes(logs->vol, b->blkoff, where))
		return 0;
	err = cache_get(logs->vol->cache, cx, logs->at.log.pseg + b->index,
			block);
	return err ? damage_forgive(cx, err) : 1;
}

/* Collects the versions of all blocks, from the map and from logs. */
static int gather_versions(struct versions *v, struct context *cx,
			   struct root *root, struct logitems *logs)
{
	struct version version = { .cno = UINT64_MAX };
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct palloc_block where;
	struct segsum_block b;
	struct context quiet;
	int ret, err = 0;

	/* Blocks below a damaged node are looked up later. */
	context_child(cx, &quiet);
	ret = blockmap_cursor_open(&cur, &quiet, &root->ifile.map, 0, false);
	while (!ret && !err &&
	       (ret = blockmap_cursor_next(&cur, &quiet, &item)) > 0) {
		ret = context_cancelled(cx);
		version.blkoff = item.key;
		if (blockmap_resolve(&root->ifile.map, &quiet, item.ptr,
				     &version.blocknr))
			version.blocknr = 0;
		if (has_inodes(root->vol, item.key, &where))
			err = push_version(v, cx, &version);
	}
	blockmap_cursor_close(&cur);
	if (ret == -EINTR || ret == -ENOMEM)
		err = ret;
	logitems_rewind(logs);
	while (!err && (ret = logitems_next(logs, cx, &b))) {
		version = (struct version){
			.blkoff = b.blkoff,
			.cno = logitems_cno(logs, &b),
			.seq = logs->at.log.seq,
			.blocknr = logs->at.log.pseg + b.index,
			.index = b.index,
		};
		err = ret < 0 ? ret : 0;
		if (ret > 0 && b.ino == NILFS_IFILE_INO && !b.is_node &&
		    version.cno <= root->cno &&
		    has_inodes(root->vol, b.blkoff, &where))
			err = push_version(v, cx, &version);
	}
	if (!err && v->count)
		sort_in_place(v->items, v->count, sizeof(*v->items),
			      compare_version);
	return err;
}

enum judgement { BAD, PARTLY, SOUND };

/* Whether the inodes in BLOCK are plausible: all, or most of them. */
static enum judgement judge_block(const struct volume *vol, const char *block,
				  const struct palloc_block *where)
{
	const struct nilfs_inode *inode;
	uint64_t i, good = 0, bad = 0;
	bool empty = true;

	for (i = 0; i < where->count; i++) {
		inode = (const void *)(block + i * vol->geo.inode_size);
		empty &= inode_is_empty(inode);
		if (!le16_get(inode->i_links_count))
			continue;
		if (inode_check(&vol->geo, inode, where->first + i) == RULE_OK)
			good++;
		else
			bad++;
	}
	return empty || (bad && bad >= good) ? BAD : bad ? PARTLY : SOUND;
}

/*
 * Chooses one of the N versions V of a block: 1 and *CHOSEN, 0 if none can be used.
 * -ENOMEM, -EINTR.
 */
static int choose_version(struct root *root, struct context *cx,
			  struct logitems *logs, const struct version *v,
			  size_t n, const struct palloc_block *where,
			  const struct version **chosen)
{
	struct volume *vol = root->vol;
	const struct version *partly = NULL;
	enum judgement judgement;
	const void *block;
	uint32_t index;
	size_t i, k;
	int ret;

	for (i = 0; i < n; i++) {
		ret = !v[i].blocknr ? -ENOENT :
		      cache_get(vol->cache, cx, v[i].blocknr, &block);
		if (ret) {
			ret = damage_forgive(cx, ret);
			if (ret)
				return ret;
			continue;
		}
		judgement = judge_block(vol, block, where);
		cache_put(vol->cache, block);
		*chosen = &v[i];
		if (judgement == SOUND)
			return 1;
		/* The version of the map is also among those of the logs. */
		for (k = n - 1; k > i && v[k].blocknr != v[i].blocknr;)
			k--;
		index = v[k].index;
		ret = !index ? 0 :
		      logitems_is_proven(logs, cx, v[i].blocknr - index);
		if (ret)
			return ret;
		if (judgement == PARTLY && !partly)
			partly = &v[i];
	}
	*chosen = partly;
	return partly != NULL;
}

/* Whether the bitmap says that none of the inodes is in use. */
static bool is_unused(struct root *root, struct context *cx,
		      const struct palloc_block *where)
{
	const struct palloc *p = &root->vol->ifile_palloc;
	const uint64_t group = palloc_group(p, where->first);
	const uint32_t first = palloc_group_offset(p, where->first);
	struct context quiet;
	const void *bitmap;
	bool unused;

	context_child(cx, &quiet);
	if (!file_is_counted(&root->ifile, &quiet, p, group) ||
	    file_block(&root->ifile, &quiet, palloc_bitmap_blkoff(p, group),
		       &bitmap) <= 0)
		return false;
	unused = !palloc_count_range(bitmap, first,
				     first + (uint32_t)where->count);
	file_put(&root->ifile, bitmap);
	return unused;
}

int ifileblocks_find(struct root *root, struct context *cx,
		     struct logitems *logs, struct extent **extents,
		     struct inoset *stale, ifileblocks_damage *damage,
		     void *arg)
{
	struct versions all = { .count = 0 };
	const struct version *v, *chosen = NULL;
	struct palloc_block where;
	struct extent *last;
	size_t i, n, room = 0, count = 0;
	uint64_t cno;
	int ret = gather_versions(&all, cx, root, logs);

	*extents = NULL;
	if (!ret)
		ret = array_reserve(cx, extents, &room, 1);
	for (i = 0; i < all.count && ret >= 0; i += n) {
		v = &all.items[i];
		for (n = 1; i + n < all.count && v[n].blkoff == v->blkoff;)
			n++;
		palloc_locate(&root->vol->ifile_palloc, v->blkoff, &where);
		ret = choose_version(root, cx, logs, v, n, &where, &chosen);
		cno = v->cno == UINT64_MAX && n > 1 ? v[1].cno : v->cno;
		if (!ret && !is_unused(root, cx, &where))
			damage(arg, where.first, where.first + where.count - 1,
			       0);
		if (ret > 0 && chosen != v && chosen->cno < cno) {
			damage(arg, where.first, where.first + where.count - 1,
			       chosen->cno);
			ret = inoset_add(stale, cx, v->blkoff);
		}
		if (ret <= 0)
			continue;
		ret = array_reserve(cx, extents, &room, count + 1);
		last = count ? &(*extents)[count - 1] : NULL;
		if (last && last->blkoff + last->count == v->blkoff &&
		    last->blocknr + last->count == chosen->blocknr)
			last->count++;
		else if (!ret)
			(*extents)[count++] = (struct extent){
				v->blkoff, chosen->blocknr, 1,
			};
	}
	free(all.items);
	if (ret < 0)
		return ret;
	root->ifile.extents = *extents;
	root->ifile.nextents = count;
	root->ifile.memo_filled = 0;
	return 0;
}
