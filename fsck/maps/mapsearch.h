/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for blocks of files that their maps have lost. */
#ifndef NILFS2_FSCK_MAPSEARCH_H
#define NILFS2_FSCK_MAPSEARCH_H

#include "base/context.h"
#include "fsck/maps/mapfile.h"

/*
 * Finds in the logs whose the contested blocks are; and adds to M->found what
 * they have of M->loss, to M->nodes the nodes of broken maps.  0, -ENOMEM,
 * -EINTR.
 */
int mapsearch_owners(struct mapfiles *m, struct context *cx);
int mapsearch_logs(struct mapfiles *m, struct context *cx);

/*
 * Adds to M->found what older checkpoints have, the newest first, of M->loss
 * and the logs have not.  0, -ENOMEM, -EINTR.
 */
int mapolder_search(struct mapfiles *m, struct context *cx);

#endif
