/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dead blocks that a cleaner must not free. */
#ifndef NILFS2_VOL_PROTECTION_H
#define NILFS2_VOL_PROTECTION_H

#include <stdint.h>

#include "base/context.h"

struct volume;

/*
 * The sequence number from which segments must not be reused: the s_last_seq
 * of the older valid superblock, whose log has to stay readable.  Follows
 * ns_prot_seq, but for its value right after a mount where the second copy is
 * the newer: the kernel then starts with that copy's number.
 */
uint64_t protection_seq(const struct volume *vol);

/*
 * The checkpoint that a protection period of SECONDS until cx->now reaches
 * back to, in *CNO: the first one made within the period, or the number after
 * the latest where there is none.  -EUCLEAN or -EIO where the cpfile cannot be
 * read.  Follows nilfs_cleanerd of nilfs-utils.
 */
int protection_cno(struct volume *vol, struct context *cx, uint64_t seconds,
		   uint64_t *cno);

#endif
