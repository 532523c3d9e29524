/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second descriptor of a file or block device, for writes that bypass the
 * page cache.
 */
#ifndef NILFS2_DEV_DIRECT_H
#define NILFS2_DEV_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct direct {
	int fd;			/* -1: none */
	uint32_t align;		/* of offsets and lengths, bytes */
	uint32_t buffer_align;
};

/*
 * Opens what FD is once more.  False, with D->fd -1, where it cannot be
 * written directly or has nothing but memory after it.
 */
bool direct_open(struct direct *d, int fd);

/*
 * How many of the LEN bytes at P, to be written at OFF, go out next in one
 * way; *YES: directly.  At least one byte.
 */
size_t direct_share(const struct direct *d, uint64_t off, const void *p,
		    size_t len, bool *yes);

void direct_close(struct direct *d);

#endif
