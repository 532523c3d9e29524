/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a simulated volume keeps of its past: snapshots, protection period.
 */
#ifndef NILFS2_GC_SIM_SIMPAST_H
#define NILFS2_GC_SIM_SIMPAST_H

#include "gc/sim/simvol.h"

/* The last complete checkpoint becomes a snapshot. -ENOMEM. */
int simpast_take(struct simvol *v, struct context *cx);

/* The oldest snapshot that may go is one no longer; nothing without one. */
void simpast_drop(struct simvol *v);

/* Checkpoints before CNO are protected no longer. */
void simpast_protect(struct simvol *v, uint32_t cno);

/*
 * The live blocks of each full segment, by examining all places: what the
 * counts should be.  NEEDED has room for all segments.
 */
void simpast_count(const struct simvol *v, uint32_t *needed);

#endif
