/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Progress: a line on the terminal, or lines for a program on a descriptor.
 *
 * The line has percent, rate and time left and is drawn at most five times a
 * second.  On a descriptor given by -C each step of one percent is a line
 * "STEP DONE TOTAL NAME", where STEP counts the progress_begin() calls from 1.
 *
 * A checker writes the lines of e2fsck instead, "PASS DONE TOTAL DEVICE".
 * systemd-fsck (src/fsck/fsck.c) reads them by scanf("%i %lu %lu %ms"): four
 * words, and no more, or it stops reading.  It takes the passes of e2fsck for
 * granted, which end at 70, 90, 92, 95 and 100 percent of the whole, whatever the
 * checker does.  So the position in the whole is what the tool says of its
 * steps, by progress_until(), and the line is the one from which that reader
 * computes it.
 */
#ifndef NILFS2_CLI_PROGRESS_H
#define NILFS2_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	int fd;			/* -1: silent */
	bool terminal;		/* FD is one */
	bool drawn;		/* a line stands on it */
	unsigned int step;
	const char *name;
	uint64_t total;
	uint64_t next_done;	/* on a descriptor: not before this much */
	bool bytes;		/* DONE and TOTAL count bytes */
	int64_t start_ms, last_ms;	/* of a monotonic clock */
	/* Of the lines of a checker: */
	const char *device;	/* set by the caller; NULL: the other lines */
	unsigned int from, until;	/* of the whole, where the step lies */
	unsigned int said;	/* what the last line said; all in 1/1000 */
	bool any;		/* there is a last line */
};

/*
 * FD as the user asked.  -1, and 0 as in e2fsck: the line, on standard error if
 * that is a terminal.  QUIET silences it.  It opens nothing, so there is nothing
 * to close.
 */
void progress_init(struct progress *p, int fd, bool quiet);

/*
 * The step, and all before it, are PERCENT of the whole, which is said when it
 * ends; outside of a step, now.  What is less than before is ignored: steps
 * that run again say nothing.
 */
void progress_until(struct progress *p, unsigned int percent);

/* Begins a step: NAME must outlive it.  TOTAL of 0 is "unknown". */
void progress_begin(struct progress *p, const char *name, uint64_t total,
		    bool bytes);

/* DONE of TOTAL so far; cheap enough for every block of a loop. */
void progress_update(struct progress *p, uint64_t done);

/* Ends the step and takes the line away. */
void progress_end(struct progress *p);

#endif
