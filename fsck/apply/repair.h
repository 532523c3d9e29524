/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs: rounds of repairs and checks on an overlay, and the commit of the
 * result.
 */
#ifndef NILFS2_FSCK_REPAIR_H
#define NILFS2_FSCK_REPAIR_H

#include <stdbool.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "fsck/account/losslist.h"
#include "fsck/apply/improvement.h"
#include "fsck/apply/repairlist.h"
#include "fsck/apply/round.h"
#include "fsck/plan/ask.h"
#include "fsck/plan/fixers.h"
#include "fsck/plan/look.h"
#include "fsck/plan/options.h"
#include "vol/rollforward.h"

/* How the kinds of a stage are repaired, once they came to nothing together. */
enum stages_apart {
	STAGES_TOGETHER,	/* with stages that do not depend on it */
	STAGES_ALONE,
	STAGES_KINDS_APART,	/* one kind a round */
};

/* Rounds after which a repair ends whatever is left. */
#define REPAIR_ROUNDS 24

struct repair {
	struct tool *tool;
	const struct options *o;
	struct dev *dev;	/* an overlay */
	struct dev *under;	/* what is to be repaired */
	struct dev *patched;	/* between the two, or NULL: no derivation */
	struct look *first;	/* over DEV, before any repair */
	struct ask ask;
	/* The rest is all zero in the beginning. */
	struct look *now;	/* look after the last good round, or NULL */
	bool rebuild;		/* as --rebuild asks, after repairs without it */
	bool no_room;		/* for a log, at least once */
	bool grave;		/* it came to such losses: nothing is done */
	struct losses losses;
	unsigned int rounds;
	/* To be rolled forward (forward.c): asked for; what; there is nothing;
	   the super root that they follow; the segments that the device needs
	   still. */
	bool asked_synced;
	struct rollforward *synced;
	bool no_data_behind;
	struct recovery behind;
	struct bitmap awaited;
	struct root_state state;	/* chosen if superblocks lead to none */
	unsigned int state_number;	/* which one, 0 is the newest */
	bool given_up[RULE_FIX_COUNT];	/* its fixer came to nothing, */
	bool idle[RULE_FIX_COUNT];	/* and that without a try, with: */
	struct plan_count idle_with[RULE_FIX_COUNT];
	enum stages_apart apart[RULE_STAGE_COUNT];
	bool revived;		/* inodes of snapshots, by other checkpoints */
	struct repairlist repaired;
	struct recovery base;	/* the log that it began with, if it chose */
	bool has_base;
	/* Of the first look that got so far, before the repair of anything but
	   what kept others from it; no bits where R->first did. */
	struct bitmap used, broken;
	struct losslist account;
	unsigned int looks;	/* states of the overlay so far */
	unsigned int derived;	/* LOOKS + 1 at the last derivation */
};

/*
 * Repairs the plan of R->first on the overlay: at its end R->now is the look at
 * the result.  1 if it is better and can be committed, 0 if not, or a failure.
 */
int repair_run(struct repair *r, struct context *cx);

/*
 * Rounds of repairs, until there is nothing left that they could make better.
 * 0, or a failure.
 */
int repair_rounds(struct repair *r, struct context *cx);

/* The same once more, after something else was changed. */
int repair_again(struct repair *r, struct context *cx);

/* Takes everything back that repairs did since the overlay was at MARK. */
void repair_restart(struct repair *r, size_t mark);

/* The job of repairing what the latest look saw, without a writer. */
struct fixer_job repair_job(struct repair *r, struct context *cx);

/* Where a repair was, and goes back to. */
struct repair_point {
	size_t overlay, nrepaired;
	struct root_state state;
};

struct repair_point repair_point(const struct repair *r);
void repair_back(struct repair *r, const struct repair_point *to);

/*
 * Checks the overlay: 1 if that meets DEMAND, and R->now is that look, 0, or a
 * failure.
 */
int repair_look(struct repair *r, struct context *cx,
		enum improvement_demand demand);

/*
 * Runs ROUND as repair_run_round(), and checks what it changed: 1 where that
 * meets DEMAND, and stays.  Else all is as it was: 0, or a failure.
 */
int repair_attempt(struct repair *r, struct context *cx, struct round *round,
		   enum improvement_demand demand);

/*
 * The same, and *BEFORE is the look before that, for repair_swap() and
 * repair_forget().
 */
int repair_try(struct repair *r, struct context *cx,
	       enum improvement_demand demand, struct look **before);

/* *LOOK is a look at the overlay as it is: R's look is that, and *LOOK the one
   that R had.  0, -ENOMEM. */
int repair_swap(struct repair *r, struct context *cx, struct look **look);

/* Frees *LOOK, unless it is NULL or R->first, and sets it to NULL. */
void repair_forget(struct repair *r, struct look **look);

/* No stage; -EPERM, which no stage fails with. */
#define STAGES_NONE (-1)

/* The stage that is due next, or STAGES_NONE. */
int stages_next(const struct repair *r);

/* The next stage of which the user wants something, which is asked; STAGES_NONE;
   or -EINTR. */
int stages_ask(struct repair *r, struct context *cx);

/* What STAGE repairs, for a message. */
const char *stages_name(int stage);

/* The kinds that are repaired in a round that begins with STAGE: how many. */
unsigned int stages_take(const struct repair *r, int stage,
			 bool taken[RULE_FIX_COUNT]);

/* Whether a log would restore the first superblock, which was not requested. */
bool stages_is_wiped(const struct repair *r);

/* Whether a log may be written: all passes ran, and what it takes numbers from
   is sound. */
bool stages_may_log(const struct repair *r);

/*
 * Whether any snapshot may be given up; whether some have errors and are to be;
 * makes plain checkpoints of them, after all other repairs.  0, or a failure.
 */
bool giveup_is_allowed(const struct repair *r);
bool giveup_is_due(const struct repair *r);
int giveup_run(struct repair *r, struct context *cx);

/* R->now is a look at the overlay as it is, after it went back: 0. */
int repair_resume(struct repair *r, struct context *cx);

/* The look at what the repair came to so far. */
struct look *repair_current(const struct repair *r);

/*
 * RET, but 0 for a failure caused by the volume, which is reported: this cannot
 * be repaired then, and the repair continues.
 */
int repair_tolerate(struct repair *r, struct context *cx, int ret);

/* Whether the device of L was truncated, and must be extended first. */
bool repair_is_cut_off(const struct look *l);

/*
 * Commits the overlay to the device, and saves the overwritten blocks to the
 * undo file.
 */
int repair_commit(struct repair *r, struct context *cx);

void repair_fini(struct repair *r);

/*
 * As round_run(); where that has no place for a log, and R may write over old
 * checkpoints, again with segments that only these need (round.h).  Says in
 * R->no_room that there was none.
 */
int repair_run_round(struct repair *r, struct context *cx, struct round *round);

/*
 * Makes the state that the user asks for, R->o->state, the one on the overlay,
 * before the first look.  -ENOENT where there is no such state.
 */
int states_take(struct repair *r, struct context *cx);

/*
 * Repairs the state that superblocks lead to.  Where they lead to none, states
 * found on the device are repaired on the overlay, newest first, until one has
 * no errors left and was not overwritten; where there is none the one with the
 * least damage stays, without the snapshots that may be given up.  Before that,
 * where the superblocks differ in what never changes, and nothing is wrong by that
 * which is not used, both become as it is.  0, or a failure.
 */
int states_run(struct repair *r, struct context *cx);

/*
 * The same for --rebuild, after states_run(), before which the overlay was at
 * MARK.  What came out without errors is compared with what is derived, else all
 * begins anew.  It stays only where that is no worse.  0, or a failure.
 */
int states_rebuild(struct repair *r, struct context *cx, size_t mark);

/*
 * Corrects the flipped bits found by the first look of R, as far as the user
 * agrees and the volume gets no worse: R->now is the look at the result.  0, or
 * a failure.
 */
int fix_bits_run(struct repair *r, struct context *cx);

/*
 * Derives the metadata of R's volume where the latest look found damage that
 * this may repair, checks the result, and writes the derived blocks to one
 * more log on the overlay.  What is no better than before is dropped.  Does
 * nothing before a super root was found, and once for each state.  0, or a
 * failure that ends the repair.
 */
int derivation_run(struct repair *r, struct context *cx);

/*
 * NOW is a state that R keeps: where it is that of a log on the device, and not
 * of one that the repair added, R->base is that log from now on.  Notes R->used
 * and R->broken.  0, -ENOMEM.
 */
int accounting_note(struct repair *r, struct context *cx,
		    const struct look *now);

/*
 * Compares the state before the repair with what it came to, before its commit:
 * R->account.  0, or -EINTR.
 */
int accounting_run(struct repair *r, struct context *cx);

/*
 * Sets the state in the superblocks on the overlay of R to that of a volume
 * without errors, if it is one.  Asks before it takes back that the kernel met
 * errors.  0, or a failure.
 */
int accounting_settle(struct repair *r, struct context *cx);

/* Whether a mount of VOL would have to look for data-sync logs. */
bool forward_is_due(const struct volume *vol);

/* Whether C found the metadata sound enough to write a log on it. */
bool forward_is_possible(const struct check *c);

/*
 * What data-sync logs of VOL after the super root REC hold, *RFP, for
 * rollforward_free(), and in *NEEDED, all zero at first, the segments that it
 * is in (bitmap_fini() in any case).  FILES as for salvage_collect().  1, 0
 * where they hold nothing of use, then *RFP is NULL, or a failure.
 */
int forward_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp, struct bitmap *needed);

/*
 * Writes RF into its files, adds a checkpoint, and writes superblocks that name
 * it and are marked valid: nilfs_salvage_orphan_logs().  The segments NEEDED
 * must not be written to before those superblocks are on the device.  0,
 * -ENOSPC, -EUCLEAN, -EIO.
 */
int forward_run(struct fixer_job *job, struct context *cx,
		const struct rollforward *rf, const struct bitmap *needed);

/*
 * Before the first round of R: writes what a mount would recover to a log, and
 * R->now is the look at that; or, if metadata is broken, leaves it to
 * forward_last().  0, or a failure.
 */
int forward_first(struct repair *r, struct context *cx);

/*
 * After all rounds: writes the remaining data to a log, or drops it, and
 * reports that.
 */
int forward_last(struct repair *r, struct context *cx);

#endif
