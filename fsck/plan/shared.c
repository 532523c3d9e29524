// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The check of a mounted volume while a cleaner runs (--share).
 *
 * A cleaner frees segments of the checkpoint that is checked, and the kernel writes to
 * them.  The check then reads other blocks, and reports damage that does not exist.
 * A check of a later checkpoint finds such damage at other places, but real damage at
 * the same place.  So a check with findings is repeated at a new checkpoint, until
 * two checks have the same findings, or no finding is in both.  Only findings that
 * all checks have in common are reported.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "find/findprint.h"
#include "fsck/plan/look.h"
#include "live/live.h"

/* The most checks. */
#define CHECKS 5

/*
 * By place and rule; the number of the latest checkpoint is not part of it.  A log
 * breaks other rules once the superblocks name a later one.
 */
static int compare_findings(const void *a, const void *b)
{
	const struct finding *f = a, *g = b;
	const struct place *p = &f->place, *q = &g->place;
	int order = sort_order(p->kind, q->kind);

	if (!order && p->kind != PLACE_LOG)
		order = sort_order(f->rule, g->rule);
	order = order ?: sort_order(p->number, q->number) ?:
			 sort_order(p->ino, q->ino) ?:
			 sort_order(p->blkoff, q->blkoff) ?:
			 sort_order(p->offset, q->offset) ?:
			 sort_order(p->level, q->level) ?:
			 sort_order(f->snapshot, g->snapshot);
	if (!order && f->snapshot)
		order = sort_order(p->cno, q->cno);
	return order;
}

/* Sorts K, without history unless ALL, and drops the findings that are not in BEFORE
   (NULL: none is dropped). Returns the number of findings before that. */
static size_t keep_common(struct look_kept *k, const struct look_kept *before,
			  bool all)
{
	size_t had = 0, n = 0, i;

	for (i = 0; i < k->n; i++) {
		const struct finding *f = &k->findings[i];
		bool counts = all || !f->history;

		had += counts;
		if (counts && (!before || bsearch(f, before->findings, before->n,
						  sizeof(*f), compare_findings)))
			k->findings[n++] = *f;
		else
			free((char *)(uintptr_t)f->detail);
	}
	k->n = n;
	if (n)
		sort_in_place(k->findings, n, sizeof(*k->findings),
			      compare_findings);
	return had;
}

/* Lists the findings of check number N, with -v. */
static void list_found(struct tool *tool, unsigned int n, const struct look_kept *k)
{
	char place[PLACE_TEXT_MAX];
	size_t i;

	tool_detail(tool, "%s: check %u: found %zu", tool->argv[0], n, k->n);
	for (i = 0; i < k->n; i++) {
		findprint_place(&k->findings[i].place, place);
		tool_detail(tool, "%s: check %u: %s: %s", tool->argv[0], n, place,
			    rule_info(k->findings[i].rule)->text);
	}
}

/* Prints the findings of K, which become those of L. */
static int report_shared(struct look *l, struct tool *tool, const struct options *o,
			 const struct look_kept *k)
{
	struct findings *f;
	int err = findings_open(&f, &tool->cx, look_print_finding, tool, o->everything);
	size_t i;

	if (err)
		return err;
	findings_close(l->check.findings);
	l->check.findings = f;
	report_list(&tool->report, "findings");
	for (i = 0; i < k->n; i++) {
		f->mark = k->findings[i].history ? FINDINGS_HISTORY :
			  k->findings[i].snapshot ? FINDINGS_SNAPSHOTS :
						    FINDINGS_NEWEST;
		findings_add(f, &k->findings[i]);
	}
	report_end(&tool->report);
	findprint_counts(&tool->report, f, o->everything);
	return 0;
}

int shared_run(struct look *l, struct tool *tool, const struct options *o,
	       struct dev *dev)
{
	struct context *cx = &tool->cx;
	struct look_kept before = { 0 };
	struct options all = *o;
	unsigned int i;
	bool sure = false;
	size_t had;
	int err = 0;

	all.everything = true;
	for (i = 0; i < CHECKS && !sure && !err; i++) {
		if (i) {
			enum decision_mode mode = l->mode;

			look_fini(l);
			l->mode = mode;
			/* Without a new checkpoint the latest one is checked. */
			err = live_sync(o->live, cx, &all.mounted);
			if (err == -ENOSPC || err == -EIO || err == -EROFS) {
				fail_clear(cx);
				err = 0;
			}
		}
		if (!err)
			err = look_run(l, tool, &all, dev, false);
		if (err)
			break;
		list_found(tool, i + 1, &l->kept);
		had = keep_common(&l->kept, i ? &before : NULL, o->everything);
		sure = l->check.vol && (!l->kept.n ||
					(i && (l->kept.n == had ||
					       l->kept.n == before.n)));
		look_drop_kept(&before);
		before = l->kept;
		l->kept = (struct look_kept){ 0 };
	}
	if (!err)
		err = report_shared(l, tool, o, &before);
	look_drop_kept(&before);
	return err;
}
