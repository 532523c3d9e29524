/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be repaired, and the kinds of repair, one file (fix_*.c) each.
 *
 * A plan has the findings that have a repair which the user wants, by kind of
 * repair.  Every look at the volume makes one, so it need not be complete: what
 * did not fit is found again by the next look.
 *
 * A fixer changes what its findings name and what follows from that: counts
 * are rebuilt from what they count, not corrected by what was found.  It
 * writes nothing itself but superblocks and, after an undo file, blocks of
 * snapshots (snapblocks.h): the rest goes into the log of a writer that is
 * open on the volume.  It may leave what it cannot repair.
 *
 * Fixers of a stage (enum rule_stage) run together, in the order of enum
 * rule_fix, on one writer; with them those of the next stage, if nothing of it
 * can come of what is repaired before.  Others wait for the next look.
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
#include "cli/tool.h"
#include "dev/dev.h"
#include "disk/rule.h"
#include "find/decision.h"
#include "find/finding.h"
#include "log/writer.h"

/* The most findings of a kind that are kept. */
#define PLAN_MAX 65536

struct plan {
	struct plan_kind {
		/* In the order found, without their details; after these N
		   what the user refused, which other repairs of the kind leave
		   as it is. */
		struct finding *fixes;
		size_t n, nrefused, room;
		uint64_t found;		/* N, and those past PLAN_MAX */
	} kinds[RULE_FIX_COUNT];
	int err;			/* the first failure of plan_add() */
};

/* The kind of repair for F: that of its rule, but what is wrong with the map of
   a metadata file is repaired with the file, and what cannot be read as what it
   is part of. */
enum rule_fix plan_fix_of(const struct finding *f);

/* What it may cost to repair F with FIX.  A metadata file whose map is broken
   is rebuilt from what follows from the rest (SUFILE), from the logs (DAT,
   where all of it is there), or from what is left of it. */
enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f);

/* The kind that may repair F where the one above leaves it as it is: what the
   DAT does not lead to is lost to the file; where the DAT is right the SUFILE
   is wrong, or the log.  RULE_FIX_NONE for most. */
enum rule_fix plan_second_of(const struct finding *f);

/* Adds F to the kind FIX.  A failure (-ENOMEM) is kept in plan->err. */
void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f);

/* How many findings a kind of repair has: all, and those not of snapshots; and
   the first of them. */
struct plan_count {
	uint64_t all, newest;
	struct finding first;
};

/* Counts those of KIND; LATEST is the number of the latest checkpoint. */
struct plan_count plan_count(const struct plan_kind *kind, uint64_t latest);

/*
 * Whether a repair after which NOW is left did nothing for its kind.  Damage
 * that the newest checkpoint shared with a snapshot is found in the snapshot
 * alone once the newest is repaired: as much as before, and not the same.  So
 * it is where one finding stands for many objects, of which the first is
 * repaired.
 */
bool plan_is_no_less(const struct plan_count *now,
		     const struct plan_count *before);

/*
 * Moves those fixes of KIND that IS_REFUSED says, called with ARG, after what
 * is left, whose order stays: other repairs of the kind leave them as they
 * are.
 */
void plan_refuse(struct plan_kind *kind,
		 bool (*is_refused)(const void *arg, const struct finding *fix),
		 const void *arg);

bool plan_is_empty(const struct plan *plan);

/* Frees it, and makes it empty again; all zero is empty. */
void plan_fini(struct plan *plan);

/* Questions: what of a plan does the user want?  Each kind of repair is asked
   for once, however often it is found and however many rounds there are; what
   costs something is asked for apart. */
enum ask_answer {
	ASK_PENDING,
	ASK_NO,
	ASK_YES,
};

#define ASK_DANGERS (RULE_DANGER_REBUILD + 1)

/* All zero but TOOL, MODE and FD: nothing was asked. */
struct ask {
	struct tool *tool;
	enum decision_mode mode;
	int fd;			/* where the answers come from */
	bool all;		/* no more questions: the answer is yes */
	enum ask_answer answers[RULE_FIX_COUNT][ASK_DANGERS];
	enum ask_answer state;	/* the word that there were errors */
};

/* Takes out of PLAN what the user does not want repaired of the kinds of STAGE,
   which is asked for where it was not.  0, -EINTR. */
int plan_ask(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage);

/* Takes out what was refused before; asks nothing. */
void plan_forget(const struct ask *a, struct plan *plan);

/* Whether that the kernel has met errors may be forgotten: 1, 0, -EINTR. */
int plan_ask_state(struct ask *a, struct context *cx);

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
	/* Blocks of snapshots were replaced: those above them cannot be once more
	   before the next round. */
	bool past_written;
	bool *borrowed;	/* whether inodes of snapshots were replaced by those of
			   other checkpoints, in any round; or NULL */

	/* Called with what was done or given up, a phrase about one object. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* Repairs the N FIXES.  0, also where some cannot be repaired, or a failure
   that ends the repair: nothing of it reaches the device then. */
typedef int fixer_apply(struct fixer_job *job, struct context *cx,
			const struct finding *fixes, size_t n);

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

/* As fix_super, but what never changes becomes what the superblock has by which
   the volume was not opened.  Both must be superblocks. */
int fix_super_other(struct fixer_job *job, struct context *cx);

/* True where FIX rebuilds the map of the DAT: fix_dat() then needs a writer
   whose DAT begins without blocks, as it does without any finding. */
bool fix_dat_is_rebuilt(const struct finding *fix);

/*
 * Makes the counts of free entries of GROUPS, in file M with allocator P, those
 * of their bitmaps, in a missing block of descriptors all of them.  GROUPS are
 * in order then.
 */
int fix_dat_count_groups(struct metafile *m, struct context *cx,
			 const struct palloc *p, struct numlist *groups);

/* Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
   them: entries by their ifiles, older copies and the logs, list and header by
   the entries.  -ENOMEM, -EINTR. */
int fix_checkpoints_derive(struct derived *d, struct context *cx,
			   struct fixer_job *job);

/* Repairs the entries of the segments in WHICH, NULL for all, and clears those
   after the last segment; *NCHANGED of the segments were wrong.  Counts of live
   blocks are left as they are. */
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
