// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Splitting a log into chunks.
 *
 * A chunk ends at the end of a run if that is close to the requested length, so
 * that most files are opened once.  A run is split only if it would make the
 * chunk far too long, so that several workers share a large file; then the
 * length is exact.
 *
 * A forecast lists and counts like a real run, and metadata that it writes is
 * read again by its next batch.  Only the content of moved blocks is omitted,
 * except in the log with the super root, which is read as a whole.
 */
#include "log/write/logcut.h"

bool logcut_next(struct logcut *cut, const struct logout_log *log,
		 uint32_t size)
{
	uint32_t run = cut->next_run, skip = cut->next_skip, n;

	*cut = (struct logcut){
		.at = cut->at + cut->count,
		.run = run,
		.skip = skip,
	};
	while (run < log->nruns && cut->count < size - size / 4) {
		n = log->runs[run].count - skip;
		if (cut->count + (uint64_t)n > 2 * (uint64_t)size)
			n = size - cut->count;
		cut->count += n;
		skip += n;
		if (skip == log->runs[run].count) {
			run++;
			skip = 0;
		}
	}
	cut->next_run = run;
	cut->next_skip = skip;
	return cut->count;
}

bool logcut_filled(const struct logout_log *log, const struct logcut *cut,
		   uint32_t *from, uint32_t *count)
{
	const struct logout_run *run = &log->runs[cut->run];
	uint32_t skip = cut->skip, at = 0, end, start = *from;

	*count = 0;
	for (; at < cut->count; at = end, run++, skip = 0) {
		end = at + (run->count - skip);
		if (end > cut->count)
			end = cut->count;
		if (end <= start)
			continue;
		if (!run->payload->ops->fill && !log->whole) {
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
