/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of a repair, and the kinds of repair, one file (fix_*.c) each.
 *
 * A plan has the findings with a repair that the user wants, by kind of repair.
 * Every check of the volume makes a plan, so a plan may be incomplete: the next
 * check finds the rest again.
 *
 * A fixer changes the objects of its findings and what follows from them:
 * counts are rebuilt from the objects counted, not corrected by the findings.
 * It writes superblocks itself and, after an undo file, blocks of snapshots
 * (snapblocks.h); all other changes go into the log of a writer that is open on
 * the volume. A fixer may leave damage that it cannot repair.
 *
 * Fixers of a stage (enum rule_stage) run together on one writer, in the order
 * of enum rule_fix, with those of the next stage if its findings do not depend
 * on the first one. All others follow after the next check.
 */
#ifndef NILFS2_FSCK_FIXERS_H
#define NILFS2_FSCK_FIXERS_H

#include "base/numlist.h"
#include "check/check.h"
#include "cli/moment.h"
#include "cli/tool.h"
#include "find/decision.h"
#include "log/writer.h"

/* The maximum number of findings of a kind that are kept. */
#define PLAN_MAX 65536

struct plan {
	struct plan_kind {
		/*
		 * N findings in the order found, without their details; after
		 * them those that the user refused, which other repairs of the
		 * kind do not change.
		 */
		struct finding *fixes;
		size_t n, nrefused, room;
		uint64_t found;		/* N, and those that exceed PLAN_MAX */
		struct plan_kind *whole;	/* before plan_set_aside(), or NULL */
	} kinds[RULE_FIX_COUNT];
	int err;			/* the first failure of plan_add() */
};

/*
 * The kind of repair for F: that of its rule, except that a wrong map of a
 * metadata file is repaired with the file, and an unreadable block with the
 * structure it belongs to.
 */
enum rule_fix plan_fix_of(const struct finding *f);

/*
 * The possible losses of repairing F with FIX. A metadata file with a broken
 * map is rebuilt from other metadata (SUFILE), from the logs (DAT, if they list
 * all of it), or from its remaining blocks.
 */
enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f);

/*
 * The kind that may repair F if plan_fix_of() does not. A block that the DAT
 * does not lead to is lost to the file; if the DAT is correct, the SUFILE or
 * the log is wrong. RULE_FIX_NONE for most.
 */
enum rule_fix plan_second_of(const struct finding *f);

/* Adds F to the kind FIX.  A failure (-ENOMEM) is kept in plan->err. */
void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f);

/* The number of findings of a kind of repair: all, and those outside of
   snapshots; and the first of them. */
struct plan_count {
	uint64_t all, newest;
	struct finding first;
};

/* Counts the findings of KIND; LATEST is the latest checkpoint. */
struct plan_count plan_count(const struct plan_kind *kind, uint64_t latest);

/*
 * Whether a repair that left NOW had no effect on its kind. Damage shared with
 * a snapshot is found only there once the newest checkpoint is repaired: the
 * number is the same, but the finding is another one. The same holds if one
 * finding stands for many objects and the first one is repaired.
 */
bool plan_is_no_less(const struct plan_count *now,
		     const struct plan_count *before);

/* A digest of the findings of kind FIX in PLAN that are to be repaired; the same
   in a later checkpoint. LATEST is the latest one. */
uint64_t plan_digest(const struct plan *plan, enum rule_fix fix, uint64_t latest);

/*
 * Moves the fixes of KIND for which IS_REFUSED, called with ARG, returns true
 * to the end. The order of the others is kept. Other repairs of the kind do not
 * change the refused ones.
 */
void plan_refuse(struct plan_kind *kind,
		 bool (*is_refused)(const void *arg, const struct finding *fix),
		 const void *arg);

/* The same until plan_restore(). -ENOMEM. */
int plan_set_aside(struct plan_kind *kind, struct context *cx,
		   bool (*is_refused)(const void *arg, const struct finding *fix),
		   const void *arg);
void plan_restore(struct plan *plan);

bool plan_is_empty(const struct plan *plan);

/* Frees the plan and makes it empty again; an empty plan is all zero. */
void plan_fini(struct plan *plan);

/*
 * Questions about a plan. Each kind of repair is asked about once,
 * independently of the number of findings and rounds; repairs with possible
 * losses are asked about separately.
 */
enum ask_answer {
	ASK_PENDING,
	ASK_NO,
	ASK_YES,
};

#define ASK_DANGERS (RULE_DANGER_REBUILD + 1)

/* All zero at first except for TOOL, MODE and FD. */
struct ask {
	struct tool *tool;
	enum decision_mode mode;
	int fd;			/* file descriptor of the answers */
	bool all;		/* no more questions: the answer is yes */
	enum ask_answer answers[RULE_FIX_COUNT][ASK_DANGERS];
	enum ask_answer state;	/* for clearing the error flag */
};

/* Asks about the kinds of STAGE that were not asked about, and removes the
   refused findings from PLAN. 0, -EINTR. */
int plan_ask(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage);

/* Removes findings that were refused before, without questions. */
void plan_forget(const struct ask *a, struct plan *plan);

/* Whether the error flag of the kernel may be cleared: 1, 0, -EINTR. */
int plan_ask_state(struct ask *a, struct context *cx);

struct derived;
struct metafile;
struct palloc;
struct rollforward;

struct fixer_job {
	/*
	 * The check that made the plan. Its volume is open, or NULL if it could
	 * not be opened (RULE_STAGE_DEVICE only). Its facts, such as the
	 * segments in use, are those before all repairs of this stage.
	 */
	struct check *check;
	struct dev *dev;	/* an overlay, for writing */
	struct volume *vol;	/* check->vol */
	struct writer *writer;	/* for the next checkpoint; or NULL */
	const struct plan *plan;	/* all kinds */
	bool first_log;		/* VOL is as it was before all repairs */
	uint64_t time;		/* now, seconds */
	bool rebuild;		/* the user wants metadata files rebuilt */
	bool undo;		/* an undo file keeps the overwritten content */
	struct root_state *state;	/* to be chosen if superblocks lead to no
					   state */
	unsigned int state_number;	/* 0: the newest usable one */
	uint64_t state_cno;	/* only this one, as of moment_parse(); 0: any */
	const struct rollforward *synced;	/* in logs after the latest: written
						   later; or NULL */
	const struct derived *derived;	/* blocks to be written, or NULL */
	uint64_t given_up;	/* snapshot to convert to a plain checkpoint, or 0 */
	const struct nilfs_checkpoint *back;	/* for a rollback, to be the latest;
						   or NULL */
	/* Blocks of snapshots were replaced; their parents cannot be replaced
	   again before the next round. */
	bool snapshots_written;
	bool *borrowed;	/* set if inodes of snapshots were replaced by those of other
			   checkpoints; or NULL */

	/* The text form of times in messages; NULL: ISO, as in JSON. */
	const struct out *style;
	/* Called with a message about one repaired or lost object. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* Repairs the N FIXES. 0, also if some cannot be repaired, or a failure that
   ends the repair, which then does not reach the device. */
typedef int fixer_apply(struct fixer_job *job, struct context *cx,
			const struct finding *fixes, size_t n);

struct fixer {
	fixer_apply *apply;
	const char *what;	/* "rebuild the counts of segments" */
	const char *costs;	/* for a question: possible losses; or NULL */
};

/* The fixer of FIX, or NULL if none exists. */
const struct fixer *fixers_of(enum rule_fix fix);

/* Calls job->note, if set, with a message. */
void fixers_note(struct fixer_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

fixer_apply fix_bits, fix_super, fix_root, fix_dat, fix_segments,
	fix_checkpoints, fix_ifile, fix_inodes, fix_maps, fix_names, fix_moves,
	fix_counts, fix_zones;

/* As fix_super, but fields that never change are taken from the superblock that
   the volume was not opened with. Both must be valid superblocks. */
int fix_super_other(struct fixer_job *job, struct context *cx);

/* Whether FIX rebuilds the map of the DAT. Then fix_dat() needs a writer whose
   DAT starts without blocks, also if it is called without findings. */
bool fix_dat_is_rebuilt(const struct finding *fix);

/* Sets the counts of free entries of GROUPS, in file M with allocator P, from
   their bitmaps; in a missing block of descriptors all counts. Sorts GROUPS. */
int fix_dat_count_groups(struct metafile *m, struct context *cx,
			 const struct palloc *p, struct numlist *groups);

/*
 * Derives the blocks of the cpfile of JOB's volume, if its map leads to all of
 * them: entries from their ifiles, older copies and the logs, list and header
 * from the entries. -ENOMEM, -EINTR.
 */
int fix_checkpoints_derive(struct derived *d, struct context *cx,
			   struct fixer_job *job);

/*
 * Repairs the entries of the segments in WHICH, NULL for all, and clears those
 * after the last segment; *NCHANGED segments were wrong. Counts of live blocks
 * are not changed.
 */
int fix_segments_all(struct fixer_job *job, struct context *cx,
		     const struct bitmap *which, uint64_t *nchanged);

/*
 * Moves the blocks that any checkpoint needs out of the segments in WHICH and
 * frees the numbers of the others. The segments are then in use without blocks.
 * A segment with a block that neither its logs nor maps identify is removed
 * from WHICH and not changed. Blocks of the NINOS inodes INOS may be listed for
 * another file. -ENOSPC, -EUCLEAN, -EIO, -ENOMEM, -EINTR.
 */
int fix_moves_empty(struct fixer_job *job, struct context *cx,
		    struct bitmap *which, const uint64_t *inos, size_t ninos);

#endif
