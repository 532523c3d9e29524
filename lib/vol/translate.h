/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From virtual block numbers to disk blocks, through the DAT.
 */
#ifndef NILFS2_VOL_TRANSLATE_H
#define NILFS2_VOL_TRANSLATE_H

#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

struct volume;

/*
 * Copies the DAT entry of VBLOCKNR.  -ENOENT where the DAT has no block for
 * it, -EUCLEAN or -EIO where the DAT cannot be read.
 */
int translate_entry(struct volume *vol, struct context *cx, uint64_t vblocknr,
		    struct nilfs_dat_entry *entry);

/*
 * The disk block of VBLOCKNR, inside the segments of the volume.  -EUCLEAN
 * where the DAT has none for it, as nilfs_dat_translate() finds -ENOENT.
 */
int translate_vblock(struct volume *vol, struct context *cx, uint64_t vblocknr,
		     uint64_t *blocknr);

#endif
