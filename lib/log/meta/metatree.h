/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block map of a metadata file, changed one block after another. */
#ifndef NILFS2_LOG_METATREE_H
#define NILFS2_LOG_METATREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "log/meta/metablocks.h"
#include "log/meta/metafile.h"

/* The bit of a provisional pointer; no device has such a block. */
#define METATREE_PROVISIONAL (1ull << 63)

struct metatree {
	const struct metafile_env *env;
	struct metablocks blocks;
	uint64_t ino;
	uint64_t nblocks;	/* of the file, nodes included */
	uint64_t opened;	/* as many as it was opened with */
	uint32_t odd;		/* sectors of i_blocks that make no block */
	uint64_t serial;	/* of the last provisional pointer */
	uint32_t block_size;
	enum metafile_kind kind;
	le64 root[NILFS_INODE_BMAP_SIZE];
};

/*
 * The map that INODE has, NULL: an empty one.  -EUCLEAN for a root that
 * nilfs_bmap_read() would refuse, or pointers no device has.
 */
int metatree_init(struct metatree *t, struct context *cx,
		  const struct metafile_env *env, uint32_t block_size,
		  uint64_t ino, enum metafile_kind kind,
		  const struct nilfs_inode *inode);
void metatree_fini(struct metatree *t);

/* Whether PTR is a block of the DAT without a position. */
static inline bool metatree_is_provisional(const struct metatree *t,
					   uint64_t ptr)
{
	return t->kind == METAFILE_DAT && ptr & METATREE_PROVISIONAL;
}

/* Pointer of the data block KEY: 1, 0 for a hole, -EUCLEAN, or a read's. */
int metatree_lookup(struct metatree *t, struct context *cx, uint64_t key,
		    uint64_t *ptr);

/*
 * The new pointer of data block KEY, which exists, is clean and will be
 * changed.  Follows nilfs_bmap_propagate().
 */
int metatree_renew(struct metatree *t, struct context *cx, uint64_t key,
		   uint64_t *ptr);

/*
 * Marks the node of LEVEL above KEY to be written again unchanged.  Follows
 * nilfs_bmap_mark().
 */
int metatree_touch(struct metatree *t, struct context *cx, unsigned int level,
		   uint64_t key);

/* Whether there are nodes of LEVEL below the root. */
bool metatree_has_nodes(struct metatree *t, unsigned int level);

/* Data block KEY comes in place of a hole.  Follows nilfs_bmap_insert(). */
int metatree_insert(struct metatree *t, struct context *cx, uint64_t key,
		    uint64_t *ptr);

/* The same with a pointer that a block has already. */
int metatree_adopt(struct metatree *t, struct context *cx, uint64_t key,
		   uint64_t ptr);

/*
 * Block B of the DAT (LEVEL, KEY: the first one below a node) will be at
 * BLOCKNR.  Follows nilfs_bmap_assign(), for all the DAT's own blocks.
 */
int metatree_place(struct metatree *t, struct context *cx, struct metablock *b,
		   unsigned int level, uint64_t key, uint64_t blocknr);

#endif
