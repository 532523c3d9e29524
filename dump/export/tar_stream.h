/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a tar stream to a file or a pipe, compressed or not. */
#ifndef NILFS2_DUMP_TAR_STREAM_H
#define NILFS2_DUMP_TAR_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/output.h"

struct tar_stream;

/* Whether PATH is that of a tar stream: "-", "x.tar", "x.tar.gz" ... */
bool tar_stream_is_meant(const char *path);

/* Whether PATH has the suffix of a compressed file: "x.zst", "x.tar.gz" ... */
bool tar_stream_is_compressed(const char *path);

/*
 * Opens the stream to the file PATH, as output_open() with HOW, or to standard
 * output if PATH is "-".  The suffix of PATH selects the compression.  -EOPNOTSUPP
 * if it is to be compressed and the tool was built without libarchive.
 */
int tar_stream_open(struct tar_stream **stream, struct context *cx,
		    const char *path, const struct output_how *how);

/* Writes LEN bytes.  Fails as the target does. */
int tar_stream_put(struct tar_stream *s, struct context *cx, const void *bytes,
		   size_t len);

/* Writes LEN zero bytes. */
int tar_stream_put_zeroes(struct tar_stream *s, struct context *cx,
			  uint64_t len);

/* Writes zeros up to a multiple of UNIT bytes. */
int tar_stream_align(struct tar_stream *s, struct context *cx, uint32_t unit);

/* Ends a complete stream.  Without it tar_stream_close() removes the file. */
int tar_stream_finish(struct tar_stream *s, struct context *cx);
void tar_stream_close(struct tar_stream *s); /* NULL is accepted */

#endif
