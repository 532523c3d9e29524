/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The context: state that would otherwise be global.
 *
 * Every function that can fail, take long or need much memory gets one.  It contains
 * the failure text, the memory budget, the time as read by the tool, the cancel flag
 * and the number of workers.  Modules below the tools do not read the clock or the
 * environment.
 */
#ifndef NILFS2_BASE_CONTEXT_H
#define NILFS2_BASE_CONTEXT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAILURE_TEXT_MAX 512

struct context {
	char failure[FAILURE_TEXT_MAX];	/* text of the last failure, "" if none */
	int said;			/* error whose reason is in the text, or 0 */
	uint64_t max_memory;		/* budget in bytes for caches and tables */
	int64_t now;			/* seconds since 1970, from the tool */
	bool utc;		/* the user's times are in UTC, not in local time */
	unsigned int threads;		/* workers to use, at least 1 */
	/* Directory for temporary files of data beyond the budget; NULL: none.
	   Borrowed. */
	const char *scratch_dir;
	const volatile sig_atomic_t *cancel;	/* set by a signal handler, or NULL */
};

#define CONTEXT_MAX_MEMORY_DEFAULT (32u << 20)

/*
 * Sets defaults: the budget above, one worker, time 0, not cancellable, no
 * temporary files.
 */
void context_init(struct context *cx);

/*
 * A context for a worker of CX: the same settings, and its own failure text, so
 * that workers do not share one.  The caller copies the text of the worker
 * whose failure it reports with context_adopt().
 */
void context_child(const struct context *cx, struct context *child);
void context_adopt(struct context *cx, const struct context *child);

/* 0, or -EINTR with the failure text set once the user asked to stop. */
int context_cancelled(struct context *cx);

/*
 * Fills the failure slot with the formatted text and returns ERR (a negative errno),
 * for use as `return fail(cx, -EIO, ...)`.  The text names the object and the event;
 * the tool adds its own name and the reason from ERR.  A second call overwrites the
 * first one, so a caller that recovers from a failure and fails later reports the
 * later one.
 */
int fail(struct context *cx, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for a text that includes the reason: the tool does not append the text of
 * ERR.  For example, ENOENT for an object of an image is not a missing file.
 */
int fail_said(struct context *cx, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * An analyzer sees only the declarations.  For it fail() and fail_said() return a
 * negative ERR, and context_cancelled() returns nothing positive.
 */
#ifdef __clang_analyzer__
static inline int context_at_most(int err, int most)
{
	if (err > most)
		__builtin_unreachable();
	return err;
}
#define fail(cx, err, ...) \
	(fail(cx, err, __VA_ARGS__), context_at_most(err, -1))
#define fail_said(cx, err, ...) \
	(fail_said(cx, err, __VA_ARGS__), context_at_most(err, -1))
#define context_cancelled(cx) context_at_most(context_cancelled(cx), 0)
#endif

/* Clears the failure text, for a caller that continues in another way. */
void fail_clear(struct context *cx);

#endif
