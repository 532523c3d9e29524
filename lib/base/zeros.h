/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes that are all zero. */
#ifndef NILFS2_BASE_ZEROS_H
#define NILFS2_BASE_ZEROS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* True where the LEN (>= 1) bytes at P are all zero. */
static inline bool zeros_only(const void *p, size_t len)
{
	const char *bytes = p;

	return !*bytes && !memcmp(bytes, bytes + 1, len - 1);
}

#endif
