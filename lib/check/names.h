/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the pass over names knows of the checkpoint that it is at. */
#ifndef NILFS2_CHECK_NAMES_H
#define NILFS2_CHECK_NAMES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/dupnames.h"
#include "check/inodelist.h"
#include "check/reported.h"
#include "find/finding.h"
#include "vol/root.h"

/* Failures that are none of the volume's: they end a check. */
static inline bool names_is_fatal(int err)
{
	return err == -ENOMEM || err == -EINTR || err == -ENOBUFS;
}

struct names {
	struct check *c;
	struct reported told;	/* in all checkpoints */
	struct root root;
	struct inodelist list;
	struct dupnames dups;
	/* What would have been told, or could not be judged, so far. */
	uint64_t doubts;
	bool trial;		/* findings are counted only */
	/* In a trial: names that blocks had which these replace, or NULL. */
	const struct nameset *gone;
	uint64_t lost;		/* directories not wholly read, maybe twice */
	uint64_t first_lost;	/* the first of them */
};

/*
 * Adds FINDING unless it was told of this or another checkpoint: of the rule,
 * the inode of the place and WHICH, the caller's number for where in it.
 */
void names_tell(struct names *n, const struct finding *finding,
		uint64_t which);

/* Remembers that not all of directory INO could be read. */
void names_lose(struct names *n, uint64_t ino);

/*
 * Tells that links were not compared because of what is wrong with INO, a
 * directory or the ifile; WHY in words, or NULL.
 */
void names_unjudged(struct names *n, uint64_t ino, const char *why);

#endif
