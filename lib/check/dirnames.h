/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The directories of a checkpoint: their entries, one by one. */
#ifndef NILFS2_CHECK_DIRNAMES_H
#define NILFS2_CHECK_DIRNAMES_H

#include "base/context.h"

struct blockbatch;
struct names;

/*
 * Adds blocks of directories to BATCH, each with the index of its directory in
 * the list as owner, those of one directory together.
 */
typedef int dirnames_source(void *arg, struct context *cx,
			    struct blockbatch *batch);

/*
 * Reads all directories of N's list, reports wrong entries, and counts the
 * names in the list.  -ENOMEM, -EINTR.
 */
int dirnames_run(struct names *n, struct context *cx);

/*
 * The same with the blocks that SOURCE adds, of directories that have links;
 * what SOURCE fails with.
 */
int dirnames_read(struct names *n, struct context *cx, dirnames_source *source,
		  void *arg);

#endif
