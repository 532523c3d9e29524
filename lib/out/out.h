/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A buffered writer for text and bytes, with its own integer formatting.
 *
 * Functions that put something return nothing: the first error is stored, all later
 * output is dropped, and out_close() reports the error once.  A loop that must stop
 * early reads it before.
 */
#ifndef NILFS2_OUT_OUT_H
#define NILFS2_OUT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"

#define OUT_BUFFER_SIZE (64u << 10)
#define OUT_NUMBER_MAX 20	/* digits and sign of any 64-bit number */

struct out {
	char *next;		/* where the next byte goes */
	char *end;		/* end of the buffer */
	char *buffer;
	const char *name;	/* for messages; the caller's */
	int fd;			/* -1: in memory, -2: nowhere */
	int error;		/* first error, a negative errno, or 0 */
	bool exact;		/* sizes in bytes, without units */
	/* The offset from UTC, in seconds, of the zone of times; NULL: UTC. */
	long (*zone)(int64_t seconds);
};

/*
 * Opens a writer on the descriptor FD, which stays owned by the caller and is not
 * closed, or on growing memory.  NAME is used in failure texts and must outlive the
 * writer.  0 or -ENOMEM.
 */
int out_open(struct context *cx, int fd, const char *name, struct out **out);
int out_open_memory(struct context *cx, struct out **out);

/* A writer that drops everything. */
int out_open_nothing(struct context *cx, struct out **out);

/*
 * Flushes, frees, and returns 0 or the first error of the writer with its failure text
 * (-ENOSPC, -EPIPE, ...).  NULL is accepted.
 */
int out_close(struct out *out, struct context *cx);

/* Writes the buffer to the descriptor; no effect on a writer in memory. */
void out_flush(struct out *out);

/*
 * The content of a memory writer, NUL-terminated, with its length in bytes in *LEN
 * unless LEN is NULL.  Valid until the next put or close.
 */
const char *out_memory(struct out *out, size_t *len);

/* Makes room for N more bytes, N <= OUT_BUFFER_SIZE / 2; for out_reserve(). */
char *out_make_room(struct out *out, size_t n);

/*
 * Reserves room for N bytes (at most OUT_BUFFER_SIZE / 2) to be filled directly; the
 * caller then sets OUT->next to the end of the filled bytes.
 */
static inline char *out_reserve(struct out *out, size_t n)
{
	if (__builtin_expect((size_t)(out->end - out->next) < n, 0))
		return out_make_room(out, n);
	return out->next;
}

/* Puts LEN bytes of any kind; large requests bypass the buffer. */
void out_bytes(struct out *out, const void *bytes, size_t len);

static inline void out_string(struct out *out, const char *s)
{
	out_bytes(out, s, strlen(s));
}

static inline void out_char(struct out *out, char c)
{
	*out_reserve(out, 1) = c;
	out->next++;
}

/* Puts C N times. */
void out_repeat(struct out *out, char c, size_t n);

void out_u64(struct out *out, uint64_t v);

/* For infrequent lines; each call is limited to 4 KiB. */
void out_printf(struct out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
