/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The passes, in the order in which they run.  Each is a file of its own that
 * says what it checks, what it needs, and what it leaves to others.
 */
#ifndef NILFS2_CHECK_PASSES_H
#define NILFS2_CHECK_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/vblocks.h"
#include "disk/segsum.h"

struct check;

/* 0, or a failure of the checker itself; see check.h. */
typedef int pass_run(struct check *c, struct context *cx);

/* How much work it is, in the unit of check_progress(); 0: not known. */
typedef uint64_t pass_estimate(const struct check *c);

struct pass {
	const char *name;	/* one word */
	const char *doing;	/* of the line of progress: "checking ..." */
	pass_run *run;
	pass_estimate *estimate;	/* NULL: not known */
	unsigned int until;	/* percent of a check that are done after it */
	bool counters;		/* what the SUFILE counts rests on it */
};

/*
 * Pass number I of those that run on an open volume; NULL just past the last.
 * pass_super() comes before them.
 */
const struct pass *check_pass_at(size_t i);

/* Superblocks and super root; before c->vol is open, which it opens. */
pass_run pass_super;
/* SUFILE: entries, counts, which segments are used. */
pass_run pass_segments;
pass_estimate pass_segments_work;
/* DAT: its map, its allocator, its entries; claims blocks. */
pass_run pass_dat;
pass_estimate pass_dat_work;
/* Zones of the device, where it has some, against SUFILE and DAT. */
pass_run pass_zones;
pass_estimate pass_zones_work;
/* Logs of used segments, against SUFILE and DAT. */
pass_run pass_logs;
pass_estimate pass_logs_work;
/* Checkpoint file: entries, counts, the list of snapshots. */
pass_run pass_checkpoints;
pass_estimate pass_checkpoints_work;
/* Maps, ifiles and inodes of all checkpoints, shared parts once. */
pass_run pass_tree;
pass_estimate pass_tree_work;
/* Directories and links of the checkpoints. */
pass_run pass_names;
/* What the DAT has and no pointer refers to; live-block counters. */
pass_run pass_counts;

/*
 * Compares i_blocks in INODE, of metadata file INO (an ifile: of checkpoint
 * CNO), with NBLOCKS that its map was found to have, nodes included; after its
 * allocator was checked.
 */
void pass_tree_count(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks);

/*
 * Reports a checkpoint that is newer than the one c->vol was opened at, and of
 * its history, where a log that is not valid ends the chain before it.  The
 * kernel mounts the older one without a word.  -ENOMEM, -EINTR.
 */
int chain_check(struct check *c, struct context *cx);

/*
 * Reports files of logs of fdatasync() after the latest checkpoint that it does
 * not have, for which the next mount fails; its ifile can be read.  -ENOMEM.
 */
int synced_check(struct check *c, struct context *cx);

/*
 * After the last pass, if reads have failed and no pass has reported any,
 * because blocks were skipped as known, or only read ahead: reports the blocks
 * that are in use.  -ENOMEM, -EINTR.
 */
int badreads_report(struct check *c, struct context *cx);

/*
 * Reports to F that BLOCKNR of VOL cannot be read, for which the DAT has the
 * entry VB, and a log the listing B, or NULL: 1; 0 where no checkpoint has it.
 * Blocks that passes read anyway, nodes and metadata files, have no owner here.
 * -ENOMEM, -EINTR.
 */
int badreads_name(struct findings *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b);

#endif
