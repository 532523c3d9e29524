// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Segments without their usage file.
 *
 * Two witnesses are left: the DAT says in which blocks something lives or did
 * not long ago, and the logs say what was written.  Where both name a block
 * alike it is certain.  Logs from a former life of the segment may lie behind
 * those of this one, or alone in a clean segment, so logs that list nothing
 * that the DAT knows prove nothing.
 */
#include "fsck/segments/usage.h"

#include <errno.h>
#include <string.h>

#include "vol/datscan.h"
#include "vol/logscan.h"

static int claim(struct usage *u, struct context *cx, uint64_t blocknr)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	int ret;

	if (!geometry_has_block(geo, blocknr) ||
	    !bitmap_test(u->which, geometry_segment_of(geo, blocknr)))
		return 0;
	ret = sparse_add(&u->facts.claimed, cx, blocknr);
	return ret < 0 ? ret : 0;
}

static int claim_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	uint32_t i;
	int err = 0;

	(void)worker;
	for (i = datscan_next_used(block, 0); i < block->count && !err;
	     i = datscan_next_used(block, i + 1))
		err = claim(arg, cx,
			    le64_get(datscan_entry(block, i)->de_blocknr));
	return err;
}

static int claim_own(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	return claim(arg, cx, item->ptr);
}

int usage_gather(struct usage *u, struct context *cx, struct volume *vol,
		 const struct bitmap *which)
{
	const struct datscan_visitor visitor = {
		.entries = claim_entries,
		.own_block = claim_own,
		.unreadable = check_skip_unreadable,
		.arg = u,
	};
	int err;

	*u = (struct usage){ .vol = vol, .which = which };
	u->facts.vol = vol;
	claims_init(&u->claims, &u->facts, vol);
	err = sparse_init(&u->facts.claimed, cx,
			  geometry_segment_end(&vol->geo,
					       vol->geo.nsegments - 1));
	if (!err)
		err = datscan_run(vol, cx, &visitor);
	/* What cannot be read the pass over the DAT told of. */
	if (err == -EUCLEAN || err == -EIO) {
		fail_clear(cx);
		err = 0;
	}
	return err;
}

/* How many are claimed in [FROM, END), and one past the last in *LAST. */
static uint32_t count(const struct usage *u, uint64_t from, uint64_t end,
		      uint64_t *last)
{
	uint32_t n = 0;
	uint64_t b;

	*last = from;
	for (b = sparse_next(&u->facts.claimed, from); b < end;
	     b = sparse_next(&u->facts.claimed, b + 1)) {
		*last = b + 1;
		n++;
	}
	return n;
}

/* Whether the checksum and the items of the summary of LOG are right. */
static int is_sound(struct usage *u, struct context *cx,
		    const struct log *log)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	struct segsum_block b;
	struct segsum_crc crc;
	int ret = summary_read(&u->summary, cx, u->vol, log->pseg, &log->ss);

	if (!ret) {
		segsum_crc_init_sumsum(&crc, geo, &log->ss);
		segsum_crc_update(&crc, u->summary.buf,
				  (size_t)segsum_nsumblk(geo, &log->ss)
				  << geo->block_bits);
		if (segsum_crc_check_sumsum(&crc, &log->ss) != RULE_OK)
			return 0;
		do
			ret = summary_next(&u->summary, cx, &b);
		while (ret > 0);
	}
	if (ret == -EUCLEAN || ret == -EIO) {
		fail_clear(cx);
		return 0;
	}
	return ret ? ret : 1;
}

static int settle(struct usage *u, struct context *cx, const struct log *log)
{
	const struct nilfs_geometry *geo = &u->vol->geo;

	segsum_iter_init(&u->summary.iter, geo, u->summary.buf,
			 (size_t)segsum_nsumblk(geo, &log->ss)
			 << geo->block_bits);
	return claims_settle_log(&u->claims, cx, &u->summary);
}

/* The log at its place: 1; 0 where the sound ones end before it. */
static int take_log(struct usage *u, struct context *cx,
		    const struct log *log, struct usage_facts *facts)
{
	int ret;

	if (le64_get(log->ss.ss_seq) > u->vol->latest.seq ||
	    (le16_get(log->ss.ss_flags) & NILFS_SS_SYNDT))
		return 0;
	ret = is_sound(u, cx, log);
	if (ret <= 0)
		return ret;
	facts->nblocks += log->nblocks;
	facts->lastmod = le64_get(log->ss.ss_create);
	ret = settle(u, cx, log);
	return ret ? ret : 1;
}

/* Whether the sound logs so far are all that there should be. */
static bool is_all(const struct usage *u, uint64_t segnum, uint32_t expected,
		   const struct usage_facts *facts)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum);

	return facts->nblocks == expected &&
	       sparse_next(&u->facts.claimed, start + expected) >=
		       geometry_segment_end(geo, segnum);
}

static int follow_logs(struct usage *u, struct context *cx, uint64_t segnum,
		       uint32_t expected, struct usage_facts *facts)
{
	const struct recovery *latest = &u->vol->latest;
	struct logscan scan;
	struct log log;
	int ret = logscan_open(&scan, cx, u->vol, segnum,
			       segnum == latest->segnum ?
				       (uint32_t)latest->offset : 0);

	while (!ret && (ret = logscan_next(&scan, cx, &log)) > 0) {
		ret = take_log(u, cx, &log, facts);
		if (ret <= 0 || is_all(u, segnum, expected, facts))
			break;
		ret = context_cancelled(cx);
	}
	if (ret > 0)
		ret = 0;
	if (ret == -EIO) {
		fail_clear(cx);
		ret = 0;
	}
	return ret;
}

int usage_of(struct usage *u, struct context *cx, uint64_t segnum,
	     uint32_t expected, struct usage_facts *facts)
{
	const struct nilfs_geometry *geo = &u->vol->geo;
	uint64_t start = geometry_segment_start(geo, segnum), last;
	uint64_t end = geometry_segment_end(geo, segnum);
	int err;

	memset(facts, 0, sizeof(*facts));
	facts->held = count(u, start, end, &last);
	err = follow_logs(u, cx, segnum, expected, facts);
	if (err)
		return err;
	facts->listed = facts->held - count(u, start, end, &last);
	facts->behind = count(u, start + facts->nblocks, end, &last);
	if (facts->behind)
		facts->last = (uint32_t)(last - start);
	return 0;
}

void usage_fini(struct usage *u)
{
	claims_fini(&u->claims);
	summary_free(&u->summary);
	sparse_fini(&u->facts.claimed);
}
