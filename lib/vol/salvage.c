// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collecting data-sync logs in spite of damage.
 *
 * The walk follows the chain of logs from the latest super root on, like the kernel.
 * If no log is valid at a place, the next log of the same segment is searched for.
 * A log with the right sequence number that is not older than the super root was
 * written after it.
 *
 * A log lists the blocks of a file in ascending order, none beyond the end of the
 * file, since a file that grew is not written in such a log.  Memory may have
 * flipped a bit of the list before the checksums were computed.  In that case each
 * bit is tried; if exactly one makes the list possible, it is taken as corrected.
 */
#include "vol/salvage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/rule.h"
#include "disk/segsum.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"
#include "vol/recovery.h"
#include "vol/root.h"
#include "vol/volume.h"

#define SUMMARY_MAX (32u << 10)	/* bytes largest list of which bits are tried */

struct salvager {
	struct volume *vol;
	const struct recovery *rec;
	struct rollforward *rf;
	struct recovery_place at;
	struct summary summary;
	struct root root;
	bool has_files;		/* ROOT is open */
	uint64_t ino, nblocks;	/* of the file of the last request */
	size_t room, lost_room;
	uint64_t complete;	/* blocks of complete logical logs */
	uint64_t complete_lost;
	unsigned int nholes;	/* including those without a later log */
	bool in_dsync;		/* inside a logical data-sync log */
	bool after_hole;
};

static int add_block(struct salvaged_block **blocks, size_t *room, uint64_t *n,
		     struct context *cx, const struct salvaged_block *block)
{
	if (array_reserve(cx, blocks, room, *n + 1))
		return -ENOMEM;
	(*blocks)[(*n)++] = *block;
	return 0;
}

/* The number of blocks that file INO can have, 0 if there is no such file. */
static uint64_t room_of(struct salvager *s, struct context *cx, uint64_t ino)
{
	const struct nilfs_geometry *geo = &s->vol->geo;
	struct nilfs_inode inode;
	struct context quiet;
	int err;

	if (!s->has_files)
		return UINT64_MAX >> geo->block_bits;
	if (ino == s->ino)
		return s->nblocks;
	context_child(cx, &quiet);
	err = root_inode(&s->root, &quiet, ino, &inode);
	s->ino = ino;
	s->nblocks = err ? 0 : (le64_get(inode.i_size) + geo->block_size - 1) >>
				       geo->block_bits;
	return s->nblocks;
}

/* Whether the listed blocks can have been synced. */
static bool is_possible(struct salvager *s, struct context *cx, size_t len)
{
	struct segsum_iter it;
	struct segsum_block b;
	uint64_t next = 0;

	segsum_iter_init(&it, &s->vol->geo, s->summary.buf, len);
	while (segsum_iter_next(&it, &b)) {
		if (!b.file_block)
			next = 0;
		if (b.is_node || b.blkoff < next ||
		    b.blkoff >= room_of(s, cx, b.ino))
			return false;
		next = b.blkoff + 1;
	}
	return it.verdict == RULE_OK || it.verdict == RULE_LOG_SUMBYTES_UNUSED;
}

/* Corrects the only bit that makes the summary possible: 1, 0, or -EINTR. */
static int correct(struct salvager *s, struct context *cx,
		   const struct nilfs_segment_summary *ss, size_t len)
{
	uint8_t *p = (uint8_t *)s->summary.buf;
	uint32_t byte, end = le32_get(ss->ss_sumbytes), found = 0;
	unsigned int bit;
	uint64_t at = 0;
	int err = 0;

	if (end > SUMMARY_MAX)
		return 0;
	for (byte = le16_get(ss->ss_bytes); byte < end && !err; byte++) {
		err = context_cancelled(cx);
		for (bit = 0; bit < 8 && found < 2; bit++) {
			p[byte] ^= (uint8_t)(1u << bit);
			if (is_possible(s, cx, len)) {
				found++;
				at = 8ull * byte + bit;
			}
			p[byte] ^= (uint8_t)(1u << bit);
		}
	}
	if (err || found != 1)
		return err;
	p[at / 8] ^= (uint8_t)(1u << at % 8);
	return 1;
}

static void add_hole(struct salvager *s, uint64_t pseg)
{
	if (s->nholes < ROLLFORWARD_HOLES_MAX)
		s->rf->holes[s->nholes++] = pseg;
}

/* Adds the log at the place; the blocks of a log that is not SOUND are lost. */
static int add_log(struct salvager *s, struct context *cx,
		   const struct nilfs_segment_summary *ss, bool sound)
{
	const struct nilfs_geometry *geo = &s->vol->geo;
	size_t len = (size_t)segsum_nsumblk(geo, ss) << geo->block_bits;
	struct rollforward *rf = s->rf;
	struct salvaged_block block;
	struct segsum_block b;
	int ret = summary_read(&s->summary, cx, s->vol, s->at.pseg, ss);

	if (ret)
		return ret;
	ret = is_possible(s, cx, len) ? 1 : correct(s, cx, ss, len);
	if (ret < 0)
		return ret;
	if (!ret)
		add_hole(s, s->at.pseg);
	sound &= ret;
	/* Add the listed blocks, as far as they are possible. */
	segsum_iter_init(&s->summary.iter, geo, s->summary.buf, len);
	ret = 0;
	while (!ret && segsum_iter_next(&s->summary.iter, &b)) {
		if (b.is_node || b.blkoff >= room_of(s, cx, b.ino))
			continue;
		block = (struct salvaged_block){
			.ino = b.ino,
			.blkoff = b.blkoff,
			.blocknr = s->summary.pseg + b.index,
			.order = rf->count + rf->nlost,
		};
		ret = sound ? add_block(&rf->blocks, &s->room, &rf->count, cx,
					&block) :
			      add_block(&rf->lost, &s->lost_room, &rf->nlost, cx,
					&block);
	}
	return ret;
}

/*
 * Processes a log with a valid summary.  If it is SOUND, its checksums match, and
 * earlier logs were damaged after it was complete.
 */
static int take_log(struct salvager *s, struct context *cx,
		    const struct nilfs_segment_summary *ss, bool sound)
{
	unsigned int flags = le16_get(ss->ss_flags);
	bool ends = flags & NILFS_SS_LOGEND;
	/* Whether it belongs to the synced data. */
	bool is_part = (flags & NILFS_SS_SYNDT) && !(flags & NILFS_SS_SR) &&
		       (s->in_dsync || s->after_hole ||
			(flags & NILFS_SS_LOGBGN));
	int err = is_part ? add_log(s, cx, ss, sound) : 0;

	s->in_dsync = is_part && !ends;
	if (!sound)
		return err;
	s->after_hole = false;
	if (is_part && ends) {
		s->complete = s->rf->count;
		s->complete_lost = s->rf->nlost;
		s->rf->nholes = s->nholes;
	}
	return err;
}

/* Whether SS, with its sequence number, follows the super root. */
static bool is_next(const struct salvager *s,
		    const struct nilfs_segment_summary *ss)
{
	return le64_get(ss->ss_seq) == s->at.seq &&
	       le64_get(ss->ss_create) >= s->rec->ctime;
}

/* Handles a place without a valid log: 1 to continue, 0 at the end, or a failure. */
static int step_past(struct salvager *s, struct context *cx)
{
	const struct nilfs_geometry *geo = &s->vol->geo;
	struct log log = { .pseg = 0 };
	struct logsearch search;
	int ret = logsearch_open(&search, cx, s->vol, s->at.segnum, s->at.pseg);

	/* The next log of the segment with a valid summary. */
	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		if (ret > 0 && is_next(s, &log.ss))
			break;
		search.next += ret < 0;
		if (ret > 0 || ret == -EUCLEAN || ret == -EIO)
			ret = 0;
	}
	logsearch_close(&search);
	fail_clear(cx);
	if (!ret)
		return recovery_next_segment(&s->at, geo);
	if (ret < 0)
		return ret;
	if (log.pseg != s->at.pseg) {
		add_hole(s, s->at.pseg);
		s->at.pseg = log.pseg;
		s->after_hole = true;
		return 1;
	}
	if (segsum_has_super_root(&log.ss))
		return 0;
	ret = take_log(s, cx, &log.ss, false);
	return ret ? ret : recovery_next_log(&s->at, geo, &log.ss);
}

/*
 * Reads the log at the place; one flipped bit in the fields that identify a log is
 * accepted: 1, 0 if there is no log, or a failure.
 */
static int read_log(struct salvager *s, struct context *cx,
		    struct nilfs_segment_summary *ss)
{
	const struct nilfs_geometry *geo = &s->vol->geo;
	uint64_t seq;
	uint32_t magic;
	int ret = logcheck_read(s->vol, cx, s->at.pseg, s->at.seq, ss);

	if (!ret)
		return 1;
	if (ret != -EUCLEAN && ret != -EIO)
		return ret;
	ret = dev_read(s->vol->dev, cx, s->at.pseg << geo->block_bits, ss,
		       sizeof(*ss));
	if (ret)
		goto none;
	seq = le64_get(ss->ss_seq) ^ s->at.seq;
	magic = le32_get(ss->ss_magic) ^ NILFS_SEGSUM_MAGIC;
	if (__builtin_popcountll(seq) + __builtin_popcount(magic) != 1)
		goto none;
	ss->ss_seq = le64_make(s->at.seq);
	ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
	if (is_next(s, ss) && segsum_check(geo, ss, s->at.pseg) == RULE_OK &&
	    !logcheck_payload(s->vol, cx, s->at.pseg, ss)) {
		fail_clear(cx);
		return 1;
	}
none:
	fail_clear(cx);
	return 0;
}

int salvage_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp)
{
	struct salvager s = {
		.vol = vol,
		.rec = rec,
		.at = {
			.pseg = rec->super_root + 1,
			.seq = rec->seq,
			.segnum = rec->segnum,
			.nextnum = rec->nextnum,
		},
	};
	const struct salvaged_block *old, *found;
	struct nilfs_segment_summary ss;
	struct rollforward lost;
	struct context quiet;
	uint64_t i, to = 0;
	int ret;

	s.rf = calloc(1, sizeof(*s.rf));
	if (!s.rf)
		return fail(cx, -ENOMEM, "list of salvaged blocks");
	context_child(cx, &quiet);
	s.has_files = files && !root_open(&s.root, &quiet, files, 0);
	ret = recovery_has_room(&s.at, &vol->geo) ||
	      recovery_next_segment(&s.at, &vol->geo);
	while (ret > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = read_log(&s, cx, &ss);
		if (!ret) {
			ret = step_past(&s, cx);
		} else if (ret > 0 && segsum_has_super_root(&ss)) {
			ret = 0;
		} else if (ret > 0) {
			ret = take_log(&s, cx, &ss, true);
			if (!ret)
				ret = recovery_next_log(&s.at, &vol->geo, &ss);
		}
	}
	summary_free(&s.summary);
	if (ret) {
		rollforward_free(s.rf);
		return ret;
	}
	/* Keep only lost blocks of which no newer content was found. */
	s.rf->count = s.complete;
	lost = (struct rollforward){
		.blocks = s.rf->lost,
		.count = s.complete_lost,
	};
	rollforward_sort(s.rf);
	rollforward_sort(&lost);
	for (i = 0; i < lost.count; i++) {
		old = &lost.blocks[i];
		found = rollforward_find(s.rf, old->ino, old->blkoff);
		if (!found || found->blkoff != old->blkoff ||
		    found->order <= old->order)
			s.rf->lost[to++] = *old;
	}
	s.rf->nlost = to;
	*rfp = s.rf;
	return 0;
}
