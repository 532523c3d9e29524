// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the logs remember of checkpoints.
 *
 * Each checkpoint writes its block of the cpfile again, with the entries of its
 * neighbours as they were then.  Little of an entry ever changes: it is made
 * once, may become a snapshot and a plain checkpoint again, and is deleted.  So
 * an old copy is right about a checkpoint that still exists, and one that was
 * deleted shows in its ifile, whose blocks have ended and are given to others
 * as soon as a cleaner needs them.  If all are still there, nothing is lost by
 * calling the checkpoint back.
 */
#include "fsck/checkpoints/cpcopies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "disk/checkpoint.h"

static int compare_copies(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	if (x->blkoff != y->blkoff)
		return x->blkoff < y->blkoff ? -1 : 1;
	return listing_is_older(x, y) ? 1 : listing_is_older(y, x) ? -1 : 0;
}

static int take_listing(void *arg, struct context *cx, const struct listing *b)
{
	struct cpcopies *copies = arg;

	if (b->ino != NILFS_CPFILE_INO || b->is_node)
		return 0;
	if (array_reserve(cx, &copies->list, &copies->room, copies->n + 1))
		return -ENOMEM;
	copies->list[copies->n++] = *b;
	return 0;
}

int cpcopies_load(struct cpcopies *copies, struct context *cx,
		  const struct check *c)
{
	int err;

	copies->check = c;
	err = listings_visit(c, cx, take_listing, copies);
	sort_in_place(copies->list, copies->n, sizeof(*copies->list),
		      compare_copies);
	return err;
}

void cpcopies_fini(struct cpcopies *copies)
{
	free(copies->list);
	*copies = (struct cpcopies){ 0 };
}

static bool is_below(const void *item, const void *key)
{
	const struct listing *copy = item;

	return copy->blkoff < *(const uint64_t *)key;
}

/* Index of the newest copy of BLKOFF, or where it would be. */
static size_t find_first(const struct cpcopies *copies, uint64_t blkoff)
{
	return search_first(copies->list, copies->n, sizeof(*copies->list),
			    is_below, &blkoff);
}

static bool has_copy(const struct cpcopies *copies, size_t i, uint64_t blkoff)
{
	return i < copies->n && copies->list[i].blkoff == blkoff;
}

/* Borrows copy I: 1, 0 where it cannot be read, or a failure. */
static int borrow_copy(const struct cpcopies *copies, struct context *cx,
		       size_t i, const void **data)
{
	int err = cache_get(copies->check->vol->cache, cx,
			    copies->list[i].blocknr, data);

	if (err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	return err ? err : 1;
}

int cpcopies_read(const struct cpcopies *copies, struct context *cx,
		  uint64_t blkoff, void *buf)
{
	const struct volume *vol = copies->check->vol;
	size_t i;
	const void *data;
	int ret = 0;

	for (i = find_first(copies, blkoff);
	     has_copy(copies, i, blkoff) && !ret; i++)
		ret = borrow_copy(copies, cx, i, &data);
	if (ret <= 0)
		return ret;
	memcpy(buf, data, vol->geo.block_size);
	cache_put(vol->cache, data);
	return 1;
}

uint64_t cpcopies_written(const struct cpcopies *copies, uint64_t blkoff,
			  uint64_t blocknr)
{
	size_t i;

	for (i = find_first(copies, blkoff); has_copy(copies, i, blkoff); i++)
		if (copies->list[i].blocknr == blocknr)
			return copies->list[i].cno;
	return 0;
}

bool cpcopies_is_newest(const struct cpcopies *copies, uint64_t blkoff,
			uint64_t blocknr)
{
	size_t i = find_first(copies, blkoff);

	return has_copy(copies, i,
			blkoff) && copies->list[i].blocknr == blocknr;
}

/* An entry that was made for CNO, valid or not. */
static bool is_made(const struct nilfs_checkpoint *cp, uint64_t cno)
{
	enum rule rule = checkpoint_check(cp, cno);

	return le64_get(cp->cp_cno) == cno &&
	       (rule == RULE_OK || rule == RULE_CP_SNAPSHOT_LIST);
}

/* The entry of CNO in copy I, if it was made: 1, 0, or a failure. */
static int read_entry(const struct cpcopies *copies, struct context *cx,
		      size_t i, uint64_t cno, struct nilfs_checkpoint *cp)
{
	const struct volume *vol = copies->check->vol;
	const void *data;
	int ret = borrow_copy(copies, cx, i, &data);

	if (ret <= 0)
		return ret;
	memcpy(cp, (const char *)data + checkpoint_offset(&vol->geo, cno),
	       sizeof(*cp));
	cache_put(vol->cache, data);
	return is_made(cp, cno);
}

int cpcopies_entry(const struct cpcopies *copies, struct context *cx,
		   uint64_t cno, uint64_t except, struct nilfs_checkpoint *cp)
{
	const struct volume *vol = copies->check->vol;
	uint64_t blkoff = checkpoint_blkoff(&vol->geo, cno);
	size_t i;
	int ret = 0;

	for (i = find_first(copies, blkoff);
	     has_copy(copies, i, blkoff) && !ret; i++) {
		if (copies->list[i].blocknr == except)
			continue;
		ret = read_entry(copies, cx, i, cno, cp);
		if (ret > 0 && checkpoint_is_invalid(cp))
			return 0;
		if (ret > 0 && cno != vol->latest.cno)
			ret = cpcopies_is_followable(copies->check, cx, cp,
						     cno);
	}
	return ret;
}

/* All of an entry that is never changed once it is made. */
static bool is_same(const struct nilfs_checkpoint *a,
		    const struct nilfs_checkpoint *b)
{
	const size_t at = offsetof(struct nilfs_checkpoint, cp_cno);

	return !memcmp((const char *)a + at, (const char *)b + at,
		       sizeof(*a) - at);
}

int cpcopies_has(const struct cpcopies *copies, struct context *cx,
		 const struct nilfs_checkpoint *cp, uint64_t cno,
		 uint64_t except)
{
	uint64_t blkoff = checkpoint_blkoff(&copies->check->vol->geo, cno);
	struct nilfs_checkpoint old;
	size_t i;
	int ret = 0;

	for (i = find_first(copies, blkoff);
	     has_copy(copies, i, blkoff) && !ret; i++)
		if (copies->list[i].blocknr != except)
			ret = read_entry(copies, cx, i, cno, &old);
	return ret <= 0 ? ret : is_same(cp, &old);
}

/* A walk through an ifile that ends where something is missing. */
struct following {
	const struct check *check;
	struct vblocks vblocks;
	uint64_t cno;
	bool has_root;		/* a block with the inode of the root */
};

static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct following *f = arg;
	const struct volume *vol = f->check->vol;
	struct vblock vb;
	int state = vblocks_find(&f->vblocks, cx, p->ptr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&vol->geo, vb.blocknr) ||
	    vb.start > f->cno || vb.end <= f->cno)
		return -ENOENT;
	f->has_root |= !p->level && p->key == palloc_entry_blkoff(
					&vol->ifile_palloc, NILFS_ROOT_INO);
	*blocknr = vb.blocknr;
	*life = p->within;
	return 1;
}

int cpcopies_is_followable(const struct check *c, struct context *cx,
			   const struct nilfs_checkpoint *cp, uint64_t cno)
{
	struct following f = { .check = c, .cno = cno };
	struct mapcheck m = {
		.vol = c->vol, .ino = NILFS_IFILE_INO, .visit = visit_pointer,
		.arg = &f,
	};
	int ret;

	vblocks_init(&f.vblocks, c->vol, NULL);
	ret = mapcheck_run(&m, cx, &cp->cp_ifile_inode);
	vblocks_fini(&f.vblocks);
	if (ret == -ENOENT)
		return 0;
	return ret < 0 ? ret : !ret && f.has_root;
}
