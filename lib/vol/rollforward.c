// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collecting the blocks of data-sync logs, as nilfs_do_roll_forward() does.
 *
 * The search for the super root has already walked these logs; this second walk goes
 * from the first of them to the last.  Blocks count only after the end of their
 * logical log was found.  The result is one sorted array with only the newest
 * content of each block, so that a file finds its blocks by bisection.
 */
#include "vol/rollforward.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/segsum.h"
#include "vol/logcheck.h"
#include "vol/recovery.h"
#include "vol/summary.h"
#include "vol/volume.h"

/* By inode and block, the newest of equals first. */
static int compare_block(const void *a, const void *b)
{
	const struct salvaged_block *x = a, *y = b;

	return sort_order(x->ino, y->ino) ?:
	       sort_order(x->blkoff, y->blkoff) ?:
	       sort_order(y->order, x->order);
}

void rollforward_sort(struct rollforward *rf)
{
	uint64_t from, to = 0;

	sort_in_place(rf->blocks, rf->count, sizeof(*rf->blocks), compare_block);
	for (from = 0; from < rf->count; from++) {
		const struct salvaged_block *b = &rf->blocks[from];

		if (to && rf->blocks[to - 1].ino == b->ino &&
		    rf->blocks[to - 1].blkoff == b->blkoff)
			continue;
		rf->blocks[to++] = *b;
	}
	rf->count = to;
}

int rollforward_collect(struct volume *vol, struct context *cx,
			const struct recovery *rec, struct rollforward **rfp)
{
	const unsigned int begins = NILFS_SS_LOGBGN | NILFS_SS_SYNDT;
	const struct nilfs_geometry *geo = &vol->geo;
	struct recovery_place at = {
		.pseg = rec->orphans_start,
		.seq = rec->orphans_start_seq,
		.segnum = geometry_segment_of(geo, rec->orphans_start),
		.nextnum = geometry_segment_of(geo, rec->orphans_start),
	};
	bool more = rec->orphans_start && rec->orphans_end, last;
	bool in_dsync = false;	/* inside a logical data-sync log */
	struct rollforward *rf = calloc(1, sizeof(*rf));
	struct summary summary = { 0 };
	struct nilfs_segment_summary ss;
	struct segsum_block b;
	uint64_t complete = 0;	/* blocks of complete logical logs */
	size_t room = 0;
	unsigned int flags;
	int err = 0;

	if (!rf)
		return fail(cx, -ENOMEM, "list of salvaged blocks");
	while (more && !err && (at.segnum != rec->last_segnum ||
				at.pseg <= rec->last_pseg)) {
		last = at.pseg == rec->orphans_end;
		err = logcheck_read(vol, cx, at.pseg, at.seq, &ss);
		if (err == -EUCLEAN) {
			fail_clear(cx);
			err = 0;
			more = !last && recovery_next_segment(&at, geo);
			continue;
		}
		flags = err ? 0 : le16_get(ss.ss_flags);
		if (!err && (in_dsync || (flags & begins) == begins)) {
			/* The kernel fails on such a log, too. */
			if ((flags & NILFS_SS_SR) || !(flags & NILFS_SS_SYNDT))
				err = fail(cx, -EUCLEAN, "log at block %llu: "
					   "not part of the data-sync log "
					   "before it",
					   (unsigned long long)at.pseg);
			else
				err = summary_read(&summary, cx, vol, at.pseg,
						   &ss);
			in_dsync = !(flags & NILFS_SS_LOGEND);
			while (!err &&
			       (err = summary_next(&summary, cx, &b)) > 0) {
				err = 0;
				if (b.is_node)
					continue;
				err = array_reserve(cx, &rf->blocks, &room,
						    rf->count + 1);
				if (err)
					continue;
				rf->blocks[rf->count] = (struct salvaged_block){
					.ino = b.ino,
					.blkoff = b.blkoff,
					.blocknr = at.pseg + b.index,
					.order = rf->count,
				};
				rf->count++;
			}
			if (!in_dsync)
				complete = rf->count;
		}
		if (!err)
			more = !last && recovery_next_log(&at, geo, &ss);
	}
	summary_free(&summary);
	if (err) {
		rollforward_free(rf);
		return err;
	}
	rf->count = complete;
	rollforward_sort(rf);
	*rfp = rf;
	return 0;
}

void rollforward_free(struct rollforward *rf)
{
	if (rf) {
		free(rf->blocks);
		free(rf->lost);
	}
	free(rf);
}

const struct salvaged_block *
rollforward_find(const struct rollforward *rf, uint64_t ino, uint64_t blkoff)
{
	struct salvaged_block key = {
		.ino = ino,
		.blkoff = blkoff,
		.order = UINT64_MAX,
	};
	uint64_t low = 0, high = rf ? rf->count : 0;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (compare_block(&rf->blocks[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!rf || low == rf->count || rf->blocks[low].ino != ino)
		return NULL;
	return &rf->blocks[low];
}
