/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block map of a metadata file, changed one block after another, and paths
 * through it: what metafile.c, metatree.c, metapath.c and metacut.c share.
 */
#ifndef NILFS2_LOG_METATREE_H
#define NILFS2_LOG_METATREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/bmap.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "log/meta/bmapnode.h"
#include "log/meta/metablocks.h"
#include "log/meta/metafile.h"

/* The bit of a provisional pointer; no device has such a block. */
#define METATREE_PROVISIONAL (1ull << 63)

struct metafile {
	const struct metafile_env *env;
	struct metablocks blocks;
	struct metablock *last;	/* changed last, still dirty; or NULL */
	bool kept;	/* blocks came that are not dirty, or have gone */
	uint64_t ino;
	uint64_t nblocks;	/* of the file, nodes included */
	uint64_t opened;	/* as many as it was opened with */
	uint32_t odd;		/* sectors of i_blocks that make no block */
	uint64_t serial;	/* of the last provisional pointer */
	uint32_t block_size;
	enum metafile_kind kind;
	le64 root[NILFS_INODE_BMAP_SIZE];
};

/* Whether PTR is a block of the DAT without a position. */
static inline bool metatree_is_provisional(const struct metafile *m,
					   uint64_t ptr)
{
	return m->kind == METAFILE_DAT && ptr & METATREE_PROVISIONAL;
}

/* Pointer of the data block KEY: 1, 0 for a hole, -EUCLEAN, or a read's. */
int metatree_lookup(struct metafile *m, struct context *cx, uint64_t key,
		    uint64_t *ptr);

/*
 * The new pointer of data block KEY, which exists, is clean and will be
 * changed.  Follows nilfs_bmap_propagate().
 */
int metatree_renew(struct metafile *m, struct context *cx, uint64_t key,
		   uint64_t *ptr);

/*
 * Data block KEY comes with pointer PTR in place of a hole.  Follows
 * nilfs_bmap_insert().
 */
int metatree_insert(struct metafile *m, struct context *cx, uint64_t key,
		    uint64_t ptr);

/*
 * The file has no data blocks from KEY on any more: their pointers end, and so
 * do those of nodes that have nothing left.  Fails as metatree_insert().
 * Follows nilfs_bmap_truncate(), but neighbours are not evened out.
 */
int metacut_from(struct metafile *m, struct context *cx, uint64_t key);

/*
 * Deletes data block KEY: 1, 0 if there is none, or as metatree_insert().
 * Follows nilfs_bmap_delete(): a node that becomes less than half full takes
 * entries of a sibling, or is merged with it.
 */
int metacut_at(struct metafile *m, struct context *cx, uint64_t key);

struct metapath_step {
	struct metablock *block;	/* NULL: the root */
	struct bmapnode node;
	int index;		/* of the child taken; -1: the key is left of all */
};

/* Only the levels from the one asked for up to TOP are set. */
struct metapath {
	unsigned int top;
	struct metapath_step step[NILFS_BTREE_LEVEL_MAX];
};

/* Says that the map breaks RULE: -EUCLEAN. */
int metapath_broken(const struct metafile *m, struct context *cx,
		    enum rule rule);

/*
 * -EUCLEAN where NODE, as it was read, breaks RULE or has entries out of order
 * (unless KEYS is NULL: a direct map), or pointers that look provisional.
 */
int metapath_check(const struct metafile *m, struct context *cx,
		   enum rule rule, const struct bmap_node *node);

/*
 * Descends from the root of the B-tree to LEVEL, to the position of KEY.  The
 * nodes stay in memory until METABLOCKS_CLEAN_MAX others were read.
 */
int metapath_descend(struct metafile *m, struct context *cx, uint64_t key,
		     unsigned int level, struct metapath *p);

/* Descends to data block KEY, and its pointer: 1, 0 for a hole. */
int metapath_find(struct metafile *m, struct context *cx, uint64_t key,
		  struct metapath *p, uint64_t *ptr);

/* A pointer for a block that is new to the file. */
int metapath_new_ptr(struct metafile *m, struct context *cx, uint64_t *ptr);

/* *PTR ends, and becomes a new one. */
int metapath_replace_ptr(struct metafile *m, struct context *cx, uint64_t *ptr);

/*
 * The child that the step of LEVEL took, which is clean, will be changed: *PTR
 * is its pointer from now on, in the node of that step as well.
 */
int metapath_renew(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level, uint64_t *ptr);

/* Makes the node of the step of LEVEL dirty, so that it may be changed. */
int metapath_dirty(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level);

/*
 * The first key of the node at LEVEL, which is dirty, has changed: its
 * ancestors name it.
 */
int metapath_promote(struct metafile *m, struct context *cx,
		     struct metapath *p, unsigned int level);

#endif
