// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The writer: one buffer, one sticky error.
 *
 * Everything is appended at `next`; when the remaining room is too small the buffer
 * is written to the descriptor, or, in memory, grows.  After an error the content is
 * dropped, so callers need not check each put; the error is reported at the end.
 *
 * A writer is independent of locales and streams, and belongs to one thread.
 */
#include "out/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "out/number.h"

#define PRINTF_MAX 4096
#define OUT_NOWHERE (-2)	/* a descriptor */

int out_open(struct context *cx, int fd, const char *name, struct out **out)
{
	struct out *o = calloc(1, sizeof(*o));
	char *buffer = malloc(OUT_BUFFER_SIZE);

	if (!o || !buffer) {
		free(o);
		free(buffer);
		return fail(cx, -ENOMEM, "%s: output buffer", name);
	}
	o->buffer = o->next = buffer;
	o->end = buffer + OUT_BUFFER_SIZE;
	o->fd = fd;
	o->name = name;
	*out = o;
	return 0;
}

int out_open_memory(struct context *cx, struct out **out)
{
	return out_open(cx, -1, "memory", out);
}

int out_open_nothing(struct context *cx, struct out **out)
{
	return out_open(cx, OUT_NOWHERE, "nothing", out);
}

int out_close(struct out *out, struct context *cx)
{
	int err = 0;

	if (!out)
		return 0;
	out_flush(out);
	if (out->error)
		err = fail(cx, out->error, "%s: write", out->name);
	free(out->buffer);
	free(out);
	return err;
}

static void out_write_all(struct out *out, const char *bytes, size_t len)
{
	while (len && !out->error && out->fd != OUT_NOWHERE) {
		ssize_t n = write(out->fd, bytes, len);

		if (n < 0 && errno != EINTR)
			out->error = -errno;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

void out_flush(struct out *out)
{
	if (out->fd == -1)
		return;
	out_write_all(out, out->buffer, (size_t)(out->next - out->buffer));
	out->next = out->buffer;
}

char *out_make_room(struct out *out, size_t n)
{
	size_t used = (size_t)(out->next - out->buffer);
	size_t size = (size_t)(out->end - out->buffer);
	char *bigger = NULL;

	if (out->fd != -1) {
		out_flush(out);
		return out->next;
	}
	/* Doubles the memory until N more bytes fit; without memory drops all content. */
	while (!out->error && size - used < n) {
		if (size > SIZE_MAX / 2)
			out->error = -ENOMEM;
		size *= 2;
	}
	if (!out->error)
		bigger = realloc(out->buffer, size);
	if (!bigger) {
		out->error = out->error ? out->error : -ENOMEM;
		out->next = out->buffer;
		return out->next;
	}
	out->buffer = bigger;
	out->next = bigger + used;
	out->end = bigger + size;
	return out->next;
}

const char *out_memory(struct out *out, size_t *len)
{
	*out_reserve(out, 1) = '\0';
	if (len)
		*len = (size_t)(out->next - out->buffer);
	return out->buffer;
}

void out_bytes(struct out *out, const void *bytes, size_t len)
{
	if (len > (size_t)(out->end - out->next)) {
		out_make_room(out, len);
		if (len > (size_t)(out->end - out->next)) {
			out_write_all(out, bytes, len);
			return;
		}
	}
	memcpy(out->next, bytes, len);
	out->next += len;
}

void out_repeat(struct out *out, char c, size_t n)
{
	while (n) {
		size_t part = n < 1024 ? n : 1024;
		char *to = out_reserve(out, part);

		memset(to, c, part);
		out->next = to + part;
		n -= part;
	}
}

void out_u64(struct out *out, uint64_t v)
{
	out->next = number_u64(out_reserve(out, OUT_NUMBER_MAX), v);
}

void out_printf(struct out *out, const char *fmt, ...)
{
	char *to = out_reserve(out, PRINTF_MAX);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(to, PRINTF_MAX, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	out->next = to + (n < PRINTF_MAX ? n : PRINTF_MAX - 1);
}
