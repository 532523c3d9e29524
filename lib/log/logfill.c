// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The content of a log's pieces.
 *
 * A forecast lists and counts like the real thing, and what it writes is read
 * again as metadata by its next batch.  Only what it would have to move is
 * left out, but not of the log with the super root, which is read as a whole.
 */
#include "log/logfill.h"

#include <string.h>

static bool is_blank(const struct logout_piece *piece)
{
	return !piece->payload->ops->fill;
}

int logfill_piece(const struct logout_piece *piece, struct context *cx,
		  uint32_t skip, uint32_t count, void *buf,
		  uint32_t block_bits)
{
	if (is_blank(piece)) {
		memset(buf, 0, (size_t)count << block_bits);
		return 0;
	}
	return piece->payload->ops->fill(piece->payload, cx, piece->at + skip,
					 count, buf);
}

bool logfill_next(const struct logout_log *log, const struct logcut *cut,
		  uint32_t *from, uint32_t *count)
{
	const struct logout_piece *piece = &log->pieces[cut->piece];
	uint32_t skip = cut->skip, at = 0, end, start = *from;

	*count = 0;
	for (; at < cut->count; at = end, piece++, skip = 0) {
		end = at + (piece->count - skip);
		if (end > cut->count)
			end = cut->count;
		if (end <= start)
			continue;
		if (is_blank(piece) && !log->whole) {
			if (*count)
				break;
			continue;
		}
		if (!*count)
			*from = at > start ? at : start;
		*count = end - *from;
	}
	return *count;
}
