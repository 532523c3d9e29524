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
 * Copies the DAT entry of VBLOCKNR.  -ENOENT if the DAT has no block for it,
 * -EUCLEAN or -EIO if the DAT cannot be read.
 */
int translate_entry(struct volume *vol, struct context *cx, uint64_t vblocknr,
		    struct nilfs_dat_entry *entry);

/*
 * Finds the disk block of VBLOCKNR, inside the segments of the volume.  -EUCLEAN if
 * the DAT records none; nilfs_dat_translate() returns -ENOENT for that.
 */
int translate_vblock(struct volume *vol, struct context *cx, uint64_t vblocknr,
		     uint64_t *blocknr);

#endif
