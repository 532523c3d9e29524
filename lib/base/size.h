/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes for people. */
#ifndef NILFS2_BASE_SIZE_H
#define NILFS2_BASE_SIZE_H

#include <stdint.h>

#define SIZE_TEXT_MAX 32

/*
 * Parses "4096", "16M", "8MiB", "1.5G", "100MB" into *BYTES.  K, M, G, T, P, E alone
 * or with "iB" are powers of 1024, with "B" powers of 1000, as in util-linux; case
 * is ignored; "B" alone is bytes.  A fraction needs a unit and is rounded down to
 * bytes.  -EINVAL if TEXT is not a size, -ERANGE if it is too large; *BYTES is
 * unchanged then.
 */
int size_parse(const char *text, uint64_t *bytes);

/*
 * Writes BYTES as "512 B", "16 MiB", "1.5 GiB": in the largest unit in which it is
 * at least 1, with one rounded digit unless it is whole.  Returns BUF.
 */
char *size_format(uint64_t bytes, char buf[SIZE_TEXT_MAX]);

#endif
