// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One round of repairs.
 *
 * Superblocks and zones are repaired in place. All other repairs are a new log:
 * the fixers change the files of a new checkpoint, and superblocks that name it
 * complete the round. If the fixers changed nothing, no log is written.
 *
 * Blocks are live according to the DAT; the SUFILE is used only if the DAT is
 * damaged. A metadata file is rebuilt if some of its blocks, or the paths to
 * them, are lost. On zones the first log is empty.
 *
 * The kernel reserves eight segments for itself, and removing files may use
 * them up, so a volume can be without a clean segment for a log. Then segments
 * are taken whose live blocks belong only to plain checkpoints, which are
 * removed, as a cleaner does. That loses nothing of the latest state or of a
 * snapshot, even if it is interrupted. No segment is taken if the DAT or the
 * list of snapshots is in doubt.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "check/pass/passes.h"
#include "disk/ondisk.h"
#include "disk/segusage.h"
#include "fsck/checkpoints/cpblocks.h"
#include "log/checkpoints.h"
#include "log/directwriter.h"
#include "log/move.h"
#include "log/newsupers.h"
#include "log/tables/segzones.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/liveness.h"
#include "vol/sutable.h"

/* The metadata file that a kind repairs, or 0. */
static const uint8_t file_of[RULE_FIX_COUNT] = {
	[RULE_FIX_DAT] = NILFS_DAT_INO,
	[RULE_FIX_CHECKPOINTS] = NILFS_CPFILE_INO,
	[RULE_FIX_SEGMENTS] = NILFS_SUFILE_INO,
	[RULE_FIX_INODES] = NILFS_IFILE_INO,
};

static bool round_is_unusable(void *arg, uint64_t segnum)
{
	const struct check *c = arg;
	const struct recovery *latest = &c->vol->latest;

	if (segnum == latest->segnum ||
	    bitmap_test(&c->live_segments, segnum) ||
	    (c->awaited && bitmap_test(c->awaited, segnum)))
		return true;
	if (c->dev->zones &&
	    (segzones_is_unusable(c->dev->zones, &c->vol->geo, segnum) ||
	     pass_zones_is_held(c, segnum)))
		return true;
	/* A SUFILE that is found later is trusted then. */
	return c->dat_broken && segnum != latest->nextnum &&
	       check_knows_sufile(c) && bitmap_test(&c->used_segments, segnum);
}

/*
 * The files that are rebuilt for FIX, of KIND: the file of KIND if a part of it
 * is lost. The SUFILE is rebuilt if it leads to free virtual numbers whose
 * blocks cannot be read, because no log can be written without it, not even one
 * that repairs the DAT. It is also rebuilt if it shares a block with the cpfile
 * and is invalid; the finding names the cpfile, which is checked later, and the
 * rebuild of either would free blocks of the other.
 */
static unsigned int lost_files(const struct round *round, enum rule_fix kind,
			       const struct finding *fix)
{
	const struct place *place = &fix->place;
	const struct check *c = round->job.check;
	unsigned int sufile = DIRECTWRITER_FILE(NILFS_SUFILE_INO), files = 0;

	if (kind == RULE_FIX_CHECKPOINTS && round->taken[RULE_FIX_SEGMENTS] &&
	    rule_has(fix->rule, RULE_CONTESTED) &&
	    place->ino == NILFS_CPFILE_INO)
		files |= sufile;
	if (!round->taken[kind])
		return files;
	if (kind == RULE_FIX_DAT) {
		if (rule_stage(rule_info(fix->rule)) == RULE_STAGE_NUMBERS &&
		    place->ino == NILFS_SUFILE_INO &&
		    findings_count(c->findings, RULE_SU_UNREADABLE))
			files |= sufile;
		return fix_dat_is_rebuilt(fix) ?
			       files | DIRECTWRITER_FILE(NILFS_DAT_INO) : files;
	}
	if (rule_has(fix->rule, RULE_LOSES_PART) &&
	    (place->kind == PLACE_MAP || place->kind == PLACE_INODE) &&
	    place->ino && place->ino == file_of[kind] &&
	    (!place->cno || place->cno == c->vol->latest.cno))
		files |= DIRECTWRITER_FILE(file_of[kind]);
	return files;
}

/* The content of the segments that are released. */
struct reclaim {
	const struct nilfs_geometry *g;
	const struct writer *writer;
	struct bitmap segments;
	size_t nsegments;
	uint64_t *numbers;
	size_t n, room;
	uint64_t first, end;	/* checkpoints that have some of the content */
};

static int round_visit_entry(void *arg, struct context *cx, unsigned int worker,
			     uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	uint64_t blocknr = le64_get(de->de_blocknr);
	struct reclaim *d = arg;

	(void)worker;
	if (!geometry_has_block(d->g, blocknr) ||
	    !bitmap_test(&d->segments, geometry_segment_of(d->g, blocknr)))
		return 0;
	if (start < end && directwriter_has_snapshot(d->writer, start, end))
		return fail(cx, -ENOSPC, "virtual block %llu: may belong to "
			    "a snapshot", (unsigned long long)vblocknr);
	if (array_reserve(cx, &d->numbers, &d->room, d->n + 1))
		return -ENOMEM;
	d->numbers[d->n++] = vblocknr;
	if (start < end && start < d->first)
		d->first = start;
	if (start < end && end > d->end)
		d->end = end;
	return 0;
}

/*
 * Releases up to WANT segments, the lowest ones, to the writer. Their virtual
 * numbers are freed, and plain checkpoints that refer to them removed. Nothing
 * in them is of the latest state or of a snapshot. They are not live until the
 * writer is done.
 */
static int reclaim_segments(struct reclaim *d, struct context *cx,
			    struct fixer_job *job, size_t want)
{
	const struct check *c = job->check;
	const struct datscan_visitor visitor = {
		.used = round_visit_entry,
		.arg = d,
	};
	const struct recovery *latest = &job->vol->latest;
	struct nilfs_segment_usage_ext su;
	struct liveness_counts counts;
	struct liveness *live = NULL;
	uint64_t segnum, *cnos = NULL;
	size_t i, n = 0;
	int err;

	if (c->dat_broken || job->plan->kinds[RULE_FIX_DAT].n ||
	    findings_have_stage(c->findings, RULE_STAGE_NUMBERS) ||
	    findings_count(c->findings, RULE_BMAP_LIFETIME) ||
	    job->dev->zones || latest->orphans_start)
		return fail(cx, -ENOSPC, "no clean segment is left");
	d->g = &job->vol->geo;
	d->writer = job->writer;
	d->first = UINT64_MAX;
	err = bitmap_init(&d->segments, cx, d->g->nsegments);
	if (!err)
		err = liveness_count(job->vol, cx, UINT64_MAX, &live);
	for (segnum = 0; segnum < d->g->nsegments && d->nsegments < want &&
	     !err; segnum++) {
		counts = liveness_of(live, segnum);
		if (segnum == latest->segnum || segnum == latest->nextnum ||
		    !bitmap_test(&c->used_segments, segnum) ||
		    (c->awaited && bitmap_test(c->awaited, segnum)) ||
		    counts.current || counts.snapshot)
			continue;
		err = sutable_read(job->vol, cx, segnum, &su);
		/* An erroneous segment cannot be written to. */
		if (err || segusage_is_error(&su.su))
			continue;
		bitmap_set(&d->segments, segnum);
		d->nsegments++;
	}
	liveness_free(live);
	if (!err && !d->nsegments)
		err = fail(cx, -ENOSPC, "no segment has only blocks of old "
			   "checkpoints");
	if (!err)
		err = datscan_run_alone(job->vol, cx, &visitor);
	for (i = 0; i < d->n && !err; i++)
		err = move_forget(job->writer, cx, d->numbers[i]);
	/* Dead blocks belong to no remaining checkpoint. */
	if (!err)
		err = cptable_list(job->vol, cx, false, &cnos, &n);
	for (i = search_lower_bound(cnos, n, d->first); i < n &&
	     cnos[i] < d->end && cnos[i] < latest->cno && !err; i++) {
		err = checkpoints_delete(job->writer, cx, cnos[i]);
		if (err != -EBUSY)
			continue;
		fail_clear(cx);
		err = 0;
	}
	free(cnos);
	for (segnum = bitmap_next_set(&d->segments, 0);
	     segnum < d->segments.bits && !err;
	     segnum = bitmap_next_set(&d->segments, segnum + 1)) {
		bitmap_clear(&job->check->live_segments, segnum);
		err = move_set_segment(job->writer, cx, segnum,
				       SEGMENTS_CLEAN);
	}
	if (!err)
		err = directwriter_changed(job->writer, cx);
	if (!err && d->first < d->end)
		fixers_note(job, "plain checkpoints from %llu to %llu: given "
			    "up to free %zu segments",
			    (unsigned long long)d->first,
			    (unsigned long long)d->end - 1, d->nsegments);
	return err;
}

static bool is_of_metadata(enum rule_stage stage)
{
	return stage == RULE_STAGE_DAT || stage == RULE_STAGE_METADATA;
}

static int apply_fixers(struct round *round, struct context *cx)
{
	static const unsigned int ifile = DIRECTWRITER_FILE(NILFS_IFILE_INO);
	/* Files that start without blocks are filled by their fixers. */
	static const unsigned int filled[RULE_FIX_COUNT] = {
		[RULE_FIX_CHECKPOINTS] =
			DIRECTWRITER_FILE(NILFS_CPFILE_INO) | ifile,
		[RULE_FIX_INODES] = ifile,
		[RULE_FIX_SEGMENTS] = DIRECTWRITER_FILE(NILFS_SUFILE_INO),
	};
	const struct plan_kind *kind = round->job.plan->kinds;
	size_t i;
	int err = round->begin ? round->begin(&round->job, cx) : 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++) {
		if (!round->taken[i] && !(round->rebuilt & filled[i]))
			continue;
		err = fixers_of((enum rule_fix)i)->apply(&round->job, cx,
							 kind[i].fixes,
							 kind[i].n);
		/* The next fixer allocates from the files that this fixer
		   changed directly. */
		if (!err && is_of_metadata(rule_fix_stages[i]))
			err = directwriter_changed(round->job.writer, cx);
	}
	return err;
}

/* Opens the writer with the facts of the check and the needs of the selected
   repairs. */
static int open_writer(struct round *round, struct context *cx)
{
	struct check *c = round->job.check;
	const struct recovery *latest = &c->vol->latest;
	const struct plan_kind *kinds = round->job.plan->kinds;
	const struct plan_kind *moves = &kinds[RULE_FIX_MOVES];
	/* Logs that wrote over others have to remain those with greater numbers. */
	bool overwritten = findings_have(c->findings, RULE_OVERWRITTEN);
	const struct writer_options options =
		writer_options_on(round->job.vol, round->job.time);
	struct directwriter_known known = {
		.unusable = round_is_unusable,
		.arg = c,
		.from = round->from,
		.rebuilt = round->rebuilt,
		/* The place of the next log may be damaged. */
		.fresh_segment =
			round->fresh_segment ||
			findings_have(c->findings, RULE_NEXT_LOG) ||
			bitmap_test(&c->live_segments, latest->nextnum) ||
			bitmap_test(&c->broken_segments, latest->segnum),
		/* A repair may consist of several logs. */
		.off_chain = round->job.first_log && !overwritten &&
			     !c->vol->dev->zones,
	};
	unsigned int doubted = 0;
	struct cpblocks_latest last;
	size_t i, j;
	int err;

	if (state_is_at(c->state, latest->pseg_start, latest->seq)) {
		known.fresh_segment = true;
		known.seq = c->state->seq;
	} else if (c->later_seq && latest->orphans_start) {
		/*
		 * The number must be after the logs of an interrupted
		 * roll-forward too, which would otherwise follow the new logs.
		 */
		known.seq = (c->later_seq > latest->last_seq ?
				     c->later_seq : latest->last_seq) +
			    (overwritten ? 0 : c->vol->geo.nsegments) + 2;
	} else if (overwritten) {
		known.seq = (latest->orphans_start ? latest->last_seq + 1 :
						     latest->seq) + 1;
	}
	for (i = 0; i < RULE_FIX_COUNT; i++)
		for (j = 0; j < kinds[i].n; j++)
			known.rebuilt |= lost_files(round, (enum rule_fix)i,
						    &kinds[i].fixes[j]);
	/* The segment of the latest log may be one that is emptied. Only
	   LOG_UNLISTED has the block, the other rules its virtual number. */
	for (j = 0; j < moves->n && round->taken[RULE_FIX_MOVES]; j++)
		known.fresh_segment |=
			moves->fixes[j].rule != RULE_LOG_UNLISTED ||
			geometry_segment_of(&c->vol->geo, moves->fixes[j].got) ==
				latest->segnum;
	/* Files whose map may have caused their findings. */
	if (round->taken[RULE_FIX_CHECKPOINTS])
		doubted |= DIRECTWRITER_FILE(NILFS_CPFILE_INO);
	if (round->taken[RULE_FIX_INODES])
		doubted |= DIRECTWRITER_FILE(NILFS_IFILE_INO);
	err = cpblocks_find_latest(&last, cx, c, doubted);
	if (err)
		return err;
	if ((last.must & ~known.rebuilt) && !round->may_lose)
		return fail(cx, -EUCLEAN, "a log needs a new checkpoint "
			    "file or ifile");
	if (!known.from)
		known.from = &last.cp;
	known.rebuilt |= round->taken[RULE_FIX_INODES] ? last.rebuilt : last.must;
	round->rebuilt = known.rebuilt;
	return directwriter_open(&round->job.writer, cx, round->job.vol,
				 &options, &known);
}

/*
 * The list of snapshots must be correct before old checkpoints are removed.
 * Fixers of metadata use the old content and write no log themselves, so the
 * checkpoints are removed after them. All other fixers need the space first.
 */
int round_run(struct round *round, struct context *cx)
{
	struct fixer_job *job = &round->job;
	struct reclaim d = { 0 };
	bool behind = is_of_metadata(round->stage), changed;
	const struct recovery *latest;
	struct writer_end end;
	unsigned int state;
	uint64_t i;
	int err;

	if (round->stage <= RULE_STAGE_DEVICE ||
	    (job->vol && round->stage == RULE_STAGE_ZONES))
		return apply_fixers(round, cx);
	if (!job->vol)
		return 0;
	latest = &job->vol->latest;
	state = le16_get(volume_super(job->vol)->s_state);
	err = open_writer(round, cx);
	if (!err && round->reclaim && !round->taken[RULE_FIX_CHECKPOINTS] &&
	    job->plan->kinds[RULE_FIX_CHECKPOINTS].n)
		err = fail(cx, -ENOSPC, "no clean segment is left, and "
			   "snapshots are in doubt");
	if (!err && round->reclaim && !behind)
		err = reclaim_segments(&d, cx, job, round->reclaim);
	if (!err)
		err = apply_fixers(round, cx);
	if (!err && round->reclaim && behind)
		err = reclaim_segments(&d, cx, job, round->reclaim);
	changed = round->rebuilt || round->recovered ||
		  round->taken[RULE_FIX_LOG];
	for (i = NILFS_DAT_INO; i <= NILFS_IFILE_INO && !err; i++)
		changed |= metafile_facts(directwriter_file(job->writer,
								 i)).changed;
	if (!err && changed) {
		err = writer_commit(job->writer, cx, &end);
		if (!err && latest->orphans_start && !job->synced &&
		    !round->recovered)
			fixers_note(job, "logs from block %" PRIu64
				    " to %" PRIu64 ": given up",
				    latest->orphans_start, latest->orphans_end);
		if (round->recovered)
			state |= NILFS_VALID_FS;
		if (!err)
			err = newsupers_name(cx, job->dev, job->vol, &end,
					     job->time, (uint16_t)state);
	}
	writer_close(job->writer);
	job->writer = NULL;
	for (i = bitmap_next_set(&d.segments, 0); i < d.segments.bits;
	     i = bitmap_next_set(&d.segments, i + 1))
		bitmap_set(&job->check->live_segments, i);
	bitmap_fini(&d.segments);
	free(d.numbers);
	return err;
}
