/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inodes of one checkpoint, a few bytes each.  Directory entries are
 * compared with them, and their names are counted.
 */
#ifndef NILFS2_CHECK_INODELIST_H
#define NILFS2_CHECK_INODELIST_H

#include "base/context.h"
#include "check/blockbatch.h"
#include "disk/ondisk.h"
#include "vol/root.h"

#define INODELIST_CHUNK_BITS 9
#define INODELIST_CHUNK (1u << INODELIST_CHUNK_BITS)

/* Kind of an inode: its type in directory entries, and flags. */
#define INODELIST_TYPE 0x0f	/* NILFS_FT_..., NILFS_FT_UNKNOWN if invalid */
#define INODELIST_REFUSED 0x10	/* the user refused its repair */
#define INODELIST_MKFS 0x20	/* mkfs.nilfs2 may have left it unnamed */
#define INODELIST_EXISTS 0x40	/* has links, or a bit in the bitmap */
#define INODELIST_ALLOCATED 0x80	/* has a bit in the bitmap */

/* Inodes with consecutive numbers from FIRST on. */
struct inodelist_chunk {
	uint64_t first;
	uint16_t links[INODELIST_CHUNK];	/* link count of the inode */
	uint16_t names[INODELIST_CHUNK];	/* names found, saturating */
	uint8_t kind[INODELIST_CHUNK];		/* INODELIST_... flags; 0: no inode */
	bool touched;	/* an inode or its count of names was changed */
};

#define INODELIST_UNKNOWN 0u
#define INODELIST_NONE UINT64_MAX	/* no ".." entry */

/*
 * The second entry of a directory may lead to a directory and have another name
 * than "..".  It is a damaged ".." if it leads to the parent, else a name.
 * That is known after all directories were read.
 */
struct inodelist_dir {
	uint64_t ino;		/* first: the sort key */
	uint64_t dotdot;	/* target of "..", or a value above */
	uint32_t parent;	/* index of the first directory that names it
				   + 1, or 0 */
	uint32_t subdirs : 30;	/* directories whose parent is this one */
	uint32_t second_open : 1;	/* DOTDOT is of a second entry not
					   decided yet */
	uint32_t second_is_name : 1;	/* the second entry is a name */
};

/* Size and map of a directory. */
struct inodelist_map {
	le64 size;
	le64 bmap[NILFS_INODE_BMAP_SIZE];
};

/* How an inode differs from that of the checkpoint examined before. */
struct inodelist_change {
	uint64_t ino;		/* first field */
	uint16_t links;
	uint8_t before, kind;	/* kinds; 0: no inode */
	bool map;		/* a directory with another map or size */
	bool kept;		/* some of its blocks are the same */
};

static inline bool inodelist_is_dir(uint8_t kind)
{
	return (kind & INODELIST_TYPE) == NILFS_FT_DIR;
}

#define INODELIST_MAPS_SHARE 8	/* share of the memory budget for maps */

/* All zero is an empty list. */
struct inodelist {
	struct inodelist_chunk **chunks;	/* ascending by number */
	size_t nchunks, chunks_room;
	size_t last;			/* the chunk found last */
	struct inodelist_dir *dirs;	/* ascending by number */
	size_t ndirs, dirs_room;
	struct inodelist_map *maps;	/* maps of the first directories */
	size_t nmaps, maps_room;
};

/* Position of an inode in a list; valid until the next add. */
struct inodelist_row {
	struct inodelist_chunk *chunk;	/* NULL: none */
	unsigned int at;
};

/*
 * Adds INODE, of number INO, greater than all before, and of KIND; a directory
 * also to the table of directories.  -ENOMEM if the memory budget is exceeded.
 */
int inodelist_add(struct inodelist *list, struct context *cx, uint64_t ino,
		  uint8_t kind, const struct nilfs_inode *inode);

/* The row of INO, which may be any number. */
struct inodelist_row inodelist_find(struct inodelist *list, uint64_t ino);

/* The next inode from position *NEXT on, which is 0 at first and is advanced,
   in *ROW: false at the end. */
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

/* Whether the second entry of DIR, if undecided, leads to its parent. */
bool inodelist_second_is_parent(const struct inodelist *list,
				const struct inodelist_dir *dir);

/* The index of the first directory with a number from INO on, or list->ndirs. */
size_t inodelist_first_dir(const struct inodelist *list, uint64_t ino);

/*
 * Updates LIST from the checkpoint before to the one that differs in the COUNT
 * inodes CHANGES, ascending.  Counts of names are not updated, and the maps of
 * directories are removed.  After -ENOMEM, LIST can only be passed to
 * inodelist_clear().
 */
int inodelist_apply(struct inodelist *list, struct context *cx,
		    const struct inodelist_change *changes, size_t count);

/* Marks all chunks as not touched, and frees those without an inode. */
void inodelist_settle(struct inodelist *list);

/* Empties the list and keeps its memory. */
void inodelist_clear(struct inodelist *list);
void inodelist_fini(struct inodelist *list);

/*
 * Fills LIST, which is empty, with the inodes of ROOT that entries can refer
 * to.  *WHOLE is whether all of the ifile could be read; if not, the failure
 * text gives the reason.  -ENOMEM, -EINTR.
 */
int inodelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole);

/*
 * The kind of INODE, number INO of VOL, for a list; 0 if entries cannot refer
 * to it.
 */
uint8_t inodelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated);

/* The blocks of a directory. */
struct inodelist_blocks {
	uint64_t size;		/* size of the inode, in bytes */
	uint64_t expected;	/* number of blocks by the size */
	struct blockbatch_map map;	/* those found in the requested range */
};

/*
 * Adds the blocks of directory number DIR of LIST, the inodes of ROOT, to
 * BATCH, with DIR as owner, and describes them in *BLOCKS.  With ALL, blocks
 * after the size are added too, because the size may be wrong.  A broken map is
 * not a failure.  -ENOMEM, -EINTR, or a failure of the batch.
 */
int inodelist_add_blocks(struct root *root, struct context *cx,
			 const struct inodelist *list, size_t dir, bool all,
			 struct blockbatch *batch,
			 struct inodelist_blocks *blocks);

/*
 * Calls TAKE for all blocks of directories FROM up to, not including, END of
 * LIST, including blocks after the size.  -ENOMEM, -EINTR, or a failure of
 * TAKE.
 */
int inodelist_read_dirs(struct root *root, struct context *cx,
			const struct inodelist *list, size_t from, size_t end,
			blockbatch_take *take, void *arg);

/*
 * Whether an entry for INODE, number INO, has the right type TYPE
 * (NILFS_FT_...) and the inode a wrong one: content, permissions or blocks must
 * agree with TYPE.  1; 0 also if the content cannot be read or other fields of
 * the inode are invalid.  -ENOMEM, -EINTR.
 */
int inodelist_is_mistyped(struct volume *vol, struct context *cx, uint64_t ino,
			  const struct nilfs_inode *inode, uint8_t type);

/* Whether the first block of INODE, number INO, begins with an entry "." for
   itself, as that of a directory, whatever its type: 1, 0, -EUCLEAN, -EIO. */
int inodelist_is_directory(struct volume *vol, struct context *cx, uint64_t ino,
			   const struct nilfs_inode *inode);

#endif
