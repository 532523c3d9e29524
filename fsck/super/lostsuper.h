/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A superblock rebuilt from logs. */
#ifndef NILFS2_FSCK_LOSTSUPER_H
#define NILFS2_FSCK_LOSTSUPER_H

#include "base/context.h"
#include "dev/dev.h"
#include "disk/ondisk.h"
#include "fsck/super/volscan.h"

/* s_r_segments_percentage where it is not known: that of mkfs.nilfs2. */
#define LOSTSUPER_RESERVED 5

/*
 * Sets in SB the layout of volume V on DEV, the log of one of its super roots,
 * and what follows from that; what no log has, such as the label, keeps the
 * value that SB has, if that is one that can be.  1, or 0 where no super root
 * of V can be read with any layout; -ENOMEM, -EINTR.
 */
int lostsuper_make(struct nilfs_super_block *sb, struct context *cx,
		   struct dev *dev, const struct volscan_volume *v);

#endif
