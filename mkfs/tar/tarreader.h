/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a tar archive, one after the other.
 *
 * All calls of libarchive are in tarreader.c, which returns entries, and data by offset
 * in a file.
 */
#ifndef NILFS2_MKFS_TARREADER_H
#define NILFS2_MKFS_TARREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/newfile.h"
#include "mkfs/populate/entry.h"

struct tarreader;

/* A member.  Its strings belong to the reader and are valid until the next member. */
struct tarmember {
	struct entry entry;
	const char *path;		/* as in the archive */
	const char *link;		/* target of a hard link, or NULL */
	const struct newfile_run *runs;	/* of blocks, of a regular file */
	size_t nruns;
	uint64_t nblocks;		/* of all runs */
	bool losses[ENTRY_LOSSES];	/* attributes that are lost */
};

/* Opens the archive PATH, "-" for standard input.  -EOPNOTSUPP, -EINVAL. */
int tarreader_open(struct tarreader **rp, struct context *cx, const char *path,
		   uint32_t block_size);
void tarreader_close(struct tarreader *r);	/* NULL is accepted */

/*
 * The digest (vol/treedigest.h) of the state that the archive is what differs from, or
 * NULL if it does not say one.
 */
const char *tarreader_since(const struct tarreader *r);

/*
 * Reads the next member: 1, 0 after the last one, or a failure that names the archive
 * and the member.  Unread data of the previous member is skipped.
 */
int tarreader_next(struct tarreader *r, struct context *cx,
		   struct tarmember *m);

/*
 * Reads LEN bytes from byte AT of the current member's file on; zeros if the archive
 * has no data there.  AT never decreases.  A failure is final: all later calls fail
 * with it.
 */
int tarreader_read(struct tarreader *r, struct context *cx, uint64_t at,
		   size_t len, void *buf);

/* Fails if the archive lacked data that the runs of the member contain. */
int tarreader_complete(struct tarreader *r, struct context *cx);

/* Fails with the text "ARCHIVE: MEMBER: WHAT" for the current member. */
int tarreader_fail(const struct tarreader *r, struct context *cx, int err,
		   const char *what);

/* Reads a pipe to its end, so that its writer is not killed. */
void tarreader_drain(struct tarreader *r, struct context *cx);

#endif
