/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The block map of a metadata file, changed one block after another, and paths
 * through it: shared by metafile.c, metatree.c and metapath.c.
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

/* Marks a provisional pointer; no device block has this bit. */
#define METATREE_PROVISIONAL (1ull << 63)

struct metafile {
	const struct metafile_env *env;
	struct metablocks blocks;
	struct metablock *last;	/* changed last, still dirty; or NULL */
	bool kept;	/* blocks were adopted or removed */
	uint64_t ino;
	uint64_t nblocks;	/* of the file, nodes included */
	uint64_t opened;	/* nblocks when the file was opened */
	uint32_t odd;		/* sectors of i_blocks beyond whole blocks */
	uint64_t serial;	/* of the last provisional pointer */
	uint32_t block_size;
	enum metafile_kind kind;
	le64 root[NILFS_INODE_BMAP_SIZE];
};

/* Whether PTR is that of a DAT block without a position. */
static inline bool metatree_is_provisional(const struct metafile *m,
					   uint64_t ptr)
{
	return m->kind == METAFILE_DAT && ptr & METATREE_PROVISIONAL;
}

/*
 * Inserts data block KEY with pointer PTR in place of a hole.  Follows
 * nilfs_bmap_insert().
 */
int metatree_insert(struct metafile *m, struct context *cx, uint64_t key,
		    uint64_t ptr);

struct metapath_step {
	struct metablock *block;	/* NULL: the root */
	struct bmapnode node;
	int index;		/* of the child taken; -1: the key is below all */
};

/* Only the levels from the requested one up to TOP are set. */
struct metapath {
	unsigned int top;
	struct metapath_step step[NILFS_BTREE_LEVEL_MAX];
};

/*
 * -EUCLEAN where the map breaks RULE, or NODE, as it was read, has entries out of
 * order (unless KEYS is NULL: a direct map), or pointers that look provisional.
 * NODE may be NULL where RULE is broken.
 */
int metapath_check(const struct metafile *m, struct context *cx,
		   enum rule rule, const struct bmap_node *node);

/*
 * Descends from the root of the B-tree to LEVEL, to the position of KEY.  The
 * nodes stay in memory until METABLOCKS_CLEAN_MAX other blocks are read.
 */
int metapath_descend(struct metafile *m, struct context *cx, uint64_t key,
		     unsigned int level, struct metapath *p);

/*
 * Pointer of the data block KEY, and of a B-tree the path to it: 1, 0 for a hole,
 * -EUCLEAN, or a read's.
 */
int metatree_lookup(struct metafile *m, struct context *cx, uint64_t key,
		    struct metapath *p, uint64_t *ptr);

/* A pointer for a block that is new to the file, or that REPLACES *PTR: that ends. */
int metapath_new_ptr(struct metafile *m, struct context *cx, uint64_t *ptr,
		     bool replaces);

/* The block of PTR, not a provisional one, belongs to the file no longer. */
int metapath_end_ptr(struct metafile *m, struct context *cx, uint64_t ptr);

/*
 * Gives the child at the step of LEVEL, which is clean and will be changed, the
 * new pointer *PTR, and enters it in the node of that step.
 */
int metapath_renew(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level, uint64_t *ptr);

/* Makes the node at the step of LEVEL dirty, so that it may be changed. */
int metapath_dirty(struct metafile *m, struct context *cx, struct metapath *p,
		   unsigned int level);

/*
 * The first key of the dirty node at LEVEL has changed: updates its ancestors.
 */
int metapath_promote(struct metafile *m, struct context *cx,
		     struct metapath *p, unsigned int level);

#endif
