// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes of the latest state that lost their mark in the bitmap, and perhaps all
 * else: a directory names them, or the logs still list their blocks, and the DAT
 * says which of these live.
 */
#include "fsck/tree/fix_inodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/logs/lifelogs.h"
#include "disk/inode.h"
#include "fsck/tree/inodeedit.h"

/* Inode INO, empty or garbage and marked free, is in use where logs and
   checkpoints show that it is, NAMED or not: 1, 0. */
static int revive_inode(struct inodeedit *e, struct context *cx, uint64_t ino,
			bool named)
{
	struct inodecase c;
	int ret = inodeedit_is_used(e, cx, e->latest, ino);

	if (ret || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	ret = inodeedit_case(e, cx, e->latest, ino, RULE_INODE_EMPTY, &c);
	if (ret <= 0 || (!inode_is_empty(&c.inode) &&
			 !inode_is_garbage(e->geo, &c.inode)))
		return ret < 0 ? ret : 0;
	memset(&c.inode, 0, sizeof(c.inode));
	c.must_live = true;
	c.named = named;
	ret = inodedecide_run(&e->decide, cx, &c);
	if (ret <= 0)
		return ret;
	ret = inodeedit_mark(e, cx, e->latest, ino, true);
	if (ret >= 0)
		ret = inodeedit_decided(e, cx, &c);
	return ret < 0 ? ret : 1;
}

/* Those of the N inodes INOS that are in use, and with one, once, the others of
   its block: how many. */
static int revive_all(struct fixer_job *job, struct context *cx,
		      const uint64_t *inos, size_t n, bool named)
{
	struct palloc_block what;
	struct inodeedit e;
	uint64_t ino, looked_at = UINT64_MAX;
	size_t i;
	int ret, found = 0;

	inodeedit_open(&e, job, NULL);
	ret = inodedecide_open(&e.decide, cx, job, inos, n);
	for (i = 0; i < n && ret >= 0; i++) {
		uint64_t blkoff = palloc_entry_blkoff(e.palloc, inos[i]);

		ret = revive_inode(&e, cx, inos[i], named);
		found += ret > 0;
		if (ret <= 0 || looked_at == blkoff)
			continue;
		looked_at = blkoff;
		palloc_locate(e.palloc, blkoff, &what);
		for (ino = what.first;
		     ino < what.first + what.count && ret >= 0; ino++) {
			ret = revive_inode(&e, cx, ino, false);
			found += ret > 0;
		}
	}
	ret = inodeedit_close(&e, cx, ret < 0 ? ret : 0);
	return ret ? ret : found;
}

int revive_named(struct fixer_job *job, struct context *cx,
		 const struct fix *fixes, size_t n)
{
	uint64_t *inos = calloc(n ? n : 1, sizeof(*inos));
	size_t i, found = 0;
	int ret;

	if (!inos)
		return fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n; i++)
		if (fixes[i].rule == RULE_DIR_NO_INODE &&
		    fixes[i].place.cno == job->vol->latest.cno)
			inos[found++] = fixes[i].got;
	ret = found ? revive_all(job, cx, inos, found, true) : 0;
	free(inos);
	return ret;
}

/* Inodes that are marked free although they have blocks that live. */
struct owners {
	struct inodeedit e;
	struct vblocks vblocks;
	uint64_t *inos;
	size_t n, room;
};

/* Whether block B of LOG lives, of an inode that is marked free: 1, 0. */
static int is_owned(struct owners *o, struct context *cx,
		    const struct logindex_log *log, const struct segsum_block *b)
{
	struct vblock vb;
	int ret;

	if (!b->is_virtual || inode_is_private(b->ino) ||
	    (o->n && o->inos[o->n - 1] == b->ino))
		return 0;
	ret = vblocks_find(&o->vblocks, cx, b->vblocknr, &vb);
	if (ret != VBLOCKS_USED || vb.end != NILFS_CNO_MAX ||
	    vb.blocknr != log->pseg + b->index)
		return ret < 0 ? ret : 0;
	ret = inodeedit_is_used(&o->e, cx, o->e.latest, b->ino);
	return ret < 0 ? ret : !ret;
}

static int read_segment(struct owners *o, struct context *cx, uint64_t segnum)
{
	struct logindex_log log;
	struct segsum_block b;
	struct lifelogs l;
	int ret = lifelogs_open(&l, cx, o->e.job->check, segnum);

	while (ret > 0 && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		while (ret >= 0 && (ret = lifelogs_block(&l, cx, &b)) > 0) {
			ret = is_owned(o, cx, &log, &b);
			if (ret <= 0)
				continue;
			ret = array_reserve(cx, &o->inos, &o->room, o->n + 1);
			if (!ret)
				o->inos[o->n++] = b.ino;
		}
		ret = ret ? ret : 1;
	}
	return ret;
}

int revive_leaked(struct fixer_job *job, struct context *cx)
{
	struct owners o = { .n = 0 };
	uint64_t segnum;
	int ret = 0;

	inodeedit_open(&o.e, job, NULL);
	vblocks_init(&o.vblocks, job->vol, NULL);
	for (segnum = 0; segnum < job->vol->geo.nsegments && !ret; segnum++)
		ret = read_segment(&o, cx, segnum);
	vblocks_fini(&o.vblocks);
	o.n = sort_unique(o.inos, o.n);
	if (!ret && o.n)
		ret = revive_all(job, cx, o.inos, o.n, false);
	free(o.inos);
	return ret < 0 ? ret : 0;
}
