/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Progress: a line on the terminal, or lines for a program on a descriptor.
 *
 * The line has percent, rate and time left and is drawn at most five times a
 * second.  On a descriptor given by -C each step of one percent is a line
 * "STEP DONE TOTAL NAME", the form of fsck's -C, where STEP counts the
 * progress_begin() calls from 1.
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
};

/*
 * FD as the user asked (-1: standard error if that is a terminal).  QUIET
 * silences it.  It opens nothing, so there is nothing to close.
 */
void progress_init(struct progress *p, int fd, bool quiet);

/* Begins a step: NAME must outlive it.  TOTAL of 0 is "unknown". */
void progress_begin(struct progress *p, const char *name, uint64_t total,
		    bool bytes);

/* DONE of TOTAL so far; cheap enough for every block of a loop. */
void progress_update(struct progress *p, uint64_t done);

/* Ends the step and takes the line away. */
void progress_end(struct progress *p);

#endif
