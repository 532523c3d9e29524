/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the pass over names for the current checkpoint. */
#ifndef NILFS2_CHECK_NAMES_H
#define NILFS2_CHECK_NAMES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairtable.h"
#include "check/check.h"
#include "check/dupnames.h"
#include "check/inodelist.h"
#include "find/finding.h"
#include "vol/root.h"

struct names {
	struct check *c;
	struct pairtable reported;	/* in all checkpoints */
	struct root root;
	struct inodelist list;
	struct dupnames dups;
	/* What would have been reported, or could not be judged, so far. */
	uint64_t doubts;
	bool trial;		/* findings are counted only */
	/* In a trial: names that blocks had which these replace, or NULL. */
	const struct nameset *gone;
	uint64_t lost;		/* directories not fully read, maybe twice */
	uint64_t first_lost;	/* the first of them */
};

/*
 * Adds FINDING unless it was reported for this or another checkpoint: of the
 * rule, the inode of the place and WHICH, the caller's number for the position
 * in it.
 */
void names_report(struct names *n, const struct finding *finding,
		  uint64_t which);

/* Remembers that not all of directory INO could be read. */
void names_lose(struct names *n, uint64_t ino);

/*
 * Reports that links were not compared because of INO, a directory or the
 * ifile; WHY in words, or NULL.
 */
void names_unjudged(struct names *n, uint64_t ino, const char *why);

#endif
