/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs: rounds of repairs and checks on an overlay, and the commit of the
 * result.
 *
 * Every change of the overlay is a round (trial_attempt()): it is applied, the
 * whole volume is checked, and the result is kept or undone.
 */
#ifndef NILFS2_FSCK_REPAIR_H
#define NILFS2_FSCK_REPAIR_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/account/losslist.h"
#include "fsck/plan/fixers.h"
#include "fsck/plan/look.h"
#include "fsck/plan/options.h"
#include "out/report.h"
#include "vol/rollforward.h"

/* How the kinds of a stage are repaired after they failed together. */
enum stages_split {
	STAGES_TOGETHER,	/* with independent stages */
	STAGES_ALONE,
	STAGES_KINDS_ALONE,	/* one kind a round */
};

/* The required result of a repair. */
enum improvement_demand {
	IMPROVEMENT_ONLY,		/* better */
	IMPROVEMENT_DERIVED,		/* better, with revealed ifiles sound */
	IMPROVEMENT_OR_SAME,		/* not worse */
	IMPROVEMENT_ANY,
	IMPROVEMENT_SOUND,		/* no error is left */
};

struct losses {
	uint64_t files, left;	/* inodes of the newest checkpoint */
};

/* One round of repairs: the fixers of a stage, a log, superblocks. */
struct round {
	struct fixer_job job;	/* has no writer outside of round_run() */
	enum rule_stage stage;
	/* Called before all fixers, or NULL. */
	int (*begin)(struct fixer_job *job, struct context *cx);
	bool taken[RULE_FIX_COUNT];	/* kinds to be repaired */
	bool may_lose;		/* cpfile and ifile may be rebuilt */
	size_t reclaim;		/* segments to take from old checkpoints */
	/* Files that start without blocks, DIRECTWRITER_FILE(): requested, and
	   found necessary. */
	unsigned int rebuilt;
	bool fresh_segment;	/* the latest one is emptied */
	const struct nilfs_checkpoint *from;	/* checkpoint whose files the log
						   starts with; NULL: the latest */
	/* A log is always written, and superblocks record that nothing after it
	   is to be recovered. */
	bool recovered;
	bool unchanged;		/* set by trial_attempt(): the round wrote nothing */
};

/* Runs ROUND. 0, or a failure that ends the repair. */
int round_run(struct round *round, struct context *cx);

/* The maximum number of rounds of a repair, and of messages kept until the
   commit. */
#define REPAIR_ROUNDS 24
#define REPAIR_LINES_MAX 10000

/*
 * The maximum number of checks that are kept, as long as they are small, and how many
 * of any size: a state is not checked again.
 */
#define REPAIR_LOOKS_MAX 128
#define REPAIR_LOOKS_LEAST 2

struct repair {
	struct tool *tool;
	const struct options *o;
	struct dev *dev;	/* an overlay */
	struct dev *under;	/* the device to be repaired */
	struct dev *patched;	/* between the two, or NULL: no derivation */
	struct look *first;	/* over DEV, before any repair */
	struct ask ask;
	/* The rest is all zero at first. */
	struct look *now;	/* check after the last good round, or NULL */
	/* Checks of states that a repair left, the last one last. */
	struct look *left[REPAIR_LOOKS_MAX];
	unsigned int nleft;
	/* Results that did not meet a demand, of the checks with these digests. */
	struct rejected {
		uint64_t before, digest;
		enum decision_mode mode;
		enum improvement_demand demand;
		const struct rule_info *worse;
	} *rejected;
	size_t nrejected, rejected_room;
	bool rebuild;		/* for --rebuild, after repairs without it */
	bool overwrites;	/* what an undo file keeps, after repairs without it */
	bool trusts_logs;	/* blocks in rewritten segments are given up */
	bool by_means;		/* a step for this state depends on OVERWRITES */
	uint32_t same;		/* a bit for each state without such a step */
	bool differs;		/* there was one for any state */
	bool no_room;		/* a log had no free segment, at least once */
	bool too_lossy;		/* rejected because of the losses */
	struct losses losses;
	unsigned int rounds;
	/*
	 * Data to be replayed (forward.c): the user was asked; the data; no
	 * data is left; the super root before the data; the segments that the
	 * device still needs.
	 */
	bool asked_synced;
	struct rollforward *synced;
	bool no_orphan_data;
	struct recovery rollforward_base;
	struct bitmap awaited;
	struct root_state state;	/* chosen if superblocks lead to no state */
	unsigned int state_number;	/* the number of the state, 0 is the newest */
	bool fixer_failed[RULE_FIX_COUNT];	/* the fixer failed, */
	bool unchanged[RULE_FIX_COUNT];	/* without a change, with these counts: */
	struct plan_count unchanged_with[RULE_FIX_COUNT];
	bool stale[RULE_FIX_COUNT];	/* failed before a round that was kept */
	enum stages_split split[RULE_STAGE_COUNT];
	/* The search for a state, while it runs, or NULL, and whether it leaves
	   the state that was just chosen as it is: 1, 0, -ENOMEM. The state that
	   the last one took, with its broken snapshots given up or not. */
	struct states_search *search;
	int (*leaves)(struct repair *r, struct context *cx);
	unsigned int best_number;
	bool best_gives;
	bool borrowed;		/* inodes of snapshots were taken from other
				   checkpoints */
	struct {
		char **lines;
		size_t n, room;
		uint64_t more;	/* messages that were not kept */
	} repaired;
	struct recovery base;	/* the log that the repair began with */
	bool has_base;
	/* Segments of the first check that listed them, before other repairs;
	   no bits if R->first listed them. */
	struct bitmap used, broken;
	struct losslist account;
	uint64_t *unset;	/* snapshots given up by the repair */
	size_t nunset, unset_room;
	unsigned int looks;	/* checks of the overlay so far */
	unsigned int derived;	/* LOOKS + 1 at the last derivation */
	/* The rule with more findings in the last check that was no better, or
	   NULL. */
	const struct rule_info *worse;
	/* Repairs that did not improve the volume. */
	struct failed_repair {
		uint64_t digest;	/* of what it changes or repairs */
		/* The kind of the rule that became worse, and the digest of its
		   findings before. */
		enum rule_fix kind;
		uint64_t before;
	} *failed;
	size_t nfailed, failed_room;
};

/* Repairs the plan of R->first on the overlay. Then R->now is the check of the
   result. 1 if it is better and can be committed, 0 if not, or a failure. */
int repair_run(struct repair *r, struct context *cx);

/* Commits the overlay; the undo file gets the overwritten content. */
int repair_commit(struct repair *r, struct context *cx);

void repair_fini(struct repair *r);

/* Prints the lines "repaired: TEXT", or the list "repairs" of sections with the
   member "text". */
void repair_report(const struct repair *r, struct report *report);

/*
 * Attempts (trial.c). Functions of this file depend on no step of a repair.
 */

/* The job of repairing the findings of the latest check, without a writer. */
struct fixer_job trial_job(struct repair *r, struct context *cx);

/* A position of a repair, which it can return to. */
struct trial_point {
	size_t overlay, nrepaired, nunset;
	bool borrowed;
	struct root_state state;
};

struct trial_point trial_point(const struct repair *r);
void trial_return_to(struct repair *r, const struct trial_point *to);

/* Checks the overlay: 1 if the result meets DEMAND, then *RESULT is that check;
   0, or a failure. The caller takes it or drops it. */
int trial_check(struct repair *r, struct context *cx,
		enum improvement_demand demand, struct look **result);

/*
 * Makes LOOK, or R->first if that is NULL, the latest check, R->now. The one
 * before is freed, or kept in *BEFORE (NULL if it was R->first), which the
 * caller passes back or drops. A failure.
 */
int trial_take(struct repair *r, struct context *cx, struct look *look,
	       struct look **before);

/* Keeps LOOK, which may be NULL, for when its state is reached again. */
void trial_leave(struct repair *r, struct look *look);

/* trial_check(), and trial_take() of a good result. */
int trial_look(struct repair *r, struct context *cx,
	       enum improvement_demand demand);

/* A digest of the findings of KIND in the latest check. */
uint64_t trial_digest_of(const struct repair *r, enum rule_fix kind);

/*
 * Whether the repair with DIGEST failed before, and would fail again: findings of
 * the kind that became worse are what they were then. The other one adds a repair,
 * right after its check. -ENOMEM.
 */
bool trial_has_failed(const struct repair *r, uint64_t digest);
int trial_add_failed(struct repair *r, struct context *cx, uint64_t digest);

/*
 * Runs ROUND and checks its changes: 1 if the result meets DEMAND and is kept,
 * or if the round chose another state. Otherwise all changes are undone: 0, or
 * a failure. If a log finds no free segment, R->no_room is set, and the round
 * is tried again with segments that only old checkpoints need, if R may
 * overwrite these.
 */
int trial_attempt(struct repair *r, struct context *cx, struct round *round,
		  enum improvement_demand demand);

/* Before all attempts: R->first need not be repeated. */
int trial_begin(struct repair *r, struct context *cx);

/* Checks the overlay after changes were undone, with the result in R->now: 0,
   or a failure. */
int trial_resume(struct repair *r, struct context *cx);

/* The check of the present result of the repair. */
struct look *trial_current(const struct repair *r);

/* RET, or 0 for a failure caused by the volume. Such a failure is reported, and
   the repair continues without the failed part. */
int trial_tolerate(struct repair *r, struct context *cx, int ret);

/* Whether the device of L is truncated and must be extended first. */
bool trial_is_cut_off(const struct look *l);

/* Drops R->now and the data to be replayed; the other one frees all checks, too. */
void trial_drop(struct repair *r);
void trial_fini(struct repair *r);

/* Sets the means of repairs from now on: the MODE of checks and questions, and whether
   blocks are overwritten that an undo file keeps. */
void trial_set_means(struct repair *r, enum decision_mode mode, bool overwrites);

/* Drops what is based on the last check, and undoes all repairs since FROM. */
void trial_restart(struct repair *r, const struct trial_point *from);

/* Keeps a copy of TEXT for the report: fixer_job.note of R. */
void trial_note(void *r, const char *text);

/*
 * Notes that R keeps the state NOW. If the state is that of a log on the
 * device, which the repair did not add, R->base is that log from now on, and
 * R->used and R->broken are updated. 0, -ENOMEM.
 */
int trial_note_state(struct repair *r, struct context *cx,
		     const struct look *now);

/* The steps. They return 0 or a failure that ends the repair, unless their
   comment differs. */

/* Runs rounds of repairs, including kinds that failed before, until no round
   improves the volume. 0, or a failure. */
int rounds_run(struct repair *r, struct context *cx);

/*
 * Whether the findings of NOW meet DEMAND. NOW is better than BEFORE if, at the
 * first stage with different errors, some rule has fewer and none has more;
 * errors of later stages may have been hidden. If no stage differs, there must
 * be fewer warnings. Either the newest checkpoint, with findings of no
 * checkpoint, is better and the total is not worse, or the snapshots alone are
 * better. A volume that opens or a DAT that can be trusted outweighs all
 * findings that it reveals. Otherwise *WORSE is a rule with more findings, or
 * NULL.
 */
bool improvement_meets(const struct check *now, const struct check *before,
		       enum improvement_demand demand,
		       const struct rule_info **worse);

/*
 * The number of errors of C that count for repairs; LATEST: without those of
 * snapshots. Logs with a wrong checksum are excluded, because no repair changes
 * them and only --data finds them.
 */
uint64_t improvement_errors(const struct check *c, bool latest);

/* True if less than half of the former files are left, as far as both numbers
   are known; they are in LOSSES. A few files are ignored. */
bool improvement_loses_most(struct context *cx, const struct check *now,
			    const struct check *before, struct losses *losses);

/* No stage; equals -EPERM, a failure that stages do not return. */
#define STAGES_NONE (-1)

/* The stage of the next round, or STAGES_NONE. */
int stages_next(const struct repair *r);

/* Asks the user for the repairs of the next stage: a stage with accepted
   repairs, STAGES_NONE, or -EINTR. */
int stages_ask(struct repair *r, struct context *cx);

/* Sets the kinds that are repaired in a round that begins with STAGE; returns
   their number. */
unsigned int stages_take(const struct repair *r, int stage,
			 bool taken[RULE_FIX_COUNT]);

/* Whether a log would restore the first superblock, which was not requested. */
bool stages_is_wiped(const struct repair *r);

/* Whether a log may be written: all passes ran, and the files that numbers are
   allocated from are sound. */
bool stages_may_log(const struct repair *r);

/* Whether the user accepted losses, and that any snapshot is given up. */
bool giveup_may_lose(const struct repair *r);
bool giveup_may_any(const struct repair *r);

/* The first snapshot that is to be given up because of its errors, or 0. */
uint64_t giveup_next(const struct repair *r);

/* Whether giveup_run() may have something to do. */
bool giveup_is_due(const struct repair *r);

/* Gives up blocks that were overwritten, and converts snapshots with errors to
   plain checkpoints, after all other repairs. 0, or a failure. */
int giveup_run(struct repair *r, struct context *cx);

/* Makes the state R->o->state, which the user requested, the latest one on the
   overlay, before the first check. -ENOENT if it does not exist. */
int states_take(struct repair *r, struct context *cx);

/*
 * Repairs the state that superblocks lead to. If they lead to none, states
 * found on the device are repaired on the overlay, newest first, until one has
 * no errors left and was not overwritten. If all have errors, the one with the
 * least damage is kept, without the snapshots that may be given up. Before
 * that, if the superblocks differ in fields that never change, and the volume
 * has no errors with the unused one, its fields are copied to both.
 *
 * If errors are left, --undo-file permits to give up snapshots and to overwrite
 * blocks. With --rebuild a result without errors is compared with the derived
 * metadata then, otherwise the repair starts again. A new result is kept only if
 * it is better, so that no option loses more than the repair without it.
 */
int states_run(struct repair *r, struct context *cx);

/* Corrects the flipped bits found by the first check, as far as the user agrees
   and the volume gets no worse. */
int fix_bits_run(struct repair *r, struct context *cx);

/* Derives metadata if the latest check found damage that a derivation may
   repair, and writes improvements to the overlay, once for each state. */
int derivation_run(struct repair *r, struct context *cx);

/* Compares the state before the repair with the result, into R->account. */
int accounting_run(struct repair *r, struct context *cx);

/*
 * Sets the state in the superblocks on the overlay to that of a volume without
 * errors, if it has none. Asks before it clears the error flag of the kernel.
 */
int accounting_settle(struct repair *r, struct context *cx);

/* Whether a mount of VOL would search for data-sync logs. */
bool forward_is_due(const struct volume *vol);

/* Before the first round: writes the data that a mount would recover to a log,
   or leaves it to forward_last() if metadata is broken. */
int forward_first(struct repair *r, struct context *cx);

/* After all rounds: writes the remaining data to a log, or drops it, and
   reports that. */
int forward_last(struct repair *r, struct context *cx);

/*
 * Adds a checkpoint to the volume of R, which a check found sound, with the
 * files of checkpoint *CNO, which is MOMENT (0: the last one before the latest that is
 * not a minor one), and writes superblocks that name it. No checkpoint is lost, and
 * the rollback can be reverted by another one. -ENOENT if it does not exist,
 * -ENOSPC, -EIO.
 */
int rollback_run(struct repair *r, struct context *cx, uint64_t moment,
		 uint64_t *cno);

#endif
