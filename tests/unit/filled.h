/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Volumes in memory that tests fill from trees, layer by layer. */
#ifndef NILFS2_TESTS_FILLED_H
#define NILFS2_TESTS_FILLED_H

#include "disk/inode.h"
#include "log_volume.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/walk.h"
#include "vol/dir.h"
#include "vol/root.h"
#include "vol/symlink.h"

struct filled {
	struct log_volume v;
	struct volume *vol;		/* open at the last layer, or NULL */
	struct populate_options populate;
	struct walk_options walk;
	struct populate_counts counts;	/* of the last layer */
	struct walk_notes notes;
	/* Called between the walk and the commit, if set. */
	void (*meanwhile)(void *arg);
	void *arg;
};

void filled_init(struct filled *f, const struct log_shape *shape);
void filled_fini(struct filled *f);

/* Puts the tree at PATH on the volume, over what is there: a checkpoint. */
int filled_tree(struct filled *f, const char *path);

/* Opens the volume at its last layer; failures show in the test's output. */
int filled_look(struct filled *f, struct root *root);

/* Names in all directories together. */
unsigned int filled_count_names(struct filled *f, struct root *root);

#endif
