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

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
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

/*
 * Progress that cannot be shown is no failure of the tool, and a reader that
 * goes away does not stop it: that signal is discarded.
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
	if (fd <= 0 && terminal_is(STDERR_FILENO))
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
		put_text(p, line, (size_t)n);
}

/* The name is one word for the reader: as in fstab, \\040 is a blank. */
static void format_device(const char *device, char *text, size_t size)
{
	size_t n = 0;

	for (; *device && n + 5 <= size; device++) {
		if (isspace((unsigned char)*device))
			n += (size_t)snprintf(text + n, size - n, "\\%03o",
					      (unsigned char)*device);
		else
			text[n++] = *device;
	}
	text[n] = '\0';
}

/* How many thousandths of the whole are done; see the header. */
static void say_whole(struct progress *p, unsigned int whole)
{
	static const unsigned int ends[] = { 0, 700, 900, 920, 950, 1000 };
	char device[256], line[320];
	unsigned int pass = 1;
	int n;

	if (p->any && whole <= p->said)
		return;
	while (whole > ends[pass])
		pass++;
	format_device(p->device, device, sizeof(device));
	n = snprintf(line, sizeof(line), "%u %u %u %s\n", pass,
		     whole - ends[pass - 1], ends[pass] - ends[pass - 1],
		     device);
	put_text(p, line, (size_t)n);
	p->said = whole;
	p->any = true;
}

static unsigned int whole_at(const struct progress *p, uint64_t done)
{
	double part = p->total ? (double)done / (double)p->total : 0;

	return p->from + (unsigned int)((p->until - p->from) *
					(part < 1 ? part : 1));
}

void progress_of_device(struct progress *p, const char *device)
{
	p->device = device;
}

/* What the step had of the whole is done. */
static void finish_part(struct progress *p)
{
	p->from = p->until;
	if (p->device && p->fd >= 0 && !p->terminal)
		say_whole(p, p->until);
}

void progress_until(struct progress *p, unsigned int percent)
{
	if (10 * percent > p->until)
		p->until = 10 * percent;
	if (!p->name)
		finish_part(p);
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

static void draw_bar(struct progress *p, uint64_t done, int64_t now)
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
		put_text(p, line, (size_t)n);
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
		if (p->device)
			say_whole(p, whole_at(p, done));
		else
			say_line(p, done);
		p->next_done = done + 1 + (p->total ? p->total : done) / 100;
		return;
	}
	now = now_ms();
	if (now - p->last_ms < DRAW_EVERY_MS)
		return;
	p->last_ms = now;
	draw_bar(p, done, now);
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
