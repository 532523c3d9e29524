/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Progress: a line on the terminal, or lines for a program on a descriptor.
 *
 * The line contains percent, rate and time left and is drawn at most five times a
 * second.  On a descriptor given by -C each step of one percent is a line "STEP DONE
 * TOTAL NAME", where STEP counts the progress_begin() calls from 1.
 *
 * A checker writes the lines of e2fsck instead, "PASS DONE TOTAL DEVICE".
 * systemd-fsck (src/fsck/fsck.c) reads them by scanf("%i %lu %lu %ms").  It assumes
 * the passes of e2fsck, which end at 70, 90, 92, 95 and 100 percent of the whole.
 * So the tool gives the position of its steps in the whole by progress_until(), and
 * each line is chosen such that systemd-fsck computes that position.
 */
#ifndef NILFS2_CLI_PROGRESS_H
#define NILFS2_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	int fd;			/* -1: silent */
	bool terminal;		/* FD is a terminal */
	bool drawn;		/* a line is displayed */
	unsigned int step;
	const char *name;
	uint64_t total;
	uint64_t next_done;	/* on a descriptor: DONE of the next line */
	bool bytes;		/* DONE and TOTAL count bytes */
	int64_t start_ms, last_ms;	/* of a monotonic clock */
	/* Of the lines of a checker: */
	const char *device;	/* set by the caller; NULL: not a checker */
	unsigned int from, until;	/* range of the step in the whole */
	unsigned int said;	/* last reported value; all in 1/1000 */
	bool any;		/* a line was written */
};

/*
 * Initializes P for the descriptor FD of the user.  -1, and 0 as in e2fsck: the line
 * on standard error if that is a terminal.  QUIET disables it.  Nothing needs to be
 * closed.
 */
void progress_init(struct progress *p, int fd, bool quiet);

/*
 * Sets the end of the current step, and of all before it, to PERCENT of the whole,
 * which is reported when the step ends; outside of a step it is reported now.  A
 * lower value than before is ignored, so repeated steps report nothing.
 */
void progress_until(struct progress *p, unsigned int percent);

/* Begins a step: NAME must outlive it.  TOTAL of 0 is "unknown". */
void progress_begin(struct progress *p, const char *name, uint64_t total,
		    bool bytes);

/* Reports DONE of TOTAL; fast enough for every block of a loop. */
void progress_update(struct progress *p, uint64_t done);

/* Ends the step and clears the line. */
void progress_end(struct progress *p);

#endif
