// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files whose maps are to be repaired, and a first walk over these.
 *
 * Where a part of a map cannot be read, all that lies between the sound blocks
 * on either side of it is a gap, and not only what the nodes above say was
 * there: a key in one of them may be what is wrong.  So is what lies before a
 * block that is past the size, whose offset may be.  A directory has no holes.
 * Nor is a hole believed where the inode says that there are more blocks: a
 * node that has lost its last children looks as sound as any.
 *
 * Separating valid pointers of a map from invalid ones.
 *
 * The walk is that of the checker (mapcheck.h); only the criterion differs.
 * The nodes of a map that is repaired are all rewritten, so it does not matter
 * how long the old ones lived, or whether an entry of the DAT begins too late
 * for its holder: a pointer is valid if its block is in use, live, in a segment
 * in use, and has no other owner.
 */
#include "fsck/maps/mapfile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/mapcheck.h"
#include "disk/inode.h"
#include "log/inodes.h"

static bool is_below(const void *item, const void *key)
{
	const struct contested *b = item;

	return b->vblocknr < *(const uint64_t *)key;
}

int contested_add(struct mapfiles *m, struct context *cx, uint64_t vblocknr)
{
	if (array_reserve(cx, &m->contested, &m->contested_room,
			  m->ncontested + 1))
		return -ENOMEM;
	m->contested[m->ncontested++] = (struct contested){
		.vblocknr = vblocknr,
	};
	return 0;
}

static int compare_contested(const void *a, const void *b)
{
	const struct contested *x = a, *y = b;

	return x->vblocknr < y->vblocknr ? -1 : x->vblocknr > y->vblocknr;
}

void contested_settle(struct mapfiles *m)
{
	size_t i, kept = 0;

	sort_in_place(m->contested, m->ncontested, sizeof(*m->contested),
		      compare_contested);
	for (i = 0; i < m->ncontested; i++)
		if (!kept || m->contested[kept - 1].vblocknr !=
				     m->contested[i].vblocknr)
			m->contested[kept++] = m->contested[i];
	m->ncontested = kept;
}

struct contested *contested_find(const struct mapfiles *m, uint64_t vblocknr)
{
	size_t i = search_first(m->contested, m->ncontested,
				sizeof(*m->contested), is_below, &vblocknr);

	return i < m->ncontested && m->contested[i].vblocknr == vblocknr ?
		       &m->contested[i] : NULL;
}

static bool is_placed(const struct check *c, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	const struct bitmap *used = &c->used_segments;

	return geometry_has_block(g, blocknr) &&
	       (!used->bits ||
		bitmap_test(used, geometry_segment_of(g, blocknr)));
}

/* What the pointer P is worth, with the block that it leads to. */
static int judge_pointer(struct mapsift *s, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr)
{
	const struct contested *b = contested_find(s->m, p->ptr);
	struct vblock vb;
	int state = vblocks_find(&s->vblocks[p->level > 0], cx, p->ptr, &vb);

	if (state < 0)
		return state;
	if (state != VBLOCKS_USED || !is_placed(s->m->job->check, vb.blocknr))
		return MAPSIFT_LOST;
	*blocknr = vb.blocknr;
	if (!p->level && vb.end != NILFS_CNO_MAX)
		return MAPSIFT_LOST;
	if (!b || contested_is_of(b, s->ino, p->key, p->level))
		return MAPSIFT_SOUND;
	return b->known ? MAPSIFT_LOST : MAPSIFT_SHARED;
}

static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct mapsift *s = arg;
	int worth = judge_pointer(s, cx, p, blocknr), err;
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

static int skip_range(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct mapsift *s = arg;

	return s->gap(s->arg, cx, key, end);
}

int mapsift_run(struct mapsift *s, struct context *cx,
		const struct nilfs_inode *inode)
{
	struct mapcheck m = {
		.vol = s->m->job->vol,
		.ino = s->ino,
		.visit = visit_pointer,
		.skip = skip_range,
		.arg = s,
	};
	int ret;

	vblocks_init(&s->vblocks[0], s->m->job->vol, NULL);
	vblocks_init(&s->vblocks[1], s->m->job->vol, NULL);
	ret = mapcheck_run(&m, cx, inode);
	vblocks_fini(&s->vblocks[0]);
	vblocks_fini(&s->vblocks[1]);
	return ret < 0 ? ret : 0;
}

int mapfile_add(struct mapfiles *m, struct context *cx, uint64_t ino)
{
	if (m->n && m->list[m->n - 1].ino == ino)
		return 0;
	if (array_reserve(cx, &m->list, &m->room, m->n + 1))
		return -ENOMEM;
	m->list[m->n++] = (struct mapfile){ .ino = ino };
	return 0;
}

static int compare_mapfile(const void *a, const void *b)
{
	const struct mapfile *x = a, *y = b;

	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void mapfile_settle(struct mapfiles *m)
{
	size_t i, kept = 0;

	sort_in_place(m->list, m->n, sizeof(*m->list), compare_mapfile);
	for (i = 0; i < m->n; i++)
		if (!kept || m->list[kept - 1].ino != m->list[i].ino)
			m->list[kept++] = m->list[i];
	m->n = kept;
}

struct mapfile *mapfile_find(const struct mapfiles *m, uint64_t ino)
{
	const struct mapfile key = { .ino = ino };

	if (!m->n)
		return NULL;
	return bsearch(&key, m->list, m->n, sizeof(key), compare_mapfile);
}

void mapfile_fini(struct mapfiles *m)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		free(m->list[i].points);
		free(m->list[i].gaps);
		free(m->list[i].found);
		free(m->list[i].nodes);
	}
	free(m->list);
	free(m->contested);
}

static bool is_before(const void *item, const void *key)
{
	const struct mapfile_found *found = item;

	return found->blkoff < *(const uint64_t *)key;
}

const struct mapfile_found *mapfile_found(const struct mapfile *f,
					  uint64_t blkoff)
{
	size_t i = search_first(f->found, f->settled, sizeof(*f->found),
				is_before, &blkoff);

	return i < f->settled && f->found[i].blkoff == blkoff ? &f->found[i] :
								NULL;
}

/* The first walk over the map of a file. */
struct look {
	struct mapfile *f;
	uint64_t next;		/* one past the last sound block */
	bool gap;		/* after it something is wrong */
};

static int add_point(struct mapfile *f, struct context *cx, uint64_t blkoff,
		     uint64_t vblocknr)
{
	if (array_reserve(cx, &f->points, &f->points_room, f->npoints + 1))
		return -ENOMEM;
	f->points[f->npoints++] = (struct mapfile_point){ blkoff, vblocknr };
	return 0;
}

/* What lies between the last sound block and END, which comes after it. */
static int add_gap(struct look *l, struct context *cx, uint64_t end)
{
	struct mapfile *f = l->f;
	bool wrong = l->gap || f->is_dir;

	l->gap = false;
	f->broken |= wrong;
	if (!wrong && !f->doubtful)
		return 0;
	if (array_reserve(cx, &f->gaps, &f->gaps_room, f->ngaps + 1))
		return -ENOMEM;
	f->gaps[f->ngaps++] = (struct mapfile_gap){ l->next, end };
	return 0;
}

static int see_block(void *arg, struct context *cx,
		     const struct mapsift_block *b)
{
	struct look *l = arg;
	int err = 0;

	if (!mapfile_takes(l->f, b->blkoff, l->next)) {
		l->f->broken = l->gap = true;
		return 0;
	}
	l->f->broken |= b->worth != MAPSIFT_SOUND;
	if (b->worth == MAPSIFT_LOST)
		return add_point(l->f, cx, b->blkoff, b->vblocknr);
	if (b->blkoff > l->next)
		err = add_gap(l, cx, b->blkoff);
	l->gap = false;
	l->next = b->blkoff + 1;
	l->f->blocks++;
	return err;
}

static int see_node(void *arg, struct context *cx, uint64_t vblocknr)
{
	struct look *l = arg;

	(void)cx;
	(void)vblocknr;
	l->f->blocks++;
	return 0;
}

static int see_gap(void *arg, struct context *cx, uint64_t blkoff,
		   uint64_t end)
{
	struct look *l = arg;

	(void)cx;
	(void)blkoff;
	(void)end;
	l->f->broken = l->gap = true;
	return 0;
}

static int look_at_map(struct mapfiles *m, struct context *cx,
		       struct mapfile *f)
{
	struct look l = { .f = f };
	struct mapsift sift = {
		.m = m,
		.ino = f->ino,
		.block = see_block,
		.gap = see_gap,
		.node = see_node,
		.arg = &l,
	};
	int err = mapsift_run(&sift, cx, &f->inode);

	if (err)
		return err;
	if (f->is_link && !l.next && !f->npoints) {
		f->broken = true;
		return add_point(f, cx, 0, 0);
	}
	f->broken |= f->is_dir && l.next != f->limit;
	return l.next < f->limit ? add_gap(&l, cx, f->limit) : 0;
}

/* Takes over the inode: 1, 0 where it is not in use, or cannot be read. */
static int read_inode(struct mapfiles *m, struct context *cx,
		      struct mapfile *f)
{
	uint16_t mode;
	int err = inodes_read(m->job->writer, cx, f->ino, &f->inode);

	if (err == -ENOENT || err == -EUCLEAN || err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	mode = le16_get(f->inode.i_mode);
	f->is_dir = S_ISDIR(mode);
	f->is_link = S_ISLNK(mode);
	f->limit = div_round_up(le64_get(f->inode.i_size),
				m->job->vol->geo.block_size);
	return 1;
}

int mapfile_look(struct mapfiles *m, struct context *cx)
{
	size_t i, kept = 0;
	int ret = 0;

	for (i = 0; i < m->n && ret >= 0; i++) {
		struct mapfile *f = &m->list[kept];

		*f = m->list[i];
		ret = read_inode(m, cx, f);
		if (ret <= 0)
			continue;
		kept++;
		if (inode_has_bmap(&f->inode))
			ret = look_at_map(m, cx, f);
	}
	m->n = kept;
	return ret < 0 ? ret : 0;
}
