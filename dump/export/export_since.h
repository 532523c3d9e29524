/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two checkpoints, as a layer of a container image. */
#ifndef NILFS2_DUMP_EXPORT_SINCE_H
#define NILFS2_DUMP_EXPORT_SINCE_H

#include "dump/export/export_put.h"

/* Exports what differs between e->base and e->root.  -ENOMEM, -EINTR. */
int export_since(struct export *e);

#endif
