// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which inodes are in use: bitmaps and counts of the newest ifile, and of those
 * of snapshots (pastgroups.h).
 *
 * A bitmap that is there is believed; one that is lost is made from the
 * inodes, of which those with links, and the reserved ones, are in use.  An
 * inode whose last link is gone and one that was freed look alike then, which
 * does no harm: nobody can have the former open any longer.
 */
#include "fsck/tree/fix_ifile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fsck/dat/groupfix.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/pastgroups.h"
#include "log/repairwriter.h"

/* Marks those of the COUNT inodes from INO on, in DATA, that are in use. */
static void mark_inodes(const struct fixer_job *job, uint64_t ino,
			uint64_t count, const char *data, uint8_t *bitmap)
{
	const struct palloc *p = &job->vol->ifile_palloc;
	uint32_t at = palloc_group_offset(p, ino);
	struct nilfs_inode inode;
	uint64_t i;

	for (i = 0; i < count; i++, at++) {
		memcpy(&inode, data + i * p->entry_size, sizeof(inode));
		if (le16_get(inode.i_links_count))
			bitmap[at / 8] |= (uint8_t)(1 << at % 8);
	}
}

static int mark_group(struct fixer_job *job, struct context *cx,
		      struct groupfix *g, uint64_t group, uint8_t *bitmap)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, group), end, ino;
	struct palloc_block what;
	const void *data;
	int ret = 0;

	for (end = blkoff + g->p->blocks_per_group;
	     ret >= 0 && ++blkoff < end;) {
		ret = metafile_look(g->m, cx, blkoff, &data);
		palloc_locate(g->p, blkoff, &what);
		if (ret > 0)
			mark_inodes(job, what.first, what.count, data, bitmap);
	}
	for (ino = 0; !group && ino < job->vol->geo.first_ino; ino++)
		bitmap[ino / 8] |= (uint8_t)(1 << ino % 8);
	return ret < 0 ? ret : 0;
}

/* Makes the bitmap of GROUP where it is lost. */
static int make_bitmap(struct fixer_job *job, struct context *cx,
		       struct groupfix *g, uint64_t group)
{
	uint64_t blkoff = palloc_bitmap_blkoff(g->p, group);
	uint8_t *bitmap;
	const void *old;
	void *data;
	int ret = metafile_look(g->m, cx, blkoff, &old);

	if (ret)
		return ret < 0 ? ret : 0;
	bitmap = calloc(1, g->p->block_size);
	if (!bitmap)
		return fail(cx, -ENOMEM, "bitmap of a group");
	ret = mark_group(job, cx, g, group, bitmap);
	if (!ret && palloc_count(g->p, bitmap)) {
		ret = metafile_replace(g->m, cx, blkoff, &data);
		if (!ret)
			memcpy(data, bitmap, g->p->block_size);
	}
	free(bitmap);
	return ret;
}

int fix_ifile_groups(struct fixer_job *job, struct context *cx,
		     struct groupfix *g)
{
	size_t i;
	int err = 0;

	groupfix_sort(g);
	for (i = 0; i < g->n && !err; i++)
		err = make_bitmap(job, cx, g, g->groups[i]);
	return err ? err : groupfix_count(g, cx);
}

static bool is_of_latest(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_GROUP &&
	       (!fix->place.cno || fix->place.cno == job->vol->latest.cno);
}

int fix_ifile(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	struct groupfix g = {
		.m = repairwriter_file(job->writer, NILFS_IFILE_INO),
		.p = &job->vol->ifile_palloc,
	};
	size_t i;
	int err = 0;

	/* It is filled with what it had, and counted then. */
	if (repairwriter_is_anew(job->writer, NILFS_IFILE_INO))
		return 0;
	for (i = 0; i < n && !err; i++)
		if (is_of_latest(job, &fixes[i]))
			err = groupfix_add(&g, cx, fixes[i].place.number);
	if (!err)
		err = fix_ifile_groups(job, cx, &g);
	if (!err && g.n) {
		fixers_tell(job, "inode file: bitmaps and counts of %zu %s "
			    "recomputed", g.n, g.n == 1 ? "group" : "groups");
		err = repairwriter_changed(job->writer, cx);
	}
	groupfix_fini(&g);
	return err ? err : pastgroups_repair(job, cx, fixes, n);
}
