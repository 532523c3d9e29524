// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the comparisons of both sides share.
 */
#include "fsck/account/sides.h"

#include <errno.h>

#include "check/damage.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"

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

bool sides_is_proven(struct sides *s, struct context *cx, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &s->after->geo;
	uint64_t segnum = geometry_segment_of(g, blocknr);
	bool is_proven = false;
	struct logsearch search;
	struct log log;
	int ret = logsearch_open(&search, cx, s->after, segnum,
				 geometry_segment_start(g, segnum));

	while (!ret && logsearch_next(&search, cx, &log) > 0) {
		if (blocknr < log.pseg || blocknr >= log.pseg + log.nblocks)
			continue;
		is_proven = !logcheck_payload(s->after, cx, log.pseg, &log.ss);
		break;
	}
	logsearch_close(&search);
	fail_clear(cx);
	return is_proven;
}
