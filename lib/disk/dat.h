/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The entry of a virtual block: its place and its lifetime in checkpoints. */
#ifndef NILFS2_DISK_DAT_H
#define NILFS2_DISK_DAT_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* True if the block is part of the latest state: it has no end. */
static inline bool dat_is_current(const struct nilfs_dat_entry *de)
{
	return le64_get(de->de_end) == NILFS_CNO_MAX;
}

/* True if the block is in checkpoint CNO: de_start <= CNO < de_end. */
static inline bool dat_is_in(const struct nilfs_dat_entry *de, uint64_t cno)
{
	return le64_get(de->de_start) <= cno && cno < le64_get(de->de_end);
}

/* True if the block got a number but was never written. */
static inline bool dat_is_unwritten(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr);
}

/*
 * Checks an entry in use, as of the latest checkpoint CNO.  The kernel warns about
 * some of this at the end of a block's lifetime: nilfs_dat_commit_end().
 */
enum rule dat_check(const struct nilfs_geometry *g,
		    const struct nilfs_dat_entry *de, uint64_t cno);

#endif
