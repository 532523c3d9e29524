// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The remaining blocks of the checkpoint file.
 *
 * Each checkpoint writes its block of the cpfile again, with the entries of its
 * neighbours as they were then.  Little of an entry ever changes: it is made
 * once, may become a snapshot and a plain checkpoint again, and is deleted.  So
 * an old copy is right about a checkpoint that still exists, and one that was
 * deleted shows in its ifile, whose blocks have ended and are given to others
 * as soon as a cleaner needs them.  If all are still there, nothing is lost by
 * calling the checkpoint back.  Of checkpoints that were made after the copy it
 * says nothing.
 *
 * Blocks to which the map leads are the right ones, whatever their content.
 * The logs list others: those that are live although nothing leads to them, and
 * older copies.  A block that is a hole in a sound map was deleted with the
 * last of its checkpoints, and is not searched; but the blocks with the header
 * and with the latest checkpoint always exist.
 */
#include "fsck/checkpoints/cpblocks.h"

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

static int take_copy(void *arg, struct context *cx, const struct listing *b)
{
	struct cpblocks *s = arg;

	if (b->ino != NILFS_CPFILE_INO || b->is_node)
		return 0;
	if (array_reserve(cx, &s->copies, &s->copies_room, s->ncopies + 1))
		return -ENOMEM;
	s->copies[s->ncopies++] = *b;
	return 0;
}

int cpblocks_load(struct cpblocks *s, struct context *cx,
		  const struct check *c)
{
	int err;

	s->check = c;
	err = listings_visit(c, cx, take_copy, s);
	sort_in_place(s->copies, s->ncopies, sizeof(*s->copies),
		      compare_copies);
	return err;
}

void cpblocks_fini(struct cpblocks *s)
{
	liveblocks_fini(&s->live);
	free(s->copies);
	free(s->blkoffs);
	*s = (struct cpblocks){ 0 };
}

static bool is_below(const void *item, const void *key)
{
	const struct listing *copy = item;

	return copy->blkoff < *(const uint64_t *)key;
}

/* The copy of BLKOFF after L, of NULL the newest; or NULL. */
static const struct listing *next_copy(const struct cpblocks *s,
				       uint64_t blkoff, const struct listing *l)
{
	const struct listing *end = s->copies + s->ncopies;

	l = l ? l + 1 : s->copies + search_first(s->copies, s->ncopies,
						 sizeof(*l), is_below, &blkoff);
	return l < end && l->blkoff == blkoff ? l : NULL;
}

bool cpblocks_is_newest(const struct cpblocks *s, uint64_t blkoff,
			uint64_t blocknr)
{
	const struct listing *l = next_copy(s, blkoff, NULL);

	return l && l->blocknr == blocknr;
}

/* Copies the SIZE bytes at AT of the block that L lists: 1, 0 where it cannot be
   read. */
static int read_copy(const struct cpblocks *s, struct context *cx,
		     const struct listing *l, size_t at, void *buf, size_t size)
{
	struct cache *cache = s->check->vol->cache;
	const void *data;
	int err = cache_get(cache, cx, l->blocknr, &data);

	if (err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	memcpy(buf, (const char *)data + at, size);
	cache_put(cache, data);
	return 1;
}

int cpblocks_entry(const struct cpblocks *s, struct context *cx, uint64_t cno,
		   uint64_t except, bool follow, struct nilfs_checkpoint *cp)
{
	const struct volume *vol = s->check->vol;
	uint64_t blkoff = checkpoint_blkoff(&vol->geo, cno);
	size_t at = checkpoint_offset(&vol->geo, cno);
	const struct listing *l = next_copy(s, blkoff, NULL);
	enum rule rule;
	int ret = 0;

	for (; l && !ret; l = next_copy(s, blkoff, l)) {
		if (l->blocknr == except)
			continue;
		ret = read_copy(s, cx, l, at, cp, sizeof(*cp));
		if (ret <= 0)
			continue;
		rule = checkpoint_check(cp, cno);
		ret = checkpoint_was_made(cp, cno) &&
		      (rule == RULE_OK || rule == RULE_CP_SNAPSHOT_LIST);
		if (ret && follow && !checkpoint_is_invalid(cp) &&
		    cno != vol->latest.cno)
			ret = cpblocks_is_followable(s->check, cx, cp, cno);
	}
	return ret;
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

int cpblocks_is_followable(const struct check *c, struct context *cx,
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

static int add_block(struct cpblocks *s, struct context *cx, uint64_t blkoff)
{
	if (array_reserve(cx, &s->blkoffs, &s->room, s->n + 1))
		return -ENOMEM;
	s->blkoffs[s->n++] = blkoff;
	return 0;
}

/*
 * Adds the blocks that only logs know.  One whose newest copy has ended was
 * deleted, when the last of its checkpoints was; unless logs may be missing.
 */
static int add_copies(struct cpblocks *s, struct context *cx)
{
	bool hidden = findings_have_area(s->check->findings, RULE_AREA_LOG,
					 RULE_ERROR);
	struct vblocks vblocks;
	struct vblock vb;
	size_t i;
	int ret = 0;

	vblocks_init(&vblocks, s->check->vol, NULL);
	for (i = 0; i < s->ncopies && ret >= 0; i++) {
		const struct listing *b = &s->copies[i];

		if (i && b[-1].blkoff == b->blkoff)
			continue;
		ret = vblocks_find(&vblocks, cx, b->number, &vb);
		if (hidden || (ret == VBLOCKS_USED &&
			       vb.end == NILFS_CNO_MAX &&
			       vb.blocknr == b->blocknr))
			ret = add_block(s, cx, b->blkoff);
	}
	vblocks_fini(&vblocks);
	return ret < 0 ? ret : 0;
}

int cpblocks_init(struct cpblocks *s, struct context *cx,
		  const struct check *c)
{
	const struct liveblocks_question q = {
		.ino = NILFS_CPFILE_INO,
		.inode = &c->vol->cpfile.inode,
		.cno = c->vol->latest.cno,
		.read = true,
		.logs = true,
	};
	const struct liveblocks *l = &s->live;
	size_t i;
	int err;

	err = cpblocks_load(s, cx, c);
	if (!err)
		err = liveblocks_gather(&s->live, cx, c, &q);
	if (!err)
		err = add_block(s, cx, 0);
	if (!err)
		err = add_block(s, cx, checkpoint_blkoff(&c->vol->geo,
							 c->vol->latest.cno));
	for (i = 0; i < l->n && !err; i++)
		err = add_block(s, cx, l->list[i].blkoff);
	for (i = 0; i < l->nlost && !err; i++)
		err = add_block(s, cx, l->lost[i].blkoff);
	if (l->partial && !err)
		err = add_copies(s, cx);
	s->n = sort_unique(s->blkoffs, s->n);
	return err;
}

int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b)
{
	const struct liveblock *live = liveblocks_find(&s->live, b->blkoff);
	const struct listing *l = next_copy(s, b->blkoff, NULL);
	struct volume *vol = s->check->vol;
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t cno = checkpoint_first(geo, b->blkoff);
	uint32_t left = checkpoint_count(geo, b->blkoff);
	const void *block;
	int ret = 0;

	b->origin = CPBLOCKS_OLD;
	b->vblocknr = b->blocknr = b->written = 0;
	if (!live) {
		for (; l && !ret; l = next_copy(s, b->blkoff, l))
			ret = read_copy(s, cx, l, 0, b->data, geo->block_size);
		if (ret)
			return ret < 0 ? ret : 0;
		/* As nilfs_cpfile_block_init(). */
		memset(b->data, 0, geo->block_size);
		for (; left--; cno++)
			cpblocks_at(geo, b->data, cno)->cp_flags =
				le32_make(1u << NILFS_CHECKPOINT_INVALID);
		return 0;
	}
	ret = cache_get(vol->cache, cx, live->blocknr, &block);
	if (ret)
		return ret;
	memcpy(b->data, block, geo->block_size);
	cache_put(vol->cache, block);
	/* Blocks named by the map are the right ones. */
	b->origin = live->seq && live->vblocknr ? CPBLOCKS_FOUND :
						  CPBLOCKS_MAPPED;
	b->vblocknr = live->vblocknr;
	b->blocknr = live->blocknr;
	while (l && l->blocknr != live->blocknr)
		l = next_copy(s, b->blkoff, l);
	b->written = l ? l->cno : 0;
	return 0;
}
