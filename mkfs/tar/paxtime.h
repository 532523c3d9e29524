/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sign of a time, which libarchive loses. */
#ifndef NILFS2_MKFS_PAXTIME_H
#define NILFS2_MKFS_PAXTIME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the extended headers of the member whose first header is at byte AT
 * of the archive FD, which is not compressed, give it a time of modification
 * before 1970.
 */
bool paxtime_is_negative(int fd, uint64_t at);

#endif
