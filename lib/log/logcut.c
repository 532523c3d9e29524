// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Chunks.
 *
 * A chunk ends with a piece if one ends at about the right length, so that
 * most files are opened once.  Only a piece that would make it far too long is
 * cut, so that several workers share a large file; then the length is exact.
 */
#include "log/logcut.h"

/* From this length on a chunk may end. */
static uint32_t least(uint32_t size)
{
	return size - size / 4;
}

/* How much of the LEFT blocks of a piece a chunk takes that has COUNT. */
static uint32_t take(uint32_t count, uint32_t left, uint32_t size)
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
		n = take(cut->count, log->pieces[piece].count - skip, size);
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
