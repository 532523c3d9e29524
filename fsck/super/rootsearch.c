// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Super roots, from the newest to older ones.
 *
 * Each log with a super root was once the latest.  How old it is says its place
 * in the order in which the kernel writes logs: all logs of a segment have its
 * sequence number, which grows by one with each segment that is begun
 * (nilfs_segctor_begin_construction(), nilfs_segctor_extend_segments(); by two
 * after a recovery), and within a segment each begins where the one before
 * ends.  Where a segment lies on the device says nothing.  So no two logs have
 * the same number and the same offset in their segments, unless one of them is
 * wrong or is left of states that were given up; then the number of the
 * checkpoint decides, which grows by one with each super root, and at last the
 * time, which has seconds only and goes back when the clock is set.
 *
 * A number may be wrong although all checksums are right.  A state that has the
 * checkpoint of another one is the later one, whatever their numbers say: of the
 * two the log that contradicts more of the others is misnumbered, and gets the
 * place after the log before it by checkpoints.  It is put there by what it is
 * compared by, so the order stays one.
 *
 * Of a state whose segments were reclaimed and written again the super root may
 * be right, but blocks are not what its DAT says: only a check of the whole
 * state shows that.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "fsck/witness/witness.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"

#define ROOTS_MAX 65536		/* kept; older ones are forgotten */

/* -1 where M is greater than N, 1 where it is less. */
static int descending(uint64_t m, uint64_t n)
{
	return (m < n) - (m > n);
}

int rootsearch_compare(const void *a, const void *b)
{
	const struct root_log *x = a, *y = b;
	int ret = descending(x->seq, y->seq);

	if (!ret)
		ret = descending(x->offset, y->offset);
	if (!ret)
		ret = descending(segsum_cno(&x->ss), segsum_cno(&y->ss));
	if (!ret)
		ret = descending(le64_get(x->ss.ss_create),
				 le64_get(y->ss.ss_create));
	return ret ? ret : descending(x->pseg, y->pseg);
}

static void sort_roots(struct rootsearch *rs)
{
	if (rs->nroots)
		qsort(rs->roots, rs->nroots, sizeof(*rs->roots),
		      rootsearch_compare);
}

/* ROOT, placed by what its summary says. */
static int add_root(struct rootsearch *rs, struct context *cx,
		    const struct root_log *root)
{
	const struct nilfs_geometry *geo = rs->geo;
	struct root_log *to;

	if (rs->nroots == ROOTS_MAX) {
		sort_roots(rs);
		rs->nroots /= 2;
	}
	if (array_reserve(cx, &rs->roots, &rs->room, rs->nroots + 1))
		return -ENOMEM;
	to = &rs->roots[rs->nroots++];
	*to = *root;
	to->seq = le64_get(root->ss.ss_seq);
	to->offset = root->pseg - geometry_segment_start(
			geo, geometry_segment_of(geo, root->pseg));
	return 0;
}

static int search_segment(struct rootsearch *rs, struct context *cx,
			  uint64_t segnum)
{
	struct logsearch ls;
	struct log log;
	int ret = logsearch_open(&ls, cx, rs->vol, segnum,
				 geometry_segment_start(rs->geo, segnum));

	if (ret)
		return ret;
	while ((ret = logsearch_next(&ls, cx, &log))) {
		const struct root_log root = { .pseg = log.pseg, .ss = log.ss };
		uint64_t seq = le64_get(log.ss.ss_seq);

		/* What cannot be read, or cannot be so long, is no log. */
		if (ret == -EIO || ret == -EUCLEAN) {
			fail_clear(cx);
			ls.next++;
			continue;
		}
		if (ret < 0)
			break;
		if (seq > rs->seq ||
		    (seq == rs->seq && log.pseg > rs->last_pseg)) {
			rs->seq = seq;
			rs->last_pseg = log.pseg;
		}
		ret = segsum_has_super_root(&log.ss) ? add_root(rs, cx, &root) :
						       0;
		if (ret)
			break;
	}
	logsearch_close(&ls);
	return ret;
}

/*
 * The super root after PSEG in its segment: 1 and *BLOCKNR, 0 for none that can
 * be read; or a failure.
 */
static int find_super_root(struct rootsearch *rs, struct context *cx,
			   uint64_t pseg, uint64_t *blocknr)
{
	uint64_t b, end = geometry_segment_end(
				rs->geo, geometry_segment_of(rs->geo, pseg));
	const void *block;
	int ret = 0;

	*blocknr = 0;
	for (b = pseg + 1; b < end && !ret; b++) {
		ret = cache_get(rs->vol->cache, cx, b, &block);
		if (ret) {
			ret = damage_forgive(cx, ret);
			continue;
		}
		ret = superroot_check(rs->geo, block) == RULE_OK;
		cache_put(rs->vol->cache, block);
		*blocknr = b;
	}
	return ret;
}

int rootsearch_add_named(struct rootsearch *rs, struct context *cx,
			 const struct nilfs_super_block *sb)
{
	uint64_t pseg = le64_get(sb->s_last_pseg), at, segnum;
	uint64_t seq = le64_get(sb->s_last_seq);
	struct root_log root = { .pseg = pseg, .headless = true };
	size_t i;
	int ret;

	if (!geometry_has_block(rs->geo, pseg))
		return 0;
	for (i = 0; i < rs->nroots; i++)
		if (rs->roots[i].pseg == pseg)
			return 0;
	ret = find_super_root(rs, cx, pseg, &at);
	if (ret <= 0)
		return ret;
	root.ss.ss_seq = sb->s_last_seq;
	root.ss.ss_cno = sb->s_last_cno;
	root.ss.ss_bytes = le16_make(sizeof(root.ss));
	root.ss.ss_flags = le16_make(NILFS_SS_SR);
	root.ss.ss_create = sb->s_wtime;
	root.ss.ss_nblocks = le32_make((uint32_t)(at + 1 - pseg));
	/* All logs of a segment are followed by the same one. */
	segnum = geometry_segment_of(rs->geo, pseg);
	root.ss.ss_next = le64_make(geometry_segment_start(rs->geo, segnum));
	for (i = rs->nroots; i--;)
		if (geometry_segment_of(rs->geo, rs->roots[i].pseg) == segnum &&
		    le64_get(rs->roots[i].ss.ss_seq) == seq)
			root.ss.ss_next = rs->roots[i].ss.ss_next;
	ret = add_root(rs, cx, &root);
	if (seq >= rs->seq) {
		rs->seq = seq;
		rs->last_pseg = pseg;
	}
	sort_roots(rs);
	return ret;
}

void rootsearch_fini(struct rootsearch *rs)
{
	free(rs->roots);
	volume_close(rs->vol);
	rs->roots = NULL;
	rs->vol = NULL;
}

/* Where the volume would go on after the super root of ROOT. */
static void place_root(const struct rootsearch *rs,
		       const struct root_log *root, struct recovery *at)
{
	const struct nilfs_geometry *geo = rs->geo;
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

int rootsearch_open(const struct rootsearch *rs, struct context *cx,
		    const struct recovery *at, struct volume **volp)
{
	return volume_open_at(volp, cx, rs->dev, rs->geo, at);
}

int rootsearch_state(struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, struct recovery *at,
		     bool *hurt)
{
	struct nilfs_segment_summary ss;
	struct volume *vol = NULL;
	uint64_t last = 0;
	int err;

	place_root(rs, root, at);
	/* The summary is known to be right, the blocks are not. */
	err = logcheck_read(rs->vol, cx, at->pseg_start, at->seq, &ss);
	*hurt = err == -EUCLEAN || err == -EIO;
	if (*hurt) {
		fail_clear(cx);
		err = 0;
	}
	if (!err)
		err = rootsearch_open(rs, cx, at, &vol);
	if (!err && (!at->cno || root->headless))
		err = find_cno(cx, vol, &last);
	if (!at->cno)
		at->cno = last;
	if (!err && root->headless && last != at->cno)
		err = fail(cx, -EUCLEAN, "super root: is of checkpoint %llu",
			   (unsigned long long)last);
	volume_close(vol);
	if (damage_is(err)) {
		fail_clear(cx);
		return 0;
	}
	/* A log that cannot be read ends the chain as one that is torn does. */
	if (!err)
		err = damage_forgive(cx, recovery_follow(rs->vol, cx, at));
	return err ? err : 1;
}

/* Reads checkpoint CNO of the state of ROOT.  Failures as cptable_read(). */
static int read_checkpoint(const struct rootsearch *rs, struct context *cx,
			   const struct root_log *root, uint64_t cno,
			   struct nilfs_checkpoint *cp)
{
	struct volume *vol = NULL;
	struct recovery at;
	int err;

	place_root(rs, root, &at);
	err = rootsearch_open(rs, cx, &at, &vol);
	if (!err)
		err = cptable_read(vol, cx, cno, cp);
	volume_close(vol);
	return err;
}

/* Whether LATER has the checkpoint of EARLIER: 1, 0, or a failure. */
static int has_checkpoint(const struct rootsearch *rs, struct context *cx,
			  const struct root_log *later,
			  const struct root_log *earlier)
{
	struct nilfs_checkpoint a, b;
	uint64_t cno = segsum_cno(&earlier->ss);
	int err = read_checkpoint(rs, cx, later, cno, &a);

	if (!err)
		err = read_checkpoint(rs, cx, earlier, cno, &b);
	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	return err ? damage_forgive(cx, err) : checkpoint_is_same(&a, &b);
}

/*
 * Which of the first root and LATER, which has the checkpoint of it, is
 * misnumbered: among logs of one second it may be one number against another.
 */
static struct root_log *choose_misnumbered(const struct rootsearch *rs,
					   struct root_log *later)
{
	struct root_log *root, *first = rs->roots;
	size_t against_first = 0, against_later = 0;

	if (first->misnumbered || later->misnumbered)
		return first->misnumbered ? later : first;
	for (root = first; root < first + rs->nroots; root++) {
		uint64_t cno = segsum_cno(&root->ss);

		against_first += cno > segsum_cno(&first->ss);
		against_later += root < later && cno < segsum_cno(&later->ss);
	}
	return against_first >= against_later ? first : later;
}

/* Puts WRONG after the log with the checkpoint before, of those numbered right. */
static void place_misnumbered(struct rootsearch *rs, struct root_log *wrong)
{
	const struct root_log *root, *before = NULL;
	uint64_t cno = segsum_cno(&wrong->ss);

	wrong->misnumbered = true;
	for (root = rs->roots; root < rs->roots + rs->nroots; root++)
		if (!root->misnumbered && segsum_cno(&root->ss) < cno &&
		    (!before || segsum_cno(&root->ss) > segsum_cno(&before->ss)))
			before = root;
	wrong->seq = before ? before->seq : 0;
	wrong->offset = before ? before->offset : 0;
	sort_roots(rs);
}

/* Each root is found once at most. */
static int find_misnumbered(struct rootsearch *rs, struct context *cx)
{
	struct root_log *root, *first, *later;
	int ret = 1;

	while (ret > 0 && rs->nroots) {
		/* The greatest checkpoint that is not older than the first. */
		later = first = rs->roots;
		for (root = first; root < first + rs->nroots; root++)
			if (segsum_cno(&root->ss) > segsum_cno(&later->ss) &&
			    le64_get(root->ss.ss_create) >=
				    le64_get(first->ss.ss_create))
				later = root;
		if (later == first ||
		    (first->misnumbered && later->misnumbered))
			break;
		ret = has_checkpoint(rs, cx, later, first);
		if (ret > 0)
			place_misnumbered(rs, choose_misnumbered(rs, later));
	}
	return ret < 0 ? ret : 0;
}

int rootsearch_run(struct rootsearch *rs, struct context *cx)
{
	uint64_t segnum;
	int err = volume_open_layout(&rs->vol, cx, rs->dev, rs->geo);

	for (segnum = 0; segnum < rs->geo->nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		if (!err)
			err = search_segment(rs, cx, segnum);
		if (rs->progress)
			rs->progress(rs->arg, segnum);
	}
	sort_roots(rs);
	return err ? err : find_misnumbered(rs, cx);
}
