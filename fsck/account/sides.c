// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The volume before a repair and the volume after it, the two sides that are
 * compared to find what was lost: functions that all compare*.c use.
 */
#include "fsck/account/sides.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "vol/logcheck.h"

int sides_doubt(struct sides *s, struct context *cx, uint64_t ino)
{
	s->doubts = true;
	return !s->is_first || inoset_add(&s->versions.wanted, cx, ino) >= 0 ?
		       0 : -ENOMEM;
}

int sides_add_loss(struct sides *s, struct context *cx,
		   const struct sides_state *state, const struct loss *loss,
		   const char *name, size_t len)
{
	struct loss of_state = *loss;

	s->lost_names |= loss->kind == LOSS_REMOVED || loss->kind == LOSS_NAME;
	if (s->is_first)
		return sides_doubt(s, cx, loss->ino);
	of_state.latest = state->latest;
	of_state.snapshot = !state->latest;
	of_state.cno = state->cno;
	losslist_add(s->losses, cx, &of_state, name, len);
	return 0;
}

int sides_read(struct sides *s, struct context *cx, bool after,
	       uint64_t blocknr)
{
	int err = volume_read_blocks(after ? s->after : s->before, cx, blocknr,
				     1, s->blocks[after]);

	if (err)
		fail_clear(cx);
	return !err;
}

bool sides_same_content(struct sides *s, struct context *cx, uint64_t before,
			uint64_t after)
{
	return sides_read(s, cx, false, before) &&
	       sides_read(s, cx, true, after) &&
	       !memcmp(s->blocks[0], s->blocks[1], s->before->geo.block_size);
}

int sides_note_wrong(struct sides *s, struct context *cx, uint64_t before,
		     uint64_t after)
{
	if (array_reserve(cx, &s->wrong, &s->wrong_room, s->nwrong + 1))
		return -ENOMEM;
	s->wrong[s->nwrong++] = (struct sides_wrong){before, after};
	return 0;
}

struct logindex *sides_log(struct sides *s, struct context *cx, bool after,
			   uint64_t blocknr, struct logindex_log *log)
{
	struct volume *vol = after ? s->after : s->before;
	struct logindex_segment segment;
	int ret = logindex_segment(s->logs[after], cx, vol,
				   geometry_segment_of(&vol->geo, blocknr),
				   &segment) ?:
		  logindex_find_log(cx, &segment, segment.n, blocknr, log);

	fail_clear(cx);
	return ret > 0 && blocknr - log->pseg < log->nblocks ? segment.ix :
							       NULL;
}

bool sides_find_listing(struct sides *s, struct context *cx, uint64_t blocknr,
			struct segsum_block *b)
{
	struct logindex_extent e = {.count = 0};
	struct logindex_log log;
	struct logindex *ix = sides_log(s, cx, false, blocknr, &log);
	int ret = ix ? logindex_find_extent(ix, cx, &log, blocknr, &e) : 0;

	if (ret > 0)
		*b = logindex_block(&log, &e, (uint32_t)(blocknr - e.blocknr));
	fail_clear(cx);
	return ret > 0;
}

int sides_is_right(struct sides *s, struct context *cx, bool after,
		   uint64_t blocknr, uint64_t *pseg)
{
	struct nilfs_segment_summary then, now;
	struct logindex_log log;
	uint64_t off;
	int ret;

	if (!sides_log(s, cx, after, blocknr, &log))
		return -ENOENT;
	if (pseg)
		*pseg = log.pseg;
	if (sparse_test(&s->summed[after], log.pseg))
		return sparse_test(&s->right[after], log.pseg);
	off = log.pseg << s->after->geo.block_bits;
	if (!after)
		ret = witness_proves(&s->witness, cx, log.pseg, NULL, 0);
	else
		ret = !dev_read(s->after->dev, cx, off, &now, sizeof(now)) &&
		      !dev_read(s->before->dev, cx, off, &then,
				sizeof(then)) &&
		      le32_get(then.ss_datasum) == le32_get(now.ss_datasum) &&
		      !logcheck_payload(s->after, cx, log.pseg, &now);
	/* If memory is exhausted, the log is read again. */
	if (ret == 0 || (ret > 0 &&
			 sparse_add(&s->right[after], cx, log.pseg) >= 0))
		sparse_add(&s->summed[after], cx, log.pseg);
	fail_clear(cx);
	return ret != 0;
}

bool sides_was_written(struct sides *s, struct context *cx, uint64_t pseg,
		       uint64_t blocknr, const void *bytes)
{
	const struct witness_block block = {blocknr, bytes};
	bool was = witness_proves(&s->witness, cx, pseg, &block, 1) > 0;

	if (was)
		sparse_add(&s->whole, cx, pseg);
	fail_clear(cx);
	return was;
}
