// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of the cpfile: adding the new checkpoint, changing or deleting old ones.
 *
 * A block of the cpfile is created with the first of its checkpoints; the other
 * entries are invalid until they are used.  The first entry of each block but
 * the first block counts the valid ones, even if it is invalid itself.
 */
#include "log/checkpoints.h"

#include <errno.h>
#include <string.h>

#include "disk/checkpoint.h"
#include "log/writer_parts.h"

#define INVALID (1u << NILFS_CHECKPOINT_INVALID)
#define SNAPSHOT (1u << NILFS_CHECKPOINT_SNAPSHOT)
#define MINOR (1u << NILFS_CHECKPOINT_MINOR)

/*
 * A block of a new cpfile.  The kernel gives entries of blocks that it makes
 * no number; nilfs-utils' mkfs does, in the first block.
 */
static void init_block(const struct nilfs_geometry *g, uint64_t blkoff,
		       void *data)
{
	uint64_t first = checkpoint_first(g, blkoff);
	uint64_t cno, end = first + checkpoint_count(g, blkoff);

	for (cno = first; cno < end; cno++) {
		struct nilfs_checkpoint *cp =
			(void *)((char *)data + checkpoint_offset(g, cno));

		cp->cp_flags = le32_make(INVALID);
		if (!blkoff)
			cp->cp_cno = le64_make(cno);
	}
}

/* The entry of CNO, to be changed. */
static int change_entry(struct writer *w, struct context *cx, uint64_t cno,
			struct nilfs_checkpoint **cp)
{
	uint64_t blkoff = checkpoint_blkoff(&w->g, cno);
	void *data;
	bool fresh;
	int ret = metafile_change(w->cpfile, cx, blkoff, &data, &fresh);

	if (ret)
		return ret;
	if (fresh)
		init_block(&w->g, blkoff, data);
	*cp = (void *)((char *)data + checkpoint_offset(&w->g, cno));
	return 0;
}

static int change_header(struct writer *w, struct context *cx,
			 struct nilfs_cpfile_header **header)
{
	void *data;
	bool fresh;
	int ret = metafile_change(w->cpfile, cx, 0, &data, &fresh);

	if (ret)
		return ret;
	if (fresh)
		init_block(&w->g, 0, data);
	*header = data;
	return 0;
}

/* As many more valid entries in block BLKOFF, or fewer. */
static int count_in_block(struct writer *w, struct context *cx,
			  uint64_t blkoff, int32_t more)
{
	struct nilfs_checkpoint *first;
	int ret;

	if (!blkoff)
		return 0;
	ret = change_entry(w, cx, checkpoint_first(&w->g, blkoff), &first);
	if (!ret)
		first->cp_checkpoints_count = le32_make(
			le32_get(first->cp_checkpoints_count) + (uint32_t)more);
	return ret;
}

/* The list that the checkpoint CNO has, 0: that of the header. */
static int change_list(struct writer *w, struct context *cx, uint64_t cno,
		       struct nilfs_snapshot_list **list)
{
	struct nilfs_cpfile_header *header;
	struct nilfs_checkpoint *cp;
	int ret = cno ? change_entry(w, cx, cno, &cp) :
			change_header(w, cx, &header);

	if (!ret)
		*list = cno ? &cp->cp_snapshot_list : &header->ch_snapshot_list;
	return ret;
}

/* The snapshot before CNO in the list, 0: that at its end. */
static int look_before(struct writer *w, struct context *cx, uint64_t cno,
		       uint64_t *prev)
{
	const struct nilfs_checkpoint *cp;
	const struct nilfs_cpfile_header *header;
	const void *data;
	int ret = metafile_look(w->cpfile, cx, cno ?
				checkpoint_blkoff(&w->g, cno) : 0, &data);

	*prev = 0;
	if (ret <= 0)
		return ret;
	header = data;
	cp = (const void *)((const char *)data +
			    (cno ? checkpoint_offset(&w->g, cno) : 0));
	*prev = le64_get(cno ? cp->cp_snapshot_list.ssl_prev :
			       header->ch_snapshot_list.ssl_prev);
	return 0;
}

/* Searched from the end, since a new snapshot is most often the latest. */
static int find_previous(struct writer *w, struct context *cx, uint64_t cno,
			 uint64_t *prev)
{
	uint64_t at = UINT64_MAX;
	int ret = look_before(w, cx, 0, prev);

	while (!ret && *prev >= cno) {
		if (*prev == cno || *prev >= at)
			return fail(cx, -EUCLEAN, "checkpoint %llu: the list "
				    "of snapshots is broken",
				    (unsigned long long)*prev);
		at = *prev;
		ret = look_before(w, cx, at, prev);
	}
	return ret;
}

/* Adds checkpoint CNO to the list. */
static int link_snapshot(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_cpfile_header *header;
	struct nilfs_snapshot_list *list;
	uint64_t prev, next;
	int ret = find_previous(w, cx, cno, &prev);

	if (!ret)
		ret = change_list(w, cx, prev, &list);
	if (ret)
		return ret;
	next = le64_get(list->ssl_next);
	list->ssl_next = le64_make(cno);
	ret = change_list(w, cx, next, &list);
	if (ret)
		return ret;
	list->ssl_prev = le64_make(cno);
	ret = change_list(w, cx, cno, &list);
	if (ret)
		return ret;
	list->ssl_next = le64_make(next);
	list->ssl_prev = le64_make(prev);
	ret = change_header(w, cx, &header);
	if (!ret)
		header->ch_nsnapshots =
			le64_make(le64_get(header->ch_nsnapshots) + 1);
	return ret;
}

static int make_snapshot(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint *cp;
	int ret = link_snapshot(w, cx, cno);

	if (!ret)
		ret = change_entry(w, cx, cno, &cp);
	if (!ret)
		cp->cp_flags = le32_make(le32_get(cp->cp_flags) | SNAPSHOT);
	return ret;
}

int checkpoints_set(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint *cp;
	int ret = change_entry(w, cx, cno, &cp);

	if (ret)
		return ret;
	if (checkpoint_is_invalid(cp) || checkpoint_is_snapshot(cp))
		return fail(cx, -EINVAL, "checkpoint %llu: is no plain "
			    "checkpoint", (unsigned long long)cno);
	w->segments.stale = true;
	return make_snapshot(w, cx, cno);
}

int checkpoints_make(struct writer *w, struct context *cx)
{
	struct nilfs_cpfile_header *header;
	struct nilfs_checkpoint *cp;
	le32 count;
	int ret = change_entry(w, cx, w->cno, &cp);

	if (ret)
		return ret;
	count = cp->cp_checkpoints_count;
	memset(cp, 0, sizeof(*cp));
	cp->cp_checkpoints_count = count;
	cp->cp_cno = le64_make(w->cno);
	ret = change_header(w, cx, &header);
	if (ret)
		return ret;
	header->ch_ncheckpoints =
		le64_make(le64_get(header->ch_ncheckpoints) + 1);
	ret = count_in_block(w, cx, checkpoint_blkoff(&w->g, w->cno), 1);
	if (!ret && w->o.snapshot)
		ret = make_snapshot(w, cx, w->cno);
	return ret;
}

/* Deletes block BLKOFF if it has no checkpoint left, except the first block. */
static int drop_if_empty(struct writer *w, struct context *cx,
			 uint64_t blkoff)
{
	uint64_t cno = checkpoint_first(&w->g, blkoff);
	uint64_t end = cno + checkpoint_count(&w->g, blkoff);
	const void *data;
	int ret = blkoff ? metafile_look(w->cpfile, cx, blkoff, &data) : 0;

	if (ret <= 0)
		return ret;
	for (; cno < end; cno++)
		if (!checkpoint_is_invalid((const void *)((const char *)data +
					   checkpoint_offset(&w->g, cno))))
			return 0;
	return metafile_delete(w->cpfile, cx, blkoff);
}

int checkpoints_delete(struct writer *w, struct context *cx, uint64_t cno)
{
	uint64_t blkoff = checkpoint_blkoff(&w->g, cno);
	struct nilfs_cpfile_header *header;
	struct nilfs_checkpoint *cp;
	int ret = change_entry(w, cx, cno, &cp);

	if (ret || checkpoint_is_invalid(cp))
		return ret;
	if (checkpoint_is_snapshot(cp))
		return fail(cx, -EBUSY, "checkpoint %llu: is a snapshot",
			    (unsigned long long)cno);
	cp->cp_flags = le32_make(le32_get(cp->cp_flags) | INVALID);
	ret = change_header(w, cx, &header);
	if (ret)
		return ret;
	header->ch_ncheckpoints =
		le64_make(le64_get(header->ch_ncheckpoints) - 1);
	ret = count_in_block(w, cx, blkoff, -1);
	return ret ? ret : drop_if_empty(w, cx, blkoff);
}

/* Removes the checkpoint between these two from the list. */
static int unlink_snapshot(struct writer *w, struct context *cx, uint64_t prev,
			   uint64_t next)
{
	struct nilfs_snapshot_list *list;
	struct nilfs_cpfile_header *header;
	int ret = change_list(w, cx, prev, &list);

	if (ret)
		return ret;
	list->ssl_next = le64_make(next);
	ret = change_list(w, cx, next, &list);
	if (ret)
		return ret;
	list->ssl_prev = le64_make(prev);
	ret = change_header(w, cx, &header);
	if (!ret)
		header->ch_nsnapshots =
			le64_make(le64_get(header->ch_nsnapshots) - 1);
	return ret;
}

int checkpoints_unset(struct writer *w, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint *cp;
	uint64_t prev, next;
	int ret = change_entry(w, cx, cno, &cp);

	if (ret)
		return ret;
	if (checkpoint_is_invalid(cp) || !checkpoint_is_snapshot(cp))
		return fail(cx, -EINVAL, "checkpoint %llu: is no snapshot",
			    (unsigned long long)cno);
	prev = le64_get(cp->cp_snapshot_list.ssl_prev);
	next = le64_get(cp->cp_snapshot_list.ssl_next);
	cp->cp_snapshot_list = (struct nilfs_snapshot_list){ 0 };
	cp->cp_flags = le32_make(le32_get(cp->cp_flags) & ~SNAPSHOT);
	w->segments.stale = true;
	return unlink_snapshot(w, cx, prev, next);
}

int checkpoints_complete(struct writer *w, struct context *cx)
{
	uint64_t blocks = w->blocks_count - w->ifile_blocks +
			  metafile_nblocks(w->ifile);
	struct nilfs_checkpoint *cp;
	int ret = change_entry(w, cx, w->cno, &cp);

	if (ret)
		return ret;
	if (w->o.minor)
		cp->cp_flags = le32_make(le32_get(cp->cp_flags) | MINOR);
	cp->cp_create = le64_make(w->o.time);
	cp->cp_nblk_inc = le64_make(w->appender.blocks);
	cp->cp_inodes_count = le64_make(w->inodes_count);
	cp->cp_blocks_count = le64_make(blocks);
	cp->cp_ifile_inode = w->ifile_inode;
	metafile_inode(w->ifile, &cp->cp_ifile_inode);
	return 0;
}
