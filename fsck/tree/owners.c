// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The owners of blocks that live: of inodes that lost their mark in the bitmap,
 * and perhaps all else, the logs still list the blocks, and the DAT says which of
 * them live.
 */
#include "fsck/tree/owners.h"

#include "base/array.h"
#include "base/sort.h"
#include "check/logs/lifelogs.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "fsck/tree/inodeedit.h"
#include "log/repairwriter.h"

/* Inodes that are marked free although they have blocks that live. */
struct owners {
	struct fixer_job *job;
	struct inodeedit edit;
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
	ret = inodeedit_is_used(&o->edit, cx, b->ino);
	return ret < 0 ? ret : !ret;
}

static int take_owners(struct owners *o, struct context *cx,
		       struct lifelogs *l, const struct logindex_log *log)
{
	struct segsum_block b;
	int ret = 0;

	while (ret >= 0 && (ret = lifelogs_block(l, cx, &b)) > 0) {
		ret = is_owned(o, cx, log, &b);
		if (ret <= 0)
			continue;
		ret = array_reserve(cx, &o->inos, &o->room, o->n + 1);
		if (!ret)
			o->inos[o->n++] = b.ino;
	}
	return ret < 0 ? ret : 0;
}

static int read_segment(struct owners *o, struct context *cx, uint64_t segnum)
{
	struct lifelogs l;
	struct logindex_log log;
	int ret = lifelogs_open(&l, cx, o->job->check, segnum);

	while (ret > 0 && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		ret = take_owners(o, cx, &l, &log);
		ret = ret ? ret : 1;
	}
	return ret;
}

int owners_find(struct fixer_job *job, struct context *cx, uint64_t **inos,
		size_t *n)
{
	struct owners o = {
		.job = job,
		.edit = {
			.ifile = repairwriter_file(job->writer,
						   NILFS_IFILE_INO),
			.palloc = &job->vol->ifile_palloc,
		},
	};
	uint64_t segnum;
	int err = 0;

	vblocks_init(&o.vblocks, job->vol, NULL);
	for (segnum = 0; segnum < job->vol->geo.nsegments && !err; segnum++)
		err = read_segment(&o, cx, segnum);
	vblocks_fini(&o.vblocks);
	*inos = o.inos;
	*n = sort_unique(o.inos, o.n);
	return err;
}
