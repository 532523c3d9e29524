// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks.
 *
 * A chunk ends at the end of a piece if that is close to the wanted length, so
 * that most files are opened once.  Only a piece that would make it far too
 * long is split, so that several workers share a large file; then the length is
 * exact.
 *
 * A forecast lists and counts like a real run, and metadata that it writes is
 * read again by its next batch.  Only the content of moved blocks is left out,
 * except in the log with the super root, which is read as a whole.
 */
#include "log/write/logcut.h"

#include <string.h>

/* From this length on a chunk may end. */
static uint32_t least(uint32_t size)
{
	return size - size / 4;
}

/* How much of the LEFT blocks of a piece a chunk takes that has COUNT. */
static uint32_t take_share(uint32_t count, uint32_t left, uint32_t size)
{
	if (count + (uint64_t)left <= 2 * (uint64_t)size)
		return left;
	return size - count;
}

bool logcut_next(struct logcut *cut, const struct logout_log *log,
		 uint32_t size)
{
	uint32_t piece = cut->next_piece, skip = cut->next_skip, n;

	*cut = (struct logcut){
		.at = cut->at + cut->count,
		.piece = piece,
		.skip = skip,
	};
	while (piece < log->npieces && cut->count < least(size)) {
		n = take_share(cut->count, log->pieces[piece].count - skip,
			       size);
		cut->count += n;
		skip += n;
		if (skip == log->pieces[piece].count) {
			piece++;
			skip = 0;
		}
	}
	cut->next_piece = piece;
	cut->next_skip = skip;
	return cut->count;
}

uint32_t logcut_most(uint32_t npayload, uint32_t size)
{
	return npayload / least(size) + 1;
}

static bool is_blank(const struct logout_piece *piece)
{
	return !piece->payload->ops->fill;
}

bool logcut_is_left_out(const struct logout_log *log,
			const struct logout_piece *piece)
{
	return is_blank(piece) && !log->whole;
}

int logcut_fill(const struct logout_piece *piece, struct context *cx,
		uint32_t skip, uint32_t count, void *buf, uint32_t block_bits)
{
	if (is_blank(piece)) {
		memset(buf, 0, (size_t)count << block_bits);
		return 0;
	}
	return piece->payload->ops->fill(piece->payload, cx, piece->at + skip,
					 count, buf);
}

bool logcut_filled(const struct logout_log *log, const struct logcut *cut,
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
		if (logcut_is_left_out(log, piece)) {
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
