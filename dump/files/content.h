/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a regular file, without its holes. */
#ifndef NILFS2_DUMP_CONTENT_H
#define NILFS2_DUMP_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "vol/extent.h"

#define CONTENT_BUFFER_SIZE (1u << 20)

struct content {
	struct file *file;
	char *buffer;  /* the caller's, CONTENT_BUFFER_SIZE bytes, or NULL */
	uint64_t size; /* of the file in bytes, below 2^63 */
	struct extent_cursor extents;
	struct extent ahead; /* rest of the current extent */
	bool patient;	 /* set by the caller: unreadable blocks are zeros */
	uint64_t unread; /* bytes of such blocks */
};

/* Bytes of a file: a run between two holes, or a part of one. */
struct content_part {
	uint64_t offset; /* in the file */
	uint64_t len;	 /* bytes, more than 0 */
};

/*
 * Starts at the beginning of FILE (borrowed).  Without a BUFFER nothing is read:
 * content_next() returns the runs.  -EFBIG for a size that no kernel supports,
 * otherwise as extent_cursor_open().
 */
int content_open(struct content *c, struct context *cx, struct file *file,
		 char *buffer);
void content_close(struct content *c);

/*
 * Reads the next part of a run: 1 and *PART, whose bytes are in the buffer, 0 at
 * the end of the file, -EUCLEAN, -EIO.  Blocks are read in requests as large as
 * the file and its place on the disk allow, bypassing the cache.  Without a buffer
 * *PART is the next whole run between two holes.
 */
int content_next(struct content *c, struct context *cx,
		 struct content_part *part);

#endif
