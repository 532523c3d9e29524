/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block maps: which block of the disk, or which virtual block, holds block n of
 * a file.
 *
 * A map is used in two ways: to find one block (a lookup), and to list blocks
 * in order (a cursor).  A cursor needs one block per level and ends on any
 * tree, because each node must keep to the range of keys its parent gives it,
 * so none is entered twice.
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
	enum rule broken;	/* what is wrong with the root */
};

/*
 * Prepares the map of inode INO, whose raw inode is INODE.  -EUCLEAN for a root
 * that nilfs_bmap_read() would refuse; all other functions then fail with it,
 * too.
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
 * The same for the block at LEVEL on the path to KEY: 0 the data block, else
 * the node of that level; 0 if the map has none.  Follows
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
	uint64_t end;		/* keys stay below this */
};

/* Of the path only the levels from LEVEL to TOP are set. */
struct blockmap_cursor {
	const struct blockmap *map;	/* NULL: closed */
	bool nodes;			/* yield pointers to nodes as well */
	bool entered;			/* the child at the index was yielded */
	uint64_t floor;		/* no key that comes next is below it */
	unsigned int level;		/* where the cursor stands */
	unsigned int top;		/* level of the root, 0: direct */
	struct blockmap_level path[NILFS_BTREE_LEVEL_MAX];
};

/*
 * Starts at the first data block with a key >= KEY.  With NODES, nodes are
 * yielded before what is below them (those left of KEY are not).
 */
int blockmap_cursor_open(struct blockmap_cursor *cur, struct context *cx,
			 const struct blockmap *map, uint64_t key, bool nodes);

/*
 * Steps: 1 and *ITEM, 0 at the end, -EUCLEAN or -EIO.  Keys of data blocks
 * ascend and are not below that of the open; other keys are -EUCLEAN.
 */
int blockmap_cursor_next(struct blockmap_cursor *cur, struct context *cx,
			 struct blockmap_item *item);

/* Passes over what is below the node that was yielded last. */
void blockmap_cursor_skip(struct blockmap_cursor *cur);

/*
 * Passes over the data blocks that come next in both A and B, with the same
 * pointers, as far as the nodes in memory go.
 */
void blockmap_cursor_skip_same(struct blockmap_cursor *a,
			       struct blockmap_cursor *b);

/*
 * Passes over the data blocks that follow KEY, the one yielded last, without a
 * gap, as far as the present node goes: the last of these, or KEY.
 */
uint64_t blockmap_cursor_skip_row(struct blockmap_cursor *cur, uint64_t key);

/* Gives the borrowed nodes back; also fine after a failed open. */
void blockmap_cursor_close(struct blockmap_cursor *cur);

/*
 * The first pointer of MAP, with NODES also to a node, that is one of the N
 * ascending NUMBERS: 1 and *ITEM, 0.  Fails as blockmap_cursor_next(); -EINTR.
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
 * Borrows the block that pointer PTR of the map leads to from the volume's
 * cache, to be given back with cache_put(); *DATA is NULL where PTR is 0 or
 * after a failure.  -EUCLEAN, -EIO, -ENOMEM.
 */
int blockmap_borrow(const struct blockmap *map, struct context *cx,
		    uint64_t ptr, const void **data);

/*
 * Level and first key of the node in block BLOCKNR of VOL, whose place in its
 * map is not known, as logs do not have it: 1; 0 where the block is no node, or
 * one without children; -EIO, -ENOMEM.
 */
int blockmap_identify(struct volume *vol, struct context *cx, uint64_t blocknr,
		      unsigned int *level, uint64_t *key);

#endif
