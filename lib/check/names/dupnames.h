/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Duplicate names of a directory. */
#ifndef NILFS2_CHECK_DUPNAMES_H
#define NILFS2_CHECK_DUPNAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/names/nameset.h"
#include "disk/dirent.h"

struct names;

/* A tag that was met a second time in a directory. */
struct dupnames_suspect {
	uint32_t dir;	/* index */
	uint32_t tag;
	uint32_t kept;	/* of dupnames_meet(): 0 at first */
};

/* A directory with names that were not examined yet. */
struct dupnames_big {
	uint32_t dir;
	uint64_t names;
};

/* All zero is fine at first. */
struct dupnames {
	struct nameset set;	/* of the current directory */
	uint32_t dir;
	uint64_t names;		/* of it, so far */
	bool full;		/* the set cannot hold more of them, or some are
				   not added: it is read again when it ends */
	struct dupnames_suspect *suspects;
	size_t nsuspects, suspects_room;
	struct dupnames_big *bigs;
	size_t nbigs, bigs_room;
};

/* Begins the directory of index DIR, adds the names of it, ends it.  Failures
   are -ENOMEM. */
int dupnames_begin(struct dupnames *d, struct context *cx, uint32_t dir);
int dupnames_add(struct dupnames *d, struct context *cx,
		 const struct dirent_entry *entry);

int dupnames_end(struct dupnames *d, struct context *cx);

/*
 * After all directories: reads those too large for one pass again.  Then
 * `suspects` is complete, by directory and tag; a caller that does not call
 * dupnames_settle() sets `nsuspects` to 0 when done with them.  -ENOMEM.
 */
int dupnames_gather(struct names *n, struct context *cx);

/* The one with TAG of N suspects, by tag, or NULL. */
struct dupnames_suspect *dupnames_find(struct dupnames_suspect *suspects,
				       size_t n, uint32_t tag);

/* Reads all suspects again and reports duplicate names.  Clears the list. */
int dupnames_settle(struct names *n, struct context *cx);

void dupnames_fini(struct dupnames *d);

struct keptname;

/* Names kept for comparison, of those that may occur twice in a directory; all
   zero is fine at first. */
struct keptnames {
	struct keptname *names;
	size_t count, room;
};

/*
 * Meets the name of ENTRY, which has the tag of S: 1 and the inode of the
 * first such name in *INO where there was one, 0 where it is new, -ENOMEM.
 * Of many different names of one tag not all are remembered.
 */
int dupnames_meet(struct keptnames *k, struct context *cx,
		   struct dupnames_suspect *s,
		   const struct dirent_entry *entry, uint64_t *ino);

void dupnames_forget(struct keptnames *k);

#endif
