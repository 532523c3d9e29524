/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Content of a file from an archive.
 *
 * An archive is read once, from front to back.  While a member is the current one,
 * workers that fill chunks with it read the archive.  Before the next member begins,
 * the rest is read into memory.
 */
#ifndef NILFS2_MKFS_TARPAYLOAD_H
#define NILFS2_MKFS_TARPAYLOAD_H

#include "log/newfile.h"
#include "log/write/payload.h"
#include "mkfs/tar/tarreader.h"

/* The content of M, the current member of R; NULL if there is no memory. */
struct payload *tarpayload_make(struct tarreader *r, const struct tarmember *m,
				uint32_t block_size);

/*
 * Reads the blocks not requested yet, so that the next member can be read.  After that,
 * even after a failure, the payload is independent of the archive.
 */
int tarpayload_finish(struct payload *p, struct context *cx);

/* Drops blocks that were not read; requests for them fail. */
void tarpayload_drop(struct payload *p);

/* An array that grows. */
struct tarpayload_runs {
	struct newfile_run *runs;
	size_t room, n;
};

/*
 * Reads member M of R to its end.  The blocks that are not zeros are in *RUNS and
 * *PAYLOAD, which is NULL if there are none.  Fails as tarreader_read() and
 * tempfile_write().
 */
int tarpayload_spool(struct context *cx, struct tarreader *r,
		     const struct tarmember *m, uint32_t block_size,
		     struct tarpayload_runs *runs, struct payload **payload);

#endif
