/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be repaired: the findings that have a repair which the user
 * wants, by kind of repair.
 *
 * Every look at the volume makes a plan, so a plan need not be complete: what
 * did not fit is found again by the next look.
 */
#ifndef NILFS2_FSCK_PLAN_H
#define NILFS2_FSCK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/tool.h"
#include "disk/rule.h"
#include "find/decision.h"
#include "find/finding.h"

/* The most findings of a kind that are kept. */
#define PLAN_MAX 65536

/* A finding to be repaired; without its words. */
struct fix {
	enum rule rule;
	bool has_want, has_got;
	struct place place;
	uint64_t want, got;
};

struct plan {
	struct plan_kind {
		/* In the order found; after these N what the user refused,
		   which other repairs of the kind leave as it is. */
		struct fix *fixes;
		size_t n, nrefused, room;
		uint64_t found;		/* N, and those past PLAN_MAX */
	} kinds[RULE_FIX_COUNT];
	int err;			/* the first failure of plan_add() */
};

/*
 * The kind of repair for F: that of its rule, but what is wrong with the map
 * of a metadata file is repaired with the file, and what cannot be read as what
 * it is part of.
 */
enum rule_fix plan_fix_of(const struct finding *f);

/*
 * What it may cost to repair F with FIX.  A metadata file whose map is broken
 * is rebuilt from what follows from the rest (SUFILE), from the logs (DAT,
 * where all of it is there), or from what is left of it.
 */
enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f);

/*
 * The kind that may repair F where the one above leaves it as it is: what the
 * DAT does not lead to is lost to the file; where the DAT is right the SUFILE
 * is wrong, or the log.  RULE_FIX_NONE for most.
 */
enum rule_fix plan_second_of(const struct finding *f);

/* Adds F to the kind FIX.  A failure (-ENOMEM) is kept in plan->err. */
void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f);

/*
 * How many findings a kind of repair has: all, and those not of snapshots; and
 * the first of them.
 */
struct plan_count {
	uint64_t all, newest;
	struct fix first;
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
		 bool (*is_refused)(const void *arg, const struct fix *fix),
		 const void *arg);

bool plan_is_empty(const struct plan *plan);

/* Frees it, and makes it empty again; all zero is empty. */
void plan_fini(struct plan *plan);

/*
 * Questions: what of a plan does the user want?  Each kind of repair is asked
 * for once, however often it is found and however many rounds there are; what
 * costs something is asked for apart.
 */
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

/*
 * Takes out of PLAN what the user does not want repaired of the kinds of STAGE,
 * which is asked for where it was not.  0, -EINTR.
 */
int plan_ask(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage);

/* Takes out what was refused before; asks nothing. */
void plan_forget(const struct ask *a, struct plan *plan);

/* Whether that the kernel has met errors may be forgotten: 1, 0, -EINTR. */
int plan_ask_state(struct ask *a, struct context *cx);

#endif
