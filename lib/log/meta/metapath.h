/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths through a block map that is changed, and the pointers in it. */
#ifndef NILFS2_LOG_METAPATH_H
#define NILFS2_LOG_METAPATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/rule.h"
#include "log/meta/bmapnode.h"
#include "log/meta/metablocks.h"
#include "log/meta/metatree.h"

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
int metapath_broken(const struct metatree *t, struct context *cx,
		    enum rule rule);

/* -EUCLEAN if one of PTRS, from a device, looks like a provisional pointer. */
int metapath_check_ptrs(const struct metatree *t, struct context *cx,
			const le64 *ptrs, uint32_t n);

/*
 * Descends from the root of the B-tree to LEVEL, to the position of KEY.  The
 * nodes stay in memory until METABLOCKS_CLEAN_MAX others were read.
 */
int metapath_descend(struct metatree *t, struct context *cx, uint64_t key,
		     unsigned int level, struct metapath *p);

/* Whether the step took a child with the very key KEY. */
bool metapath_is_at(const struct metapath_step *s, uint64_t key);

/* A pointer for a block that is new to the file. */
int metapath_new_ptr(struct metatree *t, struct context *cx, uint64_t *ptr);

/* *PTR ends, and becomes a new one. */
int metapath_replace_ptr(struct metatree *t, struct context *cx, uint64_t *ptr);

/*
 * The child that the step of LEVEL took, which is clean, will be changed: *PTR
 * is its pointer from now on, in the node of that step as well.
 */
int metapath_renew(struct metatree *t, struct context *cx, struct metapath *p,
		   unsigned int level, uint64_t *ptr);

/* Makes the node of the step of LEVEL dirty, so that it may be changed. */
int metapath_dirty(struct metatree *t, struct context *cx, struct metapath *p,
		   unsigned int level);

/*
 * The first key of the node at LEVEL, which is dirty, has changed: its
 * ancestors name it.
 */
int metapath_promote(struct metatree *t, struct context *cx,
		     struct metapath *p, unsigned int level);

#endif
