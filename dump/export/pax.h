/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The headers of a pax stream: POSIX.1-2001 tar, with the maps of sparse files
 * as GNU tar's format 1.0 has them.
 */
#ifndef NILFS2_DUMP_PAX_H
#define NILFS2_DUMP_PAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump/export/tar_stream.h"

#define PAX_UNIT 512u	       /* everything starts at a multiple of this */
#define PAX_STREAM_UNIT 10240u /* and the stream is a multiple of that */

/* What a name begins with that removes one, in a layer of a container image. */
#define PAX_WHITEOUT ".wh."

enum pax_type {
	PAX_FILE = '0',
	PAX_HARD_LINK = '1',
	PAX_SYMLINK = '2',
	PAX_CHARACTER = '3',
	PAX_BLOCK = '4',
	PAX_DIRECTORY = '5',
	PAX_FIFO = '6',
};

/* Zero where it does not apply. */
struct pax_entry {
	enum pax_type type;
	const char *path; /* bytes, of any length */
	const char *link; /* of links */
	uint32_t mode;	  /* without the type */
	uint32_t uid, gid;
	int64_t mtime; /* seconds since 1970 */
	uint32_t mtime_nsec;
	uint32_t major, minor; /* of devices */
	uint64_t size;	       /* bytes that follow in the stream */
	bool sparse;	       /* these begin with a map */
	uint64_t real_size;    /* of a sparse file, in bytes */
};

/* What a writer keeps between entries; all zero at first. */
struct pax {
	char *records;
	size_t len, room;
};

/*
 * Puts the headers of ENTRY; its bytes follow, then tar_stream_align() to
 * PAX_UNIT.  -ENOMEM, or as tar_stream_put().
 */
int pax_put(struct pax *pax, struct context *cx, struct tar_stream *s,
	    const struct pax_entry *entry);

/* Puts what ends a stream. */
int pax_end(struct context *cx, struct tar_stream *s);

void pax_fini(struct pax *pax);

#endif
