/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs: rounds of repairs and checks on an overlay, and the commit of the
 * result.
 *
 * Whatever changes the overlay is a round (repair_attempt()): it is applied,
 * the whole volume is checked, and what came of it is kept, or taken back.
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

/* How the kinds of a stage are repaired, once they came to nothing together. */
enum stages_split {
	STAGES_TOGETHER,	/* with stages that do not depend on it */
	STAGES_ALONE,
	STAGES_KINDS_ALONE,	/* one kind a round */
};

/* What a repair must have come to. */
enum improvement_demand {
	IMPROVEMENT_ONLY,		/* better */
	IMPROVEMENT_DERIVED,		/* the same, with ifiles sound */
	IMPROVEMENT_OR_SAME,		/* not worse */
	IMPROVEMENT_ANY,
	IMPROVEMENT_SOUND,		/* no error is left */
};

struct losses {
	uint64_t files, left;	/* inodes of the newest checkpoint */
};

/* One round of repairs: the fixers of a stage, a log, superblocks. */
struct round {
	struct fixer_job job;	/* without a writer */
	enum rule_stage stage;
	/* Before all fixers, or NULL. */
	int (*begin)(struct fixer_job *job, struct context *cx);
	bool taken[RULE_FIX_COUNT];	/* kinds whose turn it is */
	bool may_lose;		/* cpfile and ifile may be rebuilt */
	size_t reclaim;		/* segments to take from old checkpoints */
	/* Files that begin without blocks, DIRECTWRITER_FILE(): those given,
	   and those that turn out to need it. */
	unsigned int rebuilt;
	bool fresh_segment;	/* the latest one is emptied */
	const struct nilfs_checkpoint *from;	/* whose files the log has at
						   first; NULL: the latest */
	/* There is a log in any case, and nothing after it is to be recovered:
	   superblocks say so. */
	bool recovered;
	bool unchanged;		/* out of repair_attempt(): it wrote nothing */
};

/* Runs it.  0, or a failure that ends the repair. */
int round_run(struct round *round, struct context *cx);

/* Rounds after which a repair ends whatever is left; phrases of fixers that are
   kept until the commit. */
#define REPAIR_ROUNDS 24
#define REPAIR_LINES_MAX 10000

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
	bool too_lossy;		/* it came to such losses: nothing is done */
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
	bool unchanged[RULE_FIX_COUNT];	/* and that without a try, with: */
	struct plan_count unchanged_with[RULE_FIX_COUNT];
	bool stale[RULE_FIX_COUNT];	/* before a round that stays */
	enum stages_split split[RULE_STAGE_COUNT];
	bool borrowed;		/* inodes of snapshots, by other checkpoints */
	struct {
		char **lines;
		size_t n, room;
		uint64_t more;	/* that were not kept */
	} repaired;
	struct recovery base;	/* the log that it began with, if it chose */
	bool has_base;
	/* Of the first look that got so far, before the repair of anything but
	   what kept others from it; no bits where R->first did. */
	struct bitmap used, broken;
	struct losslist account;
	uint64_t *unset;	/* snapshots that were given up */
	size_t nunset, unset_room;
	unsigned int looks;	/* states of the overlay so far */
	unsigned int derived;	/* LOOKS + 1 at the last derivation */
};

/*
 * Repairs the plan of R->first on the overlay: at its end R->now is the look at
 * the result.  1 if it is better and can be committed, 0 if not, or a failure.
 */
int repair_run(struct repair *r, struct context *cx);

/* Rounds of repairs, also of what came to nothing before, until there is
   nothing left that they could make better.  0, or a failure. */
int repair_rounds(struct repair *r, struct context *cx);

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

/* Checks the overlay: 1 if that meets DEMAND, and ACCEPTS, if it is not NULL,
   called with ARG, says so; R->now is that look then.  0, or a failure. */
int repair_look(struct repair *r, struct context *cx,
		enum improvement_demand demand,
		bool (*accepts)(void *arg, const struct look *now), void *arg);

/*
 * Runs ROUND, and checks what it changed: 1 where that meets DEMAND, and
 * stays; where the round chose another state, in any case.  Else all is as it
 * was: 0, or a failure.  Without a place for a log it is tried again with
 * segments that only old checkpoints need, if R may write over these;
 * R->no_room says that there was none.
 */
int repair_attempt(struct repair *r, struct context *cx, struct round *round,
		   enum improvement_demand demand);

/* Nothing was kept: the latest look is R->first. */
void repair_forget(struct repair *r);

/* R->now is a look at the overlay as it is, after it went back: 0. */
int repair_resume(struct repair *r, struct context *cx);

/* The look at what the repair came to so far. */
struct look *repair_current(const struct repair *r);

/* RET, but 0 for a failure caused by the volume, which is reported: this cannot
   be repaired then, and the repair continues. */
int repair_tolerate(struct repair *r, struct context *cx, int ret);

/* Whether the device of L was truncated, and must be extended first. */
bool repair_is_cut_off(const struct look *l);

/* Commits the overlay; the undo file gets what that overwrites. */
int repair_commit(struct repair *r, struct context *cx);

void repair_fini(struct repair *r);

/* Keeps a copy of TEXT for the report: fixer_job.note of R. */
void repair_note(void *r, const char *text);

/* Puts the lines "repaired: PHRASE", or the list "repairs" of sections with the
   member text. */
void repair_report(const struct repair *r, struct report *report);

/* What follows has a file of its own each (stages.c, states.c, ...) and
   returns 0 or a failure that ends the repair, unless it says more. */

/*
 * Whether what NOW found meets DEMAND.  It is better than BEFORE where, at the
 * first stage at which the errors differ, there are fewer of some rule and
 * more of none; what follows was perhaps hidden.  Where no stage differs there
 * must be fewer warnings.  It is the newest checkpoint and what belongs to
 * none that must be better, and all together not worse; or snapshots alone.  A
 * volume that opens, or a DAT that can be trusted, is worth more than all that
 * it shows. Else *WORSE is a rule that is broken more often, or NULL.
 */
bool improvement_meets(const struct check *now, const struct check *before,
		       enum improvement_demand demand,
		       const struct rule_info **worse);

/* How many errors C found by which repairs are judged, LATEST: without those of
   snapshots.  A log whose checksum does not match is none, as no repair changes
   it, and --data alone shows it. */
uint64_t improvement_errors(const struct check *c, bool latest);

/* True where less than half of the files is left that were there, as far as
   either is known: LOSSES says how many.  A few are not counted. */
bool improvement_loses_most(struct context *cx, const struct check *now,
			    const struct check *before, struct losses *losses);

/* No stage; -EPERM, which no stage fails with. */
#define STAGES_NONE (-1)

/* The stage that is due next, or STAGES_NONE. */
int stages_next(const struct repair *r);

/* The next stage of which the user wants something, which is asked;
   STAGES_NONE; or -EINTR. */
int stages_ask(struct repair *r, struct context *cx);

/* The kinds that are repaired in a round that begins with STAGE: how many. */
unsigned int stages_take(const struct repair *r, int stage,
			 bool taken[RULE_FIX_COUNT]);

/* Whether a log would restore the first superblock, which was not requested. */
bool stages_is_wiped(const struct repair *r);

/* Whether a log may be written: all passes ran, and what it takes numbers from
   is sound. */
bool stages_may_log(const struct repair *r);

/* The first snapshot with errors that is to be given up for that, or 0. */
uint64_t states_gives_up(const struct repair *r);

/* Makes the state that the user asks for, R->o->state, the one on the overlay,
   before the first look.  -ENOENT where there is no such state. */
int states_take(struct repair *r, struct context *cx);

/*
 * Repairs the state that superblocks lead to.  Where they lead to none, states
 * found on the device are repaired on the overlay, newest first, until one has
 * no errors left and was not overwritten; where there is none the one with the
 * least damage stays, without the snapshots that may be given up.  Before
 * that, where the superblocks differ in what never changes, and nothing is
 * wrong by that which is not used, both become as it is.
 */
int states_run(struct repair *r, struct context *cx);

/* The same for --rebuild, after states_run(), before which the overlay was at
   MARK.  What came out without errors is compared with what is derived, else
   all begins anew.  It stays only where that is no worse. */
int states_rebuild(struct repair *r, struct context *cx, size_t mark);

/* Corrects the flipped bits found by the first look, as far as the user agrees
   and the volume gets no worse. */
int fix_bits_run(struct repair *r, struct context *cx);

/* Derives metadata where the latest look found damage that this may repair,
   and writes what makes it better to the overlay, once for each state. */
int derivation_run(struct repair *r, struct context *cx);

/* NOW is a state that R keeps: where it is that of a log on the device, and not
   of one that the repair added, R->base is that log from now on.  Notes R->used
   and R->broken.  0, -ENOMEM. */
int accounting_note(struct repair *r, struct context *cx,
		    const struct look *now);

/* Compares the state before the repair with what it came to: R->account. */
int accounting_run(struct repair *r, struct context *cx);

/* Sets the state in the superblocks on the overlay to that of a volume without
   errors, if it is one; asks before it forgets that the kernel met errors. */
int accounting_settle(struct repair *r, struct context *cx);

/* Whether a mount of VOL would have to look for data-sync logs. */
bool forward_is_due(const struct volume *vol);

/* Before the first round: writes what a mount would recover to a log; or, if
   metadata is broken, leaves it to forward_last(). */
int forward_first(struct repair *r, struct context *cx);

/* After all rounds: writes what is left of it to a log, or drops it, and
   reports that. */
int forward_last(struct repair *r, struct context *cx);

/*
 * Adds a checkpoint to the volume of R, which a look found to be sound, that
 * has the files of checkpoint CNO (0: the last one before the latest that is
 * no minor one), and writes superblocks that name it.  No checkpoint is lost
 * by that, and another one leads back.  -ENOENT where there is no such
 * checkpoint, -ENOSPC, -EIO.
 */
int rollback_run(struct repair *r, struct context *cx, uint64_t cno);

#endif
