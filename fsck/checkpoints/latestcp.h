/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state that a repair continues from: the entry of the latest checkpoint,
 * and whether the files it needs can be changed in place.
 */
#ifndef NILFS2_FSCK_LATESTCP_H
#define NILFS2_FSCK_LATESTCP_H

#include <stdbool.h>

#include "base/context.h"
#include "check/check.h"
#include "disk/ondisk.h"

struct latestcp {
	/*
	 * For repairwriter_known.from: the entry of the latest
	 * checkpoint.  Where no copy of it is left its ifile has no map, and
	 * its counts are those of an older checkpoint.
	 */
	struct nilfs_checkpoint cp;
	/*
	 * For repairwriter_known.rebuilt: cpfile and ifile if their maps do not
	 * lead to all of their blocks; and of these the ones without which no
	 * log can be written.
	 */
	unsigned int rebuilt, must;
};

/*
 * True where the DAT cannot say what is alive: its own repair comes first, and
 * nothing is said of the cpfile and the ifile until then.
 */
bool latestcp_is_doubtful(const struct check *c);

/*
 * Finds it in the cpfile as it is, or in the logs, which are asked as well
 * whether the maps of the files DOUBTED (as in repairwriter_known.rebuilt) have
 * the right blocks.  What begins again is filled by fix_checkpoints() and
 * fix_inodes(), which must run then.  -ENOMEM, -EINTR.
 */
int latestcp_find(struct latestcp *k, struct context *cx,
		  const struct check *c, unsigned int doubted);

#endif
