// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan: one bounded list for each kind of repair.
 *
 * A fixer that rebuilds its objects completely needs only one finding. A fixer
 * that repairs single objects gets its findings in the order of the passes.
 *
 * Findings are not asked about one by one, because fixers rebuild from sound
 * data. The end of the input answers all remaining questions with no.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "disk/inode.h"
#include "find/findprint.h"
#include "fsck/plan/fixers.h"

/* A broken map is repaired with its file. */
static enum rule_fix fix_of_file(uint64_t ino, enum rule_fix other)
{
	switch (ino) {
	case NILFS_DAT_INO:
		return RULE_FIX_DAT;
	case NILFS_CPFILE_INO:
		return RULE_FIX_CHECKPOINTS;
	case NILFS_SUFILE_INO:
		return RULE_FIX_SEGMENTS;
	case NILFS_IFILE_INO:
		return RULE_FIX_INODES;
	default:
		return other;
	}
}

/* Whether the finding is about a field, except the map, of a metadata inode. */
static bool is_of_metadata_inode(const struct rule_info *info,
				 const struct place *place)
{
	return info->scope == RULE_SCOPE_FIELD && place->kind == PLACE_INODE &&
	       inode_is_metadata(place->ino);
}

enum rule_fix plan_fix_of(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);
	const struct place *place = &f->place;
	bool of_ifile = place->ino == NILFS_IFILE_INO;

	switch (info->scope) {
	case RULE_SCOPE_FIELD:
		return is_of_metadata_inode(info, place) ?
		       RULE_FIX_CHECKPOINTS : info->fix;
	case RULE_SCOPE_PLACE:
		/* An unreadable block is repaired as the structure stored
		   there. */
		if (place->kind == PLACE_SUPER)
			return RULE_FIX_SUPER;
		if (place->kind == PLACE_LOG)
			return RULE_FIX_SEGMENTS;
		return place->kind == PLACE_MAP || place->kind == PLACE_NAME ?
		       fix_of_file(place->ino, RULE_FIX_MAPS) : RULE_FIX_NONE;
	case RULE_SCOPE_FILE:
		return fix_of_file(place->ino, info->fix);
	case RULE_SCOPE_GROUP:
		return of_ifile && place->kind == PLACE_GROUP ?
		       RULE_FIX_IFILE : info->fix;
	case RULE_SCOPE_ENTRY:
		return of_ifile ? RULE_FIX_INODES : info->fix;
	case RULE_SCOPE_ANY:
		break;
	}
	return info->fix;
}

enum rule_fix plan_second_of(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	return info->second == RULE_FIX_MAPS ?
	       fix_of_file(f->place.ino, info->second) : info->second;
}

enum rule_danger plan_danger_of(enum rule_fix fix, const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	if (is_of_metadata_inode(info, &f->place))
		return RULE_DANGER_SAFE;
	if (fix == info->fix)
		return info->danger;
	switch (fix) {
	case RULE_FIX_DAT:
		return info->scope == RULE_SCOPE_PLACE ? RULE_DANGER_LOSES :
							 RULE_DANGER_SAFE;
	case RULE_FIX_SUPER:
	case RULE_FIX_SEGMENTS:
	case RULE_FIX_IFILE:
		return RULE_DANGER_SAFE;
	case RULE_FIX_MOVES:
		/* Logs are corrected from a map, which the user was to be asked
		   about. */
		return info->area == RULE_AREA_MAP ? RULE_DANGER_LOSES :
						     RULE_DANGER_SAFE;
	default:
		return RULE_DANGER_LOSES;
	}
}

void plan_add(struct plan *plan, enum rule_fix fix, const struct finding *f)
{
	struct plan_kind *k = &plan->kinds[fix];

	k->found++;
	if (k->n >= PLAN_MAX)
		return;
	if (!array_has_room(&k->fixes, &k->room, k->n)) {
		plan->err = -ENOMEM;
		return;
	}
	k->fixes[k->n] = *f;
	k->fixes[k->n++].detail = NULL;
}

struct plan_count plan_count(const struct plan_kind *kind, uint64_t latest)
{
	struct plan_count count = { .all = kind->found };
	size_t i;

	if (kind->n)
		count.first = kind->fixes[0];
	for (i = 0; i < kind->n; i++) {
		uint64_t cno = kind->fixes[i].place.cno;

		count.newest += !cno || cno == latest;
	}
	return count;
}

bool plan_is_no_less(const struct plan_count *now,
		     const struct plan_count *before)
{
	const struct finding *a = &now->first, *b = &before->first;

	/* The same object, although each round makes a new checkpoint. */
	return now->all >= before->all && now->newest >= before->newest &&
	       a->rule == b->rule && a->place.kind == b->place.kind &&
	       a->place.ino == b->place.ino &&
	       a->place.number == b->place.number &&
	       a->place.blkoff == b->place.blkoff &&
	       a->place.level == b->place.level;
}

uint64_t plan_digest(const struct plan *plan, enum rule_fix fix, uint64_t latest)
{
	const struct plan_kind *kind = &plan->kinds[fix];
	const uint64_t total[] = { fix, kind->found };
	uint64_t digest = text_hash(total, sizeof(total));
	size_t i;

	for (i = 0; i < kind->n; i++) {
		const struct finding *f = &kind->fixes[i];
		const struct place *p = &f->place;
		bool of_latest = p->kind == PLACE_CHECKPOINT &&
				 p->number == latest;
		const uint64_t words[] = {
			fix, f->rule, p->kind, p->level, p->offset,
			of_latest ? 0 : p->number, p->ino, p->blkoff, f->got,
			p->cno == latest ? 0 : p->cno,
		};

		digest += text_hash(words, sizeof(words));
	}
	return digest;
}

void plan_refuse(struct plan_kind *kind,
		 bool (*is_refused)(const void *arg, const struct finding *fix),
		 const void *arg)
{
	struct finding kept;
	size_t i, n = 0;

	for (i = 0; i < kind->n; i++) {
		if (is_refused(arg, &kind->fixes[i]))
			continue;
		kept = kind->fixes[i];
		kind->fixes[i] = kind->fixes[n];
		kind->fixes[n++] = kept;
	}
	kind->nrefused += kind->n - n;
	kind->found -= kind->n - n;
	kind->n = n;
}

int plan_set_aside(struct plan_kind *kind, struct context *cx,
		   bool (*is_refused)(const void *arg, const struct finding *fix),
		   const void *arg)
{
	struct plan_kind *whole = kind->whole;

	if (!whole && kind->n) {
		whole = malloc(sizeof(*whole));
		if (!whole)
			return fail(cx, -ENOMEM, "plan of repairs");
		*whole = *kind;
		whole->fixes = NULL;
		whole->room = 0;
		if (array_reserve(cx, &whole->fixes, &whole->room,
				  kind->n + kind->nrefused)) {
			free(whole);
			return -ENOMEM;
		}
		memcpy(whole->fixes, kind->fixes,
		       (kind->n + kind->nrefused) * sizeof(*kind->fixes));
		kind->whole = whole;
	}
	plan_refuse(kind, is_refused, arg);
	return 0;
}

void plan_restore(struct plan *plan)
{
	struct plan_kind *whole;
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		whole = plan->kinds[i].whole;
		if (!whole)
			continue;
		free(plan->kinds[i].fixes);
		plan->kinds[i] = *whole;
		free(whole);
	}
}

bool plan_is_empty(const struct plan *plan)
{
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		if (plan->kinds[i].n)
			return false;
	return true;
}

void plan_fini(struct plan *plan)
{
	size_t i;

	plan_restore(plan);
	for (i = 0; i < RULE_FIX_COUNT; i++)
		free(plan->kinds[i].fixes);
	memset(plan, 0, sizeof(*plan));
}

/* 1 for yes, 0 for no, or -EINTR. */
static int put_question(struct ask *a, struct context *cx)
{
	unsigned char c;
	int first, err;
	ssize_t n;

	for (;;) {
		out_string(a->tool->out,
			   "  Repair? (y)es, (n)o, yes to (a)ll: ");
		out_flush(a->tool->out);
		first = 0;
		do {
			n = read(a->fd, &c, 1);
			err = context_cancelled(cx);
			if (err)
				return err;
			if (n == 1 && c != '\n' && c != ' ' && !first)
				first = c;
		} while ((n == 1 && c != '\n') || (n < 0 && errno == EINTR));
		if (first == 'a' || first == 'A')
			a->all = true;
		if (first == 'y' || first == 'Y' || a->all)
			return 1;
		if (first == 'n' || first == 'N')
			return 0;
		/* End of the input. */
		if (!first && n != 1) {
			out_char(a->tool->out, '\n');
			return 0;
		}
	}
}

/* Asks about the findings of K, of kind FIX, with DANGER, unless already
   answered. */
static int ask_kind(struct ask *a, struct context *cx, enum rule_fix fix,
		    enum rule_danger danger, const struct plan_kind *k)
{
	enum ask_answer *answer = &a->answers[fix][danger];
	struct report *r = &a->tool->report;
	const struct fixer *fixer = fixers_of(fix);
	const struct finding *first = NULL;
	size_t i, n = 0;
	int ret = 1;

	for (i = 0; i < k->n; i++)
		if (plan_danger_of(fix, &k->fixes[i]) == danger && !n++)
			first = &k->fixes[i];
	if (!n || *answer != ASK_PENDING)
		return 0;
	if (decision_of(a->mode, danger) == DECISION_ASK && !a->all) {
		findprint_finding(r, first);
		if (n > 1)
			report_text(r, "  and %zu more", n - 1);
		report_text(r, "  Action: %s", fixer->what);
		report_text(r, "  Risk: %s",
			    danger == RULE_DANGER_SAFE ? "none" :
			    fixer->costs ? fixer->costs :
					   "loss of damaged data");
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

static bool is_refused(const void *arg, const struct finding *fix)
{
	const struct refusal *r = arg;

	return r->a->answers[r->fix][plan_danger_of(r->fix, fix)] == ASK_NO;
}

void plan_forget(const struct ask *a, struct plan *plan)
{
	struct refusal r = { .a = a };
	size_t i;

	for (i = 0; i < RULE_FIX_COUNT; i++) {
		r.fix = (enum rule_fix)i;
		plan_refuse(&plan->kinds[i], is_refused, &r);
	}
}

int plan_ask(struct ask *a, struct context *cx, struct plan *plan,
	      enum rule_stage stage)
{
	unsigned int i, danger;
	int err = 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++) {
		if (rule_fix_stages[i] != stage)
			continue;
		for (danger = 0; danger < ASK_DANGERS && !err; danger++)
			err = ask_kind(a, cx, (enum rule_fix)i,
				       (enum rule_danger)danger,
				       &plan->kinds[i]);
	}
	if (!err)
		plan_forget(a, plan);
	return err;
}

int plan_ask_state(struct ask *a, struct context *cx)
{
	int ret = 1;

	if (a->state == ASK_PENDING && !a->all &&
	    decision_of(a->mode, RULE_DANGER_SAFE) == DECISION_ASK) {
		report_text(&a->tool->report, "The kernel found errors on the "
			    "volume and set the error flag in the superblocks.");
		report_text(&a->tool->report, "  Action: clear the error flag, "
			    "because no errors are left");
		ret = put_question(a, cx);
	}
	if (ret >= 0 && a->state == ASK_PENDING)
		a->state = ret ? ASK_YES : ASK_NO;
	return ret < 0 ? ret : a->state == ASK_YES;
}
