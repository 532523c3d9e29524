// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks on their way to the device.
 *
 * Whoever reads a block of metadata back must not wait for all logs that are
 * being written: of a cleaner, which reads a block of the DAT for nearly each
 * log, only one thread would ever be at work.  They are few, so a short list
 * is all it takes.
 */
#include "config.h"

#include "log/inflight.h"

#include <errno.h>
#include <stdlib.h>

int inflight_init(struct inflight *f, struct context *cx, size_t n)
{
	*f = (struct inflight){ .logs = calloc(n, sizeof(*f->logs)), .n = n };
	return f->logs ? 0 : fail(cx, -ENOMEM, "list of logs");
}

void inflight_fini(struct inflight *f)
{
	free(f->logs);
	*f = (struct inflight){ .logs = NULL };
}

static uint64_t end_of(const struct inflight_log *log)
{
	return __atomic_load_n(&log->end, __ATOMIC_ACQUIRE);
}

struct inflight_log *inflight_enter(struct inflight *f, uint64_t first,
				    uint64_t count)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		struct inflight_log *log = &f->logs[i];

		if (end_of(log))
			continue;
		log->first = first;
		__atomic_store_n(&log->end, first + count, __ATOMIC_RELEASE);
		return log;
	}
	return NULL;
}

void inflight_arrived(struct inflight *f, struct inflight_log *log, bool lost)
{
	if (lost)
		__atomic_store_n(&f->lost, true, __ATOMIC_RELEASE);
	if (log)
		__atomic_store_n(&log->end, 0, __ATOMIC_RELEASE);
}

bool inflight_has(const struct inflight *f, uint64_t blocknr)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (blocknr < end_of(&f->logs[i]) &&
		    blocknr >= f->logs[i].first)
			return true;
	return __atomic_load_n(&f->lost, __ATOMIC_ACQUIRE);
}
