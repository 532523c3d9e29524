// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Progress.
 *
 * The caller's loop says what is done; whether to say so is decided here:
 * for people by a clock, for programs by whole percents, so that a loop over
 * millions of blocks costs a comparison each.  The clock is the coarse one,
 * which is read without entering the kernel.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "cli/terminal.h"

#define DRAW_EVERY_MS 200
#define CLEAR_LINE "\r\033[K"

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Progress that cannot be shown is no failure of the tool. */
static void put(const struct progress *p, const char *text, size_t len)
{
	if (write(p->fd, text, len) < 0)
		return;
}

void progress_init(struct progress *p, int fd, bool quiet)
{
	memset(p, 0, sizeof(*p));
	p->fd = fd;
	if (fd < 0 && terminal_is(STDERR_FILENO))
		p->fd = STDERR_FILENO;
	if (quiet)
		p->fd = -1;
	p->terminal = terminal_is(p->fd);
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

static void say_line(struct progress *p, uint64_t done)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%u %" PRIu64 " %" PRIu64 " %s\n",
			 p->step, done, p->total, p->name);

	if (n > 0 && n < (int)sizeof(line))
		put(p, line, (size_t)n);
}

static void format_rate(const struct progress *p, double rate, char text[64])
{
	char size[SIZE_TEXT_MAX];

	if (p->bytes)
		snprintf(text, 64, "%s/s", size_format((uint64_t)rate, size));
	else
		snprintf(text, 64, "%.0f/s", rate);
}

static uint64_t seconds_left(uint64_t total, uint64_t done, double rate)
{
	return done < total ? (uint64_t)((double)(total - done) / rate) : 0;
}

static void draw(struct progress *p, uint64_t done, int64_t now)
{
	double seconds = (double)(now - p->start_ms) / 1000;
	double rate = seconds > 0 ? (double)done / seconds : 0;
	char rate_text[64], line[256];
	int n;

	format_rate(p, rate, rate_text);
	if (p->total && rate > 0) {
		uint64_t left = seconds_left(p->total, done, rate);

		n = snprintf(line, sizeof(line),
			     CLEAR_LINE "%s: %3.0f%%  %s  %" PRIu64
			     ":%02" PRIu64 " left",
			     p->name, 100 * (double)done / (double)p->total,
			     rate_text, left / 60, left % 60);
	} else {
		n = snprintf(line, sizeof(line), CLEAR_LINE "%s: %" PRIu64
			     "  %s", p->name, done, rate_text);
	}
	if (n > 0 && n < (int)sizeof(line))
		put(p, line, (size_t)n);
	p->drawn = true;
}

void progress_update(struct progress *p, uint64_t done)
{
	int64_t now;

	/* Outside of a step there is nothing to say. */
	if (p->fd < 0 || !p->name)
		return;
	if (!p->terminal) {
		if (done < p->next_done)
			return;
		say_line(p, done);
		p->next_done = done + 1 + (p->total ? p->total : done) / 100;
		return;
	}
	now = now_ms();
	if (now - p->last_ms < DRAW_EVERY_MS)
		return;
	p->last_ms = now;
	draw(p, done, now);
}

void progress_end(struct progress *p)
{
	if (p->fd >= 0 && p->drawn)
		put(p, CLEAR_LINE, strlen(CLEAR_LINE));
	p->drawn = false;
	p->name = NULL;
}
