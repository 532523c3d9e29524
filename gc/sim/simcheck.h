/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The invariants of a simulated volume. */
#ifndef NILFS2_GC_SIM_SIMCHECK_H
#define NILFS2_GC_SIM_SIMCHECK_H

#include "gc/sim/simvol.h"

/*
 * No block lost, none in two places, all counts what they should be, every
 * segment accounted for.  -EUCLEAN with what is wrong; -ENOMEM.
 */
int simcheck_volume(const struct simvol *v, struct context *cx);

#endif
