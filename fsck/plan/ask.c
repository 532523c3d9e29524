// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions.
 *
 * A question shows one finding, how many there are, what would be done and what
 * it costs.  There is no question for each single finding: fixers make things
 * again from what they count, so half of an answer would be none.
 *
 * An end of the input is a no to all that is left.
 */
#include "fsck/plan/ask.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "find/findprint.h"
#include "fsck/plan/fixers.h"

static enum rule_danger danger_of(enum rule_fix kind, const struct fix *fix)
{
	const struct finding f = { .rule = fix->rule, .place = fix->place };

	return plan_danger_of(kind, &f);
}

/* How many of K, of KIND, have DANGER; the first in *FIRST. */
static size_t count_fixes(enum rule_fix kind, const struct plan_kind *k,
			  enum rule_danger danger, const struct fix **first)
{
	size_t i, n = 0;

	for (i = 0; i < k->n; i++) {
		if (danger_of(kind, &k->fixes[i]) != danger)
			continue;
		if (!n++)
			*first = &k->fixes[i];
	}
	return n;
}

/* The first letter of a line that is an answer, or 0 where there are no more
   lines, or -EINTR. */
static int read_answer(struct ask *a, struct context *cx)
{
	int first = 0, err;
	ssize_t n;
	unsigned char c;

	do {
		n = read(a->fd, &c, 1);
		err = context_cancelled(cx);
		if (err)
			return err;
		if (n == 1 && c != '\n' && c != ' ' && !first)
			first = c;
	} while ((n == 1 && c != '\n') || (n < 0 && errno == EINTR));
	return n == 1 && !first ? '?' : first;
}

/* 1 for yes, 0 for no, or -EINTR. */
static int put_question(struct ask *a, struct context *cx)
{
	int answer;

	for (;;) {
		out_string(a->tool->out,
			   "  Repair? (y)es, (n)o, yes to (a)ll: ");
		out_flush(a->tool->out);
		answer = read_answer(a, cx);
		switch (answer) {
		case 'a':
		case 'A':
			a->all = true;
			return 1;
		case 'y':
		case 'Y':
			return 1;
		case 'n':
		case 'N':
			return 0;
		case 0:
			out_char(a->tool->out, '\n');
			return 0;
		default:
			if (answer < 0)
				return answer;
		}
	}
}

static void describe_fixes(struct ask *a, const struct fix *fix, size_t n,
			   const struct fixer *fixer, enum rule_danger danger)
{
	struct report *r = &a->tool->report;

	findprint_finding(r, &(struct finding){
		.rule = fix->rule, .place = fix->place,
		.has_want = fix->has_want, .want = fix->want,
		.has_got = fix->has_got, .got = fix->got,
	});
	if (n > 1)
		report_text(r, "  and %zu more repaired in the same way",
			    n - 1);
	report_text(r, "  What would be done: %s", fixer->what);
	if (danger == RULE_DANGER_SAFE)
		report_text(r, "  What it may cost: nothing");
	else
		report_text(r, "  What it may cost: %s",
			    fixer->costs ? fixer->costs :
			    "part of what is broken");
}

static int ask_kind(struct ask *a, struct context *cx, enum rule_fix fix,
		    enum rule_danger danger, const struct plan_kind *k)
{
	enum ask_answer *answer = &a->answers[fix][danger];
	const struct fix *first = NULL;
	size_t n = count_fixes(fix, k, danger, &first);
	int ret = 1;

	if (!n || *answer != ASK_PENDING)
		return 0;
	if (decision_of(a->mode, danger) == DECISION_ASK && !a->all) {
		describe_fixes(a, first, n, fixers_of(fix), danger);
		ret = put_question(a, cx);
	}
	if (ret >= 0)
		*answer = ret ? ASK_YES : ASK_NO;
	return ret < 0 ? ret : 0;
}

struct refusal {
	const struct ask *a;
	enum rule_fix fix;
};

static bool is_refused(const void *arg, const struct fix *fix)
{
	const struct refusal *r = arg;

	return r->a->answers[r->fix][danger_of(r->fix, fix)] == ASK_NO;
}

void ask_forget(const struct ask *a, struct plan *plan)
{
	struct refusal r = { .a = a };
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		r.fix = (enum rule_fix)i;
		plan_refuse(&plan->kinds[i], is_refused, &r);
	}
}

int ask_stage(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage)
{
	unsigned int i, danger;
	int err = 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++) {
		if (rule_stage_of_fix((enum rule_fix)i) != stage)
			continue;
		for (danger = 0; danger < ASK_DANGERS && !err; danger++)
			err = ask_kind(a, cx, (enum rule_fix)i,
				       (enum rule_danger)danger,
				       &plan->kinds[i]);
	}
	if (!err)
		ask_forget(a, plan);
	return err;
}

int ask_state(struct ask *a, struct context *cx)
{
	int ret = 1;

	if (a->state == ASK_PENDING && !a->all &&
	    decision_of(a->mode, RULE_DANGER_SAFE) == DECISION_ASK) {
		report_text(&a->tool->report, "The kernel has met errors on "
			    "the volume, and says so in the superblocks.");
		report_text(&a->tool->report, "  What would be done: no longer "
			    "say so, as there are none now");
		ret = put_question(a, cx);
	}
	if (ret >= 0 && a->state == ASK_PENDING)
		a->state = ret ? ASK_YES : ASK_NO;
	return ret < 0 ? ret : a->state == ASK_YES;
}
