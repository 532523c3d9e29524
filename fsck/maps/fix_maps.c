// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of the maps of files; of the latest state here, of snapshots in
 * snapmaps.c.
 *
 * Nodes and roots were derived from the logs before, for all checkpoints
 * (derive/derive_nodes.c).  This repair handles maps that the logs do not
 * explain.  A broken map is rebuilt as a whole: its valid parts are kept, lost
 * blocks are searched in the logs, then in older checkpoints, and blocks that
 * are not found become holes.  The logs are read once for all files.  Maps of
 * metadata files are not repaired here.
 *
 * If two pointers lead to one block, the log with the block shows which is
 * right.  The other file is repaired too, though it has no finding.  Logs are
 * also read if a map may have lost its B-tree flag, because its nodes look like
 * blocks of the file then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/numlist.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/derive/datlife.h"
#include "fsck/maps/mapfile.h"
#include "log/inodes.h"

#define SECTOR 512u

/* Gives file I, whose block LAST is after its size, another size. */
static int extend_size(struct mapfiles *m, struct context *cx, size_t i,
		       uint64_t last)
{
	const struct lifetime now = { m->job->vol->latest.cno, NILFS_CNO_MAX };
	struct nilfs_inode *is = &m->inodes[i];
	uint64_t ino = m->inos.list[i];
	int ret = maprebuild_extend(m->job, cx, ino, now, last, is);

	if (ret <= 0)
		return ret;
	m->live[i].q.limit = last + 1;
	fixers_note(m->job,
		    "inode %" PRIu64 ": size set to %" PRIu64 ", "
		    "because it has blocks after its old size",
		    ino, le64_get(is->i_size));
	return inodes_write(m->job->writer, cx, ino, is);
}

static int repair_file(struct mapfiles *m, struct context *cx, size_t i)
{
	const struct liveblocks *l = &m->live[i];
	struct nilfs_inode *inode = &m->inodes[i];
	uint64_t unit = m->job->vol->geo.block_size / SECTOR;
	uint64_t want = l->nmapped * unit;
	int err = context_cancelled(cx);

	if (err)
		return err;
	/* A hole may be lost data: the map is rebuilt if the logs have a block
	   for it. */
	if (inode_has_bmap(inode) &&
	    ((l->q.is_dir && l->end != l->q.limit) || !liveblocks_is_whole(l) ||
	     l->n || ((l->q.is_dir || l->q.is_link) && l->ngaps)))
		return maprebuild_run(m, cx, i);
	/* The map is valid, and the block count of the inode is wrong. */
	if (mapfile_is_counted(l, inode, unit))
		return 0;
	inode->i_blocks = le64_make(want);
	fixers_note(m->job,
		    "inode %" PRIu64 ": block count set to %" PRIu64,
		    l->q.ino, l->nmapped);
	return inodes_write(m->job->writer, cx, l->q.ino, inode);
}

/* Repairs all listed files, for N FIXES, unless ERR is a failure; frees M. */
static int repair_files(struct mapfiles *m, struct context *cx,
			const struct finding *fixes, size_t n, int err)
{
	struct volume *vol = m->job->vol;
	size_t i, at, left = 0, most = err ? 0 : m->inos.n;
	const struct finding *fix;

	m->inodes = calloc(most + 1, sizeof(*m->inodes));
	m->live = calloc(most + 1, sizeof(*m->live));
	if (!err && (!m->inodes || !m->live))
		err = fail(cx, -ENOMEM, "%zu files", most);
	/* Skips files whose inodes cannot be read. */
	for (i = 0; i < most && !err; i++) {
		struct nilfs_inode *inode = &m->inodes[left];

		err = inodes_read(m->job->writer, cx, m->inos.list[i], inode);
		if (err) {
			err = damage_forgive(cx, err);
			continue;
		}
		m->live[left].q = liveblocks_missing(vol, vol->latest.cno,
						     m->inos.list[i], inode,
						     &m->shared_blocks);
		m->inos.list[left++] = m->inos.list[i];
	}
	m->inos.n = left;
	/* Findings may show that files have more blocks than were found, or
	   blocks after their size, for which a link has no room. */
	for (i = 0; i < n && !err; i++) {
		fix = &fixes[i];
		at = search_lower_bound(m->inos.list, m->inos.n,
					fix->place.ino);
		if (fix->place.cno != vol->latest.cno ||
		    at >= m->inos.n || m->inos.list[at] != fix->place.ino)
			continue;
		if (fix->rule == RULE_INODE_BLOCKS)
			m->live[at].q.dense |= fix->got > fix->want;
		else if (fix->rule == RULE_INODE_PAST_SIZE &&
			 !m->live[at].q.is_link)
			err = extend_size(m, cx, at, fix->got - 1);
	}
	if (!err)
		err = liveblocks_gather_all(m->live, m->inos.n, cx,
					    m->job->check);
	for (i = 0; i < m->inos.n && !err; i++)
		err = repair_file(m, cx, i);
	for (i = 0; m->live && i < m->inos.n; i++)
		liveblocks_fini(&m->live[i]);
	free(m->live);
	free(m->inodes);
	free(m->inos.list);
	free(m->shared_blocks.list);
	return err;
}

int fix_maps_of(struct fixer_job *job, struct context *cx, const uint64_t *inos,
		size_t n)
{
	struct mapfiles m = { .job = job };
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = numlist_add(&m.inos, cx, inos[i]);
	numlist_settle(&m.inos);
	return repair_files(&m, cx, NULL, 0, err);
}

int fix_maps(struct fixer_job *job, struct context *cx,
	     const struct finding *fixes, size_t n)
{
	struct mapfiles m = { .job = job };
	struct volume *vol = job->vol;
	uint64_t room = NILFS_DIRECT_NBLOCKS * (uint64_t)vol->geo.block_size;
	struct nilfs_inode inode;
	unsigned int key;
	size_t i;
	int err = 0;

	/* Collect the files to be repaired, and the blocks in doubt. */
	for (i = 0; i < n && !err; i++) {
		if (fixes[i].place.cno == vol->latest.cno)
			err = numlist_add(&m.inos, cx, fixes[i].place.ino);
		if (!err && fixes[i].rule == RULE_BMAP_TWICE)
			err = numlist_add(&m.shared_blocks, cx, fixes[i].got);
	}
	numlist_settle(&m.inos);
	for (i = 0; i < m.inos.n && !err; i++) {
		err = inodes_read(job->writer, cx, m.inos.list[i], &inode);
		if (err) {
			err = damage_forgive(cx, err);
			continue;
		}
		/* A direct map is too small for that size: it may be a B-tree. */
		if (!inode_has_bmap(&inode) || bmap_is_btree(inode.i_bmap) ||
		    le64_get(inode.i_size) <= room)
			continue;
		for (key = 1; key <= NILFS_DIRECT_NBLOCKS && !err; key++)
			err = numlist_add(&m.shared_blocks, cx,
					  le64_get(inode.i_bmap[key]));
	}
	numlist_settle(&m.shared_blocks);
	if (!err && m.inos.n)
		err = datlife_files(vol, cx, 0, &m.shared_blocks, &m.inos);
	numlist_settle(&m.inos);
	err = repair_files(&m, cx, fixes, n, err);
	return err ? err : snapmaps_run(job, cx, fixes, n);
}
