/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The passes, in the order in which they run.  The comment of each file
 * describes what the pass checks and needs, and what it leaves to others.
 */
#ifndef NILFS2_CHECK_PASSES_H
#define NILFS2_CHECK_PASSES_H

#include "check/check.h"
#include "disk/segsum.h"

/* 0, or a failure of the checker; see check.h. */
typedef int pass_run(struct check *c, struct context *cx);

struct pass {
	const char *name;	/* one word */
	const char *doing;	/* label of the progress line: "checking ..." */
	pass_run *run;
	unsigned int until;	/* percentage of a check that is done after it */
	bool counters;		/* needed to count live blocks */
};

/* Pass number I of those that run on an open volume; NULL for the number after
   the last.  pass_super() comes before them. */
const struct pass *check_volume_pass(size_t i);

pass_run pass_super, pass_segments, pass_dat, pass_zones, pass_logs,
	pass_checkpoints, pass_tree, pass_names, pass_counts;

/*
 * Compares i_blocks in INODE, of metadata file INO (an ifile: of checkpoint
 * CNO), with NBLOCKS, the blocks of its map including nodes.  Call it after its
 * allocator was checked.
 */
void pass_tree_count(const struct check *c, uint64_t cno, uint64_t ino,
		     const struct nilfs_inode *inode, uint64_t nblocks);

/*
 * Reports a checkpoint that is newer than the one c->vol was opened at, and
 * continues its history, if the chain ends before it with an invalid log.  The
 * kernel mounts the older one without a message.  -ENOMEM, -EINTR.
 */
int chain_check(struct check *c, struct context *cx);

/*
 * Whether a log with sequence number SEQ cannot be in a chain that has number FROM: the
 * numbers of a chain ascend by one from segment to segment, and a segment is in it once.
 * An interrupted job leaves such logs.
 */
static inline bool chain_is_beyond(const struct nilfs_geometry *g, uint64_t from,
				   uint64_t seq)
{
	return seq > from + g->nsegments;
}

/*
 * Reports files of logs of fdatasync() after the latest checkpoint that it does
 * not contain, so that the next mount fails; its ifile must be readable.
 * -ENOMEM.
 */
int chain_check_synced(struct check *c, struct context *cx);

/* Copies the fields of OTHER that never change to superblock SB. */
void pass_super_borrow(struct nilfs_super_block *sb,
		       const struct nilfs_super_block *other);

/* Receives each error of zones, of a segment or the volume.  Fails as
   pass_zones_walk(). */
typedef int pass_zones_visit(void *arg, struct context *cx,
			     const struct finding *f);

/*
 * Compares the SUFILE of c->vol with the zones of c->dev, and calls VISIT for
 * each error; without zones there are none.  Segments with blocks of the DAT
 * (c->live_segments) are not treated as clean.  Fails as sutable_cursor_next(),
 * dev_zone_report() and VISIT.
 */
int pass_zones_walk(struct check *c, struct context *cx,
		    pass_zones_visit *visit, void *arg);

/* Whether the zones of SEGNUM contain blocks in use, regardless of its own
   entry in the SUFILE. */
bool pass_zones_is_held(const struct check *c, uint64_t segnum);

/* Whether zone N is one of the latest segment, or of the next one. */
bool pass_zones_is_current(const struct check *c, uint64_t n);

/*
 * Call after the last pass.  If reads have failed and no pass has reported any,
 * because blocks were skipped or only read ahead, reports those blocks that are
 * in use.  -ENOMEM, -EINTR.
 */
int badreads_report(struct check *c, struct context *cx);

/*
 * Reports to F that BLOCKNR of VOL cannot be read.  VB is its entry of the DAT,
 * B its listing in a log, or NULL.  1; 0 if no checkpoint has it.  For nodes
 * and metadata files, which passes read anyway, the owner is not searched.
 * -ENOMEM, -EINTR.
 */
int badreads_name(struct findings *f, struct context *cx, struct volume *vol,
		  uint64_t blocknr, const struct vblock *vb,
		  const struct segsum_block *b);

#endif
