/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two superblocks, before anything else is known of a volume. */
#ifndef NILFS2_CHECK_SUPERS_H
#define NILFS2_CHECK_SUPERS_H

#include <stdbool.h>

#include "check/check.h"
#include "disk/super.h"

struct supers {
	struct nilfs_super_block copy[2];
	bool read[2];
	struct super_choice choice;	/* as the kernel makes it */
	bool usable;		/* the chosen copy says where everything is */
	bool known;		/* one of them does, or is of a newer format */
};

/*
 * Reads both superblocks of c->dev and reports what is wrong with them, and
 * between them.  0, or a failure of the checker; see check.h.
 */
int supers_check(struct check *c, struct context *cx, struct supers *s);

/* What never changes in SB becomes what OTHER has. */
void supers_borrow(struct nilfs_super_block *sb,
		   const struct nilfs_super_block *other);

#endif
