/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who refers to contested blocks. */
#ifndef NILFS2_FSCK_MAPHOLDERS_H
#define NILFS2_FSCK_MAPHOLDERS_H

#include "base/context.h"
#include "fsck/maps/mapfile.h"

/*
 * Adds to M's files all those of the newest checkpoint that refer to a block
 * that is contested and another's.  -ENOMEM, -EINTR.
 */
int mapholders_add(struct mapfiles *m, struct context *cx);

#endif
