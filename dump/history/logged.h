/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files from logs: deleted ones that are in no checkpoint, all of a damaged one. */
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
	uint64_t only;		/* of logged_rescue(): the number of the one file, 0: all */
	/* A negative errno ends the search. */
	int (*found)(void *arg, struct logged_file *file);
	/* For logged_rescue(): the file at PATH, "#INO", cannot be read, or only in
	   part; the failure text says why. */
	void (*broken)(void *arg, const char *path, size_t len, int err);
	void *arg;
};

/*
 * Searches the logs for files that are in no checkpoint, ascending by inode number,
 * without those whose path exists in LATEST.  -EUCLEAN, -EIO if the list of
 * checkpoints cannot be read, -ENOMEM, -EINTR; failures of FOUND.
 */
int logged_run(struct context *cx, struct root *latest,
	       const struct logged_search *search);

/*
 * Finds all files of ROOT, which may be damaged: those that paths lead to, then all
 * other inodes in use, ascending.  Their names are from any block of a directory that
 * still exists, the newest up to ROOT; without one it is "#INO".  What the maps, the
 * DAT and the ifile do not lead to is searched in logs.  -ENOMEM, -EINTR; failures of
 * FOUND.
 */
int logged_rescue(struct context *cx, struct root *root,
		  const struct logged_search *search);

#endif
