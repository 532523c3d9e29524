// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of the checkpoint file.
 *
 * All of it is repaired, whatever was found: entries block by block, then what
 * is counted from them and the list of snapshots, which is in the order of
 * numbers.  Blocks that were right stay where they are.  Where the file begins
 * without blocks, because its map cannot be used, they are entered in a new
 * one.
 *
 * The counts of a checkpoint's inodes and blocks are those that the pass over
 * trees found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/checkpoint.h"
#include "fsck/checkpoints/cprepair.h"
#include "fsck/checkpoints/lastknown.h"
#include "fsck/plan/fixers.h"
#include "log/repairwriter.h"

#define SECTOR 512u

struct repairing {
	struct cprepair cm;
	struct metafile *m;
	const struct nilfs_geometry *geo;
	bool rebuilt;		/* the file began without blocks */
};

/* The new checkpoint's file gets block B. */
static int put_block(struct repairing *f, struct context *cx,
		     const struct cprepair_block *b)
{
	void *data;
	int err;

	if (b->is.origin == CPBLOCKS_OLD && !b->valid && b->is.blkoff)
		return 0;
	if (!b->changed && b->is.vblocknr) {
		if (!f->rebuilt && b->is.origin == CPBLOCKS_MAPPED)
			return 0;
		return metafile_keep(f->m, cx, b->is.blkoff, b->is.vblocknr);
	}
	err = metafile_change(f->m, cx, b->is.blkoff, &data, NULL);
	if (!err)
		memcpy(data, b->is.data, f->geo->block_size);
	return err;
}

static int repair_blocks(struct repairing *f, struct context *cx)
{
	struct cprepair_block b = { .is.data = malloc(f->geo->block_size) };
	size_t i;
	int err = b.is.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	for (i = 0; i < f->cm.blocks.n && !err; i++) {
		b.is.blkoff = f->cm.blocks.blkoffs[i];
		err = cprepair_block(&f->cm, cx, &b);
		if (!err)
			err = put_block(f, cx, &b);
		if (!err && b.changed && b.is.origin == CPBLOCKS_MAPPED)
			fixers_tell(f->cm.job,
				    "checkpoints of block %llu: made right",
				    (unsigned long long)b.is.blkoff);
		else if (!err && b.valid && b.is.origin != CPBLOCKS_MAPPED)
			fixers_tell(f->cm.job,
				    "checkpoints of block %llu: from the logs",
				    (unsigned long long)b.is.blkoff);
	}
	free(b.is.data);
	return err;
}

/* Changes SIZE bytes of the file at OFFSET of block BLKOFF to those of NEW. */
static int change(struct repairing *f, struct context *cx, uint64_t blkoff,
		  size_t offset, const void *new, size_t size)
{
	const void *old;
	void *data;
	int ret = metafile_look(f->m, cx, blkoff, &old);

	if (ret < 0)
		return ret;
	if (ret && !memcmp((const char *)old + offset, new, size))
		return 0;
	ret = metafile_change(f->m, cx, blkoff, &data, NULL);
	if (ret)
		return ret;
	memcpy((char *)data + offset, new, size);
	return 1;
}

static int change_entry(struct repairing *f, struct context *cx, uint64_t cno,
			size_t field, const void *new, size_t size)
{
	return change(f, cx, checkpoint_blkoff(f->geo, cno),
		      checkpoint_offset(f->geo, cno) + field, new, size);
}

/* Links the snapshots, each to the one before it and the one after it. */
static int link_snapshots(struct repairing *f, struct context *cx)
{
	const struct cprepair *cm = &f->cm;
	bool changed = false;
	int ret = 0;
	size_t i;

	for (i = 0; i < cm->nsnapshots && ret >= 0; i++) {
		uint64_t next = i + 1 < cm->nsnapshots ? cm->snapshots[i + 1] :
							 0;
		const struct nilfs_snapshot_list links = {
			.ssl_next = le64_make(next),
			.ssl_prev = le64_make(i ? cm->snapshots[i - 1] : 0),
		};

		ret = change_entry(f, cx, cm->snapshots[i],
				   offsetof(struct nilfs_checkpoint,
					    cp_snapshot_list),
				   &links, sizeof(links));
		changed |= ret > 0;
	}
	if (changed)
		fixers_tell(cm->job, "list of snapshots: linked again");
	return ret < 0 ? ret : 0;
}

static int write_header(struct repairing *f, struct context *cx)
{
	const struct cprepair *cm = &f->cm;
	size_t n = cm->nsnapshots;
	const struct nilfs_cpfile_header header = {
		.ch_ncheckpoints = le64_make(cm->valid),
		.ch_nsnapshots = le64_make(n),
		.ch_snapshot_list = {
			.ssl_next = le64_make(n ? cm->snapshots[0] : 0),
			.ssl_prev = le64_make(n ? cm->snapshots[n - 1] : 0),
		},
	};
	int ret = change(f, cx, 0, 0, &header, sizeof(header));

	if (ret > 0)
		fixers_tell(cm->job, "header of checkpoints: %llu, and of "
			    "these %llu snapshots",
			    (unsigned long long)cm->valid,
			    (unsigned long long)n);
	return ret < 0 ? ret : 0;
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

static int repair_field(struct repairing *f, struct context *cx,
			const struct fix *fix, const struct cpfield *field)
{
	le64 want = le64_make(fix->want);
	int ret = change_entry(f, cx, fix->place.number, field->at, &want,
			       sizeof(want));

	if (ret > 0)
		fixers_tell(f->cm.job, "checkpoint %llu: has %llu %s",
			    (unsigned long long)fix->place.number,
			    (unsigned long long)fix->want, field->what);
	return ret < 0 ? ret : 0;
}

/* The inode of an ifile, in the entry of its checkpoint. */
static int repair_ifile(struct repairing *f, struct context *cx,
			const struct fix *fix)
{
	const size_t at = offsetof(struct nilfs_checkpoint, cp_ifile_inode);
	uint64_t cno = fix->place.cno;
	struct nilfs_inode inode;
	const void *data;
	int ret = metafile_look(f->m, cx, checkpoint_blkoff(f->geo, cno),
				&data);

	if (ret <= 0)
		return ret;
	memcpy(&inode, (const char *)data + checkpoint_offset(f->geo, cno) + at,
	       sizeof(inode));
	repairwriter_plain(&inode);
	if (fix->rule == RULE_INODE_BLOCKS)
		inode.i_blocks = le64_make(fix->want);
	ret = change_entry(f, cx, cno, at, &inode, sizeof(inode));
	return ret < 0 ? ret : 0;
}

/*
 * The inodes of the super root are right in every log that is written here;
 * there only has to be one.  So is that of the new checkpoint's ifile.
 */
static int repair_inode(struct repairing *f, struct context *cx,
			const struct fix *fix)
{
	const struct place *place = &fix->place;
	bool ifile = place->ino == NILFS_IFILE_INO;
	void *data;

	if (fix->rule == RULE_INODE_BLOCKS &&
	    (!ifile || place->cno == f->cm.check->vol->latest.cno))
		repairwriter_recount(f->cm.job->writer, place->ino,
				     fix->want / (f->geo->block_size / SECTOR));
	fixers_tell(f->cm.job, "inodes of metadata files: fields made right");
	return ifile ? repair_ifile(f, cx, fix) :
		       metafile_change(f->m, cx, 0, &data, NULL);
}

static int repair_inodes(struct repairing *f, struct context *cx,
			 const struct fix *fixes, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (fixes[i].place.kind == PLACE_INODE)
			err = repair_inode(f, cx, &fixes[i]);
	return err;
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

static int repair_fields(struct repairing *f, struct context *cx,
			 const struct fix *fixes, size_t n)
{
	bool counts = false;
	size_t i, j;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		for (j = 0; j < sizeof(cpfields) / sizeof(cpfields[0]); j++) {
			if (cpfields[j].rule != fixes[i].rule)
				continue;
			err = repair_field(f, cx, &fixes[i], &cpfields[j]);
			counts |= fixes[i].rule != RULE_CP_CREATE;
		}
	return err || !counts ? err : pass_counts_on(f, cx);
}

static int repair_file_of(struct repairing *f, struct context *cx)
{
	int err = cprepair_init(&f->cm, cx);

	if (err)
		return err;
	if (!f->rebuilt && !liveblocks_is_whole(&f->cm.blocks.live)) {
		fixers_tell(f->cm.job, "checkpoint file: left as it is");
		return 0;
	}
	err = repair_blocks(f, cx);
	if (!err)
		err = link_snapshots(f, cx);
	return err ? err : write_header(f, cx);
}

/*
 * mkfs.nilfs2 of nilfs-utils counted the block of the header as one sector;
 * one that is rebuilt counts like any other.
 */
static void count_header(struct repairing *f, const struct fix *fixes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (fixes[i].rule == RULE_CP_HEADER_MISSING)
			repairwriter_recount(f->cm.job->writer,
					     NILFS_CPFILE_INO,
					     metafile_nblocks(f->m));
}

int fix_checkpoints(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	struct repairing f = {
		.cm = { .job = job, .check = job->check },
		.m = repairwriter_file(job->writer, NILFS_CPFILE_INO),
		.geo = &job->vol->geo,
	};
	int err;

	f.rebuilt = metafile_is_empty(f.m);
	if (lastknown_is_doubtful(job->check) && !f.rebuilt)
		return 0;
	count_header(&f, fixes, n);
	err = repair_file_of(&f, cx);
	if (!err)
		err = repair_fields(&f, cx, fixes, n);
	if (!err)
		err = repair_inodes(&f, cx, fixes, n);
	cprepair_fini(&f.cm);
	return err;
}
