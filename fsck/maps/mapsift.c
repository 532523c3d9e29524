// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wheat and chaff of a map.
 *
 * The walk is that of the checker (mapcheck.h); what differs is the question.
 * The nodes of a map that is repaired are all rewritten, so it does not matter
 * how long the old ones lived, or whether an entry of the DAT begins too late
 * for its holder: a pointer is sound if what it leads to is in use, lives now,
 * lies where something lives, and is nobody else's.
 */
#include "fsck/maps/mapsift.h"

#include "check/mapcheck.h"
#include "find/finding.h"

static bool is_placed(const struct check *c, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	const struct bitmap *used = &c->used_segments;

	return geometry_has_block(g, blocknr) &&
	       (!used->bits ||
		bitmap_test(used, geometry_segment_of(g, blocknr)));
}

/* What the pointer P is worth, with the block that it leads to. */
static int judge(struct mapsift *s, struct context *cx,
		 const struct mapcheck_pointer *p, uint64_t *blocknr)
{
	const struct contested_block *b = contested_find(s->contested, p->ptr);
	struct vblock vb;
	int state = vblocks_find(&s->vblocks[p->level > 0], cx, p->ptr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED || !is_placed(s->check, vb.blocknr))
		return MAPSIFT_LOST;
	*blocknr = vb.blocknr;
	if (!p->level && vb.end != NILFS_CNO_MAX)
		return MAPSIFT_LOST;
	if (!b || contested_is_of(b, s->ino, p->key, p->level))
		return MAPSIFT_SOUND;
	return b->known ? MAPSIFT_LOST : MAPSIFT_SHARED;
}

static int visit(void *arg, struct context *cx,
		 const struct mapcheck_pointer *p, uint64_t *blocknr,
		 struct lifetime *life)
{
	struct mapsift *s = arg;
	int worth = judge(s, cx, p, blocknr), err;
	struct mapsift_block b = {
		.blkoff = p->key,
		.vblocknr = p->ptr,
		.worth = (enum mapsift_worth)worth,
	};

	if (worth < 0)
		return worth;
	*life = p->within;
	if (!p->level) {
		b.blocknr = worth == MAPSIFT_LOST ? 0 : *blocknr;
		return s->block(s->arg, cx, &b);
	}
	if (worth == MAPSIFT_SOUND && s->node) {
		err = s->node(s->arg, cx, p->ptr);
		if (err)
			return err;
	}
	return worth != MAPSIFT_LOST;
}

static int skip(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct mapsift *s = arg;

	return s->gap(s->arg, cx, key, end);
}

static void keep_silent(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

int mapsift_run(struct mapsift *s, struct context *cx,
		const struct nilfs_inode *inode)
{
	struct mapcheck m = {
		.vol = s->check->vol,
		.ino = s->ino,
		.visit = visit,
		.skip = skip,
		.arg = s,
	};
	int ret = findings_open(&m.findings, cx, keep_silent, NULL, false);

	vblocks_init(&s->vblocks[0], s->check->vol);
	vblocks_init(&s->vblocks[1], s->check->vol);
	if (!ret)
		ret = mapcheck_run(&m, cx, inode);
	vblocks_fini(&s->vblocks[0]);
	vblocks_fini(&s->vblocks[1]);
	findings_close(m.findings);
	return ret < 0 ? ret : 0;
}
