// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of the cpfile.
 *
 * A block of the cpfile is created with the first of its checkpoints; the other
 * entries are invalid until they are used.  The first entry of each block
 * except block 0 counts the valid entries, even if it is invalid itself.
 */
#include "log/checkpoints.h"

#include <errno.h>

#include "disk/checkpoint.h"
#include "log/writer_parts.h"

#define INVALID (1u << NILFS_CHECKPOINT_INVALID)
#define SNAPSHOT (1u << NILFS_CHECKPOINT_SNAPSHOT)
#define MINOR (1u << NILFS_CHECKPOINT_MINOR)

/*
 * The entry of CNO for writing; 0: the header.  The kernel leaves cp_cno of
 * unused entries 0 in the blocks that it creates; mkfs of nilfs-utils sets it
 * in the first block.
 */
static int change_checkpoint(struct writer *w, struct context *cx, uint64_t cno,
			     struct nilfs_checkpoint **cp)
{
	const struct nilfs_geometry *g = &w->g;
	uint64_t blkoff = cno ? checkpoint_blkoff(g, cno) : 0;
	uint64_t at = checkpoint_first(g, blkoff);
	uint64_t end = at + checkpoint_count(g, blkoff);
	void *data;
	bool fresh;
	int ret = metafile_change(w->cpfile, cx, blkoff, &data, &fresh);

	if (ret)
		return ret;
	for (; fresh && at < end; at++) {
		*cp = (void *)((char *)data + checkpoint_offset(g, at));
		(*cp)->cp_flags = le32_make(INVALID);
		if (!blkoff)
			(*cp)->cp_cno = le64_make(at);
	}
	*cp = (void *)((char *)data + (cno ? checkpoint_offset(g, cno) : 0));
	return 0;
}

/*
 * Adds to the counts of snapshots and valid entries in the header, and to the
 * count of valid entries in the block of CNO.  Both may be negative.
 */
static int count_checkpoints(struct writer *w, struct context *cx, uint64_t cno,
			     int32_t entries, int32_t snapshots)
{
	uint64_t blkoff = checkpoint_blkoff(&w->g, cno);
	struct nilfs_cpfile_header *header;
	struct nilfs_checkpoint *cp;
	int ret = change_checkpoint(w, cx, 0, &cp);

	if (ret)
		return ret;
	header = (void *)cp;
	header->ch_ncheckpoints = le64_make(le64_get(header->ch_ncheckpoints) +
					    (uint64_t)(int64_t)entries);
	header->ch_nsnapshots = le64_make(le64_get(header->ch_nsnapshots) +
					  (uint64_t)(int64_t)snapshots);
	if (!blkoff || !entries)
		return 0;
	ret = change_checkpoint(w, cx, checkpoint_first(&w->g, blkoff), &cp);
	if (!ret)
		cp->cp_checkpoints_count = le32_make(
			le32_get(cp->cp_checkpoints_count) + (uint32_t)entries);
	return ret;
}

/* The snapshot list of checkpoint CNO for writing; 0: that of the header. */
static int change_list(struct writer *w, struct context *cx, uint64_t cno,
		       struct nilfs_snapshot_list **list)
{
	struct nilfs_checkpoint *cp;
	int ret = change_checkpoint(w, cx, cno, &cp);

	if (!ret)
		*list = cno ? &cp->cp_snapshot_list :
			      &((struct nilfs_cpfile_header *)cp)
				       ->ch_snapshot_list;
	return ret;
}

/*
 * Makes NEXT the successor of PREV in the list; 0 is the header at either end.
 */
static int link_lists(struct writer *w, struct context *cx, uint64_t prev,
		      uint64_t next)
{
	struct nilfs_snapshot_list *list;
	int ret = change_list(w, cx, prev, &list);

	if (ret)
		return ret;
	list->ssl_next = le64_make(next);
	ret = change_list(w, cx, next, &list);
	if (!ret)
		list->ssl_prev = le64_make(prev);
	return ret;
}

static int make_snapshot(struct writer *w, struct context *cx, uint64_t cno)
{
	const struct nilfs_cpfile_header *header;
	const struct nilfs_checkpoint *entry;
	struct nilfs_snapshot_list *list;
	struct nilfs_checkpoint *cp;
	uint64_t at, prev = 0, next;
	const void *data;
	int ret;

	/*
	 * Search the snapshot before CNO from the end, since a new snapshot is
	 * usually the latest.
	 */
	do {
		at = prev;
		prev = 0;
		ret = metafile_look(w->cpfile, cx, at ?
				    checkpoint_blkoff(&w->g, at) : 0, &data);
		if (ret < 0)
			return ret;
		if (!ret)
			break;
		header = data;
		entry = (const void *)((const char *)data +
				       (at ? checkpoint_offset(&w->g, at) : 0));
		prev = le64_get(at ? entry->cp_snapshot_list.ssl_prev :
				     header->ch_snapshot_list.ssl_prev);
		if (prev == cno || (prev > cno && at && prev >= at))
			return fail(cx, -EUCLEAN, "checkpoint %llu: the list "
				    "of snapshots is broken",
				    (unsigned long long)prev);
	} while (prev > cno);
	ret = change_list(w, cx, prev, &list);
	if (ret)
		return ret;
	next = le64_get(list->ssl_next);
	ret = link_lists(w, cx, prev, cno);
	if (!ret)
		ret = link_lists(w, cx, cno, next);
	if (!ret)
		ret = count_checkpoints(w, cx, cno, 0, 1);
	if (!ret)
		ret = change_checkpoint(w, cx, cno, &cp);
	if (!ret)
		cp->cp_flags = le32_make(le32_get(cp->cp_flags) | SNAPSHOT);
	return ret;
}

int checkpoints_set(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint *cp;
	int ret = change_checkpoint(w, cx, cno, &cp);

	if (ret)
		return ret;
	if (checkpoint_is_invalid(cp) || checkpoint_is_snapshot(cp))
		return fail(cx, -EINVAL, "checkpoint %llu: not a plain "
			    "checkpoint", (unsigned long long)cno);
	w->segments.stale = true;
	return make_snapshot(w, cx, cno);
}

int checkpoints_make(struct writer *w, struct context *cx)
{
	struct nilfs_checkpoint *cp;
	int ret = change_checkpoint(w, cx, w->cno, &cp);

	if (ret)
		return ret;
	*cp = (struct nilfs_checkpoint){
		.cp_checkpoints_count = cp->cp_checkpoints_count,
		.cp_cno = le64_make(w->cno),
	};
	ret = count_checkpoints(w, cx, w->cno, 1, 0);
	if (!ret && w->o.snapshot)
		ret = make_snapshot(w, cx, w->cno);
	return ret;
}

int checkpoints_delete(struct writer *w, struct context *cx, uint64_t cno)
{
	uint64_t blkoff = checkpoint_blkoff(&w->g, cno);
	uint64_t at = checkpoint_first(&w->g, blkoff);
	uint64_t end = at + checkpoint_count(&w->g, blkoff);
	struct nilfs_checkpoint *cp;
	const void *data;
	int ret = change_checkpoint(w, cx, cno, &cp);

	if (ret || checkpoint_is_invalid(cp))
		return ret;
	if (checkpoint_is_snapshot(cp))
		return fail(cx, -EBUSY, "checkpoint %llu: is a snapshot",
			    (unsigned long long)cno);
	cp->cp_flags = le32_make(le32_get(cp->cp_flags) | INVALID);
	ret = count_checkpoints(w, cx, cno, -1, 0);
	if (ret || !blkoff)
		return ret;
	/* Delete the block after its last checkpoint, except block 0. */
	ret = metafile_look(w->cpfile, cx, blkoff, &data);
	if (ret <= 0)
		return ret;
	for (; at < end; at++)
		if (!checkpoint_is_invalid((const void *)((const char *)data +
					   checkpoint_offset(&w->g, at))))
			return 0;
	return metafile_delete(w->cpfile, cx, blkoff);
}

int checkpoints_unset(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint *cp;
	uint64_t prev, next;
	int ret = change_checkpoint(w, cx, cno, &cp);

	if (ret)
		return ret;
	if (checkpoint_is_invalid(cp) || !checkpoint_is_snapshot(cp))
		return fail(cx, -EINVAL, "checkpoint %llu: not a snapshot",
			    (unsigned long long)cno);
	prev = le64_get(cp->cp_snapshot_list.ssl_prev);
	next = le64_get(cp->cp_snapshot_list.ssl_next);
	cp->cp_snapshot_list = (struct nilfs_snapshot_list){ 0 };
	cp->cp_flags = le32_make(le32_get(cp->cp_flags) & ~SNAPSHOT);
	w->segments.stale = true;
	ret = link_lists(w, cx, prev, next);
	return ret ? ret : count_checkpoints(w, cx, cno, 0, -1);
}

int checkpoints_complete(struct writer *w, struct context *cx)
{
	uint64_t blocks = w->blocks_count - w->ifile_blocks +
			  metafile_facts(w->ifile).nblocks;
	struct nilfs_checkpoint *cp;
	int ret = change_checkpoint(w, cx, w->cno, &cp);

	if (ret)
		return ret;
	if (w->o.minor || w->o.same_files)
		cp->cp_flags = le32_make(le32_get(cp->cp_flags) | MINOR);
	cp->cp_create = le64_make(w->o.time);
	cp->cp_nblk_inc = le64_make(w->appender.blocks);
	cp->cp_inodes_count = le64_make(w->inodes_count);
	cp->cp_blocks_count = le64_make(blocks);
	cp->cp_ifile_inode = w->ifile_inode;
	metafile_inode(w->ifile, &cp->cp_ifile_inode);
	return 0;
}
