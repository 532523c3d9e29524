/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of an archive: a tree that is complete only after the whole archive was
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
	const char *name;	/* LEN bytes; a link's target follows */
	uint64_t ino;
	uint32_t parent;	/* node of the directory */
	uint32_t next;		/* next node of the same directory */
	uint32_t dir;		/* number of the directory, if it is one */
	uint8_t len;
	uint8_t type;		/* NILFS_FT_... */
	bool hides;		/* hides the lower layers' file of this name */
	bool made;		/* a directory that not only whiteouts mention */
};

struct nametree_dir {
	uint32_t node;
	uint32_t first;		/* node of its first name */
	uint32_t count;		/* of names */
	bool known;		/* the archive has its ENTRY */
	bool opaque;		/* names of lower layers are hidden */
	enum populate_over over;	/* known at the end */
	struct entry entry;
};

/* Items that do not move when more are added. */
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
 * Finds or adds the node of NAME (1 to 255 bytes).  A new node has no type.
 */
int nametree_add(struct nametree *t, struct context *cx, uint32_t parent,
		 const char *name, size_t len, uint32_t *node);

/* Makes NODE a directory. */
int nametree_make_dir(struct nametree *t, struct context *cx, uint32_t node);

/*
 * Keeps TARGET (LEN bytes, less than 64 KiB) of symbolic link NODE; nametree_target()
 * returns it with a NUL after it.
 */
int nametree_set_target(struct nametree *t, struct context *cx, uint32_t node,
			const char *target, size_t len);
const char *nametree_target(const struct nametree *t, uint32_t node);

/* Lists the names of directory DIR sorted by bytes; valid until the next call. */
int nametree_list(struct nametree *t, struct context *cx, uint32_t dir,
		  const struct populate_name **names, size_t *n);

#endif
