/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the kernel would refuse to mount a volume. */
#ifndef NILFS2_DUMP_REFUSAL_H
#define NILFS2_DUMP_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/ondisk.h"

/*
 * Whether the kernel would refuse to mount the volume of SB, a superblock that
 * it chose, on a device of DEV_SIZE bytes, whatever the logs are: sets TEXT,
 * "be refused: " and what the kernel says then, or leaves it alone.
 */
bool refusal_find(const struct nilfs_super_block *sb, uint64_t dev_size,
		  char *text, size_t size);

#endif
