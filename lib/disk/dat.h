/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The entry of a virtual block: where it is and in which checkpoints. */
#ifndef NILFS2_DISK_DAT_H
#define NILFS2_DISK_DAT_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/geometry.h"
#include "disk/ondisk.h"
#include "disk/rule.h"

/* True where the block is part of the newest state: it has no end. */
static inline bool dat_is_current(const struct nilfs_dat_entry *de)
{
	return le64_get(de->de_end) == NILFS_CNO_MAX;
}

/* True where checkpoint CNO has the block: de_start <= CNO < de_end. */
static inline bool dat_is_in(const struct nilfs_dat_entry *de, uint64_t cno)
{
	return le64_get(de->de_start) <= cno && cno < le64_get(de->de_end);
}

/* True where the block was given a number but never written. */
static inline bool dat_is_unwritten(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr);
}

/*
 * Checks an entry in use, as of the newest checkpoint CNO.  The kernel warns
 * of some of it when it ends a block: nilfs_dat_commit_end().
 */
enum rule dat_check(const struct nilfs_geometry *g,
		    const struct nilfs_dat_entry *de, uint64_t cno);

#endif
