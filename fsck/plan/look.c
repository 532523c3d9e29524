// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One check of a volume.
 *
 * The passes do not depend on the terminal or the options; their findings,
 * notes and progress are handled here. At boot, a cleanly unmounted volume with
 * sound superblocks and without the error flag is taken as clean; the time for
 * that does not depend on the size of the volume.
 *
 * The plan has every finding that a fixer can repair and that the options of
 * the user do not exclude.
 */
#include "fsck/plan/look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/logs/logindex.h"
#include "check/pass/passes.h"
#include "disk/checkpoint.h"
#include "find/findprint.h"
#include "fsck/plan/fixers.h"
#include "fsck/witness/witness.h"
#include "vol/cptable.h"

void look_print_finding(void *tool, const struct finding *f)
{
	findprint_finding(&((struct tool *)tool)->report, f);
}

/* Any check between two rounds may be the last one, whose findings are left.
   Further findings were only counted. */
static void keep_finding(void *kept, const struct finding *f)
{
	struct look_kept *k = kept;

	if (k->n >= LOOK_KEPT_MAX ||
	    !array_has_room(&k->findings, &k->room, k->n))
		return;
	k->findings[k->n] = *f;
	if (f->detail)
		k->findings[k->n].detail = strdup(f->detail);
	k->n++;
}

void look_drop_kept(struct look_kept *k)
{
	while (k->n)
		free((char *)(uintptr_t)k->findings[--k->n].detail);
	free(k->findings);
	*k = (struct look_kept){ 0 };
}

void look_report_kept(const struct look *l, struct report *r, const char *key)
{
	size_t i;

	report_list(r, key);
	for (i = 0; i < l->kept.n; i++)
		findprint_finding(r, &l->kept.findings[i]);
	report_end(r);
}

/* The total was an estimate, from a volume that may be damaged. */
static void look_show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct tool *tool = arg;
	struct progress *p = &tool->progress;

	p->total = total;
	progress_update(p, total && done > total ? total : done);
}

static void print_note(void *arg, const char *text)
{
	struct tool *tool = arg;

	tool_note(tool, "%s: %s", tool->argv[0], text);
}

static int stop_at_first(void *arg, struct context *cx,
			 const struct finding *f)
{
	bool *any = arg;

	(void)cx, (void)f;
	*any = true;
	return -ECANCELED;
}

static void plan_as(struct look *l, enum rule_fix fix, const struct finding *f)
{
	enum rule_danger danger = plan_danger_of(fix, f);

	if (danger == RULE_DANGER_NONE || !fixers_of(fix))
		return;
	if (decision_of(l->mode, danger) == DECISION_LEAVE)
		l->left++;
	else
		plan_add(&l->plan, fix, f);
}

void look_mark_compared(struct look *l)
{
	struct check_tally *n;
	size_t i, nrules = 0;

	while (rule_at(nrules))
		nrules++;
	n = l->tally + nrules;
	memcpy(n, l->tally, nrules * sizeof(*n));
	for (i = 0; i < 2 * nrules; i++) {
		uint64_t *of = n[i / 2].n[i % 2];

		of[CHECK_SNAPSHOTS] += of[CHECK_REVEALED];
		of[CHECK_REVEALED] = 0;
	}
	l->check.tally = n;
	l->before = NULL;
}

/* Counts F and plans its repair. If the previous check did not know the
   snapshot of F, its errors existed before. */
static void plan_finding(void *arg, const struct finding *f)
{
	const struct rule_info *rule = rule_info(f->rule);
	uint64_t cno = f->place.kind == PLACE_CHECKPOINT ? f->place.number :
							   f->place.cno;
	/* Entries, bitmaps and maps of ifiles share rules with those of the
	   DAT, and pointers with those of files. */
	bool later = rule->fix == RULE_FIX_DAT &&
		     f->place.ino == NILFS_IFILE_INO &&
		     ((rule->traits & RULE_HIDES_CONTENT) ||
		      rule_fix_stages[plan_fix_of(f)] == RULE_STAGE_TREE);
	enum check_scope whose = f->snapshot ? CHECK_SNAPSHOTS : CHECK_NEWEST;
	struct look *l = arg;
	struct check *c = &l->check;
	struct look_broken *b = &l->broken;
	unsigned int i = 0;

	damaged_note(&l->places, f);
	if (f->history)
		return;
	/* For the search for flipped bits, which reads all logs if not all
	   places can be kept. */
	if ((rule->traits & RULE_RELEASES) &&
	    c->nreleases < CHECK_RELEASES_MAX) {
		if (array_has_room(&l->releases, &l->releases_room,
				   c->nreleases))
			l->releases[c->nreleases++] = f->place;
		else
			c->nreleases = CHECK_RELEASES_MAX;
		c->releases = l->releases;
	}
	if (rule->severity >= RULE_ERROR && !(rule->traits & RULE_UNJUDGED)) {
		while (i < b->n && b->cno[i] != f->place.cno)
			i++;
		if (i == b->n && f->place.cno && i < LOOK_BROKEN_MAX)
			b->cno[b->n++] = f->place.cno;
		else
			b->others |= i == b->n;
	}
	if (f->snapshot && l->before && cno &&
	    rule->area != RULE_AREA_CHECKPOINTS &&
	    !check_snapshot_of(&l->before->check, cno, cno + 1))
		whose = CHECK_REVEALED;
	l->tally[rule - rule_at(0)].n[later][whose]++;
	/* The flag is cleared when all errors are repaired, by any fixer. */
	if (!(rule->traits & RULE_CLEARED_LAST)) {
		plan_as(l, plan_fix_of(f), f);
		plan_as(l, plan_second_of(f), f);
	} else if (decision_of(l->mode, RULE_DANGER_SAFE) == DECISION_LEAVE) {
		l->left++;
	} else {
		l->state_error = true;
	}
}

static const struct pass bits = {
	"bits", "searching for flipped bits", witness_search, 99, false
};

static const struct pass releases = {
	"bits", "verifying logs", witness_verify, 99, false
};

/* A check that the user sees. */
struct shown {
	struct tool *tool;
	const struct options *o;
	bool again;		/* after a repair: runs all passes */
};

/*
 * 1 if superblocks and super root suffice, 0, or a failure. A kernel that frees
 * segments does not reset their zones, and leaves a sound volume that it cannot
 * write to.
 */
static int look_opened(void *arg, struct check *c, struct context *cx)
{
	const struct shown *s = arg;
	unsigned int state = le16_get(volume_super(c->vol)->s_state);
	bool any = false, sound = s->o->mode == OPTIONS_AUTO && !s->o->always &&
				  (state & NILFS_VALID_FS) &&
				  !(state & NILFS_ERROR_FS) &&
				  !findings_count_severity(c->findings,
							   RULE_ERROR);
	int ret = 0;

	if (!s->again && s->o->quick)
		return 1;
	if (!s->again && sound) {
		ret = pass_zones_walk(c, cx, stop_at_first, &any);
		ret = any ? 0 : ret ? ret : 1;
	}
	if (!ret)
		check_raise_budget(cx, c->vol, CONTEXT_MAX_MEMORY_DEFAULT);
	return ret;
}

static void look_begin_pass(void *arg, const struct pass *pass)
{
	const struct shown *s = arg;

	tool_detail(s->tool, "%s: %s", pass->name, pass->doing);
	progress_begin(&s->tool->progress, pass->doing, 0, false);
	progress_until(&s->tool->progress, pass->until);
}

static void look_end_pass(void *arg)
{
	const struct shown *s = arg;

	progress_end(&s->tool->progress);
}

static bool is_unverified(const void *arg, const struct finding *fix)
{
	return rule_has(fix->rule, RULE_RELEASES) &&
	       inoset_has(arg, fix->place.ino);
}

int look_run(struct look *l, struct tool *tool, const struct options *o,
	     struct dev *dev, bool first)
{
	struct context *cx = &tool->cx;
	struct check *c = &l->check;
	size_t nrules = 0;
	struct plan_kind *names = &l->plan.kinds[RULE_FIX_NAMES];
	struct shown shown = { .tool = tool, .o = o, .again = !first };
	bool loses = decision_of(l->mode, RULE_DANGER_LOSES) == DECISION_REPAIR;
	const struct check_run run = {
		.counters = o->mode == OPTIONS_COUNTERS,
		/* The last log of a mounted volume is being written. */
		.extra = first && (o->quick || o->mounted ||
				   o->mode == OPTIONS_COUNTERS) ? NULL :
			 first ? &bits : loses ? NULL : &releases,
		.opened = look_opened,
		.begin = look_begin_pass,
		.end = look_end_pass,
		.arg = &shown,
	};
	struct look_broken *b = &l->broken;
	struct nilfs_checkpoint cp;
	uint64_t n, latest;
	unsigned int i, kept = 0;
	int ret;

	while (rule_at(nrules))
		nrules++;
	l->tally = calloc(2 * nrules, sizeof(*l->tally));
	if (!l->tally)
		return fail(&tool->cx, -ENOMEM, "findings");
	*c = (struct check){
		.dev = dev,
		.tally = l->tally,
		.data = o->data,
		.mounted = o->mounted,
		.awaited = l->awaited,
		.state = l->state,
		.logs_under = l->first ? &l->first->logs_under : &l->logs_under,
		.unverified = &l->unverified,
		.failed_reads = dev->stats.failed_reads,
		.progress = look_show_progress,
		.progress_arg = tool,
		.note = first ? print_note : NULL,
		.note_arg = tool,
	};
	ret = findings_open(&c->findings, cx,
			    first ? look_print_finding : keep_finding,
			    first ? (void *)tool : &l->kept, o->everything);
	if (ret)
		return ret;
	if (o->data && damaged_init(&l->places, cx, dev))
		fail_clear(cx);
	c->findings->watch = plan_finding;
	c->findings->watch_arg = l;
	ret = check_volume(c, cx, &run);
	l->complete = ret > 0;
	if (ret < 0)
		return ret;
	n = c->findings->nhistory;
	if (n && !o->everything)
		check_note(c, "%" PRIu64 " more in checkpoints that are no "
			   "snapshots; --all shows", n);
	/*
	 * A file without links is freed, and the type in a directory entry set
	 * to that of its inode, without a question only if both are proven
	 * content.
	 */
	if (!loses) {
		n = names->nrefused;
		plan_refuse(names, is_unverified, &l->unverified);
		if (l->first)
			plan_refuse(names, is_unverified,
				    &l->first->unverified);
		l->left += names->nrefused - n;
	}
	/* Findings of the latest state belong to its own repairs. */
	latest = l->complete ? c->vol->latest.cno : 0;
	for (i = 0; i < b->n; i++) {
		if (l->complete && b->cno[i] != latest &&
		    !cptable_read(c->vol, cx, b->cno[i], &cp) &&
		    checkpoint_is_snapshot(&cp))
			b->cno[kept++] = b->cno[i];
		else
			b->others = true;
		fail_clear(cx);
	}
	b->n = kept;
	return l->plan.err ? fail(cx, l->plan.err, "plan of repairs") : 0;
}

void look_rest(struct look *l, struct context *cx)
{
	struct check *c = &l->check;
	const struct sparse *sets[] = {
		&c->claimed, &c->claimed_twice, &c->listed[0], &c->listed[1],
		&c->listed[2], &c->referenced, &c->lingering, &c->leaked,
		&c->unmapped, &l->places.logs, &l->places.blocks,
		&l->places.flips,
	};
	uint64_t size = sizeof(*l) + l->kept.room * sizeof(*l->kept.findings) +
			l->releases_room * sizeof(*l->releases) +
			c->cps_room * sizeof(*c->cps) +
			4 * c->used_segments.bits / 8;
	struct logindex *index = NULL;
	struct context quiet;
	size_t i;

	context_child(cx, &quiet);
	for (i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		size += sets[i]->allocated + sets[i]->nchunks * sizeof(void *);
	for (i = 0; i < RULE_FIX_COUNT; i++)
		size += l->plan.kinds[i].room * sizeof(struct finding);
	for (i = 0; i < c->datruns.nparts; i++)
		size += c->datruns.parts[i].room * sizeof(struct datrun) +
			c->datruns.parts[i].lives_room *
				sizeof(*c->datruns.parts[i].lives);
	if (c->vol)
		size += cache_bytes(c->vol->cache);
	if (c->logindex &&
	    !logindex_open(&index, &quiet, &c->vol->geo, *c->logs_under)) {
		logindex_close(c->logindex);
		c->logindex = index;
	}
	l->before = NULL;
	l->size = size;
}

void look_reset(struct look *l, enum decision_mode mode)
{
	l->mode = mode;
	plan_restore(&l->plan);
	l->check.tally = l->tally;
}

void look_fini(struct look *l)
{
	check_fini(&l->check);
	findings_close(l->check.findings);
	plan_fini(&l->plan);
	look_drop_kept(&l->kept);
	free(l->releases);
	free(l->tally);
	inoset_fini(&l->unverified);
	damaged_fini(&l->places);
	logindex_close(l->logs_under);
	memset(l, 0, sizeof(*l));
}
