/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Preparing a device with zones before the first log. */
#ifndef NILFS2_MKFS_ZONEFORMAT_H
#define NILFS2_MKFS_ZONEFORMAT_H

#include "mkfs/format.h"

/*
 * Makes DEV, which has the zones of PLAN, empty: no superblock, no signature,
 * every sequential zone at its beginning.  An interruption leaves an old
 * volume whole with no more than its superblocks touched, or no superblock.
 * Failures: as dev_write() and dev_zone_reset().
 */
int zoneformat_prepare(struct context *cx, struct dev *dev,
		       const struct plan *plan, const struct format_how *how);

#endif
