/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes as people write and read them. */
#ifndef NILFS2_BASE_SIZE_H
#define NILFS2_BASE_SIZE_H

#include <stdint.h>

#define SIZE_TEXT_MAX 32

/*
 * Reads "4096", "16M", "8MiB", "1.5G", "100MB" into *BYTES.  K, M, G, T, P, E
 * alone or with "iB" are powers of 1024, with "B" powers of 1000, as in
 * util-linux; case does not matter; "B" alone is bytes.  A fraction needs a
 * unit and is rounded down to bytes.  -EINVAL if TEXT is no size, -ERANGE if
 * it is too large; *BYTES is left alone then.
 */
int size_parse(const char *text, uint64_t *bytes);

/*
 * Writes BYTES as "512 B", "16 MiB", "1.5 GiB": in the largest unit that
 * leaves at least 1, with one rounded digit where it is not whole.  Returns
 * BUF.
 */
char *size_format(uint64_t bytes, char buf[SIZE_TEXT_MAX]);

#endif
