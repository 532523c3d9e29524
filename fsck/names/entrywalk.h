/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of a directory block, what a repair makes of each, and names for
   what needs another one. */
#ifndef NILFS2_FSCK_ENTRYWALK_H
#define NILFS2_FSCK_ENTRYWALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "check/inodes/inodelist.h"
#include "check/names/nameset.h"
#include "disk/dirent.h"
#include "disk/ondisk.h"

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
 * Where that ends which ENTRY needs; what follows up to its length may hide
 * others, and so may all of one that makes no sense.
 */
uint32_t entrywalk_end(const struct entrywalk_entry *entry);

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

#endif
