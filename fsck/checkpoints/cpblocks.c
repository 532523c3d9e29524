// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of the checkpoint file that a repair can use (fix_checkpoints.c): those
 * of its map, and older copies of them.
 *
 * Each checkpoint rewrites its block of the cpfile, with the entries of its
 * neighbours.  An entry hardly changes: it is created, may become a snapshot
 * and a plain checkpoint again, and is deleted.  So an old copy is right about
 * a checkpoint that still exists.  The blocks of the ifile of a deleted
 * checkpoint have ended and are reused; if all still exist, it is harmless to
 * restore the checkpoint.  A copy has no data about later checkpoints.
 *
 * A valid map leads to the right blocks, even if their content is wrong.  The logs
 * list more blocks: live ones that no map leads to, and older copies.  A hole in a
 * valid map was deleted with the last of its checkpoints and is not searched;
 * but the blocks with the header and with the latest checkpoint always exist.
 *
 * The super root leads to the cpfile, and only the cpfile to the ifile of the
 * state that a repair continues from.  If the entry of the latest checkpoint is
 * lost, the log of that checkpoint may have it, else it is derived from logs
 * and DAT.  A map may be valid and lead to other blocks; a comparison with the
 * logs shows that.
 */
#include "fsck/checkpoints/cpblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/mapcheck.h"
#include "check/vblocks.h"
#include "disk/bmap.h"
#include "fsck/derive/fileblocks.h"
#include "log/directwriter.h"
#include "vol/cptable.h"

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

	return b->ino != NILFS_CPFILE_INO || b->is_node ? 0 :
		array_push(cx, &s->copies, &s->ncopies, &s->copies_room, *b);
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

static bool is_listing_below(const void *item, const void *key)
{
	const struct listing *copy = item;

	return copy->blkoff < *(const uint64_t *)key;
}

/* The copy of BLKOFF after L, or the newest if L is NULL; or NULL. */
static const struct listing *next_copy(const struct cpblocks *s,
				       uint64_t blkoff, const struct listing *l)
{
	const struct listing *end = s->copies + s->ncopies;

	l = l ? l + 1
	      : s->copies + search_first(s->copies, s->ncopies, sizeof(*l),
					 is_listing_below, &blkoff);
	return l < end && l->blkoff == blkoff ? l : NULL;
}

/* Copies SIZE bytes at AT of the block that L lists: 1, 0 if it cannot be read. */
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

/* A walk through an ifile that ends at a missing block. */
struct following {
	const struct check *check;
	struct vblocks vblocks;
	uint64_t cno;
	bool has_root;		/* it has a block with the inode of the root */
};

static int cpblocks_visit_pointer(void *arg, struct context *cx,
				  const struct mapcheck_pointer *p,
				  uint64_t *blocknr, struct lifetime *life)
{
	struct following *f = arg;
	const struct volume *vol = f->check->vol;
	struct vblock vb;
	int state = vblocks_find(&f->vblocks, cx, p->ptr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&vol->geo, vb.blocknr) ||
	    !lifetime_has(&vb.life, f->cno))
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
		.vol = c->vol,
		.ino = NILFS_IFILE_INO,
		.visit = cpblocks_visit_pointer,
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
	/* Logs may be missing. */
	bool hidden = findings_have_area(c->findings, RULE_AREA_LOG, RULE_ERROR);
	struct vblocks vblocks;
	struct vblock vb;
	size_t i;
	int ret = cpblocks_load(s, cx, c);

	if (!ret)
		ret = liveblocks_gather(&s->live, cx, c, &q);
	if (!ret)
		ret = array_reserve(cx, &s->blkoffs, &s->room,
				    2 + l->n + l->nlost);
	if (!ret) {
		s->blkoffs[s->n++] = 0;
		s->blkoffs[s->n++] = checkpoint_blkoff(&c->vol->geo, q.cno);
	}
	for (i = 0; i < l->n && !ret; i++)
		s->blkoffs[s->n++] = l->list[i].blkoff;
	for (i = 0; i < l->nlost && !ret; i++)
		s->blkoffs[s->n++] = l->lost[i].blkoff;
	vblocks_init(&vblocks, c->vol, NULL);
	/* Adds blocks known from logs only.  If the newest copy of a block has
	   ended, it was deleted with the last of its checkpoints. */
	for (i = 0; i < s->ncopies && l->partial && ret >= 0; i++) {
		const struct listing *b = &s->copies[i];

		if (i && b[-1].blkoff == b->blkoff)
			continue;
		ret = vblocks_find(&vblocks, cx, b->number, &vb);
		if (ret >= 0 && (hidden || (ret == VBLOCKS_USED &&
					    vb.life.end == NILFS_CNO_MAX &&
					    vb.blocknr == b->blocknr)))
			ret = array_push(cx, &s->blkoffs, &s->n, &s->room,
					 b->blkoff);
	}
	vblocks_fini(&vblocks);
	s->n = sort_unique(s->blkoffs, s->n);
	return ret < 0 ? ret : 0;
}

int cpblocks_read(const struct cpblocks *s, struct context *cx,
		  struct cpblock *b)
{
	const struct liveblock *live = liveblocks_find(&s->live, b->blkoff);
	const struct listing *l = next_copy(s, b->blkoff, NULL);
	struct volume *vol = s->check->vol;
	const struct nilfs_geometry *geo = &vol->geo;
	uint64_t first = checkpoint_first(geo, b->blkoff), cno;
	uint64_t end = first + checkpoint_count(geo, b->blkoff);
	const struct nilfs_checkpoint *cp = NULL;
	uint32_t made = 0, right = 0;
	const void *block;
	int ret = 0;

	b->origin = CPBLOCKS_OLD;
	b->vblocknr = b->blocknr = b->written = b->newest = 0;
	if (live) {
		ret = cache_get(vol->cache, cx, live->blocknr, &block);
		if (ret)
			return ret;
		memcpy(b->data, block, geo->block_size);
		cache_put(vol->cache, block);
		/* Blocks of the map are the right ones. */
		b->origin = live->seq && live->vblocknr ? CPBLOCKS_FOUND :
							  CPBLOCKS_MAPPED;
		b->vblocknr = live->vblocknr;
		b->blocknr = live->blocknr;
		b->newest = l && l->blocknr == live->blocknr;
		while (l && l->blocknr != live->blocknr)
			l = next_copy(s, b->blkoff, l);
		b->written = l ? l->cno : 0;
	} else {
		for (; l && !ret; l = next_copy(s, b->blkoff, l))
			ret = read_copy(s, cx, l, 0, b->data, geo->block_size);
		if (ret < 0)
			return ret;
		/* As nilfs_cpfile_block_init(). */
		if (!ret)
			memset(b->data, 0, geo->block_size);
		for (cno = first; cno < end && !ret; cno++)
			cpblocks_at(geo, b->data, cno)->cp_flags =
				le32_make(1u << NILFS_CHECKPOINT_INVALID);
	}
	b->first = checkpoint_first_made(geo, b->blkoff, b->data);
	for (cno = b->first; cno < end && cno <= vol->latest.cno; cno++, made++) {
		cp = cpblocks_at(geo, b->data, cno);
		right += le64_get(cp->cp_cno) == cno &&
			 checkpoint_check(cp, cno) != RULE_CP_FLAGS;
	}
	b->foreign = right < made - made / 2;
	b->old = cp && checkpoint_is_invalid(cp) &&
		 !checkpoint_was_made(cp, cno - 1);
	return 0;
}

/* Whether live blocks cannot be determined, whatever the pointers are. */
static bool is_dat_lost(const struct check *c)
{
	return c->dat_broken || c->dat_bitmaps_lost;
}

/*
 * Finds the entry in the cpfile, else in older copies, logs and DAT; else
 * creates one without a map from the newest entry of the cpfile.
 */
static int find_latest_entry(struct context *cx, const struct check *c,
			     struct nilfs_checkpoint *cp)
{
	struct nilfs_inode *ifile = &cp->cp_ifile_inode;
	struct volume *vol = c->vol;
	uint64_t cno = vol->latest.cno;
	struct cpblocks copies = { 0 };
	struct nilfs_checkpoint next;
	struct cptable_cursor cur;
	const void *block;
	int ret = file_block(&vol->cpfile, cx,
			     checkpoint_blkoff(&vol->geo, cno), &block);

	if (ret > 0) {
		memcpy(cp, (const char *)block +
		       checkpoint_offset(&vol->geo, cno), sizeof(*cp));
		file_put(&vol->cpfile, block);
		if (checkpoint_check(cp, cno) != RULE_OK ||
		    checkpoint_is_invalid(cp))
			ret = cpblocks_is_followable(c, cx, cp, cno);
	}
	ret = damage_forgive(cx, ret);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = cpblocks_load(&copies, cx, c);
	if (!ret)
		ret = cpblocks_entry(&copies, cx, cno, 0, true, cp);
	if (ret > 0 && checkpoint_is_invalid(cp))
		ret = 0;
	cpblocks_fini(&copies);
	if (!ret && !is_dat_lost(c))
		ret = fileblocks_checkpoint(c, cx, cno, 0, cp);
	if (ret)
		return ret < 0 ? ret : 0;
	memset(cp, 0, sizeof(*cp));
	ifile->i_mode = le16_make(S_IFREG);
	ifile->i_links_count = le16_make(1);
	ret = cptable_cursor_open(&cur, cx, vol);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &next)) > 0) {
		ret = 0;
		if (S_ISREG(le16_get(next.cp_ifile_inode.i_mode)))
			*cp = next;
	}
	cptable_cursor_close(&cur);
	memset(ifile->i_bmap, 0, sizeof(ifile->i_bmap));
	ifile->i_blocks = le64_make(0);
	cp->cp_flags = le32_make(0);
	cp->cp_cno = le64_make(cno);
	return damage_forgive(cx, ret);
}

/* Marks INO for a rebuild unless the map of INODE leads to all of its blocks,
   by the logs if it is DOUBTED. */
static int judge_file(struct cpblocks_latest *k, struct context *cx,
		      const struct check *c, uint64_t ino,
		      const struct nilfs_inode *inode, unsigned int doubted)
{
	const struct liveblocks_question q = {
		.ino = ino,
		.inode = inode,
		.cno = c->vol->latest.cno,
		.read = findings_count(c->findings, RULE_DEV_UNREADABLE),
		.logs = doubted & DIRECTWRITER_FILE(ino),
	};
	struct liveblocks blocks = { 0 };
	int err = liveblocks_gather(&blocks, cx, c, &q);

	if (!liveblocks_is_whole(&blocks) || !blocks.n)
		k->rebuilt |= DIRECTWRITER_FILE(ino);
	if (k->rebuilt & DIRECTWRITER_FILE(ino) &&
	    (ino == NILFS_CPFILE_INO || !blocks.n ||
	     (bmap_is_btree(inode->i_bmap) && bmap_root_check(inode->i_bmap))))
		k->must |= DIRECTWRITER_FILE(ino);
	liveblocks_fini(&blocks);
	return err;
}

bool cpblocks_is_doubtful(const struct check *c)
{
	return is_dat_lost(c) ||
	       findings_have_stage(c->findings, RULE_STAGE_NUMBERS);
}

int cpblocks_find_latest(struct cpblocks_latest *k, struct context *cx,
			 const struct check *c, unsigned int doubted)
{
	struct volume *vol = c->vol;
	const struct liveblocks_question q = {
		.ino = NILFS_CPFILE_INO,
		.inode = &vol->cpfile.inode,
		.cno = vol->latest.cno,
	};
	/* The next log needs the header and the next checkpoint. */
	const uint64_t needed[] = {
		0, checkpoint_blkoff(&vol->geo, vol->latest.cno + 1),
	};
	struct liveblocks blocks = { 0 };
	const struct liveblock *b;
	const void *block;
	bool usable = true;
	size_t i;
	int ret;

	k->rebuilt = k->must = 0;
	ret = find_latest_entry(cx, c, &k->cp);
	if (ret || is_dat_lost(c))
		return ret;
	if (!cpblocks_is_doubtful(c)) {
		ret = judge_file(k, cx, c, NILFS_CPFILE_INO, q.inode, doubted);
		return ret ?: judge_file(k, cx, c, NILFS_IFILE_INO,
					 &k->cp.cp_ifile_inode, doubted);
	}
	/*
	 * A pointer leads to a number that is free.  If it is a wrong pointer
	 * of the cpfile, it is repaired together with the DAT, because no log
	 * could be written otherwise.  It is wrong if the block has another
	 * number that is live.
	 */
	ret = liveblocks_gather(&blocks, cx, c, &q);
	for (i = 0; i < blocks.nlost; i++) {
		b = liveblocks_find(&blocks, blocks.lost[i].blkoff);
		usable &= !b || !b->vblocknr;
	}
	for (i = liveblocks_is_whole(&blocks) ? 2 : 0; i < 2 && usable && !ret;
	     i++) {
		ret = file_block(&vol->cpfile, cx, needed[i], &block);
		if (ret > 0)
			file_put(&vol->cpfile, block);
		usable = !damage_is(ret);
		ret = ret > 0 ? 0 : damage_forgive(cx, ret);
	}
	liveblocks_fini(&blocks);
	if (!ret && !usable)
		k->rebuilt = k->must = DIRECTWRITER_FILE(NILFS_CPFILE_INO);
	return ret;
}
