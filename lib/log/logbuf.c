// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Buffers of logs.
 *
 * A direct write looks up each page of its buffer and hands it to the device,
 * which is a fifth of the work of a stream.  So memory is asked for in huge
 * pages, where the system has any, and never given back before the end.
 */
#include "config.h"

#include "log/logbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u
#define HUGE_PAGE (2u << 20)

uint8_t *logbuf_get(struct logbuf *b, struct context *cx, size_t size)
{
	size_t align = size < HUGE_PAGE ? PAGE : HUGE_PAGE;

	if (size <= b->size)
		return b->p;
	size = (size + align - 1) & ~(align - 1);
	free(b->p);
	b->p = aligned_alloc(align, size);
	b->size = b->p ? size : 0;
	if (!b->p)
		fail(cx, -ENOMEM, "%zu bytes to write logs", size);
	else if (align == HUGE_PAGE)
		madvise(b->p, size, MADV_HUGEPAGE);
	return b->p;
}

void logbuf_fini(struct logbuf *b)
{
	free(b->p);
	b->p = NULL;
	b->size = 0;
}
