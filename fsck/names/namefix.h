/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repair of the names of a checkpoint: the state shared by its parts; the walk
 * over the entries of a directory block, with a verdict for each; and new
 * unique names.  Functions fail with -ENOMEM and -EINTR; functions that write
 * also with -ENOSPC and -EIO.
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
	ENTRYWALK_FREE,		/* unused entry */
	ENTRYWALK_DOT,		/* ".", by its name or inode, in the first place */
	ENTRYWALK_DOTDOT,	/* the same for ".." in the second place */
	ENTRYWALK_NAME,		/* a name of an existing inode */
	ENTRYWALK_STRAY,	/* "." or ".." in a wrong place */
	ENTRYWALK_RESERVED,	/* of an inode that entries must not refer to */
	ENTRYWALK_DANGLING,	/* of an inode that does not exist */
	ENTRYWALK_ABOVE,	/* of the root, or of the directory itself */
};

struct entrywalk_entry {
	struct dirent_entry e;
	enum entrywalk_fate fate;
	struct inodelist_row row;	/* for names */
	uint8_t type;			/* of a name: as it should be */
	bool bad_name;			/* the name is invalid */
	bool right;			/* for "." and "..": name and type are right */
	/* End of the space that the entry needs.  The space after it, up to its
	   length, may hide other entries, as may that of an invalid entry. */
	uint32_t end;
};

struct entrywalk {
	struct dirent_iter it;	/* with the verdict of the walk */
	struct inodelist *list;
	uint64_t ino;		/* inode of the directory */
	bool first;		/* this is its first block */
	bool no_dot;
	unsigned int slot;
};

/* Starts with BLOCK, block BLKOFF of directory INO; LIST contains the inodes. */
void entrywalk_init(struct entrywalk *w, struct inodelist *list, uint64_t ino,
		    uint64_t blkoff, const void *block, uint32_t block_size);

/* 1 and the next entry, 0 at the end or if the block is broken. */
int entrywalk_next(struct entrywalk *w, struct entrywalk_entry *entry);

/*
 * Searches from byte FROM on, before END, at multiples of 8, for anything that
 * looks like a name of an existing inode of that type, whatever its record
 * length: 1; 0 if there is none.
 */
int entrywalk_search(struct entrywalk *w, uint32_t from, uint32_t end,
		     struct entrywalk_entry *entry);

/* Space of a name whose tag can be computed. */
#define ENTRYWALK_NAME_ROOM (NILFS_NAME_LEN + 9)

struct entrywalk_name {
	char name[ENTRYWALK_NAME_ROOM];
	uint8_t len;
};

/*
 * Makes NAME (LEN bytes) of inode INO valid: without '/' and zero bytes, not
 * empty, not "." or "..".
 */
void entrywalk_name_repair(struct entrywalk_name *out, const char *name,
			   uint8_t len, uint64_t ino);

/*
 * Changes NAME until its tag is not in TAGS, and adds the tag; with CHANGE,
 * changes it in any case.  TAGS is NULL if the directory has too many names to
 * know; then NAME gets a form that hardly any file has.  -ENOMEM.
 */
int entrywalk_name_find(struct entrywalk_name *name, struct context *cx,
			struct nameset *tags, bool change, uint64_t ino);

/* Flags of a directory: why it is rewritten, and its result. */
#define NAMEFIX_FIX_ENTRIES 0x01     /* types, ".", "..", its size */
#define NAMEFIX_LOSES_NAMES 0x02     /* names are removed or changed */
#define NAMEFIX_UNREADABLE 0x04      /* part of it cannot be read */
#define NAMEFIX_HAS_NAMES 0x08       /* it contains names */
#define NAMEFIX_NAME_IN_PLACE 0x10   /* its own name is in its place */
#define NAMEFIX_TO_DELETE 0x20       /* it will be deleted */
#define NAMEFIX_TO_LOST_FOUND 0x40   /* it goes into the lost+found directory */
#define NAMEFIX_BAD_NAME 0x80        /* a name in it must be changed */
#define NAMEFIX_REPAIR_REFUSED 0x100 /* types, "." and ".." stay unchanged */
#define NAMEFIX_IS_DIRECTORY 0x200   /* its "." or a name shows that it is a directory */

/* Index of a lost+found directory created by this repair. */
#define NAMEFIX_NEW_LOST_FOUND (UINT32_MAX - 1)

/* Topics of notes.  Only the first notes of each are printed; the others are
   counted. */
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
	uint32_t dir; /* index of the directory */
	uint32_t at;  /* offset of the name in `add_text`, with room for its tag */
	uint8_t len;
};

/* An entry whose inode is to be changed. */
struct namefix_target {
	uint32_t dir, offset; /* index of the directory; byte in the block */
	uint64_t blkoff, ino; /* 0: remove the entry */
};

/* A block of a directory with the content that another checkpoint proves. */
struct namefix_copy {
	uint64_t vblocknr;
	void *content;
};

struct namefix {
	struct fixer_job *job;
	struct snapblocks *snap; /* for a snapshot: the blocks to be written; or NULL */
	char prefix[40];	 /* prefix of notes: the snapshot */
	struct names n;		 /* inodes, directories, tags of names */
	struct nearcps nearby;	 /* the other checkpoints, nearest first */
	struct root then;	 /* root of the last one read */
	uint64_t ndangling;	 /* entries without an inode */
	/* Number of inodes without a name at first, and the last one. */
	size_t nmissed;
	uint64_t missed;
	uint16_t *flags; /* one per directory */
	/* Directories that another directory names, but not first: index << 32
	   | index of the other; ascending in the end. */
	uint64_t *others;
	size_t nothers, others_room;
	struct namefix_add *adds; /* ordered by directory in the end */
	size_t nadds, adds_room, add_used, add_room;
	char *add_text;
	/* The directory for unnamed inodes; in a snapshot, the root. */
	bool lost_needed;
	uint32_t lost_dir; /* its index, NAMEFIX_NEW_LOST_FOUND if made by this repair */
	uint32_t lost_subdirs; /* subdirectories to be added to it */
	uint64_t lost_ino;
	struct namefix_target *targets; /* ascending */
	size_t ntargets, targets_room, nasked;
	size_t next_target, next_add; /* for the directory being written */
	struct namefix_copy *copies; /* read in place of these blocks */
	size_t ncopies, copies_room;
	/* The names of the directory for which names were found last. */
	struct nameset found_tags;
	size_t found_dir; /* its index, ndirs: none yet */
	bool found_known; /* all of them are known */
	/* Names may be removed.  Otherwise, after damage that loses names,
	   links are unknown, and only certain errors are repaired. */
	bool lossy;
	/* Blocks of the snapshot are also in the newest checkpoint, which is
	   repaired first. */
	bool waits;
	uint64_t noted[NAMEFIX_NOTE_COUNT];
};

/* As fixers_note(), for the first notes of TOPIC. */
void namefix_note(struct namefix *f, enum namefix_topic topic, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

/* Notes the number of omitted notes of each topic. */
void namefix_note_rest(struct namefix *f);

/* The content that namecopies_find() found for block VBLOCKNR, or NULL. */
const void *namefix_copy_of(const struct namefix *f, uint64_t vblocknr);

/*
 * Starts a walk over block ITEM of a directory, with content DATA, that of its
 * copy, or as changed by the repair of another snapshot: 1; 0 if it could not be
 * read, by ERR; or ERR.
 */
int namefix_walk(struct namefix *f, struct context *cx,
		 const struct blockbatch_item *item, const void *data, int err,
		 struct entrywalk *walk);

/* Sets FLAG: names are removed or changed if directory number DIR is rewritten. */
void namefix_mark_loss(struct namefix *f, size_t dir, unsigned int flag);

/* The inode for the ".." of directory number DIR. */
uint64_t namefix_parent(const struct namefix *f, size_t dir);

/* Links minus names of an inode in use that is not a directory.  The inode
   misses names if this is positive. */
int namefix_missing_names(const struct inodelist_row *row);

/* Whether the inode misses names and has none.  Inodes made by mkfs do not count. */
bool namefix_is_unnamed(const struct inodelist_row *row);

/* Whether directory number DIR is worth keeping and has no parent. */
bool namefix_is_orphaned(struct namefix *f, size_t dir);

/* Whether any inode has too few or too many names, or any directory has no parent. */
bool namefix_has_missed(struct namefix *f);

/* Adds the tags of the names that stay in directory number DIR to TAGS: 1, 0 if
   there are too many. */
int namefix_tags(struct namefix *f, struct context *cx, size_t dir,
		 struct nameset *tags);

/*
 * Handles NAME (LEN bytes) of inode INO, in ROW, which was found in the current
 * or an old version of directory number DIR: if the inode misses a name, it is
 * added.  For a file that has a name, a name that is in use is not added,
 * because it may be its own.
 */
int namefix_take_found(struct namefix *f, struct context *cx, size_t dir,
		       const struct inodelist_row *row, uint64_t ino,
		       const char *name, uint8_t len);

/* Reads all directories: counts the names of inodes, finds parents, and marks
   the directories to be rewritten. */
int namescan_run(struct namefix *f, struct context *cx);

/* If inodes miss names, reads the directories again, looks for these names in
   unusual places, and adds those found. */
int namescan_search(struct namefix *f, struct context *cx);

/*
 * For each directory that cannot be read completely or loses names: reads it in
 * other checkpoints, from the nearest on, while inodes miss names, and adds the
 * names of these.
 */
int othernames_add_missing(struct namefix *f, struct context *cx);

/*
 * Finds entries that lead to an inode with more names than links, or to none,
 * and that led to an unnamed inode in another checkpoint.  Adds them, and
 * entries to be removed, to F->targets, and updates the counts of names.
 */
int othernames_redirect_entries(struct namefix *f, struct context *cx);

/*
 * Looks, for each block of a directory that has one of the N FIXES, for a copy in
 * an earlier checkpoint.  If the inode of the directory is the same there, times
 * included, so are its blocks.  Call before the names are read.
 */
int namecopies_find(struct namefix *f, struct context *cx,
		    const struct finding *fixes, size_t n);

/* Starts the search below with the nearest checkpoints. */
void othernames_begin(struct namefix *f);

/* Reads block ITEM in the next checkpoint whose directory has another block
   there: 1, that directory in *FILE, and *BLOCK, to be returned; or 0. */
int othernames_next_block(struct namefix *f, struct context *cx,
			  const struct blockbatch_item *item, struct file *file,
			  const void **block);

/* Sets NAME to the name of inode INO in directory DIR in the nearest other
   checkpoint: 1, 0 if none has it. */
int othernames_find_name(struct namefix *f, struct context *cx, uint64_t dir,
			 uint64_t ino, struct entrywalk_name *name);

/* Adds NAME (LEN bytes) of INO to directory number DIR. */
int namefix_add(struct namefix *f, struct context *cx, uint32_t dir,
		uint64_t ino, const char *name, uint8_t len);

/* Counts a name of INO, in ROW, which is not the root, in directory number DIR.
   If INO is a directory, DIR may become its parent. */
int parents_name(struct namefix *f, struct context *cx, size_t dir,
		 const struct inodelist_row *row, uint64_t ino);

/* Call after all names: of several parents, chooses the one that ".." refers
   to, else the first. */
void parents_choose(struct namefix *f);

/* Gives one directory of each loop another parent, or none. */
int parents_break_loops(struct namefix *f, struct context *cx);

/* Call after all names are known: decides which inodes go into lost+found and
   which directory that is, and allocates an inode for it if necessary. */
int parents_settle_lost(struct namefix *f, struct context *cx);

/*
 * Writes directory number DIR, or the new lost+found directory
 * (NAMEFIX_NEW_LOST_FOUND), with the readable names that stay and the names
 * added.  In a snapshot, its existing blocks are changed.
 */
int dirwrite_run(struct namefix *f, struct context *cx, size_t dir);

#endif
