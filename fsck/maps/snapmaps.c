// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of the maps of files of snapshots that the logs do not explain, for
 * fix_maps().
 *
 * A map is rebuilt from its valid parts, and from blocks that the logs list
 * for the file and that existed in the checkpoint.  Other blocks become holes.
 * The new nodes have the lifetime of the old ones, so that all snapshots with
 * the map get the same new one; a check reports only one of them.
 *
 * A size before the last block becomes that of the blocks.
 *
 * A pointer of a root without nodes is removed if the log of its block lists it
 * for another place.  Direct maps keep their pointers.  Files whose inodes the
 * latest state shares are repaired after it (snapblocks.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/maps/mapfile.h"
#include "fsck/snapshots/snapblocks.h"
#include "log/directwriter.h"
#include "log/meta/bmapbuild.h"
#include "vol/cptable.h"
#include "vol/root.h"

#define SECTOR 512u

/* A file with findings in a checkpoint. */
struct snapmap {
	uint64_t ino, cno;
	struct nilfs_inode was, is;	/* the inode before and after */
	struct lifetime life;		/* of its map */
	struct numlist shared_blocks;	/* pointers that the logs decide */
	uint64_t end;			/* of blocks after the size, or 0 */
	bool changed;
};

struct snapbuild {
	struct fixer_job *job;
	const struct snapmap *s;
	const struct liveblocks *l;
	struct bmapbuild *map;
	struct vblocks vblocks;
	size_t at;		/* position of the merge in the list of L */
	uint64_t blocks, walked, found;
};

static int snapmaps_compare(const void *a, const void *b)
{
	const struct snapmap *x = a, *y = b;

	if (x->cno != y->cno)
		return x->cno < y->cno ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Reads inode and lifetimes of S: 1 if its map may be rebuilt now, 0. */
static int snapmaps_open(struct snapmap *s, struct context *cx,
			 struct fixer_job *job)
{
	struct snapblocks probe = { .job = job };
	struct snapblocks_block *b;
	struct vblocks vblocks;
	struct bmap_node top;
	struct vblock vb;
	struct root root;
	bool known = false;
	uint32_t i;
	int ret = root_open(&root, cx, job->vol, s->cno) ?:
		  root_inode_bytes(&root, cx, s->ino, &s->was);

	if (ret > 0)
		ret = snapblocks_change_in(
			&probe, cx, &root.ifile,
			palloc_entry_blkoff(&job->vol->ifile_palloc, s->ino),
			&b);
	if (ret > 0)
		s->life = b->life;
	snapblocks_fini(&probe);
	s->is = s->was;
	if (ret <= 0 || !inode_has_bmap(&s->was))
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	if (!bmap_is_btree(s->was.i_bmap))
		return 1;
	if (bmap_root_check(s->was.i_bmap) != RULE_OK)
		return 0;
	bmap_root_read(s->was.i_bmap, &top);
	vblocks_init(&vblocks, job->vol, NULL);
	for (i = 0, ret = 0; i < top.nchildren && ret >= 0; i++) {
		if (top.level == NILFS_BTREE_LEVEL_NODE_MIN) {
			ret = numlist_add(&s->shared_blocks, cx,
					  bmap_node_ptr(&top, i));
			continue;
		}
		ret = vblocks_find(&vblocks, cx, bmap_node_ptr(&top, i), &vb);
		/* The map exists in all checkpoints that have these nodes. */
		if (ret != VBLOCKS_USED || !lifetime_has(&vb.life, s->cno) ||
		    vb.life.end == NILFS_CNO_MAX)
			continue;
		if (!known || vb.life.start > s->life.start)
			s->life.start = vb.life.start;
		if (!known || vb.life.end < s->life.end)
			s->life.end = vb.life.end;
		known = true;
	}
	vblocks_fini(&vblocks);
	numlist_settle(&s->shared_blocks);
	return ret < 0 ? damage_forgive(cx, ret) : 1;
}

static int snapmaps_add_node(void *arg, struct context *cx, unsigned int level,
			     uint64_t key, const void *block, uint64_t *ptr)
{
	const struct snapbuild *b = arg;

	(void)level;
	(void)key;
	return directwriter_add_node(b->job->writer, cx, b->s->ino,
				     b->s->life.start, b->s->life.end, block,
				     ptr);
}

static int snapmaps_add_block(struct snapbuild *b, struct context *cx,
			      uint64_t blkoff, uint64_t vblocknr)
{
	const struct bmapbuild_run run = { blkoff, vblocknr, 1 };

	b->blocks++;
	return bmapbuild_add(b->map, cx, &run, snapmaps_add_node, b);
}

/* Adds the blocks before END that only the logs list. */
static int snapmaps_merge_found(struct snapbuild *b, struct context *cx,
				uint64_t end)
{
	const struct liveblocks *l = b->l;
	struct vblock vb;
	int ret = 0;

	for (; b->at < l->n && l->list[b->at].blkoff < end && ret >= 0; b->at++) {
		const struct liveblock *found = &l->list[b->at];

		if (!found->vblocknr ||
		    !liveblocks_can_contain(&l->q, found->blkoff, b->walked))
			continue;
		ret = vblocks_find(&b->vblocks, cx, found->vblocknr, &vb);
		if (ret < 0 || !lifetime_contains(&vb.life, &b->s->life))
			continue;
		b->found++;
		b->walked = found->blkoff + 1;
		ret = snapmaps_add_block(b, cx, found->blkoff, found->vblocknr);
	}
	return ret < 0 ? ret : 0;
}

static int snapmaps_visit_block(void *arg, struct context *cx,
				const struct liveblock *block,
				enum liveblocks_verdict verdict)
{
	struct snapbuild *b = arg;
	int err;

	if (verdict == LIVEBLOCKS_SKIPPED || verdict == LIVEBLOCKS_LOST ||
	    block->is_node ||
	    !liveblocks_can_contain(&b->l->q, block->blkoff, b->walked))
		return 0;
	err = snapmaps_merge_found(b, cx, block->blkoff);
	b->walked = block->blkoff + 1;
	return err ? err : snapmaps_add_block(b, cx, block->blkoff,
					      block->vblocknr);
}

/* Builds the map of S from L. */
static int snapmaps_build(struct snapmap *s, struct context *cx,
			  struct fixer_job *job, const struct liveblocks *l)
{
	struct snapbuild b = { .job = job, .s = s, .l = l };
	uint64_t unit = job->vol->geo.block_size / SECTOR, nodes = 0;
	bool whole = liveblocks_is_whole(l) && !l->n;
	bool direct = !bmap_is_btree(s->was.i_bmap);
	unsigned int i;
	int ret;

	if (direct || whole) {
		for (i = 0; direct && i < NILFS_DIRECT_NBLOCKS; i++)
			b.blocks += le64_get(s->was.i_bmap[1 + i]) != 0;
		b.blocks = direct ? b.blocks : l->nmapped;
		if (mapfile_is_counted(l, &s->was, unit) ||
		    le64_get(s->was.i_blocks) == unit * b.blocks)
			return 0;
		s->is.i_blocks = le64_make(unit * b.blocks);
		s->changed = true;
		fixers_note(job, "checkpoint %" PRIu64 ": inode %" PRIu64
			    ": block count set to %" PRIu64, s->cno, s->ino,
			    b.blocks);
		return 0;
	}
	/* If all logs can be read, the map was derived from them
	   (derive_nodes.c), and nothing is removed from it. */
	if (listings_are_whole(job->check))
		return 0;
	vblocks_init(&b.vblocks, job->vol, NULL);
	ret = bmapbuild_open(&b.map, cx, job->vol->geo.block_size);
	if (!ret) {
		bmapbuild_begin(b.map);
		ret = liveblocks_walk(job->check, cx, &l->q,
				      snapmaps_visit_block, &b);
	}
	if (ret >= 0)
		ret = snapmaps_merge_found(&b, cx, UINT64_MAX);
	if (!ret)
		ret = bmapbuild_end(b.map, cx, snapmaps_add_node, &b,
				    s->is.i_bmap, &nodes);
	bmapbuild_close(b.map);
	vblocks_fini(&b.vblocks);
	if (ret)
		return ret;
	s->is.i_blocks = le64_make((b.blocks + nodes) * unit);
	s->changed = true;
	fixers_note(job, "checkpoint %" PRIu64 ": inode %" PRIu64 ": map "
		    "rebuilt, %" PRIu64 " block%s restored from the logs",
		    s->cno, s->ino, b.found, b.found == 1 ? "" : "s");
	return 0;
}

/* Puts the new maps of the N files in LIST into checkpoint CNO, if it has the old
   ones. */
static int snapmaps_apply(struct snapblocks *snap, struct context *cx,
			  const struct snapmap *list, size_t n, uint64_t cno)
{
	struct volume *vol = snap->job->vol;
	const struct palloc *p = &vol->ifile_palloc;
	struct snapblocks_block *b;
	struct nilfs_inode inode;
	struct root root;
	size_t i;
	int ret = root_open(&root, cx, vol, cno);

	for (i = 0; i < n && ret >= 0; i++) {
		const struct snapmap *s = &list[i];

		if (!s->changed || (s->cno != cno && (cno < s->life.start ||
						      cno >= s->life.end)))
			continue;
		ret = root_inode_bytes(&root, cx, s->ino, &inode);
		if (ret > 0)
			ret = !memcmp(inode.i_bmap, s->was.i_bmap,
				      sizeof(inode.i_bmap));
		if (ret > 0)
			ret = snapblocks_change_in(
				snap, cx, &root.ifile,
				palloc_entry_blkoff(p, s->ino), &b);
		if (ret > 0) {
			struct nilfs_inode *to =
				(void *)((char *)b->content +
					 palloc_entry_offset(p, s->ino));

			memcpy(to->i_bmap, s->is.i_bmap, sizeof(to->i_bmap));
			to->i_blocks = s->is.i_blocks;
			if (le64_get(to->i_size) == le64_get(s->was.i_size))
				to->i_size = s->is.i_size;
		}
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return damage_forgive(cx, ret);
}

/* Sets the size of S, whose map has blocks after it, and the limit of Q. */
static int snapmaps_extend(struct snapmap *s, struct context *cx,
			   struct fixer_job *job, struct liveblocks_question *q)
{
	int ret = maprebuild_extend(job, cx, s->ino, s->life, s->end - 1, &s->is);

	if (ret <= 0)
		return ret;
	q->limit = s->end;
	s->changed = true;
	fixers_note(job, "checkpoint %" PRIu64 ": inode %" PRIu64 ": size set to "
		    "%" PRIu64 ", because it has blocks after its old size",
		    s->cno, s->ino, le64_get(s->is.i_size));
	return 0;
}

/* Builds the maps of the N files of LIST, which are of one checkpoint. */
static int snapmaps_build_all(struct fixer_job *job, struct context *cx,
			      struct snapmap *list, size_t n)
{
	struct liveblocks *live = calloc(n, sizeof(*live));
	size_t i;
	int err = live ? 0 : fail(cx, -ENOMEM, "%zu files", n);

	for (i = 0; i < n && !err; i++) {
		live[i].q = liveblocks_missing(job->vol, list[i].cno,
					       list[i].ino, &list[i].was,
					       &list[i].shared_blocks);
		if (list[i].end && !live[i].q.is_link)
			err = snapmaps_extend(&list[i], cx, job, &live[i].q);
	}
	if (!err)
		err = liveblocks_gather_all(live, n, cx, job->check);
	for (i = 0; i < n && !err; i++)
		err = snapmaps_build(&list[i], cx, job, &live[i]);
	for (i = 0; live && i < n; i++)
		liveblocks_fini(&live[i]);
	free(live);
	return err;
}

int snapmaps_run(struct fixer_job *job, struct context *cx,
		 const struct finding *fixes, size_t n)
{
	uint64_t latest = job->vol->latest.cno, *cnos = NULL;
	struct snapmap *list = calloc(n + 1, sizeof(*list));
	struct snapblocks snap = { .job = job };
	size_t i, first, kept = 0, ncnos = 0;
	int ret = list ? 0 : fail(cx, -ENOMEM, "%zu maps of snapshots", n);

	for (i = 0; i < n && !ret; i++)
		if (fixes[i].place.cno && fixes[i].place.cno != latest &&
		    !inode_is_metadata(fixes[i].place.ino)) {
			list[kept].cno = fixes[i].place.cno;
			list[kept].ino = fixes[i].place.ino;
			if (fixes[i].rule == RULE_INODE_PAST_SIZE)
				list[kept].end = fixes[i].got;
			kept++;
		}
	n = kept;
	sort_in_place(list, n, sizeof(*list), snapmaps_compare);
	for (i = kept = 0; i < n && ret >= 0; i++) {
		if (kept && !snapmaps_compare(&list[kept - 1], &list[i])) {
			if (list[i].end)
				list[kept - 1].end = list[i].end;
			continue;
		}
		list[kept] = (struct snapmap){ .ino = list[i].ino,
					       .cno = list[i].cno,
					       .end = list[i].end };
		ret = snapmaps_open(&list[kept], cx, job);
		if (ret > 0)
			kept++;
		else
			free(list[kept].shared_blocks.list);
	}
	n = kept;
	ret = ret < 0 ? ret : 0;
	for (first = 0; first < n && !ret; first = i) {
		for (i = first + 1; i < n && list[i].cno == list[first].cno; i++)
			;
		ret = snapmaps_build_all(job, cx, list + first, i - first) ?:
		      snapmaps_apply(&snap, cx, list + first, i - first,
				     list[first].cno);
	}
	/* Other snapshots have the same maps. */
	if (!ret && snap.n)
		ret = damage_forgive(cx, cptable_list(job->vol, cx, true, &cnos,
						      &ncnos));
	for (i = 0; i < ncnos && !ret; i++)
		ret = snapmaps_apply(&snap, cx, list, n, cnos[i]);
	if (!ret)
		ret = snapblocks_write(&snap, cx);
	snapblocks_fini(&snap);
	for (i = 0; i < n; i++)
		free(list[i].shared_blocks.list);
	free(list);
	free(cnos);
	return ret;
}
