/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary files without a name, for data that does not fit in memory. */
#ifndef NILFS2_BASE_TEMPFILE_H
#define NILFS2_BASE_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/*
 * Creates an empty file in the directory CX->scratch_dir; it is freed when *FD is
 * closed.  All functions here fail with -ENOMEM for any reason, which is in the
 * text: the file replaces memory, and other errors have other meanings.
 */
int tempfile_open(struct context *cx, int *fd);

int tempfile_read(struct context *cx, int fd, uint64_t off, void *buf,
		  size_t len);
int tempfile_write(struct context *cx, int fd, uint64_t off, const void *buf,
		   size_t len);

#endif
