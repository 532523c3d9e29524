/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A repair of the names of a checkpoint: what its parts know and ask; and the
 * entries of a directory block, what a repair makes of each, and names for what
 * needs another one.  Functions fail with -ENOMEM and -EINTR, those that write
 * with -ENOSPC and -EIO as well.
 */
#ifndef NILFS2_FSCK_NAMEFIX_H
#define NILFS2_FSCK_NAMEFIX_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "check/blockbatch.h"
#include "check/names/names.h"
#include "fsck/snapshots/snapblocks.h"
#include "fsck/plan/fixers.h"

enum entrywalk_fate {
	ENTRYWALK_FREE,		/* no entry */
	ENTRYWALK_DOT,		/* by its name or inode, in the first place */
	ENTRYWALK_DOTDOT,	/* the same in the second place */
	ENTRYWALK_NAME,		/* of an inode that is there */
	ENTRYWALK_STRAY,	/* "." or ".." where it does not belong */
	ENTRYWALK_RESERVED,	/* of an inode that no entry may name */
	ENTRYWALK_DANGLING,	/* of an inode that is not there */
	ENTRYWALK_ABOVE,	/* of the root, or of the directory itself */
};

struct entrywalk_entry {
	struct dirent_entry e;
	enum entrywalk_fate fate;
	struct inodelist_row row;	/* of a name */
	uint8_t type;			/* of a name: as it should be */
	bool bad_name;			/* the name cannot be */
	bool right;			/* of "." and "..": name and type */
	/* Of what it needs.  What follows, up to its length, may hide others,
	   and so may all of one that makes no sense. */
	uint32_t end;
};

struct entrywalk {
	struct dirent_iter it;	/* with the verdict of the walk */
	struct inodelist *list;
	uint64_t ino;		/* of the directory */
	bool first;		/* it is its first block */
	bool no_dot;
	unsigned int slot;
};

/* Begins with BLOCK, number BLKOFF of directory INO; LIST has the inodes. */
void entrywalk_init(struct entrywalk *w, struct inodelist *list, uint64_t ino,
		    uint64_t blkoff, const void *block, uint32_t block_size);

/* 1 and the next entry, 0 at the end or where the block is broken. */
int entrywalk_next(struct entrywalk *w, struct entrywalk_entry *entry);

/*
 * From byte FROM on: 1 and the first thing at a multiple of 8 before END that
 * looks like a name of an inode that is there and has that type, whatever its
 * length says; 0 where there is none.
 */
int entrywalk_search(struct entrywalk *w, uint32_t from, uint32_t end,
		     struct entrywalk_entry *entry);

/* Room for the tag of a name past its end. */
#define ENTRYWALK_NAME_ROOM (NILFS_NAME_LEN + 9)

struct entrywalk_name {
	char name[ENTRYWALK_NAME_ROOM];
	uint8_t len;
};

/*
 * Makes NAME (LEN bytes) of inode INO one that can be: without '/' and zero
 * bytes, not empty, not "." or "..".
 */
void entrywalk_name_repair(struct entrywalk_name *out, const char *name,
			   uint8_t len, uint64_t ino);

/*
 * Changes NAME until its tag is not in TAGS, and adds it; with CHANGE in any
 * case.  TAGS is NULL where the directory has more names than could be kept:
 * then it is made a name that hardly anybody has given.  -ENOMEM.
 */
int entrywalk_name_find(struct entrywalk_name *name, struct context *cx,
			struct nameset *tags, bool change, uint64_t ino);

/* What is known of a directory: why it is written again, what becomes of it. */
#define NAMEFIX_ENTRIES 0x01  /* types, ".", "..", its size */
#define NAMEFIX_LOSES 0x02    /* names go, or change */
#define NAMEFIX_GONE 0x04     /* part of it cannot be read */
#define NAMEFIX_PARENT 0x08   /* it has names in it */
#define NAMEFIX_NAMED 0x10    /* its own name is in its place */
#define NAMEFIX_FREED 0x20    /* it is to be deleted */
#define NAMEFIX_LOST 0x40     /* it goes into the lost+found directory */
#define NAMEFIX_BAD_NAME 0x80 /* a name in it must change */
#define NAMEFIX_REFUSED 0x100 /* types, "." and ".." stay as they are */
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
struct namefix_add {
	uint64_t ino;
	uint32_t dir; /* index */
	uint32_t at;  /* of the name, in `add_text`, where a tag can be made */
	uint8_t len;
};

/* An entry that is to lead to another inode. */
struct namefix_target {
	uint32_t dir, offset; /* index of the directory; byte in the block */
	uint64_t blkoff, ino; /* 0: the entry goes */
};

struct namefix {
	struct fixer_job *job;
	struct snapblocks *snap; /* of a snapshot: what is written; or NULL */
	char prefix[40];	 /* of notes: of which snapshot they are */
	struct names n;		 /* inodes, directories, tags of names */
	struct nearcps nearby;	 /* the checkpoints beside this one */
	struct root then;	 /* the one that was asked last */
	uint64_t ndangling;	 /* entries whose inode is none */
	/* How many inodes had no name at first, and the last one. */
	size_t nmissed;
	uint64_t missed;
	uint16_t *flags; /* of each directory */
	/* Directories with a name, but not their first one, in another: index
	   << 32 | index of that; ascending in the end. */
	uint64_t *others;
	size_t nothers, others_room;
	struct namefix_add *adds; /* by directory once all are known */
	size_t nadds, adds_room, add_used, add_room;
	char *add_text;
	/* The directory for inodes that nothing names: of a snapshot, the
	   root. */
	bool lost_needed;
	uint32_t lost_dir; /* its index, NAMEFIX_MADE if made by this repair */
	uint32_t lost_subdirs; /* that go into it */
	uint64_t lost_ino;
	struct namefix_target *targets; /* ascending */
	size_t ntargets, targets_room, nasked;
	size_t next_target, next_add; /* for the directory that is written */
	/* The names of the directory that names were found in last. */
	struct nameset found_tags;
	size_t found_dir; /* its index, ndirs: none yet */
	bool found_known; /* all of them are known */
	/* Names may go.  Else, where there is damage that costs names, links
	   are not known, and only what is plainly wrong is repaired. */
	bool lossy;
	/* Part of the snapshot lives in the newest checkpoint, which is
	   repaired first. */
	bool waits;
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

/* Names go, or change, where directory number DIR is written again: FLAG. */
void namefix_lose(struct namefix *f, size_t dir, unsigned int flag);

/* What ".." of directory number DIR shall name. */
uint64_t namefix_parent(const struct namefix *f, size_t dir);

/* How many more links than names an inode in use, not a directory, has, or less
   than 0: it is missed if there are any. */
int namefix_missing(const struct inodelist_row *row);

/* Missed with no name at all, unless it is an inode that mkfs makes. */
bool namefix_is_unnamed(const struct inodelist_row *row);

/* True where directory number DIR is worth keeping and has no parent. */
bool namefix_is_orphaned(struct namefix *f, size_t dir);

/* Whether any inode is missed or has too many names, or any directory has no
   parent. */
bool namefix_has_missed(struct namefix *f);

/* The tags of the names that stay in directory number DIR, in TAGS: 1, 0 where
   there are more than can be kept. */
int namefix_tags(struct namefix *f, struct context *cx, size_t dir,
		 struct nameset *tags);

/*
 * NAME (LEN bytes) of inode INO, in ROW, was found in directory number DIR, as
 * it is or was: if the inode is missed it gets it.  A file that has a name
 * gets no second one that is taken: it may well be its own.
 */
int namefix_found(struct namefix *f, struct context *cx, size_t dir,
		  const struct inodelist_row *row, uint64_t ino,
		  const char *name, uint8_t len);

/* Reads all directories: counts the names of inodes, finds parents, and marks
   the directories that must be written again. */
int namescan_run(struct namefix *f, struct context *cx);

/* Reads them once more where inodes are missed: looks for names of these where
   entries should not be, and adds what it finds. */
int namescan_search(struct namefix *f, struct context *cx);

/*
 * For each directory that cannot be read whole, or loses names: looks at it in
 * other checkpoints, from the nearest on, as long as inodes are missed, and
 * adds the names of these.
 */
int othernames_gather(struct namefix *f, struct context *cx);

/*
 * Finds entries that lead to an inode with more names than links, or to none,
 * and led to one that has no name now in another checkpoint: F->targets gets
 * them, and those that are to go, and counts of names follow.
 */
int othernames_turn(struct namefix *f, struct context *cx);

/* Sets NAME to what the nearest other checkpoint calls inode INO in directory
   DIR: 1, 0 where none has it. */
int othernames_name(struct namefix *f, struct context *cx, uint64_t dir,
		    uint64_t ino, struct entrywalk_name *name);

/* Adds NAME (LEN bytes) of INO to directory number DIR. */
int namefix_add(struct namefix *f, struct context *cx, uint32_t dir,
		uint64_t ino, const char *name, uint8_t len);

/* Counts a name in directory number DIR of INO, in ROW, which is not the root;
   where that is a directory, DIR is its parent, or may be. */
int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 const struct inodelist_row *row, uint64_t ino);

/* After all names: of several parents that which ".." names stays, else the
   one met first. */
void parents_choose(struct namefix *f);

/* Gives a directory of each loop another parent, or none. */
int parents_break_loops(struct namefix *f, struct context *cx);

/* After all names are known: decides what goes into lost+found, which directory
   that is, and takes an inode for it where there is none. */
int parents_settle_lost(struct namefix *f, struct context *cx);

/*
 * Writes directory number DIR, or the lost+found directory that this repair
 * makes (NAMEFIX_MADE): what can be read of it and stays, and what is added to
 * it.  Of a snapshot the blocks that it has are changed.
 */
int dirwrite_run(struct namefix *f, struct context *cx, size_t dir);

#endif
