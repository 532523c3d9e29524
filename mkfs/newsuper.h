/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The superblock of a new volume. */
#ifndef NILFS2_MKFS_NEWSUPER_H
#define NILFS2_MKFS_NEWSUPER_H

#include "disk/ondisk.h"
#include "log/writer.h"
#include "mkfs/plan/plan.h"

/* Fills SB, with the last log at END; both copies of a new volume are the same. */
void newsuper_fill(const struct plan *plan, const struct writer_end *end,
		   struct nilfs_super_block *sb);

#endif
