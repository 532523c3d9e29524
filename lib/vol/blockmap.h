/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block maps: the block of the disk, or the virtual block, that holds block n of a
 * file.
 *
 * A map is used in two ways: to find one block (a lookup), and to list blocks in
 * order (a cursor).  A cursor needs one block per level and ends on any tree: the
 * keys of each node must be in the range given by its parent, so no node is entered
 * twice.
 */
#ifndef NILFS2_VOL_BLOCKMAP_H
#define NILFS2_VOL_BLOCKMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/bmap.h"
#include "disk/ondisk.h"

struct volume;

struct blockmap {
	struct volume *vol;
	uint64_t ino;		/* for messages */
	bool physical;		/* the DAT: pointers are disk blocks */
	le64 root[NILFS_INODE_BMAP_SIZE];	/* a copy of i_bmap */
	enum rule broken;	/* the rule that the root breaks, or RULE_OK */
};

/*
 * Initializes the map of inode INO, whose raw inode is INODE.  -EUCLEAN for a root that
 * nilfs_bmap_read() would refuse; all other functions then fail with -EUCLEAN, too.
 */
int blockmap_init(struct blockmap *map, struct context *cx,
		  struct volume *vol, uint64_t ino,
		  const struct nilfs_inode *inode);

/*
 * Looks up file block KEY.  1 and the pointer (virtual, or physical for the
 * DAT) in *PTR, 0 for a hole, -EUCLEAN for a broken node, -EIO.  Follows
 * nilfs_bmap_lookup().
 */
int blockmap_lookup(const struct blockmap *map, struct context *cx,
		    uint64_t key, uint64_t *ptr);

/*
 * Looks up the block at LEVEL on the path to KEY: 0 is the data block, other levels
 * are nodes.  Returns 0 if the map has no such block.  Follows
 * nilfs_bmap_lookup_at_level().
 */
int blockmap_lookup_at_level(const struct blockmap *map, struct context *cx,
			     uint64_t key, unsigned int level, uint64_t *ptr);

/* A pointer of the map: to a data block (level 0) or to a node. */
struct blockmap_item {
	uint64_t key;		/* first file block below it */
	uint64_t ptr;		/* as stored */
	unsigned int level;	/* 0 data, else the level of the node */
};

struct blockmap_level {
	const void *block;	/* borrowed from the cache */
	struct bmap_node node;
	unsigned int index;	/* next child to visit */
	uint64_t end;		/* all keys are below this */
};

/* Only the levels from LEVEL to TOP of the path are set. */
struct blockmap_cursor {
	const struct blockmap *map;	/* NULL: closed */
	bool nodes;			/* yield pointers to nodes as well */
	bool entered;			/* the child at the index was yielded */
	uint64_t floor;		/* lower bound of the next key */
	unsigned int level;		/* current level */
	unsigned int top;		/* level of the root, 0: direct */
	struct blockmap_level path[NILFS_BTREE_LEVEL_MAX];
};

/*
 * Starts at the first data block with a key >= KEY.  With NODES, each node on the
 * way is yielded before the blocks below it; nodes with smaller keys only are not.
 */
int blockmap_cursor_open(struct blockmap_cursor *cur, struct context *cx,
			 const struct blockmap *map, uint64_t key, bool nodes);

/*
 * Steps: 1 and *ITEM, 0 at the end, -EUCLEAN or -EIO.  Keys of data blocks ascend from
 * the KEY of the open; other keys are -EUCLEAN.
 */
int blockmap_cursor_next(struct blockmap_cursor *cur, struct context *cx,
			 struct blockmap_item *item);

/* Skips the blocks below the node that was yielded last. */
void blockmap_cursor_skip(struct blockmap_cursor *cur);

/*
 * Skips the next data blocks that A and B have in common, with the same pointers, as
 * far as the current nodes extend.
 */
void blockmap_cursor_skip_same(struct blockmap_cursor *a,
			       struct blockmap_cursor *b);

/*
 * Skips the data blocks that follow KEY, the key yielded last, without a gap, as far as
 * the current node extends.  Returns the last key skipped, or KEY.
 */
uint64_t blockmap_cursor_skip_row(struct blockmap_cursor *cur, uint64_t key);

/* Releases the borrowed nodes; may also be called after a failed open. */
void blockmap_cursor_close(struct blockmap_cursor *cur);

/*
 * Finds the first pointer of MAP, with NODES also to a node, that is one of the N
 * ascending NUMBERS: 1 and *ITEM, or 0.  Fails as blockmap_cursor_next(); -EINTR.
 */
int blockmap_find_pointer(const struct blockmap *map, struct context *cx,
			  const uint64_t *numbers, size_t n, bool nodes,
			  struct blockmap_item *item);

/*
 * Translates a pointer of the map to a disk block: itself for the DAT,
 * otherwise through the DAT.
 */
int blockmap_resolve(const struct blockmap *map, struct context *cx,
		     uint64_t ptr, uint64_t *blocknr);

/*
 * Borrows the block of pointer PTR of the map from the volume's cache; release it with
 * cache_put().  *DATA is NULL if PTR is 0 or after a failure.  -EUCLEAN, -EIO, -ENOMEM.
 */
int blockmap_borrow(const struct blockmap *map, struct context *cx,
		    uint64_t ptr, const void **data);

/*
 * Reads level and first key of the node in block BLOCKNR of VOL.  Logs do not record
 * the place of a node in its map.  1; 0 if the block is not a node or has no
 * children; -EIO, -ENOMEM.
 */
int blockmap_identify(struct volume *vol, struct context *cx, uint64_t blocknr,
		      unsigned int *level, uint64_t *key);

#endif
