// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Super roots, from the newest to older ones.
 *
 * Each log with a super root was once the latest.  How old it is says its
 * sequence number, and its place among logs with the same number; where it lies
 * on the device says nothing.  A state is lost once a segment that it needs was
 * reclaimed and written again: its logs are there still, and its super root is
 * right, but blocks are not what its DAT says.  The passes see that, so they
 * look at each state as they look at any volume.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/ondisk.h"
#include "disk/segsum.h"
#include "find/finding.h"
#include "fsck/check.h"
#include "fsck/damage.h"
#include "fsck/passes.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"
#include "vol/volume.h"

#define ROOTS_MAX 65536		/* kept; older ones are forgotten */
#define JUDGED_MAX 64		/* states that are looked at */

struct root_log {
	uint64_t pseg;
	struct nilfs_segment_summary ss;
};

struct search {
	struct rootsearch *rs;
	struct volume *vol;	/* without super root */
	struct root_log *roots;
	size_t nroots, room;
};

/* Newest first. */
static int compare(const void *a, const void *b)
{
	const struct root_log *x = a, *y = b;
	uint64_t m = le64_get(x->ss.ss_seq), n = le64_get(y->ss.ss_seq);

	if (m != n)
		return m < n ? 1 : -1;
	return x->pseg < y->pseg ? 1 : x->pseg > y->pseg ? -1 : 0;
}

static void sort_roots(struct search *s)
{
	if (s->nroots)
		qsort(s->roots, s->nroots, sizeof(*s->roots), compare);
}

static int add_log(struct search *s, struct context *cx, const struct log *log)
{
	struct root_log *grown;
	uint64_t seq = le64_get(log->ss.ss_seq);

	if (seq > s->rs->seq)
		s->rs->seq = seq;
	if (!segsum_has_super_root(&log->ss))
		return 0;
	if (s->nroots == ROOTS_MAX) {
		sort_roots(s);
		s->nroots /= 2;
	}
	grown = array_grow(cx, s->roots, &s->room, s->nroots + 1,
			   sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->roots = grown;
	grown[s->nroots++] = (struct root_log){ log->pseg, log->ss };
	return 0;
}

/* What cannot be read, or cannot be so long, is no log. */
static int pass_over(struct logsearch *ls, struct context *cx, int ret)
{
	if (ret != -EIO && ret != -EUCLEAN)
		return ret;
	fail_clear(cx);
	ls->next++;
	return 1;
}

static int search_segment(struct search *s, struct context *cx,
			  uint64_t segnum)
{
	struct logsearch ls;
	struct log log;
	int ret = logsearch_open(&ls, cx, s->vol, segnum,
				 geometry_segment_start(s->rs->geo, segnum));

	if (ret)
		return ret;
	while ((ret = logsearch_next(&ls, cx, &log))) {
		ret = ret > 0 ? add_log(s, cx, &log) :
				pass_over(&ls, cx, ret);
		if (ret < 0)
			break;
	}
	logsearch_close(&ls);
	return ret;
}

static int search_segments(struct search *s, struct context *cx)
{
	uint64_t segnum;
	int err = 0;

	for (segnum = 0; segnum < s->rs->geo->nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		if (!err)
			err = search_segment(s, cx, segnum);
		if (s->rs->progress)
			s->rs->progress(s->rs->arg, segnum);
	}
	return err;
}

/* Findings that tell of lost blocks, not of files that were damaged before. */
static bool is_telling(const struct finding *f)
{
	const struct rule_info *info = rule_info(f->rule);

	if (info->severity < RULE_ERROR)
		return false;
	if (info->area == RULE_AREA_MAP)
		return f->place.ino && f->place.ino <= NILFS_IFILE_INO;
	return rule_is_of_metadata(info) || (info->traits & RULE_OVERWRITTEN);
}

static void count(void *arg, const struct finding *f)
{
	uint64_t *damage = arg;

	*damage += is_telling(f);
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

static const struct {
	pass_run *run;
} passes[] = {
	{ pass_segments }, { pass_dat }, { pass_logs }, { pass_checkpoints },
	{ pass_tree },
};

/* The state at C's volume: how much speaks against it, counted up to LIMIT. */
static int look(struct check *c, struct context *cx, uint64_t limit,
		uint64_t *damage)
{
	size_t i;
	int err = findings_open(&c->findings, cx, ignore, NULL, false);

	if (err)
		return err;
	findings_watch(c->findings, count, damage);
	for (i = 0; i < sizeof(passes) / sizeof(*passes) && !err; i++)
		if (*damage < limit)
			err = passes[i].run(c, cx);
	findings_close(c->findings);
	return err;
}

/* Where the volume would go on behind the super root of ROOT. */
static void place_root(const struct search *s, const struct root_log *root,
		       struct recovery *at)
{
	const struct nilfs_geometry *geo = s->rs->geo;
	uint64_t end = root->pseg + le32_get(root->ss.ss_nblocks);

	*at = (struct recovery){
		.cno = segsum_cno(&root->ss),
		.super_root = end - 1,
		.pseg_start = root->pseg,
		.seq = le64_get(root->ss.ss_seq),
		.segnum = geometry_segment_of(geo, root->pseg),
		.nextnum = geometry_segment_of(geo,
					       le64_get(root->ss.ss_next)),
		.ctime = le64_get(root->ss.ss_create),
	};
	at->offset = end - geometry_segment_start(geo, at->segnum);
}

/* The greatest number of a checkpoint, for logs that do not have it. */
static int find_cno(struct context *cx, struct volume *vol, uint64_t *cno)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret = cptable_cursor_open(&cur, cx, vol);

	*cno = 0;
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		*cno = le64_get(cp.cp_cno);
		ret = 0;
	}
	cptable_cursor_close(&cur);
	if (!ret && !*cno)
		ret = fail(cx, -EUCLEAN, "cpfile: no checkpoint");
	return ret;
}

/* The blocks of the log at AT; its summary is known to be right. */
static int check_blocks(struct search *s, struct context *cx,
			const struct recovery *at, bool *hurt)
{
	struct nilfs_segment_summary ss;
	int err = logcheck_read(s->vol, cx, at->pseg_start, at->seq, &ss);

	*hurt = (err == -EUCLEAN || err == -EIO) && !s->rs->unhurt &&
		at->pseg_start == s->rs->named_pseg &&
		at->seq == s->rs->named_seq;
	if (!*hurt)
		return err;
	fail_clear(cx);
	return 0;
}

/* Opens the volume at *AT, which is completed. */
static int open_at(struct search *s, struct context *cx, struct recovery *at,
		   bool *hurt, struct volume **volp)
{
	int err = check_blocks(s, cx, at, hurt);

	*volp = NULL;
	if (!err)
		err = volume_open_at(volp, cx, s->rs->dev, s->rs->geo, at);
	if (!err && !at->cno)
		err = find_cno(cx, *volp, &at->cno);
	if (!err)
		(*volp)->latest.cno = at->cno;
	return err;
}

/* Takes the state of ROOT if it is better than the best so far. */
static int judge(struct search *s, struct context *cx,
		 const struct root_log *root)
{
	struct rootsearch *rs = s->rs;
	struct check c = { .dev = rs->dev };
	uint64_t damage = 0;
	struct recovery at;
	bool hurt;
	int err;

	place_root(s, root, &at);
	err = open_at(s, cx, &at, &hurt, &c.vol);
	if (!err)
		err = look(&c, cx, rs->damage, &damage);
	check_fini(&c);
	if (err)
		return damage_forgive(cx, err);
	if (damage < rs->damage) {
		rs->damage = damage;
		rs->best = at;
		rs->hurt = hurt;
	}
	return 0;
}

static int judge_all(struct search *s, struct context *cx)
{
	struct rootsearch *rs = s->rs;
	size_t i, taken = 0;
	int err = 0;

	rs->damage = UINT64_MAX;
	for (i = 0; i < s->nroots && i < JUDGED_MAX && rs->damage && !err;
	     i++) {
		uint64_t before = rs->damage;

		err = context_cancelled(cx);
		if (!err)
			err = judge(s, cx, &s->roots[i]);
		if (rs->damage < before)
			taken = i;
	}
	rs->newer = taken;
	return err ? err : rs->damage != UINT64_MAX;
}

int rootsearch_run(struct rootsearch *rs, struct context *cx)
{
	struct search s = { .rs = rs };
	int ret = volume_open_layout(&s.vol, cx, rs->dev, rs->geo);

	if (!ret)
		ret = search_segments(&s, cx);
	sort_roots(&s);
	if (!ret)
		ret = judge_all(&s, cx);
	free(s.roots);
	volume_close(s.vol);
	return ret;
}
