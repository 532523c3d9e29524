/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a trace, decompressed, line by line or record by record.
 *
 * A trace is read once, so it may come from a pipe.  libarchive reads the
 * output of gzip, zstd, xz, bzip2, lz4, lzip and compress, and tar archives of
 * these; all members of an archive are concatenated.
 */
#ifndef NILFS2_GC_SIM_SIMBYTES_H
#define NILFS2_GC_SIM_SIMBYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

struct simbytes {
	const char *path;	/* for messages */
	int fd;
	char *buf;		/* bytes not consumed yet */
	size_t start, end;
	bool ended;		/* the end of the file was reached */
	uint64_t taken;		/* bytes of the file read so far */
	struct simbytes_packed *packed;	/* NULL: plain bytes */
};

/* Opens PATH, "-" for standard input.  To be closed also after a failure. */
int simbytes_open(struct simbytes *b, struct context *cx, const char *path);
void simbytes_close(struct simbytes *b);

/*
 * The next line, without its end but with a NUL there; valid until the next
 * call.  1, or 0 at the end; -EIO, -EINTR, or -EINVAL if compressed data is
 * damaged.  A line longer than a MiB is split.
 */
int simbytes_line(struct simbytes *b, struct context *cx, char **line,
		  size_t *len);

/* Reads ahead the next N bytes, at most a MiB: *HAVE, fewer at the end. */
int simbytes_peek(struct simbytes *b, struct context *cx, size_t n,
		  const char **bytes, size_t *have);

/* Consumes N of the bytes of the last simbytes_peek(). */
static inline void simbytes_take(struct simbytes *b, size_t n)
{
	b->start += n;
}

#endif
