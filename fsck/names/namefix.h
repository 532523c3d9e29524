/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A repair of the names of a checkpoint: what its parts know and ask. */
#ifndef NILFS2_FSCK_NAMEFIX_H
#define NILFS2_FSCK_NAMEFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/blockbatch.h"
#include "check/names/names.h"
#include "fsck/names/entrywalk.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"

/* What is known of a directory: why it is written again, what becomes of it. */
#define NAMEFIX_ENTRIES 0x01  /* types, ".", "..", its size */
#define NAMEFIX_LOSES 0x02    /* names go, or change */
#define NAMEFIX_GONE 0x04     /* part of it cannot be read */
#define NAMEFIX_PARENT 0x08   /* it has names in it */
#define NAMEFIX_NAMED 0x10    /* its own name is in its place */
#define NAMEFIX_FREED 0x20    /* it is to be deleted */
#define NAMEFIX_LOST 0x40     /* it goes into the lost+found directory */
#define NAMEFIX_BAD_NAME 0x80 /* a name in it must change */
#define NAMEFIX_REFUSED 0x100 /* types, "." and ".." are to stay as they are   \
			       */
#define NAMEFIX_KNOWN 0x200   /* its "." or a name says that it is one */

/* Index of the lost+found directory where that is rebuilt. */
#define NAMEFIX_MADE (UINT32_MAX - 1)

/* What is noted; of each the first few only, then how many. */
enum namefix_topic {
	NAMEFIX_NOTE_DIR,
	NAMEFIX_NOTE_REMOVED,
	NAMEFIX_NOTE_RENAMED,
	NAMEFIX_NOTE_FOUND,
	NAMEFIX_NOTE_LINKS,
	NAMEFIX_NOTE_LOST,
	NAMEFIX_NOTE_FREED,
	NAMEFIX_NOTE_COUNT
};

/* A name to be added to a directory. */
struct addnames_item {
	uint64_t ino;
	uint32_t dir; /* index */
	uint32_t at;  /* of the name, in `text` */
	uint8_t len;
};

struct addnames {
	struct addnames_item *items;
	size_t count, room;
	char *text;
	size_t used, text_room;
};

/* Directory CHILD has a name in directory BY, but not its first one. */
struct parents_other {
	uint32_t child, by; /* index */
};

struct parents {
	struct parents_other *others;
	size_t count, room;
};

/* The directory for inodes that nothing names: of a snapshot, the root. */
struct lostfound {
	bool needed;
	bool made;    /* by this repair */
	uint32_t dir; /* its index, NAMEFIX_MADE if made */
	uint64_t ino;
	uint32_t subdirs; /* that go into it */
};

/* Which of the inodes that go there is the next. */
struct lostfound_at {
	size_t dir, row;
};

/* An entry that is to lead to another inode. */
struct namefix_target {
	uint32_t dir, offset; /* index of the directory; byte in the block */
	uint64_t blkoff, ino; /* 0: the entry goes */
};

struct namefix {
	struct fixer_job *job;
	struct pastblocks *past; /* of a snapshot: what is written; or NULL */
	char prefix[40];	 /* of notes: of which snapshot they are */
	struct names n;		 /* inodes, directories, tags of names */
	struct around around;	 /* the checkpoints beside this one */
	struct root then;	 /* the one that was asked last */
	uint64_t ndangling;	 /* entries whose inode is none */
	/* How many inodes had no name at first, and the last one. */
	size_t nmissed;
	uint64_t missed;
	uint16_t *flags; /* of each directory */
	struct parents parents;
	struct addnames adds;
	struct lostfound lost;
	struct namefix_target *targets; /* ascending */
	size_t ntargets, targets_room, turned;
	/* The names of the directory that names were found in last. */
	struct nameset found_tags;
	size_t found_dir; /* its index, ndirs: none yet */
	bool found_known; /* all of them are known */
	bool lossy;	  /* names may go */
	bool waits;	  /* part of the snapshot lives in the newest
			     checkpoint, which is repaired first */
	uint64_t noted[NAMEFIX_NOTE_COUNT];
};

/* As fixers_note(), for the first few notes of TOPIC. */
void namefix_note(struct namefix *f, enum namefix_topic topic, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* Notes how many of each topic were left out. */
void namefix_note_rest(struct namefix *f);

/*
 * Begins with the entries of block ITEM of a directory, which is DATA, or what
 * the repair of another snapshot has made of it: 1; 0 where it could not be
 * read, by ERR, or ERR.
 */
int namefix_walk(struct namefix *f, struct context *cx,
		 const struct blockbatch_item *item, const void *data, int err,
		 struct entrywalk *walk);

/*
 * True where there is damage that costs names and these may not be touched:
 * then links are not known, and only what is plainly wrong is repaired.
 */
bool namefix_is_partial(const struct namefix *f);

/* What ".." of directory number DIR shall name. */
uint64_t namefix_parent(const struct namefix *f, size_t dir);

/* True where an inode in use, not a directory, has fewer names than links. */
bool namefix_is_missed(const struct inodelist_row *row);

/* Missed with no name at all, unless it is an inode that mkfs makes. */
bool namefix_is_unnamed(const struct inodelist_row *row);

/* True where directory number DIR is worth keeping and has no parent. */
bool namefix_is_orphaned(struct namefix *f, size_t dir);

/* Whether any inode is missed or has too many names, or any directory has no
   parent. */
bool namefix_has_missed(struct namefix *f);

/*
 * The tags of the names that stay in directory number DIR, in TAGS: 1, 0 where
 * there are more than can be kept, -ENOMEM, -EINTR.
 */
int namefix_tags(struct namefix *f, struct context *cx, size_t dir,
		 struct nameset *tags);

/* The inode that E, in block BLKOFF of directory number DIR, is to name. */
uint64_t namefix_target(const struct namefix *f, size_t dir, uint64_t blkoff,
			const struct dirent_entry *e);

/*
 * NAME (LEN bytes) of inode INO, in ROW, was found in directory number DIR, as
 * it is or was: if the inode is missed it gets it.  A file that has a name
 * gets no second one that is taken: it may well be its own.  -ENOMEM, -EINTR.
 */
int namefix_found(struct namefix *f, struct context *cx, size_t dir,
		  const struct inodelist_row *row, uint64_t ino,
		  const char *name, uint8_t len);

/*
 * Reads all directories: counts the names of inodes, finds parents, and marks
 * the directories that must be written again.  -ENOMEM, -EINTR.
 */
int namescan_run(struct namefix *f, struct context *cx);

/*
 * Reads them once more where inodes are missed: looks for names of these where
 * entries should not be, and adds what it finds.  -ENOMEM, -EINTR.
 */
int namescan_search(struct namefix *f, struct context *cx);

/*
 * For each directory that cannot be read whole, or loses names: looks at it in
 * other checkpoints, from the nearest on, as long as inodes are missed, and
 * adds the names of these.  -ENOMEM, -EINTR.
 */
int othernames_gather(struct namefix *f, struct context *cx);

/*
 * Finds entries that lead to an inode with more names than links, or to none,
 * and led to one that has no name now in another checkpoint: F->targets gets
 * them, and those that are to go, and counts of names follow.  -ENOMEM, -EINTR.
 */
int othernames_turn(struct namefix *f, struct context *cx);

/*
 * Sets NAME to what the nearest other checkpoint calls inode INO in directory
 * DIR: 1, 0 where none has it, -ENOMEM, -EINTR.
 */
int othernames_name(struct namefix *f, struct context *cx, uint64_t dir,
		    uint64_t ino, struct entrywalk_name *name);

/* Adds NAME (LEN bytes) of INO to directory number DIR.  -ENOMEM. */
int namefix_add(struct addnames *a, struct context *cx, uint32_t dir,
		uint64_t ino, const char *name, uint8_t len);

/* Sorts them by directory; before namefix_first_add(). */
void namefix_sort_adds(struct addnames *a);

/* The index of the first of those for directory number DIR or one after it. */
size_t namefix_first_add(const struct addnames *a, size_t dir);

/* Directory number DIR names directory INO, which is not the root.  -ENOMEM. */
int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 uint64_t ino);

/*
 * After all names: of several parents that which ".." names stays, else the
 * one met first.
 */
void parents_choose(struct namefix *f);

/* Gives a directory of each loop another parent, or none.  -ENOMEM. */
int parents_break_loops(struct namefix *f, struct context *cx);

/*
 * After all names are known: decides what goes there, which directory it is,
 * and takes an inode for it where there is none.  -ENOSPC, -ENOMEM, -EIO.
 */
int lostfound_settle(struct namefix *f, struct context *cx);

/*
 * The next inode that goes there, or into directory number DIR of a snapshot:
 * true and its number and type, and it counts as named; AT is all zero at
 * first.
 */
bool lostfound_next(struct namefix *f, size_t dir, struct lostfound_at *at,
		    uint64_t *ino, uint8_t *type);

/*
 * Writes directory number DIR, or the lost+found directory that this repair
 * makes (NAMEFIX_MADE): what can be read of it and stays, and what is added to
 * it.  Of a snapshot the blocks that it has are changed.  -ENOSPC, -ENOMEM,
 * -EINTR, -EIO.
 */
int dirwrite_run(struct namefix *f, struct context *cx, size_t dir);

#endif
