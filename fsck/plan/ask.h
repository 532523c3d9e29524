/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions: what of a plan does the user want?
 *
 * Each kind of repair is asked for once, however often it is found and however
 * many rounds there are; what costs something is asked for apart.
 */
#ifndef NILFS2_FSCK_ASK_H
#define NILFS2_FSCK_ASK_H

#include <stdbool.h>

#include "cli/tool.h"
#include "find/decision.h"
#include "fsck/plan/plan.h"

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
int ask_stage(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage);

/* Takes out what was refused before; asks nothing. */
void ask_forget(const struct ask *a, struct plan *plan);

/* Whether that the kernel has met errors may be forgotten: 1, 0, -EINTR. */
int ask_state(struct ask *a, struct context *cx);

#endif
