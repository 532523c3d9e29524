/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences of two checkpoints, as a layer of a container image. */
#ifndef NILFS2_DUMP_EXPORT_SINCE_H
#define NILFS2_DUMP_EXPORT_SINCE_H

#include "dump/export/export_put.h"

/* Sets e->comment; leaves it empty, and reports it, if files of e->base are damaged. */
int export_since_mark(struct export *e);

/* Exports what differs between e->base and e->root.  -ENOMEM, -EINTR. */
int export_since(struct export *e);

#endif
