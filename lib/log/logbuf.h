/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory that logs go through on their way to the device. */
#ifndef NILFS2_LOG_LOGBUF_H
#define NILFS2_LOG_LOGBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/* One for each worker; all zero: none yet. */
struct logbuf {
	uint8_t *p;
	size_t size;
};

/*
 * At least SIZE bytes, aligned for direct writes.  What was in the buffer is
 * lost where it has to grow.  NULL, and the failure text, without memory.
 */
uint8_t *logbuf_get(struct logbuf *b, struct context *cx, size_t size);
void logbuf_fini(struct logbuf *b);

#endif
