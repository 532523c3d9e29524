/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A path as text, built from its end. */
#ifndef NILFS2_MKFS_PATHTAIL_H
#define NILFS2_MKFS_PATHTAIL_H

#include <stdbool.h>
#include <stddef.h>

struct pathtail {
	char *path;
	size_t room;		/* bytes of PATH */
	size_t at;		/* where the text begins for now */
	bool cut;		/* the beginning did not fit */
};

/* Begins a path in PATH (ROOM > 3 bytes, borrowed until the end). */
void pathtail_begin(struct pathtail *tail, char *path, size_t room);

/*
 * Prepends a slash and NAME (LEN bytes, up to 255), escaped.  If it does not
 * fit it is replaced by "...", and so is all that follows.
 */
void pathtail_name(struct pathtail *tail, const char *name, size_t len);

/* Prepends TOP unchanged; the text is then PATH. */
void pathtail_end(struct pathtail *tail, const char *top);

#endif
