/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The context: state that would otherwise be global.
 *
 * Every function that can fail, take long or need much memory gets one.  It
 * holds the failure text, the memory budget, the clock as read by the tool, the
 * cancel flag and the number of workers.  Modules below the tools do not read
 * the clock or the environment.
 */
#ifndef NILFS2_BASE_CONTEXT_H
#define NILFS2_BASE_CONTEXT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#define FAILURE_TEXT_MAX 512

struct context {
	char failure[FAILURE_TEXT_MAX];	/* text of the last failure, "" if none */
	int said;			/* error whose reason is in it, or 0 */
	uint64_t max_memory;		/* budget in bytes for caches and tables */
	int64_t now;			/* seconds since 1970, from the tool */
	unsigned int threads;		/* workers to use, at least 1 */
	/* Where temporary files may be made for what passes the budget, or NULL:
	   nowhere.  Borrowed. */
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
 * Fills the failure slot with the formatted text and returns ERR (a negative
 * errno), so that `return fail(cx, -EIO, ...)` reads as what it is.  The text
 * names the object and what happened; the tool adds its own name and the
 * reason from ERR.  A second call overwrites the first: the caller that
 * recovers from a failure and meets another reports that one.
 */
int fail(struct context *cx, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same where the text gives the reason itself: what an image lacks is no
 * "file or directory", so the tool adds nothing as long as the failure is ERR.
 */
int fail_said(struct context *cx, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * An analyzer sees only the declarations.  For it fail() and fail_said() return ERR
 * and that is negative, and context_cancelled() returns nothing positive.
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

/* Forgets the failure text, for a caller that found another way. */
void fail_clear(struct context *cx);

#endif
