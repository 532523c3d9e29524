// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common functions of the comparisons of both sides.
 */
#include "fsck/account/sides.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "vol/logcheck.h"
#include "vol/translate.h"

int sides_doubt(struct sides *s, struct context *cx, uint64_t first,
		uint64_t end)
{
	s->doubts = true;
	return s->versions.gathered
		       ? 0
		       : versions_want(&s->versions, cx, first, end);
}

int sides_lose(struct sides *s, struct context *cx,
	       const struct sides_state *state, const struct loss *loss,
	       const char *name, size_t len)
{
	struct loss of_state = *loss;

	s->lost_names |= loss->kind == LOSS_REMOVED || loss->kind == LOSS_NAME;
	if (!s->versions.gathered)
		return sides_doubt(s, cx, loss->ino, loss->ino + 1);
	of_state.latest = state->latest;
	of_state.snapshot = state->snapshot;
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

bool sides_log(struct sides *s, struct context *cx, uint64_t blocknr,
	       struct logindex_log *log)
{
	struct logindex_segment segment;

	return versions_log(s->logs_before, cx, s->before, blocknr, &segment,
			    log);
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

int sides_compare_node(struct sides *s, struct context *cx, uint64_t vblocknr,
		       uint64_t blocknr)
{
	struct segsum_block listed;
	uint64_t after;

	if (!versions_listed(&s->versions, cx, blocknr, &listed) ||
	    listed.vblocknr != vblocknr)
		return 0;
	if (translate_vblock(s->after, cx, vblocknr, &after)) {
		fail_clear(cx);
		after = 0;
	}
	if (after && (after == blocknr ? !sparse_test(&s->written, after) :
		      sides_same_content(s, cx, blocknr, after)))
		return 0;
	return sides_note_wrong(s, cx, blocknr, after);
}

int sides_init_sums(struct sides *s, struct context *cx, uint64_t nblocks)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		err = sparse_init(&s->sums[i].known, cx, nblocks);
		if (!err)
			err = sparse_init(&s->sums[i].right, cx, nblocks);
	}
	return err;
}

void sides_fini_sums(struct sides *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		sparse_fini(&s->sums[i].known);
		sparse_fini(&s->sums[i].right);
	}
}

/* Without memory for it the log is read again. */
static bool note_sum(struct sides_sums *sums, struct context *cx, uint64_t pseg,
		     bool is_right)
{
	if ((is_right && sparse_add(&sums->right, cx, pseg) < 0) ||
	    sparse_add(&sums->known, cx, pseg) < 0)
		fail_clear(cx);
	return is_right;
}

bool sides_wrong_log(struct sides *s, struct context *cx, uint64_t blocknr,
		     uint64_t *pseg)
{
	struct sides_sums *sums = &s->sums[0];
	struct logindex_log log;
	bool is_right;
	int ret;

	if (!sides_log(s, cx, blocknr, &log))
		return false;
	if (sparse_test(&sums->known, log.pseg))
		is_right = sparse_test(&sums->right, log.pseg);
	else {
		ret = witness_proves(s->witness, cx, log.pseg, NULL, 0);
		is_right = ret < 0 || note_sum(sums, cx, log.pseg, ret);
		fail_clear(cx);
	}
	*pseg = log.pseg;
	return !is_right;
}

bool sides_was(struct sides *s, struct context *cx, uint64_t pseg,
	       uint64_t blocknr, const void *bytes)
{
	const struct witness_block block = {blocknr, bytes};
	bool was = witness_proves(s->witness, cx, pseg, &block, 1) > 0;

	fail_clear(cx);
	if (was && sparse_add(&s->whole, cx, pseg) < 0)
		fail_clear(cx);
	return was;
}

bool sides_is_proven(struct sides *s, struct context *cx, uint64_t blocknr)
{
	struct sides_sums *sums = &s->sums[1];
	struct nilfs_segment_summary before, after;
	struct logindex_segment segment;
	struct logindex_log log;
	bool is_proven;
	uint64_t off;

	if (!versions_log(s->logs_after, cx, s->after, blocknr, &segment, &log))
		return false;
	if (sparse_test(&sums->known, log.pseg))
		return sparse_test(&sums->right, log.pseg);
	off = log.pseg << s->after->geo.block_bits;
	is_proven = !dev_read(s->after->dev, cx, off, &after, sizeof(after)) &&
		    !dev_read(s->before->dev, cx, off, &before,
			      sizeof(before)) &&
		    le32_get(before.ss_datasum) == le32_get(after.ss_datasum) &&
		    !logcheck_payload(s->after, cx, log.pseg, &after);
	fail_clear(cx);
	return note_sum(sums, cx, log.pseg, is_proven);
}
