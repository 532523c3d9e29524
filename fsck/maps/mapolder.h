/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of files that older checkpoints have. */
#ifndef NILFS2_FSCK_MAPOLDER_H
#define NILFS2_FSCK_MAPOLDER_H

#include "base/context.h"
#include "fsck/maps/mapfile.h"

/*
 * Adds to M->found what older checkpoints have, the newest first, of M->loss
 * and the logs have not.  0, -ENOMEM, -EINTR.
 */
int mapolder_search(struct mapfiles *m, struct context *cx);

#endif
