/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names: state of the pass for the current checkpoint, and duplicate names of a
 * directory (dupnames.c).
 */
#ifndef NILFS2_CHECK_NAMES_H
#define NILFS2_CHECK_NAMES_H

#include <string.h>

#include "base/pairtable.h"
#include "check/check.h"
#include "check/inodes/inodelist.h"
#include "disk/dirent.h"
#include "vol/root.h"

struct names;

/* The names of a directory, as tags of 32 bits: whether a name may have
   occurred before.  All zero is an empty set. */
struct nameset {
	uint32_t *slots;	/* 0: free */
	uint32_t *spare;	/* buffer that it grows into */
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

/* The tag of a name in a directory entry: never 0.  The name must be readable
   up to its length rounded up to a multiple of 8, and 4 bytes more. */
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

/* The tag of a name in directory INO, for a set of several directories. */
static inline uint32_t dupnames_tag_in(uint64_t ino, const char *name,
				       uint32_t len)
{
	uint32_t tag =
		(uint32_t)(dupnames_mix(ino, dupnames_tag(name, len)) >> 32);

	return tag | !tag;
}

/* Empties the set.  -ENOMEM. */
int dupnames_clear_set(struct nameset *set, struct context *cx);

/* Adds TAG: 1 if it is new, 0 if it is in the set, -ENOBUFS (without a text) if
   the set would exceed a quarter of the memory budget, -ENOMEM. */
int dupnames_add_tag(struct nameset *set, struct context *cx, uint32_t tag);

/* Whether TAG is in SET, which must have been cleared once. */
bool dupnames_has_tag(const struct nameset *set, uint32_t tag);

void dupnames_free_set(struct nameset *set);

/* A tag that occurred twice in a directory. */
struct dupnames_suspect {
	uint32_t dir;	/* index */
	uint32_t tag;
	uint32_t kept;	/* used by dupnames_remember(): 0 at first */
};

/* A directory with names that were not compared yet. */
struct dupnames_big {
	uint32_t dir;
	uint64_t names;
};

/* Zeroed at first. */
struct dupnames {
	struct nameset set;	/* of the current directory */
	uint32_t dir;
	uint64_t names;		/* number of its names so far */
	bool full;		/* the set is full, or some names are not
				   added: the directory is read again at its
				   end */
	struct dupnames_suspect *suspects;
	size_t nsuspects, suspects_room;
	struct dupnames_big *bigs;
	size_t nbigs, bigs_room;
};

/* Begins the directory of index DIR, adds its names, and ends it.  -ENOMEM. */
int dupnames_begin(struct dupnames *d, struct context *cx, uint32_t dir);
int dupnames_add(struct dupnames *d, struct context *cx,
		 const struct dirent_entry *entry);

int dupnames_end(struct dupnames *d, struct context *cx);

/*
 * Call after all directories: reads directories that are too large for one pass
 * again.  Then `suspects` is complete, ordered by directory and tag.  A caller
 * that does not call dupnames_settle() sets `nsuspects` to 0 when done.
 * -ENOMEM.
 */
int dupnames_gather(struct names *n, struct context *cx);

/* The suspect with TAG among N, ordered by tag, or NULL. */
struct dupnames_suspect *dupnames_find(struct dupnames_suspect *suspects,
				       size_t n, uint32_t tag);

/* Reads the directories of all suspects again, reports duplicate names, and
   clears the list. */
int dupnames_settle(struct names *n, struct context *cx);

void dupnames_fini(struct dupnames *d);

struct keptname;

/* Names kept for comparison, for tags that occur twice in a directory.  Zeroed
   at first. */
struct keptnames {
	struct keptname *names;
	size_t count, room;
};

/*
 * Looks up the name of ENTRY, which has the tag of S, and remembers it: 1 and
 * the inode of its first occurrence in *INO, 0 if it is new, -ENOMEM.  If very
 * many names share a tag, not all are remembered.
 */
int dupnames_remember(struct keptnames *k, struct context *cx,
		       struct dupnames_suspect *s,
		       const struct dirent_entry *entry, uint64_t *ino);

void dupnames_forget(struct keptnames *k);

struct names {
	struct check *c;
	struct pairtable reported;	/* of all checkpoints */
	struct root root;
	struct inodelist list;
	struct dupnames dups;
	/* Findings not reported, and things that could not be judged, so far. */
	uint64_t doubts;
	bool trial;		/* findings are only counted */
	/* In a trial: names in the replaced blocks, or NULL. */
	const struct nameset *gone;
	uint64_t lost;		/* directories not fully read; may include duplicates */
	uint64_t first_lost;	/* the first of them */
};

/* The entry at OFFSET in block BLKOFF of directory INO. */
static inline struct place names_place(const struct names *n, uint64_t ino,
				       uint64_t blkoff, uint32_t offset)
{
	return (struct place){ .kind = PLACE_NAME, .cno = n->root.cno, .ino = ino,
			       .blkoff = blkoff, .offset = offset };
}

/*
 * Reports FINDING unless it was reported for this or another checkpoint.
 * Findings are equal if rule, inode of the place, and WHICH are; WHICH is a
 * number chosen by the caller for the position.
 */
void names_report(struct names *n, const struct finding *finding,
		  uint64_t which);

/* Records that directory INO could not be read completely. */
void names_mark_unread(struct names *n, uint64_t ino);

/* Reports that links were not compared because of INO, a directory or the
   ifile.  WHY is a text or NULL. */
void names_unjudged(struct names *n, uint64_t ino, const char *why);

/*
 * Checks all names of N's checkpoint: parents, loops, and, if all were read,
 * links and inodes without a name.  With TOUCHED, only the touched chunks of
 * N's list are checked; all others equal those of a checkpoint without
 * findings.  -ENOMEM.
 */
int names_compare(struct names *n, struct context *cx, bool touched);

/* Adds blocks of directories to BATCH.  The owner is the index of the directory
   in the list; blocks of one directory must be consecutive. */
typedef int names_source(void *arg, struct context *cx,
			 struct blockbatch *batch);

/*
 * Reads the blocks that SOURCE adds, of directories with links, or, if SOURCE
 * is NULL, all directories of N's list.  Reports wrong entries, and counts the
 * names in the list.  -ENOMEM, -EINTR, or a failure of SOURCE.
 */
int names_read(struct names *n, struct context *cx, names_source *source,
	       void *arg);

/* The checkpoint that N's list is of. */
struct namediff_base {
	struct root root; /* without volume: there is no such checkpoint */
	bool sound;	  /* it has no findings */
};

/*
 * Checks N's checkpoint by its difference from BASE, and adds the number of
 * inodes compared to *WORK.  1 if it has no errors that BASE does not have;
 * then N's list is that of N's checkpoint.  0 if it must be read as a whole,
 * because there may be findings; none was reported.  -EINTR, -ENOBUFS.
 */
int namediff_run(struct names *n, struct context *cx,
		 struct namediff_base *base, uint64_t *work);

#endif
