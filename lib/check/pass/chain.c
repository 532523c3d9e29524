// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Past the end of the chain of logs.
 *
 * After a crash the search for the latest super root follows the chain of logs
 * until one is not valid.  That is the one whose writing the crash interrupted,
 * unless another was begun after it: then it was complete once, and is damaged.
 *
 * Logs of a segment have one sequence number, segments of the chain ascending
 * ones.  A number that the chain would have had next may also be left from
 * before an earlier crash, after which another log got the same number.  So a
 * super root counts only if its checkpoints have the latest one of the chain
 * among them; where that was deleted, if it is younger.  Other logs, as those
 * of fdatasync(), count if they are not older.
 *
 * A mount, or a repair, that rolls logs of fdatasync() forward writes the
 * result to a segment that no log leads to, and then the superblocks.  Where it
 * was interrupted between both, the next one begins again, and nothing is
 * damaged.
 */
#include "check/pass/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/checkpoint.h"
#include "disk/segsum.h"
#include "vol/ahead.h"
#include "vol/cptable.h"
#include "vol/logsearch.h"

#define ROOTS_TRIED 64
#define BATCH_SEGMENTS 64

/* Logs with super roots that the chain may have led to. */
struct beyond {
	struct check *c;
	const struct recovery *latest;
	struct log *roots;
	size_t n, room;
	struct log first;	/* the oldest with which a write began */
};

/* Whether A was written before B. */
static bool is_older(const struct log *a, const struct log *b)
{
	uint64_t m = le64_get(a->ss.ss_seq), n = le64_get(b->ss.ss_seq);

	return m != n ? m < n : a->pseg < b->pseg;
}

static int compare_numbers(const void *a, const void *b)
{
	return is_older(a, b) ? 1 : is_older(b, a) ? -1 : 0;
}

static int add_log(struct beyond *b, struct context *cx, const struct log *log)
{
	const struct recovery *latest = b->latest;
	uint64_t seq = le64_get(log->ss.ss_seq);

	/* The chain led past it, by the segment after one without logs. */
	if (seq < latest->seq ||
	    (seq == latest->seq && log->pseg <= latest->pseg_start))
		return 0;
	if (seq > b->c->later_seq)
		b->c->later_seq = seq;
	if ((le16_get(log->ss.ss_flags) & NILFS_SS_LOGBGN) &&
	    (!b->first.pseg || is_older(log, &b->first)))
		b->first = *log;
	if (!segsum_has_super_root(&log->ss))
		return 0;
	if (array_reserve(cx, &b->roots, &b->room, b->n + 1))
		return -ENOMEM;
	b->roots[b->n++] = *log;
	return 0;
}

/*
 * Whether the chain could have led to the log SS of segment SEGNUM.  Where the
 * chain ended with a segment it may have gone on in another one.
 */
static bool is_next(const struct beyond *b, uint64_t segnum,
		    const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &b->c->vol->geo;
	uint64_t pseg = b->latest->gap_pseg, seq = le64_get(ss->ss_seq);
	uint64_t gap = geometry_segment_of(geo, pseg);

	return seq > b->latest->gap_seq ? segnum != gap :
	       seq == b->latest->gap_seq &&
	       (segnum == gap || pseg == geometry_segment_start(geo, gap));
}

static int search_segment(struct beyond *b, struct context *cx,
			  uint64_t segnum, uint64_t from)
{
	struct logsearch search;
	struct log log;
	int ret = logsearch_open(&search, cx, b->c->vol, segnum, from);

	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		if (damage_is(ret)) {
			fail_clear(cx);
			search.next++;
			ret = 0;
		} else if (ret > 0) {
			ret = is_next(b, segnum, &log.ss) ?
				add_log(b, cx, &log) : 0;
		}
	}
	logsearch_close(&search);
	return ret;
}

/* Whether a log of the chain begins segment SEGNUM: 1, 0, or a failure. */
static int begins_with_next(struct beyond *b, struct context *cx,
			    uint64_t segnum)
{
	struct volume *vol = b->c->vol;
	uint64_t pseg = geometry_segment_start(&vol->geo, segnum);
	const struct nilfs_segment_summary *ss;
	const void *block;
	int ret = cache_get(vol->cache, cx, pseg, &block);

	if (ret)
		return damage_forgive(cx, ret);
	ss = block;
	ret = segsum_check(&vol->geo, ss, pseg) == RULE_OK &&
	      is_next(b, segnum, ss);
	cache_put(vol->cache, block);
	return ret;
}

/*
 * The rest of the segment after the log that ended the chain, which may have
 * been cut off, the segment that would have been next, and of all others those
 * that begin with a log that may have followed.
 */
static int search_logs(struct beyond *b, struct context *cx)
{
	const struct nilfs_geometry *geo = &b->c->vol->geo;
	uint64_t segnum, i, gap = geometry_segment_of(geo, b->latest->gap_pseg);
	int ret = search_segment(b, cx, gap, b->latest->gap_pseg + 1);

	for (segnum = 0; segnum < geo->nsegments && !ret; segnum++) {
		if (!(segnum % BATCH_SEGMENTS)) {
			struct ahead ahead = ahead_of(b->c->vol);

			for (i = segnum; i < segnum + BATCH_SEGMENTS &&
					 i < geo->nsegments; i++)
				ahead_add(&ahead,
					  geometry_segment_start(geo, i), 1);
			ahead_end(&ahead);
		}
		ret = context_cancelled(cx);
		if (ret || segnum == gap)
			continue;
		ret = segnum == b->latest->nextnum ||
		      begins_with_next(b, cx, segnum);
		if (ret > 0)
			ret = search_segment(b, cx, segnum,
				geometry_segment_start(geo, segnum));
	}
	return ret;
}

/*
 * Whether the checkpoints of LOG have the latest one of the chain among them:
 * 1, 0, or a failure.
 */
static int has_latest(struct beyond *b, struct context *cx,
		      const struct log *log)
{
	struct volume *vol = b->c->vol, *other = NULL;
	struct nilfs_checkpoint here, there;
	/* Its super root, as far as it is needed to read its checkpoints. */
	const struct recovery at = {
		.cno = UINT64_MAX,
		.super_root = log->pseg + le32_get(log->ss.ss_nblocks) - 1,
		.pseg_start = log->pseg,
		.seq = le64_get(log->ss.ss_seq),
		.segnum = geometry_segment_of(&vol->geo, log->pseg),
	};
	uint64_t cno = b->latest->cno;
	int ret = cptable_read(vol, cx, cno, &here);

	if (!ret)
		ret = volume_open_at(&other, cx, b->c->dev, &vol->geo, &at);
	if (!ret)
		ret = cptable_read(other, cx, cno, &there);
	volume_close(other);
	if (!ret)
		return checkpoint_is_same(&here, &there);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return le64_get(log->ss.ss_create) > b->latest->ctime;
	}
	return damage_forgive(cx, ret);
}

static void report_newer(struct beyond *b, const struct log *log, bool is_root)
{
	char detail[80];
	struct finding f = {
		.rule = RULE_LOG_CHAIN,
		.place = place_number(PLACE_LOG, b->latest->gap_pseg),
		.detail = detail,
	};

	if (is_root && segsum_has_cno(&log->ss))
		snprintf(detail, sizeof(detail),
			 "checkpoint %" PRIu64 " is in the log at block %"
			 PRIu64, segsum_cno(&log->ss), log->pseg);
	else
		snprintf(detail, sizeof(detail), "%slog at block %" PRIu64,
			 le16_get(log->ss.ss_flags) & NILFS_SS_SYNDT ?
				 "data of fdatasync() is in the " : "",
			 log->pseg);
	findings_add(b->c->findings, &f);
}

/*
 * Whether what was found begins with a roll-forward that did not come to the
 * superblocks.  nilfs_prepare_segment_for_recovery() leaves out a
 * sequence number, so that no log leads there.
 */
static bool is_roll_forward(const struct beyond *b)
{
	const struct nilfs_geometry *geo = &b->c->vol->geo;
	const struct recovery *latest = b->latest;
	uint64_t pseg = b->first.pseg, seq = le64_get(b->first.ss.ss_seq);

	return latest->orphans_start && pseg &&
	       (seq == latest->seq + 2 || seq == latest->last_seq + 2) &&
	       pseg == geometry_segment_start(geo,
					      geometry_segment_of(geo, pseg));
}

/* Reports the newest super root that is of the history of the latest one, or a
   log. */
int chain_check(struct check *c, struct context *cx)
{
	struct beyond b = { .c = c, .latest = &c->vol->latest };
	size_t i;
	int ret = 0;

	if (b.latest->gap_pseg)
		ret = search_logs(&b, cx);
	if (ret || is_roll_forward(&b))
		goto out;
	if (b.n)
		qsort(b.roots, b.n, sizeof(*b.roots), compare_numbers);
	for (i = 0; i < b.n && i < ROOTS_TRIED && !ret; i++) {
		if (!b.first.pseg || is_older(&b.roots[i], &b.first))
			break;
		ret = has_latest(&b, cx, &b.roots[i]);
		if (ret > 0)
			report_newer(&b, &b.roots[i], true);
	}
	if (!ret && b.first.pseg &&
	    le64_get(b.first.ss.ss_create) >= b.latest->ctime)
		report_newer(&b, &b.first, false);
out:
	free(b.roots);
	return ret < 0 ? ret : 0;
}
