/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Updating the checksums that cover changed bytes. */
#ifndef NILFS2_DUMP_SEAL_H
#define NILFS2_DUMP_SEAL_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"

/* Called for each checksum that is set, unless it is NULL. */
struct seal_watcher {
	void (*sum)(void *arg, const char *structure, const char *field,
		    uint32_t old, uint32_t new);
	void *arg;
};

/* Sets s_sum of the superblock at byte OFFSET of DEV.  -EIO, -EROFS. */
int seal_super(struct dev *dev, struct context *cx, uint64_t offset,
	       const struct seal_watcher *watcher);

/*
 * Sets the checksums of the log at block PSEG: ss_sumsum if block INDEX of the log
 * belongs to its summary, sr_sum if it is its super root, and always ss_datasum.
 * -EUCLEAN if the lengths in the header exceed the segment, -EIO, -EROFS, -ENOMEM.
 */
int seal_log(struct dev *dev, struct context *cx,
	     const struct nilfs_geometry *geo, uint64_t pseg, uint64_t index,
	     const struct seal_watcher *watcher);

#endif
