/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Directories: their entries in order, lookup of a name, resolution of a path.
 */
#ifndef NILFS2_VOL_DIR_H
#define NILFS2_VOL_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/dirent.h"
#include "vol/blockscan.h"
#include "vol/root.h"

struct dir_entry {
	uint64_t ino;
	uint8_t type;			/* NILFS_FT_*, as stored */
	uint8_t len;			/* of the name */
	char name[NILFS_NAME_LEN + 1];	/* any bytes, NUL after them */
};

/* Whether it is "." or "..". */
static inline bool dir_is_dots(const struct dir_entry *entry)
{
	return entry->name[0] == '.' &&
	       (entry->len == 1 || (entry->len == 2 && entry->name[1] == '.'));
}

struct dir_cursor {
	struct blockscan scan;
	struct dirent_iter iter;	/* of the borrowed block, if any */
	bool at_broken_block;		/* cause of the last failure */
	bool skipped;			/* dir_cursor_next_sound() skipped a block */
};

/* A place in a directory, to be kept while no block is borrowed. */
struct dir_position {
	uint64_t blkoff;
	uint32_t offset;	/* bytes in the block */
};

/* Starts at the first entry of directory FILE (borrowed). */
int dir_cursor_open(struct dir_cursor *cur, struct context *cx,
		    struct file *file);

/*
 * Saves the position of an open cursor after an entry that it yielded, and opens a
 * cursor there again (all zero: the beginning).
 */
void dir_cursor_save(const struct dir_cursor *cur,
		     struct dir_position *position);
int dir_cursor_open_at(struct dir_cursor *cur, struct context *cx,
		       struct file *file,
		       const struct dir_position *position);

/*
 * Steps over the entries in use, including "." and "..": 1 and *ENTRY, 0 at the end,
 * -EUCLEAN for a damaged block (nilfs_check_page), -EIO.  If `at_broken_block` is
 * set, the next step continues after that block; after any other failure the cursor
 * must be closed.
 */
int dir_cursor_next(struct dir_cursor *cur, struct context *cx,
		    struct dir_entry *entry);

/* The same, but skips the entries of damaged blocks: 1, 0, -EIO, -ENOMEM. */
int dir_cursor_next_sound(struct dir_cursor *cur, struct context *cx,
			  struct dir_entry *entry);
void dir_cursor_close(struct dir_cursor *cur);

/* The inode number of NAME (LEN bytes) in FILE; -ENOENT, -EUCLEAN, -EIO. */
int dir_lookup(struct file *file, struct context *cx, const char *name,
	       size_t len, uint64_t *ino);

/*
 * The inode number at PATH, from the root directory of ROOT or, of a PATH as
 * "<NUMBER>/a/b", from that inode, which may be missing if nothing follows; symbolic
 * links are not followed.  -ENOENT, -ENOTDIR, -EUCLEAN, -EIO.
 */
int dir_resolve(struct root *root, struct context *cx, const char *path,
		uint64_t *ino);

#endif
