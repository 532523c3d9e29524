/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last word of a check. */
#ifndef NILFS2_FSCK_SUMMARY_H
#define NILFS2_FSCK_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"
#include "out/report.h"

struct summary {
	const char *device;	/* as the user named it */
	bool complete;		/* all passes were run */
	bool repaired;		/* what is said is what came of it */
	uint64_t losses;	/* of the repair, listed or not */
	bool losses_known;	/* all of them are listed */
	/* The rest is gathered. */
	uint64_t fatal, errors, warnings;	/* findings */
	uint64_t history;	/* more findings, which are history */
	bool open;		/* the volume could be opened: what follows */
	bool unmounted;		/* cleanly */
	bool has_errors;	/* the kernel has said so */
	uint64_t cno;		/* the latest checkpoint */
	bool counted;		/* its counts could be read: what follows */
	uint64_t files, snapshots, segments, used_segments;
};

/* Fills the rest of S from what C knows and can still read. */
void summary_gather(struct summary *s, struct context *cx,
		    const struct check *c);

/* Puts one line of text, or the section "summary". */
void summary_report(const struct summary *s, struct report *r);

#endif
