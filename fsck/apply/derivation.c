// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair by derivation.
 *
 * The derived blocks are first patches over the device, and the whole volume is
 * checked with them. If the result is better, the blocks are written and the
 * patches dropped. Blocks are written in place if the checksums of their logs
 * prove them or there is an undo file; otherwise to a new log, which is checked
 * once more. Blocks of files are shared by checkpoints: they keep their virtual
 * numbers, because all live blocks of their segment are moved
 * (fix_moves_empty()).
 *
 * A node may lead to dead blocks of the right files and offsets. Then it is an
 * older version of itself, or the DAT has wrong lifetimes. The node is accepted
 * if the file then has as many blocks as its inode records.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "dev/overlay.h"
#include "dev/patched.h"
#include "fsck/derive/derived.h"
#include "log/directwriter.h"
#include "log/meta/metafile.h"

#define TRIES 4

enum { CPFILE = 1, DAT = 2, MAPS = 4 };

/* The blocks derived in one attempt. */
struct part {
	unsigned int of;
	/* Accept only if nothing is left to derive and the DAT had entries that
	   are wrong with any map. */
	bool whole;
	struct derived *d;
	unsigned int had;	/* result: the kinds that had blocks */
};

/* Results of the attempts for one state. */
struct tries {
	/* The derived DAT did not explain all findings, but left none of the DAT: it
	   was wrong, so that maps alone explain nothing. */
	bool dat_alone;
	/* The repairs of another stage failed in the log of derived blocks,
	   which are written AGAIN without them. */
	bool bare, again;
};

/* Whether K has a finding with TRAITS, or, if not WITH, one without them. */
static bool has_any(const struct plan_kind *k, unsigned int traits, bool with)
{
	size_t i = 0;

	while (i < k->n && rule_has(k->fixes[i].rule, traits) != with)
		i++;
	return i < k->n;
}

/*
 * Whether L, after AFTER, has findings that a derivation may explain. No
 * derivation explains that a log cannot be read. Only after a derivation of the
 * DAT a check shows which entries no map leads to; only after one of the cpfile
 * it shows the number of inodes of a checkpoint.
 */
static bool has_more(const struct look *l, const struct part *after)
{
	const struct plan_kind *kinds = l->plan.kinds;
	const struct plan_kind *names = &kinds[RULE_FIX_NAMES];
	size_t i;

	for (i = RULE_FIX_DAT; i <= RULE_FIX_MAPS; i++)
		if ((i == RULE_FIX_SEGMENTS ?
			     has_any(&kinds[i], RULE_HIDES_LOGS, false) :
			     kinds[i].n > 0) &&
		    !(i == RULE_FIX_CHECKPOINTS && (after->of & CPFILE)))
			return true;
	/* A wrong map may cause a name without an inode. */
	return has_any(names, RULE_DOUBTS_MAP | RULE_DOUBTS_IFILE, true) ||
	       l->check.dat_broken ||
	       (kinds[RULE_FIX_COUNTS].n && !(after->of & DAT));
}

/* Whether D only ends entries that no map leads to, while a file has fewer blocks
   than its inode records. The repair of its map may need these blocks. */
static bool may_end_missing(const struct derived *d, const struct part *part,
			    const struct plan *plan)
{
	const struct plan_kind *maps = &plan->kinds[RULE_FIX_MAPS];
	size_t i;

	if (part->had != DAT || d->ended != d->entries || d->lost ||
	    plan->kinds[RULE_FIX_DAT].n)
		return false;
	for (i = 0; i < maps->n; i++)
		if (maps->fixes[i].rule == RULE_INODE_BLOCKS &&
		    maps->fixes[i].got > maps->fixes[i].want)
			return true;
	return false;
}

/* Whether the commit of a log can rewrite B. */
static bool is_derived_rewritten(const struct derived_block *b)
{
	return b->ino == NILFS_DAT_INO || b->ino == NILFS_CPFILE_INO ||
	       b->ino == NILFS_SUFILE_INO;
}

/* Writes the derived blocks to the log of JOB. In segments with blocks that no
   commit rewrites, all live blocks are moved, with their patched content. */
static int rewrite_block(struct fixer_job *job, struct context *cx)
{
	const struct derived *d = job->derived;
	struct bitmap segments = { 0 };
	int err = bitmap_init(&segments, cx, job->vol->geo.nsegments);
	uint64_t moved;
	size_t i;

	for (i = 0; i < d->n && !err; i++) {
		const struct derived_block *b = &d->blocks[i];

		if (is_derived_rewritten(b))
			err = metafile_touch(directwriter_file(job->writer,
							       b->ino),
					     cx, 0, b->blkoff);
		else
			bitmap_set(&segments,
				   geometry_segment_of(&job->vol->geo,
						       b->blocknr));
	}
	if (!err)
		err = directwriter_changed(job->writer, cx);
	moved = err ? 0 : bitmap_count(&segments, UINT64_MAX);
	if (moved) {
		err = fix_moves_empty(job, cx, &segments, NULL, 0);
		if (!err && bitmap_count(&segments, UINT64_MAX) != moved)
			err = fail(cx, -EUCLEAN, "a segment has unidentified "
				   "blocks");
	}
	bitmap_fini(&segments);
	return err;
}

/*
 * Whether the blocks of PART explain the findings of NOW. They do not if a file
 * whose block count differs from its inode has a node that may have been
 * correct; if the DAT is not derived, any file with such a count.
 */
static bool is_explained(const struct part *part, const struct look *now)
{
	const struct plan_kind *kind = &now->plan.kinds[RULE_FIX_MAPS];
	const struct derived *d = part->d;
	bool any = !(part->of & DAT);
	size_t i, j;

	if (part->whole && has_more(now, part))
		return false;
	for (i = 0; i < d->n; i++)
		for (j = 0; (any || d->blocks[i].plausible) && j < kind->n; j++)
			if (kind->fixes[j].rule == RULE_INODE_BLOCKS &&
			    (any || kind->fixes[j].place.ino ==
					    d->blocks[i].ino))
				return false;
	return true;
}

static int derive_all(struct repair *r, struct context *cx, struct part *part)
{
	struct look *now = trial_current(r);
	struct fixer_job job = trial_job(r, cx);
	struct derived *d = part->d;
	int err = 0;
	size_t n;

	if (part->of & CPFILE)
		err = fix_checkpoints_derive(d, cx, &job);
	part->had = d->n ? CPFILE : 0;
	n = d->n;
	if (!err && (part->of & DAT))
		err = derive_dat(d, cx, &now->check, &now->plan);
	/* Writes depend on the map of the DAT. */
	if (d->dat_stale)
		derived_drop(d);
	part->had |= d->n > n ? DAT : 0;
	n = d->n;
	if (!err && (part->of & MAPS) && !d->dat_stale)
		err = derive_nodes(d, cx, &now->check, &now->plan);
	part->had |= d->n > n ? MAPS : 0;
	return err;
}

/*
 * Writes D, which R->now is a check of, to the overlay: in place, or in one
 * more log, which is checked again. 1 if the result is kept, 0. Repairs of the
 * next stage that need no question are added to this log, according to the
 * check of the derived blocks, and save a check.
 */
static int keep_derived(struct repair *r, struct context *cx,
			struct derived *d, struct tries *tries)
{
	const struct volume *vol = trial_current(r)->check.vol;
	/* No other content suits a state better where this one leaves no errors. */
	bool any = r->overwrites ||
		   (r->o->undo_file &&
		    !improvement_errors(&trial_current(r)->check, false));
	struct round round = {
		.job = trial_job(r, cx),
		.stage = RULE_STAGE_DAT,
		.begin = rewrite_block,
	};
	int stage = tries->bare ? STAGES_NONE : stages_next(r), ret;
	bool may_lose = decision_of(r->ask.mode, RULE_DANGER_LOSES) ==
			DECISION_REPAIR;
	bool more = may_lose && stage > RULE_STAGE_DAT &&
		    stage < RULE_STAGE_ZONES &&
		    stages_take(r, stage, round.taken);
	size_t i, n[2] = { 0, 0 };

	if (d->entries)
		fixers_note(&round.job, "DAT: %" PRIu64 " entries restored "
			    "from the logs", d->entries);
	if (d->lost)
		fixers_note(&round.job, "DAT: %" PRIu64 " entries freed that "
			    "no log lists", d->lost);
	for (i = 0; i < d->n; i++) {
		const struct derived_block *b = &d->blocks[i];

		if (b->level)
			fixers_note(&round.job, "inode %" PRIu64 ": node of "
				    "level %u at block %" PRIu64 ": restored "
				    "from the logs", b->ino, b->level,
				    b->blkoff);
		else if (b->map_of)
			fixers_note(&round.job, "inode %" PRIu64 ": map "
				    "restored from the logs", b->map_of);
		n[b->proven] += !b->level && !b->written;
	}
	for (i = 2; i-- > 0;)
		if (n[i])
			fixers_note(&round.job, "%zu %s of metadata restored%s",
				    n[i], n[i] == 1 ? "block" : "blocks",
				    i ? " in place, as the checksum of the log "
					"proves" : "");
	r->by_means = true;
	/* The derived entries may be those of lost blocks of the cpfile. */
	round.may_lose = may_lose;
	ret = derived_write(d, cx, &vol->geo,
			    any && !r->dev->zones);
	round.job.derived = d;
	for (i = 0; i < d->n; i++)
		round.fresh_segment |=
			!is_derived_rewritten(&d->blocks[i]) &&
			geometry_segment_of(&vol->geo, d->blocks[i].blocknr) ==
				vol->latest.segnum;
	if (!ret && d->n)
		ret = round_run(&round, cx);
	patched_remove(r->patched, 0, UINT64_MAX);
	if (!ret && !d->n)
		return 1;
	if (!ret)
		ret = trial_look(r, cx, IMPROVEMENT_OR_SAME);
	if (ret <= 0 && more) {
		tries->again = tries->bare = true;
		ret = trial_tolerate(r, cx, ret);
	}
	return ret;
}

/* Checks the derived blocks of PART: 1 and *RESULT if they are to be written, 0. */
static int check_derived(struct repair *r, struct context *cx,
			 const struct part *part, struct tries *tries,
			 struct look **result)
{
	const struct derived *d = part->d;
	struct look *look;
	int ret;

	tool_detail(r->tool, "%zu metadata block%s derived from the logs", d->n,
		    d->n == 1 ? "" : "s");
	/* The loss of blocks that are not there shows in the files. */
	ret = trial_check(r, cx,
			  r->trusts_logs && d->lost ? IMPROVEMENT_ANY :
			  r->rebuild ? IMPROVEMENT_OR_SAME :
				       IMPROVEMENT_DERIVED, &look);
	if (ret <= 0)
		return ret ? ret : trial_add_failed(r, cx, d->digest);
	if (is_explained(part, look)) {
		*result = look;
		return 1;
	}
	if (part->had == DAT)
		tries->dat_alone = !look->plan.kinds[RULE_FIX_DAT].n &&
				   !look->check.dat_broken;
	trial_leave(r, look);
	return 0;
}

/*
 * Derives more of PART as long as numbers that pointers lead to are free, which
 * the log of the derived blocks would use again: what a restored block leads to is
 * checked only with it. 1, 0 if the result is worse.
 */
static int derive_more(struct repair *r, struct context *cx, struct part *part)
{
	struct look *look;
	uint64_t digest;
	int tries, ret = 1;

	for (tries = 0; tries < TRIES && ret > 0; tries++) {
		if (!findings_have_stage(trial_current(r)->check.findings,
					 RULE_STAGE_NUMBERS))
			break;
		digest = part->d->digest;
		ret = derive_all(r, cx, part);
		if (ret || digest == part->d->digest)
			return ret ? ret : 1;
		tool_detail(r->tool, "more metadata derived from the logs");
		ret = trial_check(r, cx, IMPROVEMENT_DERIVED, &look);
		if (ret > 0)
			ret = trial_take(r, cx, look, NULL) ?: 1;
	}
	return ret;
}

/* Derives PART: 1 if the result is kept, 0. */
static int try_derived(struct repair *r, struct context *cx, struct part *part,
		       struct tries *tries)
{
	struct trial_point from = trial_point(r);
	const struct plan_kind *entries =
		&trial_current(r)->plan.kinds[RULE_FIX_DAT];
	struct look *checked = NULL, *before = NULL;
	struct derived *d = part->d;
	int ret = derive_all(r, cx, part), err = 0;
	uint64_t digest = d->digest;

	/* Safe mode accepts no losses. Maps do not explain wrong entries. */
	if (!ret && d->n && !trial_has_failed(r, digest) &&
	    !(r->ask.mode == DECISION_MODE_SAFE && d->lost) &&
	    !may_end_missing(d, part, &trial_current(r)->plan) &&
	    (!part->whole ||
	     (!d->lost && !((part->of & DAT) && d->ended == d->entries) &&
	      !(part->of == MAPS && has_any(entries, RULE_DOUBTS_DAT, true)))))
		ret = check_derived(r, cx, part, tries, &checked);
	if (ret > 0)
		ret = trial_take(r, cx, checked, &before) ?:
		      derive_more(r, cx, part);
	if (ret > 0 && checked)
		ret = keep_derived(r, cx, d, tries);
	if (ret > 0) {
		trial_leave(r, before);
		/* The DAT led to other blocks. */
		r->state.overwritten &= findings_have(
			trial_current(r)->check.findings, RULE_OVERWRITTEN);
		return 1;
	}
	ret = trial_tolerate(r, cx, ret);
	derived_drop(d);
	trial_return_to(r, &from);
	if (checked)
		err = trial_take(r, cx, before, NULL);
	if (ret || err)
		return ret ? ret : err;
	if (!checked)
		return 0;
	if (!tries->again)
		return trial_add_failed(r, cx, digest);
	tries->again = false;
	return try_derived(r, cx, part, tries);
}

/* Rebuilds the cpfile and the SUFILE from the DAT and the logs. */
static int redo_in_log(struct fixer_job *job, struct context *cx)
{
	int err = fix_checkpoints(job, cx, NULL, 0);

	if (!err)
		err = directwriter_changed(job->writer, cx);
	if (!err)
		err = fix_segments(job, cx, NULL, 0);
	return err ? err : directwriter_changed(job->writer, cx);
}

static int remap_dat(struct fixer_job *job, struct context *cx)
{
	return fix_dat(job, cx, NULL, 0);
}

/* Rebuilds the map of the DAT, unless that failed with the same findings. */
static int remap_stale(struct repair *r, struct context *cx)
{
	/* No round has this digest. */
	const uint64_t digest = ~trial_digest_of(r, RULE_FIX_DAT);
	struct round remap = {
		.job = trial_job(r, cx),
		.stage = RULE_STAGE_DAT,
		.begin = remap_dat,
		.rebuilt = DIRECTWRITER_FILE(NILFS_DAT_INO),
	};
	int ret;

	if (trial_has_failed(r, digest))
		return 0;
	tool_detail(r->tool, "the map of the DAT is rebuilt");
	ret = trial_attempt(r, cx, &remap, IMPROVEMENT_ONLY);
	return ret ? ret : trial_add_failed(r, cx, digest);
}

/*
 * Derives the kinds in turn until a result is kept. A file that agrees with the
 * logs and explains all findings was the wrong one. Maps come first otherwise,
 * because a DAT derived from a wrong map frees blocks. But if maps do not
 * explain all findings, a log written with a wrong DAT loses blocks. 1, 0, or a
 * failure.
 */
static int derive_in_turn(struct repair *r, struct context *cx, struct derived *d)
{
	struct part cpfile = { .of = CPFILE, .whole = true, .d = d };
	struct part dat = { .of = DAT, .whole = true, .d = d };
	struct part maps = { .of = MAPS, .whole = true, .d = d };
	struct part both = { .of = DAT | MAPS, .d = d };
	struct part rest = { .of = DAT, .d = d };
	struct tries tries = { .again = false };
	int ret = 0;

	if (trial_current(r)->plan.kinds[RULE_FIX_CHECKPOINTS].n)
		ret = try_derived(r, cx, &cpfile, &tries);
	if (!ret)
		ret = try_derived(r, cx, &dat, &tries);
	/* The map of the DAT leads to older blocks than the logs list. */
	if (!ret && d->dat_stale)
		ret = remap_stale(r, cx);
	if (!ret && !tries.dat_alone)
		ret = try_derived(r, cx, &maps, &tries);
	if (!ret)
		ret = try_derived(r, cx, &both, &tries);
	if (!ret && (both.had & MAPS))
		ret = try_derived(r, cx, &rest, &tries);
	maps.whole = false;
	if (!ret && (maps.had & MAPS))
		ret = try_derived(r, cx, &maps, &tries);
	return ret;
}

int derivation_run(struct repair *r, struct context *cx)
{
	struct look *now = trial_current(r);
	const struct part none = { 0 };
	bool first = !r->derived;
	bool decided = decision_of(r->ask.mode, RULE_DANGER_LOSES) ==
		       DECISION_REPAIR;
	struct round redo = {
		.stage = RULE_STAGE_METADATA,
		.begin = redo_in_log,
	};
	unsigned int tries;
	int ret = 1;

	if (r->derived == r->looks + 1 || !now->complete || !now->check.vol ||
	    !r->patched || trial_is_cut_off(now) ||
	    (r->ask.mode == DECISION_MODE_SAFE &&
	     now->check.vol->latest.orphans_start))
		return 0;
	/* Repeats after a success, because repaired trees allow more
	   derivations. */
	for (tries = 0; tries < TRIES && ret > 0; tries++) {
		struct derived d = {
			.dev = r->dev, .patched = r->patched,
			.under = r->under, .trusts_logs = r->trusts_logs,
		};

		/* Asks the user if there are findings. */
		now = trial_current(r);
		ret = r->rebuild || (decided && has_more(now, &none));
		if (!r->rebuild && !decided) {
			ret = plan_ask(&r->ask, cx, &now->plan,
					RULE_STAGE_DAT);
			ret = ret ? ret : now->plan.kinds[RULE_FIX_DAT].n > 0;
		}
		if (ret > 0)
			ret = derive_in_turn(r, cx, &d);
		derived_fini(&d);
	}
	if (ret >= 0 && first && r->rebuild &&
	    !trial_current(r)->check.dat_broken) {
		redo.job = trial_job(r, cx);
		ret = trial_attempt(r, cx, &redo, IMPROVEMENT_OR_SAME);
	}
	r->derived = r->looks + 1;
	return ret < 0 ? ret : 0;
}
