/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second descriptor of a file or block device, for reads or writes that bypass
 * the page cache.
 */
#ifndef NILFS2_DEV_DIRECT_H
#define NILFS2_DEV_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct direct {
	int fd;			/* -1: none */
	uint32_t align;		/* of offsets and lengths, bytes */
	uint32_t buffer_align;
};

/*
 * Opens the file of FD once more, for reading or writing as in ACCESS of open(2).  The
 * caller closes D->fd.  False, with D->fd -1, if direct access is not supported, or the
 * file is in memory anyway.
 */
bool direct_open(struct direct *d, int fd, int access);

/* As preadv(2), at any offset and length, through a buffer of its own; errno may be
   ENOMEM. */
ssize_t direct_preadv(const struct direct *d, const struct iovec *iov,
		      int count, off_t off);

/*
 * The number of the LEN bytes at P, to be written at OFF, that are written next in
 * one way; *YES: directly.  At least one byte.
 */
size_t direct_share(const struct direct *d, uint64_t off, const void *p,
		    size_t len, bool *yes);

#endif
