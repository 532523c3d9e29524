/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A checkpoint with the same files, and with metadata of its own. */
#ifndef NILFS2_MKFS_REWRITE_H
#define NILFS2_MKFS_REWRITE_H

#include "log/writer.h"
#include "vol/volume.h"

/*
 * Makes the checkpoint of W, just opened on VOL, another copy of the latest one: its
 * logs begin in a new segment and contain all blocks of the ifile, of directories and
 * of symbolic links again.  Files keep their blocks.  -ENOSPC, -ENOMEM, -EIO, -EINTR,
 * -EUCLEAN.
 */
int rewrite_metadata(struct writer *w, struct context *cx, struct volume *vol);

#endif
