/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of an archive: a tree that is complete only when all of it was
 * read.
 */
#ifndef NILFS2_MKFS_NAMETREE_H
#define NILFS2_MKFS_NAMETREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "mkfs/populate/entry.h"
#include "mkfs/populate/populate.h"

#define NAMETREE_NONE UINT32_MAX
#define NAMETREE_TOP 0u			/* the root directory's name */

struct nametree_node {
	const char *name;	/* LEN bytes */
	uint64_t ino;
	uint32_t parent;	/* node of the directory */
	uint32_t next;		/* node of the same directory */
	uint32_t dir;		/* of a directory: its number */
	uint8_t len;
	uint8_t type;		/* NILFS_FT_... */
	bool hides;		/* nothing is seen of it in lower layers */
};

struct nametree_dir {
	uint32_t node;
	uint32_t first;		/* node of a name in it */
	uint32_t count;		/* of names */
	bool known;		/* ENTRY was found in the archive */
	bool opaque;		/* it has no names of lower layers */
	enum populate_over over;	/* known at the end */
	struct entry entry;
};

/* Items that stay where they are while more are added. */
struct nametree_shelf {
	void **boards;
	size_t room;		/* of boards */
	uint32_t count;		/* of items */
};

struct nametree {
	struct nametree_shelf nodes, dirs;
	uint32_t *slots;	/* hash table of nodes */
	uint32_t nslots;	/* a power of 2 */
	char *text;		/* room for names */
	size_t left;
	struct text_board *texts;
	struct populate_name *names;	/* of one directory */
	size_t names_room;
};

/* A tree with the root directory alone, as directory 0. */
int nametree_init(struct nametree *t, struct context *cx);
void nametree_fini(struct nametree *t);

struct nametree_node *nametree_node(const struct nametree *t, uint32_t node);
struct nametree_dir *nametree_dir(const struct nametree *t, uint32_t dir);

/* The node of NAME in directory node PARENT, or NAMETREE_NONE. */
uint32_t nametree_find(const struct nametree *t, uint32_t parent,
		       const char *name, size_t len);

/*
 * The node of NAME (1 to 255 bytes), which is added if it is new: without a type
 * then.
 */
int nametree_add(struct nametree *t, struct context *cx, uint32_t parent,
		 const char *name, size_t len, uint32_t *node);

/* Lets NODE be a directory. */
int nametree_make_dir(struct nametree *t, struct context *cx, uint32_t node);

/* The names of directory DIR by their bytes, until the next call. */
int nametree_list(struct nametree *t, struct context *cx, uint32_t dir,
		  const struct populate_name **names, size_t *n);

#endif
