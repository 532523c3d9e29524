/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metadata of a simulated volume: blocks that map other blocks.
 *
 * A node describes a number of data blocks, a block of the DAT a number of
 * blocks of data and nodes.  User writes change both; moving changes only the
 * DAT if there is one.  Changed blocks are written by a flush, once each.
 */
#ifndef NILFS2_GC_SIM_SIMMETA_H
#define NILFS2_GC_SIM_SIMMETA_H

#include "gc/sim/simvol.h"

/* Sets up the layers by V's config, and V's nlogical. -ENOMEM, -EINVAL. */
int simmeta_open(struct simvol *v, struct context *cx);
void simmeta_close(struct simvol *v);

/* Block ID has another place: what describes it is dirty. */
void simmeta_touch(struct simvol *v, uint32_t id, bool moved);

/* The cleaner moves metadata block ID: makes it dirty. */
void simmeta_move(struct simvol *v, uint32_t id);

/* Blocks that a flush would write. */
uint64_t simmeta_dirty(const struct simvol *v);

/* Writes what is dirty, and a checkpoint is complete. -ENOSPC. */
int simmeta_flush(struct simvol *v, struct context *cx);

#endif
