// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Progress.
 *
 * The caller's loop passes its progress; this file decides whether to report it: to
 * people by a clock, to programs by whole percents, so that a loop over millions of
 * blocks needs one comparison per block.  The clock is the coarse one, which needs
 * no system call.
 */
#include "cli/progress.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"

#define DRAW_EVERY_MS 200
#define CLEAR_LINE "\r\033[K"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * A failed write of progress is not a failure of the tool.  SIGPIPE is discarded, so
 * that a reader that exits does not stop the tool.
 */
static void put_text(struct progress *p, const char *text, size_t len)
{
	static const struct timespec at_once;
	sigset_t broken, before;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	if (write(p->fd, text, len) < 0 && errno == EPIPE) {
		sigtimedwait(&broken, NULL, &at_once);
		p->fd = -1;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress_init(struct progress *p, int fd, bool quiet)
{
	memset(p, 0, sizeof(*p));
	p->fd = fd > 0 ? fd : -1;
	if (fd <= 0 && isatty(STDERR_FILENO))
		p->fd = STDERR_FILENO;
	if (quiet)
		p->fd = -1;
	p->terminal = isatty(p->fd) == 1;
}

void progress_begin(struct progress *p, const char *name, uint64_t total,
		    bool bytes)
{
	p->step++;
	p->name = name;
	p->total = total;
	p->bytes = bytes;
	p->next_done = 0;
	if (p->fd >= 0)
		p->start_ms = p->last_ms = now_ms();
}

/* Reports the thousandths of the whole that are done; see the header. */
static void put_whole(struct progress *p, unsigned int whole)
{
	static const unsigned int ends[] = { 0, 700, 900, 920, 950, 1000 };
	const char *from = p->device;
	char device[256], line[320];
	unsigned int pass = 1;
	size_t len = 0;
	int n;

	if (p->any && whole <= p->said)
		return;
	while (whole > ends[pass])
		pass++;
	/* The reader expects one word: blanks are written as \\040, as in fstab. */
	for (; *from && len + 5 <= sizeof(device); from++) {
		if (isspace((unsigned char)*from))
			len += (size_t)snprintf(device + len,
						sizeof(device) - len, "\\%03o",
						(unsigned char)*from);
		else
			device[len++] = *from;
	}
	device[len] = '\0';
	n = snprintf(line, sizeof(line), "%u %u %u %s\n", pass,
		     whole - ends[pass - 1], ends[pass] - ends[pass - 1],
		     device);
	put_text(p, line, (size_t)n);
	p->said = whole;
	p->any = true;
}

/* Marks the step's share of the whole as done. */
static void finish_part(struct progress *p)
{
	p->from = p->until;
	if (p->device && p->fd >= 0 && !p->terminal)
		put_whole(p, p->until);
}

void progress_until(struct progress *p, unsigned int percent)
{
	if (10 * percent > p->until)
		p->until = 10 * percent;
	if (!p->name)
		finish_part(p);
}

void progress_update(struct progress *p, uint64_t done)
{
	double rate, part = p->total ? (double)done / (double)p->total : 0;
	char rate_text[64], line[256], size[SIZE_TEXT_MAX];
	uint64_t left;
	int64_t now;
	int n;

	/* Outside of a step there is no progress to report. */
	if (p->fd < 0 || !p->name)
		return;
	if (!p->terminal) {
		if (done < p->next_done)
			return;
		p->next_done = done + 1 + (p->total ? p->total : done) / 100;
		if (p->device) {
			put_whole(p, p->from + (unsigned int)
				     ((p->until - p->from) *
				      (part < 1 ? part : 1)));
			return;
		}
		n = snprintf(line, sizeof(line), "%u %" PRIu64 " %" PRIu64
			     " %s\n", p->step, done, p->total, p->name);
		if (n > 0 && n < (int)sizeof(line))
			put_text(p, line, (size_t)n);
		return;
	}
	now = now_ms();
	if (now - p->last_ms < DRAW_EVERY_MS)
		return;
	p->last_ms = now;
	rate = now > p->start_ms ?
	       (double)done * 1000 / (double)(now - p->start_ms) : 0;
	if (p->bytes)
		snprintf(rate_text, sizeof(rate_text), "%s/s",
			 size_format((uint64_t)rate, size));
	else
		snprintf(rate_text, sizeof(rate_text), "%.0f/s", rate);
	if (p->total && rate > 0) {
		left = done < p->total ?
		       (uint64_t)((double)(p->total - done) / rate) : 0;
		n = snprintf(line, sizeof(line),
			     CLEAR_LINE "%s: %3.0f%%  %s  %" PRIu64
			     ":%02" PRIu64 " left",
			     p->name, 100 * part, rate_text, left / 60,
			     left % 60);
	} else {
		n = snprintf(line, sizeof(line), CLEAR_LINE "%s: %" PRIu64
			     "  %s", p->name, done, rate_text);
	}
	if (n > 0 && n < (int)sizeof(line))
		put_text(p, line, (size_t)n);
	p->drawn = true;
}

void progress_end(struct progress *p)
{
	if (p->fd >= 0 && p->drawn)
		put_text(p, CLEAR_LINE, strlen(CLEAR_LINE));
	if (p->name)
		finish_part(p);
	p->drawn = false;
	p->name = NULL;
}
