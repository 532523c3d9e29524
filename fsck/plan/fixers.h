/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of repair, one file (fix_*.c) each.
 *
 * A fixer changes what its findings name and what follows from that: counts
 * are rebuilt from what they count, not corrected by what was found.  It
 * writes nothing itself but superblocks and, after an undo file, blocks of
 * snapshots (pastblocks.h): the rest goes into the log of a writer that is
 * open on the volume.  It may leave what it cannot repair.
 *
 * Repairs go stage by stage (enum rule_stage).  Fixers of a stage run together,
 * in the order of enum rule_fix, on one writer; with them those of the next
 * stage, if nothing of it can come of what is repaired before.  Others wait for
 * the next look, which may find that nothing is left for them, or other things.
 */
#ifndef NILFS2_FSCK_FIXERS_H
#define NILFS2_FSCK_FIXERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "base/numlist.h"
#include "check/check.h"
#include "dev/dev.h"
#include "disk/rule.h"
#include "fsck/plan/plan.h"
#include "log/writer.h"

struct derived;
struct metafile;
struct palloc;
struct rollforward;

struct fixer_job {
	/* The look that made the plan; its volume is open, or NULL where it
	   could not be opened (RULE_STAGE_DEVICE only).  Its facts, such as the
	   segments in use, are those before any repair of this stage. */
	struct check *check;
	struct dev *dev;	/* an overlay: to be written to */
	struct volume *vol;	/* check->vol */
	struct writer *writer;	/* of the next checkpoint; or NULL */
	const struct plan *plan;	/* all kinds */
	uint64_t time;		/* now, seconds */
	bool rebuild;		/* the user wants metadata files rebuilt */
	bool undo;		/* what is written over will be kept in a file */
	struct root_state *state;	/* to be chosen where superblocks lead nowhere */
	unsigned int state_number;	/* the newest that will do is 0 */
	uint64_t state_cno;	/* of this checkpoint only; 0: any */
	const struct rollforward *synced;	/* in logs after the latest: is
						   written later; or NULL */
	const struct derived *derived;	/* blocks to be written, or NULL */
	uint64_t given_up;	/* a snapshot, or 0 */
	const struct nilfs_checkpoint *back;	/* to be the latest, or NULL */
	bool *revived;	/* whether inodes of snapshots were replaced by those of
			   other checkpoints, in any round; or NULL */

	/* Called with what was done or given up, a phrase about one object. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

/*
 * Repairs the N FIXES.  0, also where some cannot be repaired, or a failure
 * that ends the repair: nothing of it reaches the device then.
 */
typedef int fixer_apply(struct fixer_job *job, struct context *cx,
			const struct fix *fixes, size_t n);

struct fixer {
	fixer_apply *apply;
	const char *what;	/* "rebuild the counts of segments" */
	const char *costs;	/* for a question: what is lost; or NULL */
};

/* The fixer of FIX, or NULL where there is none. */
const struct fixer *fixers_of(enum rule_fix fix);

/* Calls job->note, if there is one, with a phrase. */
void fixers_note(struct fixer_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

fixer_apply fix_bits, fix_super, fix_root, fix_dat, fix_segments,
	fix_checkpoints, fix_ifile, fix_inodes, fix_maps, fix_names, fix_moves,
	fix_counts, fix_zones;

/*
 * As fix_super, but what never changes becomes what the superblock has by
 * which the volume was not opened.  Both must be superblocks.
 */
fixer_apply fix_super_other;

/* True where FIX rebuilds the map of the DAT: fix_dat() then needs a writer
   whose DAT begins without blocks, as it does without any finding. */
bool fix_dat_is_rebuilt(const struct fix *fix);

/*
 * Makes the counts of free entries of GROUPS, in file M with allocator P, those
 * of their bitmaps, in a missing block of descriptors all of them.  GROUPS are
 * in order then.
 */
int fix_dat_count_groups(struct metafile *m, struct context *cx,
			 const struct palloc *p, struct numlist *groups);

/*
 * Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
 * them: entries by their ifiles, older copies and the logs, list and header by
 * the entries.  -ENOMEM, -EINTR.
 */
int fix_checkpoints_derive(struct derived *d, struct context *cx,
			   struct fixer_job *job);

/*
 * Repairs the entries of the segments in WHICH, NULL for all, and clears those
 * after the last segment; *NCHANGED of the segments were wrong.  Counts of live
 * blocks are left as they are.
 */
int fix_segments_all(struct fixer_job *job, struct context *cx,
		     const struct bitmap *which, uint64_t *nchanged);

/*
 * Moves what any checkpoint needs out of the segments in WHICH; the numbers of
 * the rest are free, and the segments are in use without blocks.  A segment
 * with a block that neither its logs nor maps identify is taken out of WHICH
 * and stays.  Blocks of the NINOS inodes INOS may be listed as another's.
 * -ENOSPC, -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int fix_moves_empty(struct fixer_job *job, struct context *cx,
		    struct bitmap *which, const uint64_t *inos, size_t ninos);

#endif
