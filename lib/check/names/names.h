/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names: state of the pass over them for the current checkpoint, and names that
 * occur twice in a directory (dupnames.c).
 */
#ifndef NILFS2_CHECK_NAMES_H
#define NILFS2_CHECK_NAMES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"
#include "base/le.h"
#include "base/pairtable.h"
#include "check/check.h"
#include "check/inodes/inodelist.h"
#include "disk/dirent.h"
#include "find/finding.h"
#include "vol/root.h"

struct names;

/* The names of one directory, as tags of 32 bits: whether one may have been there
   before.  All zero is the empty set. */
struct nameset {
	uint32_t *slots;	/* 0: free */
	uint32_t *spare;	/* what it grows into */
	size_t nslots, room, spare_room;
	size_t used;
};

static inline uint64_t dupnames_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static inline uint64_t dupnames_word(const char *name, uint32_t len)
{
	le64 word;

	memcpy(&word, name, sizeof(word));
	return len < 8 ? le64_get(word) & ((UINT64_C(1) << 8 * len) - 1) :
			 le64_get(word);
}

/* The tag of a name in a directory entry, which has room for the name rounded
   up to 4 bytes past a multiple of 8: never 0. */
static inline uint32_t dupnames_tag(const char *name, uint32_t len)
{
	uint64_t h = len;
	uint32_t at;
	le32 word;

	memcpy(&word, name, sizeof(word));
	h = dupnames_mix(h, len < 4 ? le32_get(word) &
					      ((UINT32_C(1) << 8 * len) - 1)
				    : le32_get(word));
	for (at = 4; at < len; at += 8)
		h = dupnames_mix(h, dupnames_word(name + at, len - at));
	h = dupnames_mix(h, 0);
	return (uint32_t)(h >> 32) | !(uint32_t)(h >> 32);
}

/* The tag of a name in directory INO, where a set has several directories. */
static inline uint32_t dupnames_tag_in(uint64_t ino, const char *name,
				       uint32_t len)
{
	uint32_t tag =
		(uint32_t)(dupnames_mix(ino, dupnames_tag(name, len)) >> 32);

	return tag | !tag;
}

/* Makes it empty.  -ENOMEM. */
int dupnames_clear_set(struct nameset *set, struct context *cx);

/* Adds TAG: 1 where it is new, 0 where it is there, -ENOBUFS (without a text)
   where a quarter of the memory budget is full, -ENOMEM. */
int dupnames_add_tag(struct nameset *set, struct context *cx, uint32_t tag);

/* Whether TAG is in SET, which has been cleared once. */
bool dupnames_has_tag(const struct nameset *set, uint32_t tag);

void dupnames_free_set(struct nameset *set);

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
