/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of inodes that the logs list and the DAT has where they do. */
#ifndef NILFS2_FSCK_FILEBLOCKS_H
#define NILFS2_FSCK_FILEBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/check.h"
#include "check/mapcheck.h"
#include "disk/bmap.h"
#include "disk/ondisk.h"

/* Of a block that is listed as a node and is none. */
#define PIECES_FORMLESS UINT8_MAX

struct piece {
	uint64_t ino;
	uint64_t key;		/* block of the file, of a node the first */
	uint64_t ptr;		/* virtual block */
	struct lifetime life;
	uint8_t level;		/* as the node says, 0: data */
};

/* Ascending by inode, level and key.  All zero is empty. */
struct fileblocks {
	struct piece *list;
	size_t n, room;
	bool partial;		/* the DAT cannot be read for some */
};

/*
 * Gathers those of the N inodes INOS, which ascend.  C's volume has the DAT.
 * Memory follows the number of their blocks: -EFBIG past the budget, -ENOMEM,
 * -EINTR.  fileblocks_fini() in any case.
 */
int fileblocks_gather(struct fileblocks *p, struct context *cx, const struct check *c,
		  const uint64_t *inos, size_t n);
void fileblocks_fini(struct fileblocks *p);

/* Index of the first piece of INO and LEVEL from KEY on, or of what follows. */
size_t fileblocks_from(const struct fileblocks *p, uint64_t ino, unsigned int level,
		   uint64_t key);

/* Whether virtual block PTR is listed as what is at KEY of LEVEL in INO. */
bool fileblocks_has(const struct fileblocks *p, uint64_t ino, unsigned int level,
		uint64_t key, uint64_t ptr);

/* Whether any but SELF is at [KEY, END) of LEVEL in its inode while it
   lives. */
bool fileblocks_has_other(const struct fileblocks *p, const struct piece *self,
		      unsigned int level, uint64_t key, uint64_t end);

/* Puts them in order again, after a change. */
void fileblocks_settle(struct fileblocks *p);

/*
 * Makes BLOCK what SELF, a node whose keys stay below END, leads to: what all
 * of its life has.  False where the pieces do not make one node.
 */
bool fileblocks_node(const struct fileblocks *p, const struct piece *self,
		 uint64_t end, uint32_t block_size, void *block);

/* A map, by what all of a life has. */
struct fileblocks_root {
	le64 map[NILFS_INODE_BMAP_SIZE];	/* leads to the highest level */
	uint64_t blocks;	/* how many, nodes too */
	uint64_t end;		/* past the last of data */
	bool any_data;		/* of whatever life */
	bool twice;		/* two are at the same place: the later counts */
};

/*
 * Makes ROOT the map of INO that lives for LIFE, empty where it has no block;
 * false where the pieces do not make one map.
 */
bool fileblocks_root(const struct fileblocks *p, uint64_t ino,
		 const struct lifetime *life, struct fileblocks_root *root);

/* The pointers of MAP as a node, of a direct one in BUF; false where it is
   none. */
bool fileblocks_read_map(const le64 *map, struct bmap_node *node,
		     le64 buf[2 * NILFS_DIRECT_NBLOCKS]);

/*
 * The map of inode INO in checkpoint CNO of C's volume, whose DAT must be
 * sound: 1 and in *INODE the map and the count of blocks, in *END one past the
 * last block of data; 0 where the blocks do not make one map.  P has the pieces
 * of INO, or is NULL: the logs are read.  -ENOMEM, -EINTR.
 */
int fileblocks_map(const struct check *c, struct context *cx,
	       const struct fileblocks *p, uint64_t ino, uint64_t cno,
	       struct nilfs_inode *inode, uint64_t *end);

/*
 * The entry of checkpoint CNO, with the map of its ifile, with counts of 0 that
 * a check corrects, and no snapshot.  As fileblocks_map().
 */
int fileblocks_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      struct nilfs_checkpoint *cp);

/* Whether A lives as long as B. */
static inline bool lifetime_contains(const struct lifetime *a,
				     const struct lifetime *b)
{
	return a->start <= b->start && a->end >= b->end;
}

#endif
