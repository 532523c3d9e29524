/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dead blocks that a cleaner must not free. */
#ifndef NILFS2_VOL_PROTECTION_H
#define NILFS2_VOL_PROTECTION_H

#include <stdint.h>

#include "base/context.h"

struct volume;

/*
 * The sequence number from which on segments must not be reused: s_last_seq of the
 * older valid superblock, whose log must stay readable.  Follows ns_prot_seq, except
 * right after a mount if the second copy is the newer: the kernel then starts with
 * the number of that copy.
 */
uint64_t protection_seq(const struct volume *vol);

/*
 * Finds the checkpoint *CNO at which a protection period of SECONDS before cx->now
 * begins: the first one made within the period, or the number after the latest if
 * there is none.  -EUCLEAN or -EIO if the cpfile cannot be read.  Follows
 * nilfs_cleanerd of nilfs-utils.
 */
int protection_cno(struct volume *vol, struct context *cx, uint64_t seconds,
		   uint64_t *cno);

#endif
