/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the pass over names for the current checkpoint. */
#ifndef NILFS2_CHECK_NAMES_H
#define NILFS2_CHECK_NAMES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"
#include "check/check.h"
#include "check/inodes/inodelist.h"
#include "check/names/dupnames.h"
#include "find/finding.h"
#include "vol/root.h"

struct blockbatch;

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

/* Reports that links were not compared because of INO, a directory or the
   ifile; WHY in words, or NULL. */
void names_unjudged(struct names *n, uint64_t ino, const char *why);

/*
 * Reports what follows from all names of N's checkpoint: parents, loops, and,
 * if nothing was lost, links and inodes without a name.  TOUCHED: only of the
 * chunks of N's list that were touched, where all others have what they had in
 * a checkpoint without a finding.  -ENOMEM.
 */
int names_compare(struct names *n, struct context *cx, bool touched);

/* Adds blocks of directories to BATCH, each with the index of its directory in
   the list as owner, those of one directory together. */
typedef int names_source(void *arg, struct context *cx,
			 struct blockbatch *batch);

/*
 * Reads the blocks that SOURCE adds, of directories that have links, or, if that
 * is NULL, all directories of N's list; reports wrong entries, and counts the
 * names in the list.  -ENOMEM, -EINTR, what SOURCE fails with.
 */
int names_read(struct names *n, struct context *cx, names_source *source,
	       void *arg);

/* What is known of the checkpoint that N's list is of. */
struct namediff_base {
	struct root root; /* no volume: there is no such checkpoint */
	bool sound;	  /* nothing was found in it */
};

/*
 * Checks N's checkpoint by its difference from BASE, and adds the inodes
 * compared to *WORK.  1 if it has no errors that BASE does not have; N's list
 * is then of N's checkpoint.  0 if it must be read completely, as there may be
 * findings; none was reported.  -EINTR, -ENOBUFS.
 */
int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work);

#endif
