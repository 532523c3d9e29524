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

struct pass {
	const char *name;	/* one word */
	const char *doing;	/* of the line of progress: "checking ..." */
	pass_run *run;
	unsigned int until;	/* percent of a check that are done after it */
	bool counters;		/* what the SUFILE counts rests on it */
};

/* Pass number I of those that run on an open volume; NULL just past the last.
   pass_super() comes before them. */
const struct pass *check_pass_at(size_t i);

pass_run pass_super, pass_segments, pass_dat, pass_zones, pass_logs,
	pass_checkpoints, pass_tree, pass_names, pass_counts;

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

/* Reports files of logs of fdatasync() after the latest checkpoint that it does
   not have, for which the next mount fails; its ifile can be read.  -ENOMEM. */
int chain_check_synced(struct check *c, struct context *cx);

/* What never changes in superblock SB becomes what OTHER has. */
void pass_super_borrow(struct nilfs_super_block *sb,
		       const struct nilfs_super_block *other);

/* Gets each error of zones, of a segment or the volume; as pass_zones_walk(). */
typedef int pass_zones_visit(void *arg, struct context *cx,
			     const struct finding *f);

/*
 * Compares the SUFILE of c->vol with the zones of c->dev, and calls VISIT for
 * each error; without zones there are none.  Segments in which the DAT names
 * blocks (c->live_segments) are not treated as clean.  Fails as
 * sutable_cursor_next(), dev_zone_report() and VISIT.
 */
int pass_zones_walk(struct check *c, struct context *cx,
		    pass_zones_visit *visit, void *arg);

/* Whether the zones of SEGNUM have blocks in use, apart from its own entry in
   the SUFILE. */
bool pass_zones_is_held(const struct check *c, uint64_t segnum);

/* Whether zone N is one of the latest segment, or of the next one. */
bool pass_zones_is_current(const struct check *c, uint64_t n);

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
