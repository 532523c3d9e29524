// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Moving blocks: the functions of a writer for a cleaner.
 *
 * A moved block is listed like a new one, but keeps its number; its DAT entry
 * gets the new position, which also updates the counts of both segments.
 */
#include "log/move.h"

#include <errno.h>

#include "log/directwriter.h"
#include "log/writer_parts.h"

int move_blocks(struct writer *w, struct context *cx,
		const struct move_run *run, struct payload *payload,
		uint64_t at)
{
	struct loglayout_run listed = {
		.ino = run->ino,
		.cno = run->cno,
		.kind = run->node ? LOGLAYOUT_NODE : LOGLAYOUT_DATA,
		.vblocknr = run->vblocknr,
		.blkoff = run->blkoff,
		.count = run->count,
	};
	uint32_t done;
	int ret;

	while (listed.count) {
		ret = appender_list(&w->appender, cx, &listed, payload, at,
				    true, &done);
		if (!ret && !done)
			ret = appender_end_log(&w->appender, cx);
		if (ret)
			return ret;
		listed.vblocknr += done;
		listed.blkoff += done;
		listed.count -= done;
		at += done;
	}
	return 0;
}

int move_metadata(struct writer *w, struct context *cx, uint64_t ino,
		  unsigned int level, uint64_t key)
{
	struct metafile *m = directwriter_file(w, ino);

	if (!m || m == w->ifile)
		return fail(cx, -EINVAL, "inode %llu: not rewritten by a commit",
			    (unsigned long long)ino);
	return metafile_touch(m, cx, level, key);
}

int move_forget(struct writer *w, struct context *cx, uint64_t vblocknr)
{
	return dattable_free(&w->dat, cx, vblocknr);
}

int move_set_segment(struct writer *w, struct context *cx, uint64_t segnum,
		     enum segments_state state)
{
	return segments_set(&w->segments, cx, segnum, state);
}
