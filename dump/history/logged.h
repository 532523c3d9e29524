/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deleted files that are in no checkpoint, from logs that remain. */
#ifndef NILFS2_DUMP_LOGGED_H
#define NILFS2_DUMP_LOGGED_H

#include <stdint.h>

#include "base/context.h"
#include "dump/history/filter.h"
#include "vol/file.h"
#include "vol/root.h"
#include "vol/tree.h"

/* A file that was found; the path of ITEM ends with a NUL. */
struct logged_file {
	const struct tree_item *item;
	uint64_t cno;		/* checkpoint of its newest inode */
	uint64_t whole;		/* bytes found of its size */
	struct file file;	/* the content that was found */
};

struct logged_search {
	const struct filter *filter;
	/* A negative errno ends the search. */
	int (*found)(void *arg, struct logged_file *file);
	void *arg;
};

/*
 * Searches the logs for files that are in no checkpoint, ascending by inode number,
 * without those whose path exists in LATEST.  -EUCLEAN, -EIO if the list of
 * checkpoints cannot be read, -ENOMEM, -EINTR; failures of FOUND.
 */
int logged_run(struct context *cx, struct root *latest,
	       const struct logged_search *search);

#endif
