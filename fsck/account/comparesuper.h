/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only superblocks know. */
#ifndef NILFS2_FSCK_COMPARESUPER_H
#define NILFS2_FSCK_COMPARESUPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "fsck/account/losslist.h"

/* What superblocks say of the latest checkpoint. */
struct comparesuper_known {
	bool any;	  /* there is one, its checksum right or not */
	uint64_t newest;  /* of those that are right and up to date, or 0 */
	uint64_t claimed; /* of all */
	uint64_t clean;	  /* of those that say that it was unmounted, or 0 */
};

/*
 * Adds a loss to *L unless the superblocks of the device BEFORE the repair show
 * that label, UUID and other properties are what AFTER has, and fills *KNOWN.
 * 0, -EINTR.
 */
int comparesuper_run(struct losslist *l, struct context *cx, struct dev *before,
		     const struct nilfs_super_block *after,
		     struct comparesuper_known *known);

#endif
