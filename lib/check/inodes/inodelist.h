/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inodes of one checkpoint, a few bytes each: directory entries are
 * compared with them, and names counted.
 */
#ifndef NILFS2_CHECK_INODELIST_H
#define NILFS2_CHECK_INODELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/blockbatch.h"
#include "disk/ondisk.h"
#include "vol/root.h"

#define INODELIST_CHUNK_BITS 9
#define INODELIST_CHUNK (1u << INODELIST_CHUNK_BITS)

/* An inode's type as its directory entries have it, and where it stands. */
#define INODELIST_TYPE 0x0f	/* NILFS_FT_..., NILFS_FT_UNKNOWN if invalid */
#define INODELIST_REFUSED 0x10	/* the user has declined its repair */
#define INODELIST_MKFS 0x20	/* mkfs.nilfs2 may have left it unnamed */
#define INODELIST_THERE 0x40	/* has links, or a bit in the bitmap */
#define INODELIST_ALLOCATED 0x80	/* has a bit in the bitmap */

/* Inodes of numbers that follow one another, from FIRST on. */
struct inodelist_chunk {
	uint64_t first;
	uint16_t links[INODELIST_CHUNK];	/* as the inode says */
	uint16_t names[INODELIST_CHUNK];	/* found, or the most */
	uint8_t kind[INODELIST_CHUNK];		/* 0: no inode */
	bool touched;	/* an inode or its count of names was changed */
};

#define INODELIST_UNKNOWN 0u
#define INODELIST_NONE UINT64_MAX	/* there is no ".." */

/*
 * The second entry of a directory may lead to a directory and have another
 * name than "..": a ".." with a damaged name if it leads to the parent, else
 * one of the names.  That is known after all directories were read.
 */
struct inodelist_dir {
	uint64_t ino;
	uint64_t dotdot;	/* what ".." names, or one of these */
	uint32_t parent;	/* index of the first to name it + 1, or 0 */
	uint32_t subdirs : 30;	/* directories first named by this one */
	uint32_t second_open : 1;	/* DOTDOT is that of such an entry */
	uint32_t second_is_name : 1;	/* such an entry is a name */
};

/* Where the blocks of a directory are. */
struct inodelist_map {
	le64 size;
	le64 bmap[NILFS_INODE_BMAP_SIZE];
};

/* How an inode differs from that of the checkpoint examined before. */
struct inodelist_change {
	uint64_t ino;
	uint16_t links;
	uint8_t before, kind;	/* kinds; 0: no inode */
	bool map;		/* a directory whose map or size differs */
	bool kept;		/* of its blocks some are the same */
};

static inline bool inodelist_is_dir(uint8_t kind)
{
	return (kind & INODELIST_TYPE) == NILFS_FT_DIR;
}

#define INODELIST_MAPS_SHARE 8	/* of the memory budget, for maps */

/* All zero is the empty list. */
struct inodelist {
	struct inodelist_chunk **chunks;	/* by number, ascending */
	size_t nchunks, chunks_room;
	size_t last;			/* the chunk found last */
	struct inodelist_dir *dirs;	/* by number, ascending */
	size_t ndirs, dirs_room;
	struct inodelist_map *maps;	/* of the first directories */
	size_t nmaps, maps_room;
};

/* An inode of a list: chunk and place in it; valid until the next add. */
struct inodelist_row {
	struct inodelist_chunk *chunk;	/* NULL: none */
	unsigned int at;
};

/* Adds INODE, of number INO, greater than all before, and of KIND; a directory
   also to the table of directories.  -ENOMEM past the memory budget. */
int inodelist_add(struct inodelist *list, struct context *cx, uint64_t ino,
		  uint8_t kind, const struct nilfs_inode *inode);

/* The row of INO, which may be any number. */
struct inodelist_row inodelist_find(struct inodelist *list, uint64_t ino);

/* The next inode, in *ROW, from the row *NEXT on, which is 0 at first and moves
   on: false at the end. */
static inline bool inodelist_next(const struct inodelist *list, size_t *next,
				  struct inodelist_row *row)
{
	for (; *next < list->nchunks << INODELIST_CHUNK_BITS; ++*next) {
		row->chunk = list->chunks[*next >> INODELIST_CHUNK_BITS];
		row->at = *next % INODELIST_CHUNK;
		if (!row->chunk->kind[row->at])
			continue;
		++*next;
		return true;
	}
	return false;
}

/* The index of directory INO, or list->ndirs. */
size_t inodelist_find_dir(const struct inodelist *list, uint64_t ino);

/* Whether INO is a directory with links. */
bool inodelist_has_dir(struct inodelist *list, uint64_t ino);

/* True where the second entry of DIR, if it is open, leads to its parent. */
bool inodelist_second_is_parent(const struct inodelist *list,
				const struct inodelist_dir *dir);

/* The index of the first directory with a number from INO on, or list->ndirs. */
size_t inodelist_first_dir(const struct inodelist *list, uint64_t ino);

/*
 * Makes LIST, of the checkpoint before, that of the one in which the COUNT
 * inodes of CHANGES, ascending, differ.  Names are not counted here, and the
 * maps of directories are forgotten.  -ENOMEM, after which LIST is good for
 * inodelist_clear() only.
 */
int inodelist_apply(struct inodelist *list, struct context *cx,
		    const struct inodelist_change *changes, size_t count);

/* No chunk is touched any more; those without an inode are freed. */
void inodelist_settle(struct inodelist *list);

/* Empties it, but keeps its memory. */
void inodelist_clear(struct inodelist *list);
void inodelist_fini(struct inodelist *list);

/*
 * Fills LIST, which is empty, with the inodes of ROOT that entries can name.
 * *WHOLE says whether all of the ifile could be read; where not, the failure
 * text says why.  -ENOMEM, -EINTR.
 */
int inodelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole);

/*
 * The kind of INODE of VOL, number INO, in a list; 0 if entries cannot name it.
 */
uint8_t inodelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated);

/* The blocks of a directory, to be read. */
struct inodelist_blocks {
	uint64_t size;		/* bytes, as the inode says */
	uint64_t expected;	/* blocks, by the size */
	struct blockbatch_map map;	/* the requested ones that it has */
};

/*
 * Adds the blocks of directory number DIR of LIST, the inodes of ROOT, to
 * BATCH, with DIR as owner, and says in *BLOCKS which these are; with ALL also
 * those past the size, which may be what is wrong.  What breaks the map is no
 * failure; -ENOMEM, -EINTR, what the batch fails with.
 */
int inodelist_add_blocks(struct root *root, struct context *cx,
			 const struct inodelist *list, size_t dir, bool all,
			 struct blockbatch *batch,
			 struct inodelist_blocks *blocks);

/* Calls TAKE for the blocks of directories FROM up to, not including, END of
   LIST, those past the size too.  What TAKE fails with, -ENOMEM, -EINTR. */
int inodelist_read_dirs(struct root *root, struct context *cx,
			const struct inodelist *list, size_t from, size_t end,
			blockbatch_take *take, void *arg);

/*
 * Whether the type of INODE, number INO, is wrong, as an entry says TYPE
 * (NILFS_FT_...), another one, and content, permissions or blocks agree with
 * that: 1; 0 also where the content cannot be read, or other fields of the inode
 * are nonsense as well.  -ENOMEM, -EINTR.
 */
int inodelist_is_mistyped(struct volume *vol, struct context *cx, uint64_t ino,
			  const struct nilfs_inode *inode, uint8_t type);

/* Whether the first block of INODE, number INO, begins as that of a directory
   does, with "." for itself, whatever its type: 1, 0, -EUCLEAN, -EIO. */
int inodelist_is_directory(struct volume *vol, struct context *cx, uint64_t ino,
			   const struct nilfs_inode *inode);

#endif
