// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Logs after the end of the chain.
 *
 * After a crash, the search for the latest super root follows the chain of logs
 * up to an invalid one.  The crash interrupted the writing of that log, unless
 * another log was begun after it: then it was complete once and is damaged.
 *
 * The logs of a segment have one sequence number, and the numbers of the
 * segments of a chain ascend.  A log with the next number may be left from
 * before an earlier crash, after which another log got the same number.  So a
 * super root counts only if its checkpoints include the latest one of the
 * chain; if that was deleted, if it is newer.  Other logs, such as those of
 * fdatasync(), count if they are not older.
 *
 * A mount or a repair that rolls logs of fdatasync() forward writes the result
 * to a segment that no log leads to, and then the superblocks.  If it is
 * interrupted in between, the next one starts again, and nothing is damaged.
 *
 * After a crash the next mount writes the blocks of logs of fdatasync() into
 * their files (nilfs_recover_dsync_blocks()), and fails if it cannot.  So each
 * of these files must be in the latest checkpoint, and such a log must be
 * complete.
 */
#include "check/pass/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "disk/segsum.h"
#include "vol/ahead.h"
#include "vol/cptable.h"
#include "vol/logsearch.h"
#include "vol/rollforward.h"
#include "vol/root.h"

#define ROOTS_TRIED 64
#define BATCH_SEGMENTS 64

/* Logs with super roots that the chain may have led to. */
struct beyond {
	struct check *c;
	const struct recovery *latest;
	struct log *roots;
	size_t n, room;
	struct log first;	/* the oldest log that begins a write */
};

/* Whether A was written before B. */
static bool is_older_log(const struct log *a, const struct log *b)
{
	uint64_t m = le64_get(a->ss.ss_seq), n = le64_get(b->ss.ss_seq);

	return m != n ? m < n : a->pseg < b->pseg;
}

/* The newest log first. */
static int compare_age(const void *a, const void *b)
{
	return is_older_log(a, b) - is_older_log(b, a);
}

/* Whether the chain could have led to the log SS of segment SEGNUM.  If the
   chain ended with a segment, it may have continued in another one. */
static bool is_next_log(const struct beyond *b, uint64_t segnum,
			const struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &b->c->vol->geo;
	uint64_t pseg = b->latest->gap_pseg, seq = le64_get(ss->ss_seq);
	uint64_t gap = geometry_segment_of(geo, pseg);

	return seq > b->latest->gap_seq ? segnum != gap :
	       seq == b->latest->gap_seq &&
	       (segnum == gap || pseg == geometry_segment_start(geo, gap));
}

/* Collects the logs of segment SEGNUM from block FROM on that may have
   followed. */
static int chain_search_segment(struct beyond *b, struct context *cx,
				uint64_t segnum, uint64_t from)
{
	const struct recovery *latest = b->latest;
	struct logsearch search;
	struct log log;
	uint64_t seq;
	int ret = logsearch_open(&search, cx, b->c->vol, segnum, from);

	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		if (damage_is(ret)) {
			fail_clear(cx);
			search.next++;
			ret = 0;
		}
		if (ret < 0)
			break;
		if (!ret)
			continue;
		ret = 0;
		seq = le64_get(log.ss.ss_seq);
		/* Or the chain led past it, through the segment after one
		   without logs. */
		if (!is_next_log(b, segnum, &log.ss) || seq < latest->seq ||
		    (seq == latest->seq && log.pseg <= latest->pseg_start))
			continue;
		if (seq > b->c->later_seq)
			b->c->later_seq = seq;
		if (chain_is_beyond(&b->c->vol->geo, latest->gap_seq, seq))
			continue;
		if ((le16_get(log.ss.ss_flags) & NILFS_SS_LOGBGN) &&
		    (!b->first.pseg || is_older_log(&log, &b->first)))
			b->first = log;
		if (!segsum_has_super_root(&log.ss))
			continue;
		ret = array_push(cx, &b->roots, &b->n, &b->room, log);
	}
	logsearch_close(&search);
	return ret;
}

/*
 * Searches the rest of the segment after the log that ended the chain, the next
 * segment of the chain, and all other segments that begin with a log that may
 * have followed.
 */
static int search_logs(struct beyond *b, struct context *cx)
{
	struct volume *vol = b->c->vol;
	const struct nilfs_geometry *geo = &vol->geo;
	const struct nilfs_segment_summary *ss;
	const void *block;
	uint64_t segnum, i, start;
	uint64_t gap = geometry_segment_of(geo, b->latest->gap_pseg);
	int ret = chain_search_segment(b, cx, gap, b->latest->gap_pseg + 1);

	for (segnum = 0; segnum < geo->nsegments && !ret; segnum++) {
		if (!(segnum % BATCH_SEGMENTS)) {
			struct ahead ahead = ahead_of(vol);

			for (i = segnum; i < segnum + BATCH_SEGMENTS &&
					 i < geo->nsegments; i++)
				ahead_add(&ahead,
					  geometry_segment_start(geo, i), 1);
			ahead_end(&ahead);
		}
		ret = context_cancelled(cx);
		if (ret || segnum == gap)
			continue;
		start = geometry_segment_start(geo, segnum);
		if (segnum != b->latest->nextnum) {
			ret = cache_get(vol->cache, cx, start, &block);
			if (ret) {
				ret = damage_forgive(cx, ret);
				continue;
			}
			ss = block;
			ret = segsum_check(geo, ss, start) != RULE_OK ||
			      !is_next_log(b, segnum, ss);
			cache_put(vol->cache, block);
		}
		ret = ret ? 0 : chain_search_segment(b, cx, segnum, start);
	}
	return ret;
}

/* Whether the checkpoints of LOG include the latest one of the chain: 1, 0, or
   a failure. */
static int has_latest(struct beyond *b, struct context *cx,
		      const struct log *log)
{
	struct volume *vol = b->c->vol, *other = NULL;
	struct nilfs_checkpoint here, there;
	/* The parts of its super root that are needed to read its checkpoints. */
	const struct recovery at = {
		.cno = UINT64_MAX,
		.super_root = log->pseg + le32_get(log->ss.ss_nblocks) - 1,
		.pseg_start = log->pseg,
		.seq = le64_get(log->ss.ss_seq),
		.segnum = geometry_segment_of(&vol->geo, log->pseg),
	};
	uint64_t cno = b->latest->cno;
	int ret = cptable_read(vol, cx, cno, &here) ?:
		  volume_open_at(&other, cx, b->c->dev, &vol->geo, &at) ?:
		  cptable_read(other, cx, cno, &there);

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

/* Reports the newest super root that continues the history of the latest one,
   or else a log. */
int chain_check(struct check *c, struct context *cx)
{
	const struct nilfs_geometry *geo = &c->vol->geo;
	const struct recovery *latest = &c->vol->latest;
	struct beyond b = { .c = c, .latest = latest };
	uint64_t pseg, seq;
	size_t i;
	int ret = 0;

	if (latest->gap_pseg)
		ret = search_logs(&b, cx);
	if (ret)
		goto out;
	/*
	 * A roll-forward that was interrupted before the superblocks:
	 * nilfs_prepare_segment_for_recovery() skips a sequence number, so that
	 * no log leads to it.
	 */
	pseg = b.first.pseg;
	seq = le64_get(b.first.ss.ss_seq);
	if (latest->orphans_start && pseg &&
	    (seq == latest->seq + 2 || seq == latest->last_seq + 2) &&
	    pseg == geometry_segment_start(geo, geometry_segment_of(geo, pseg)))
		goto out;
	sort_in_place(b.roots, b.n, sizeof(*b.roots), compare_age);
	for (i = 0; i < b.n && i < ROOTS_TRIED && !ret; i++) {
		if (!pseg || is_older_log(&b.roots[i], &b.first))
			break;
		ret = has_latest(&b, cx, &b.roots[i]);
		if (ret > 0)
			report_newer(&b, &b.roots[i], true);
	}
	if (!ret && pseg && le64_get(b.first.ss.ss_create) >= latest->ctime)
		report_newer(&b, &b.first, false);
out:
	free(b.roots);
	return ret < 0 ? ret : 0;
}

int chain_check_synced(struct check *c, struct context *cx)
{
	const struct recovery *latest = &c->vol->latest;
	struct rollforward *rf = NULL;
	const struct salvaged_block *b;
	struct nilfs_inode inode;
	struct root root;
	uint64_t i;
	int ret;

	if (le16_get(volume_super(c->vol)->s_state) & NILFS_VALID_FS)
		return 0;
	ret = rollforward_collect(c->vol, cx, latest, &rf);
	if (ret == -EUCLEAN)
		findings_failed(c->findings, cx, RULE_LOG_SYNCED,
				place_number(PLACE_LOG, latest->orphans_start));
	if (!ret)
		ret = root_open(&root, cx, c->vol, 0);
	/* Blocks are sorted by file; each file is checked once. */
	for (i = 0; !ret && i < rf->count; i++) {
		b = &rf->blocks[i];
		if (i && b[-1].ino == b->ino)
			continue;
		/* Checks whether nilfs_iget() finds it. */
		ret = -ENOENT;
		if (!inode_is_private(b->ino) && (b->ino < NILFS_USER_INO ||
				b->ino >= c->vol->geo.first_ino))
			ret = root_inode(&root, cx, b->ino, &inode);
		if (!ret)
			ret = inode_dirent_type(le16_get(inode.i_mode)) !=
			      NILFS_FT_UNKNOWN;
		if (ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
		}
		if (!ret)
			findings_broken(c->findings, RULE_LOG_SYNCED,
					place_map(root.cno, b->ino, b->blkoff,
						  0));
		ret = ret < 0 ? ret : 0;
	}
	rollforward_free(rf);
	return damage_forgive(cx, ret);
}
