// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One round of repairs.
 *
 * Superblocks and zones are repaired in place.  Everything else is a new log:
 * the fixers change the files of a new checkpoint, and superblocks that name it
 * complete the round.  If the fixers changed nothing there is no log.
 */
#include "fsck/apply/round.h"

#include <errno.h>
#include <inttypes.h>

#include "fsck/checkpoints/cpblocks.h"
#include "log/repairwriter.h"
#include "log/newsupers.h"

/* Files that begin again are filled at every stage. */
#define FILLED_REBUILT (REPAIRWRITER_FILE(NILFS_CPFILE_INO) | \
			REPAIRWRITER_FILE(NILFS_IFILE_INO))

/* Files that begin without blocks are filled by their fixers. */
static bool is_due(const struct round *round, enum rule_fix fix)
{
	return round->taken[fix] ||
	       (fix == RULE_FIX_CHECKPOINTS && (round->rebuilt & FILLED_REBUILT)) ||
	       (fix == RULE_FIX_INODES &&
		(round->rebuilt & REPAIRWRITER_FILE(NILFS_IFILE_INO))) ||
	       (fix == RULE_FIX_SEGMENTS &&
		(round->rebuilt & REPAIRWRITER_FILE(NILFS_SUFILE_INO)));
}

static bool is_of_metadata(enum rule_stage stage)
{
	return stage == RULE_STAGE_DAT || stage == RULE_STAGE_METADATA;
}

/* The next fixer allocates from the files that a fixer has changed directly. */
static int apply_fixers(struct round *round, struct context *cx)
{
	const struct plan_kind *kind = round->job.plan->kinds;
	size_t i;
	int err = round->begin ? round->begin(&round->job, cx, NULL, 0) : 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++) {
		if (!is_due(round, (enum rule_fix)i))
			continue;
		err = fixers_of((enum rule_fix)i)->apply(&round->job, cx,
							 kind[i].fixes,
							 kind[i].n);
		if (!err && is_of_metadata(rule_stage_of_fix((enum rule_fix)i)))
			err = repairwriter_changed(round->job.writer, cx);
	}
	return err;
}

static bool has_changes(struct writer *w)
{
	static const uint64_t inos[] = {
		NILFS_DAT_INO, NILFS_CPFILE_INO, NILFS_SUFILE_INO,
		NILFS_IFILE_INO
	};
	size_t i;

	for (i = 0; i < sizeof(inos) / sizeof(inos[0]); i++)
		if (metafile_is_changed(repairwriter_file(w, inos[i])))
			return true;
	return false;
}

int round_name(const struct fixer_job *job, struct context *cx,
	       const struct writer_end *end, bool valid)
{
	unsigned int state = le16_get(volume_super(job->vol)->s_state);

	if (valid)
		state |= NILFS_VALID_FS;
	return newsupers_name(cx, job->dev, job->vol, end, job->time,
			      (uint16_t)state);
}

/* Files whose map may have led to what is wrong with them. */
static unsigned int doubted(const struct round *round)
{
	unsigned int files = 0;

	if (round->taken[RULE_FIX_CHECKPOINTS])
		files |= REPAIRWRITER_FILE(NILFS_CPFILE_INO);
	if (round->taken[RULE_FIX_INODES])
		files |= REPAIRWRITER_FILE(NILFS_IFILE_INO);
	return files;
}

static int open_writer(struct round *round, struct context *cx)
{
	const struct writer_options options =
		writer_options_on(round->job.vol, round->job.time);
	struct repairwriter_known known;
	struct cpblocks_latest last;
	int err = cpblocks_find_latest(&last, cx, round->job.check,
				       doubted(round));

	if (err)
		return err;
	writerhints_fill(&known, round->job.check, round->job.plan,
			 round->taken);
	if ((last.must & ~known.rebuilt) && !round->may_lose)
		return fail(cx, -EUCLEAN, "no log without a new checkpoint "
			    "file or ifile");
	known.from = &last.cp;
	known.fresh_segment |= round->fresh_segment;
	known.rebuilt |= round->rebuilt;
	known.rebuilt |= round->taken[RULE_FIX_INODES] ? last.rebuilt : last.must;
	round->rebuilt = known.rebuilt;
	return repairwriter_open(&round->job.writer, cx, round->job.vol,
				 &options, &known);
}

/*
 * The list of snapshots must be right before old checkpoints are dropped.
 * Fixers of metadata use the old content and write no log themselves: it is
 * dropped after them.  All others need the room.
 */
static int apply_in_room(struct round *round, struct context *cx,
			 struct reclaim *reclaim)
{
	bool behind = is_of_metadata(round->stage);
	int err = 0;

	if (round->reclaim && !round->taken[RULE_FIX_CHECKPOINTS] &&
	    round->job.plan->kinds[RULE_FIX_CHECKPOINTS].n)
		return fail(cx, -ENOSPC, "no clean segment is left, and "
			    "snapshots are in doubt");
	if (round->reclaim && !behind)
		err = reclaim_take(reclaim, cx, &round->job, round->reclaim);
	if (!err)
		err = apply_fixers(round, cx);
	if (!err && round->reclaim && behind)
		err = reclaim_take(reclaim, cx, &round->job, round->reclaim);
	return err;
}

static int run_log(struct round *round, struct context *cx)
{
	const struct recovery *latest = &round->job.vol->latest;
	struct reclaim reclaim = { 0 };
	struct writer_end end;
	int err = open_writer(round, cx);

	if (!err)
		err = apply_in_room(round, cx, &reclaim);
	if (!err && (round->rebuilt || round->taken[RULE_FIX_LOG] ||
		     has_changes(round->job.writer))) {
		err = writer_commit(round->job.writer, cx, &end);
		if (!err && latest->orphans_start && !round->job.keeps_synced)
			fixers_note(&round->job, "logs from block %" PRIu64
				    " to %" PRIu64 ": given up",
				    latest->orphans_start, latest->orphans_end);
		if (!err)
			err = round_name(&round->job, cx, &end, false);
	}
	writer_close(round->job.writer);
	round->job.writer = NULL;
	reclaim_fini(&reclaim, &round->job);
	return err;
}

int round_run(struct round *round, struct context *cx)
{
	if (round->stage == RULE_STAGE_DEVICE)
		return apply_fixers(round, cx);
	if (!round->job.vol)
		return 0;
	if (round->stage == RULE_STAGE_ZONES)
		return apply_fixers(round, cx);
	return run_log(round, cx);
}
