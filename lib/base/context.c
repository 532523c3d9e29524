// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The context: defaults, the failure slot, the cancel flag.
 *
 * The slot holds text only; the number travels as the return value.  It has
 * a fixed size so that running out of memory can be reported as well.
 */
#include "base/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Remove the macros that context.h defines for an analyzer. */
#undef context_cancelled
#undef fail
#undef fail_said

void context_init(struct context *cx)
{
	memset(cx, 0, sizeof(*cx));
	cx->max_memory = CONTEXT_MAX_MEMORY_DEFAULT;
	cx->threads = 1;
}

void context_child(const struct context *cx, struct context *child)
{
	*child = *cx;
	fail_clear(child);
}

void context_adopt(struct context *cx, const struct context *child)
{
	memcpy(cx->failure, child->failure, sizeof(cx->failure));
	cx->said = child->said;
}

int context_cancelled(struct context *cx)
{
	if (cx->cancel && __atomic_load_n(cx->cancel, __ATOMIC_RELAXED))
		return fail(cx, -EINTR, "interrupted");
	return 0;
}

int fail(struct context *cx, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cx->failure, sizeof(cx->failure), fmt, ap);
	va_end(ap);
	cx->said = 0;
	return err;
}

int fail_said(struct context *cx, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cx->failure, sizeof(cx->failure), fmt, ap);
	va_end(ap);
	cx->said = err;
	return err;
}

void fail_clear(struct context *cx)
{
	cx->failure[0] = '\0';
	cx->said = 0;
}
