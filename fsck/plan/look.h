/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look at a volume: all passes, what they found, what may be repaired. */
#ifndef NILFS2_FSCK_LOOK_H
#define NILFS2_FSCK_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/inoset.h"
#include "check/check.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "find/decision.h"
#include "find/finding.h"
#include "fsck/plan/options.h"
#include "fsck/plan/fixers.h"
#include "out/report.h"

/* The most that are kept. */
#define LOOK_KEPT_MAX 10000
#define LOOK_BROKEN_MAX 64u

/* All zero: none. */
struct look_kept {
	struct finding *findings;	/* their details are their own */
	size_t n, room;
};

/* Snapshots, the first ones that were found to have errors. */
struct look_broken {
	uint64_t cno[LOOK_BROKEN_MAX];
	unsigned int n;
	bool others;	/* there are errors besides theirs */
};

struct look {
	struct check check;	/* its volume stays open, its facts are kept */
	enum decision_mode mode;
	const struct bitmap *awaited;	/* check.awaited */
	const struct root_state *state;	/* check.state */
	struct plan plan;	/* what MODE does not rule out */
	struct look_kept kept;	/* findings that were not printed */
	bool complete;		/* all passes were run */
	struct look_broken broken;
	uint64_t left;		/* that could be repaired, but for MODE */
	struct place *releases;	/* check.releases, and how many fit */
	size_t releases_room;
	struct inoset unverified;	/* check.unverified */
	/* The look before any repair, which moves blocks to logs of its own;
	   NULL: this one. */
	struct look *first;
	const struct look *before;	/* with which it is compared; NULL: none */
	struct check_tally *tally;	/* check.tally */
	/* check.logs_under of this look and of those after it. */
	struct logindex *logs_under;
	/* The kernel's word that it met errors may be taken back. */
	bool state_error;
};

/*
 * Looks at DEV (borrowed while L lives) as O asks.  The FIRST look prints its
 * findings, of each rule not more than O says, and its notes.  A look at what a
 * repair came to runs all passes, and keeps findings.  Progress goes to TOOL.
 * 0, or a failure of the checker.  L is freed with look_fini(), also after a
 * failure; all zero is accepted.
 */
int look_run(struct look *l, struct tool *tool, const struct options *o,
	     struct dev *dev, bool first);
void look_fini(struct look *l);

/* L was compared with the look before: what is compared with it later is judged
   by all that it found. */
void look_judged(struct look *l);

/* Puts the findings that were kept, in a list KEY. */
void look_report_kept(const struct look *l, struct report *r, const char *key);

#endif
