/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One check of a volume: all passes, their findings, and the planned repairs.
 */
#ifndef NILFS2_FSCK_LOOK_H
#define NILFS2_FSCK_LOOK_H

#include "base/inoset.h"
#include "fsck/data/damaged.h"
#include "fsck/plan/options.h"
#include "fsck/plan/fixers.h"

/* The maximum numbers of findings and of broken snapshots that are kept. */
#define LOOK_KEPT_MAX 10000
#define LOOK_BROKEN_MAX 64u

/* Empty if all zero, and after look_drop_kept(). */
struct look_kept {
	struct finding *findings;	/* with owned details */
	size_t n, room;
};

void look_drop_kept(struct look_kept *k);

/* The first snapshots with errors. */
struct look_broken {
	uint64_t cno[LOOK_BROKEN_MAX];
	unsigned int n;
	bool others;	/* errors outside of these snapshots exist */
};

struct look {
	struct check check;	/* its volume stays open, with its facts */
	enum decision_mode mode;
	const struct bitmap *awaited;	/* check.awaited */
	const struct root_state *state;	/* check.state */
	struct plan plan;	/* repairs that MODE does not exclude */
	struct look_kept kept;	/* findings that were not printed */
	bool complete;		/* all passes were run */
	struct look_broken broken;
	struct damaged_places places;	/* with --data */
	uint64_t left;		/* repairable findings that MODE excludes */
	struct place *releases;	/* check.releases, and its capacity */
	size_t releases_room;
	struct inoset unverified;	/* check.unverified */
	/* The check before all repairs, which move blocks to their own logs;
	   NULL: this one. */
	struct look *first;
	const struct look *before;	/* the check to compare with; NULL: none */
	/* check.tally, as counted, and, after look_mark_compared(), another one. */
	struct check_tally *tally;
	/* Of the state that was checked, if KNOWN; of the snapshots of BEFORE. */
	uint64_t digest, against;
	bool known;
	uint64_t size;		/* bytes, about, once look_rest() was called */
	/* check.logs_under of this check and of later ones. */
	struct logindex *logs_under;
	/* The error flag of the kernel may be cleared. */
	bool state_error;
};

/*
 * Checks DEV (borrowed while L exists) with the options O. The FIRST check
 * prints its notes and findings, of each rule not more than O allows. A check
 * of a repair runs all passes and keeps its findings. Progress goes to TOOL. 0,
 * or a failure of the checker. L is freed with look_fini(), also after a
 * failure; all zero is accepted.
 */
int look_run(struct look *l, struct tool *tool, const struct options *o,
	     struct dev *dev, bool first);
void look_fini(struct look *l);

/*
 * Frees what of L can be read again, and sets its size. The other one makes L what it
 * was after look_run(), for MODE.
 */
void look_rest(struct look *l, struct context *cx);
void look_reset(struct look *l, enum decision_mode mode);

/*
 * The same for a mounted volume while a cleaner runs: checks it without output, and,
 * if there are findings, a few times again at a new checkpoint. Prints the findings
 * that all checks have in common. L is the last check, with these findings.
 */
int shared_run(struct look *l, struct tool *tool, const struct options *o,
	       struct dev *dev);

/* Notes that L was compared with the previous check. Later comparisons with L
   use all its findings. */
void look_mark_compared(struct look *l);

/* A sink of findings, which prints them; TOOL is the argument. */
void look_print_finding(void *tool, const struct finding *f);

/* Prints the kept findings, in a list KEY. */
void look_report_kept(const struct look *l, struct report *r, const char *key);

#endif
