// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of the checkpoint file, by a new log.
 *
 * Blocks that were right stay where they are.  Where the file begins without
 * blocks, because its map cannot be used, they are entered in a new one.
 *
 * The counts of a checkpoint's inodes and blocks are those that the pass over
 * trees found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/checkpoint.h"
#include "fsck/checkpoints/cprepair.h"
#include "fsck/checkpoints/latestcp.h"
#include "log/repairwriter.h"

#define SECTOR 512u

struct repairing {
	struct cprepair cm;
	struct metafile *m;
	const struct nilfs_geometry *geo;
	bool rebuilt;		/* the file began without blocks */
};

static int change_block(void *arg, struct context *cx, uint64_t blkoff,
			const void *content)
{
	const struct repairing *f = arg;
	void *data;
	int err = metafile_change(f->m, cx, blkoff, &data, NULL);

	if (!err)
		memcpy(data, content, f->geo->block_size);
	return err;
}

/* The new checkpoint's file gets block B. */
static int put_block(void *arg, struct context *cx,
		     const struct cprepair_block *b)
{
	const struct repairing *f = arg;

	if (b->is.origin == CPBLOCKS_OLD && !b->valid && b->is.blkoff)
		return 0;
	if (!b->changed && b->is.vblocknr) {
		if (!f->rebuilt && b->is.origin == CPBLOCKS_MAPPED)
			return 0;
		return metafile_keep(f->m, cx, b->is.blkoff, b->is.vblocknr);
	}
	return change_block(arg, cx, b->is.blkoff, b->is.data);
}

static int read_block(void *arg, struct context *cx, uint64_t blkoff, void *buf)
{
	const struct repairing *f = arg;
	const void *data;
	int ret = metafile_look(f->m, cx, blkoff, &data);

	if (ret > 0)
		memcpy(buf, data, f->geo->block_size);
	return ret;
}

/* What the look before this repair found of a checkpoint. */
static const struct cpfield {
	enum rule rule;
	size_t at;
	const char *what;
} cpfields[] = {
	{ RULE_INODE_COUNT, offsetof(struct nilfs_checkpoint, cp_inodes_count),
	  "inodes" },
	{ RULE_INODE_COUNT_BLOCKS,
	  offsetof(struct nilfs_checkpoint, cp_blocks_count), "blocks" },
	{ RULE_CP_CREATE, offsetof(struct nilfs_checkpoint, cp_create),
	  "for its time" },
};

/*
 * The inodes of the super root are right in every log that is written here;
 * there only has to be one.  So is that of the new checkpoint's ifile; those of
 * others are in the entries of their checkpoints.
 */
static int repair_inode(struct repairing *f, struct context *cx,
			const struct fix *fix)
{
	const size_t at = offsetof(struct nilfs_checkpoint, cp_ifile_inode);
	bool ifile = fix->place.ino == NILFS_IFILE_INO;
	uint64_t cno = fix->place.cno;
	struct nilfs_inode inode;
	const void *block;
	void *header;
	int ret;

	if (fix->rule == RULE_INODE_BLOCKS &&
	    (!ifile || cno == f->cm.check->vol->latest.cno))
		repairwriter_recount(f->cm.job->writer, fix->place.ino,
				     fix->want / (f->geo->block_size / SECTOR));
	fixers_note(f->cm.job, "inodes of metadata files: fields made right");
	if (!ifile)
		return metafile_change(f->m, cx, 0, &header, NULL);
	ret = metafile_look(f->m, cx, checkpoint_blkoff(f->geo, cno), &block);
	if (ret <= 0)
		return ret;
	memcpy(&inode, (const char *)block + checkpoint_offset(f->geo, cno) + at,
	       sizeof(inode));
	repairwriter_plain(&inode);
	if (fix->rule == RULE_INODE_BLOCKS)
		inode.i_blocks = le64_make(fix->want);
	ret = cprepair_change(&f->cm, cx, cno, at, &inode, sizeof(inode));
	return ret < 0 ? ret : 0;
}

/* The new checkpoint goes on from the counts of the latest one. */
static int pass_counts_on(struct repairing *f, struct context *cx)
{
	uint64_t cno = f->cm.check->vol->latest.cno;
	struct nilfs_checkpoint cp;
	const void *data;
	int ret = metafile_look(f->m, cx, checkpoint_blkoff(f->geo, cno),
				&data);

	if (ret <= 0)
		return ret;
	memcpy(&cp, (const char *)data + checkpoint_offset(f->geo, cno),
	       sizeof(cp));
	if (!checkpoint_is_invalid(&cp))
		repairwriter_counts(f->cm.job->writer,
				    le64_get(cp.cp_inodes_count),
				    le64_get(cp.cp_blocks_count));
	return 0;
}

/* Fields of entries that the look before this repair found wrong. */
static int repair_fields(struct repairing *f, struct context *cx,
			 const struct fix *fix, bool *counts)
{
	le64 want = le64_make(fix->want);
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cpfields) / sizeof(cpfields[0]); i++) {
		if (cpfields[i].rule != fix->rule)
			continue;
		*counts |= fix->rule != RULE_CP_CREATE;
		ret = cprepair_change(&f->cm, cx, fix->place.number,
				      cpfields[i].at, &want, sizeof(want));
		if (ret < 0)
			return ret;
		if (ret)
			fixers_note(f->cm.job, "checkpoint %llu: has %llu %s",
				    (unsigned long long)fix->place.number,
				    (unsigned long long)fix->want,
				    cpfields[i].what);
	}
	return 0;
}

int fix_checkpoints(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	struct repairing f = {
		.cm = {
			.job = job, .check = job->check,
			.arg = &f, .put = put_block, .look = read_block,
			.change = change_block,
		},
		.m = repairwriter_file(job->writer, NILFS_CPFILE_INO),
		.geo = &job->vol->geo,
	};
	bool counts = false;
	size_t i;
	int err;

	f.rebuilt = metafile_is_empty(f.m);
	if (latestcp_is_doubtful(job->check) && !f.rebuilt)
		return 0;
	/* mkfs.nilfs2 of nilfs-utils counted the block of the header as one
	   sector; one that is rebuilt counts like any other. */
	for (i = 0; i < n; i++)
		if (fixes[i].rule == RULE_CP_HEADER_MISSING)
			repairwriter_recount(job->writer, NILFS_CPFILE_INO,
					     metafile_nblocks(f.m));
	err = cprepair_init(&f.cm, cx);
	if (!err && !f.rebuilt && !liveblocks_is_whole(&f.cm.blocks.live))
		fixers_note(job, "checkpoint file: left as it is");
	else if (!err)
		err = cprepair_write(&f.cm, cx);
	for (i = 0; i < n && !err; i++)
		err = repair_fields(&f, cx, &fixes[i], &counts);
	if (!err && counts)
		err = pass_counts_on(&f, cx);
	for (i = 0; i < n && !err; i++)
		if (fixes[i].place.kind == PLACE_INODE)
			err = repair_inode(&f, cx, &fixes[i]);
	cprepair_fini(&f.cm);
	return err;
}
