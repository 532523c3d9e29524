/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a tar archive as a layer. */
#ifndef NILFS2_MKFS_TARLAYER_H
#define NILFS2_MKFS_TARLAYER_H

#include "mkfs/populate/populate.h"
#include "mkfs/tar/tarreader.h"

/* Puts all members of R into P; see tarsource_run(). */
int tarlayer_run(struct context *cx, struct tarreader *r,
		 const struct entry_rules *rules, uint32_t block_size,
		 struct populate *p);

#endif
