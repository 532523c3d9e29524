/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a volume without the metadata that is damaged. */
#ifndef NILFS2_DUMP_DAMAGED_H
#define NILFS2_DUMP_DAMAGED_H

#include <stdbool.h>
#include <stdint.h>

#include "dump/common/image.h"

/*
 * Opens the volume at PATH and its checkpoint CNO (0: the latest) as `im->root`.  If a
 * log has a newer super root than a mount would use, this is used; without any, DAT and
 * cpfile are empty.  If the inode of the ifile is damaged, the ifile is
 * empty.  Each is reported and sets *BROKEN.  Fails as image_open(), -ENOENT if there
 * is no such checkpoint.
 */
int damaged_open(struct dump_image *im, struct tool *tool, const char *path,
		 uint64_t cno, bool *broken);

#endif
