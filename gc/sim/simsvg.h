/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture of a run. */
#ifndef NILFS2_GC_SIM_SIMSVG_H
#define NILFS2_GC_SIM_SIMSVG_H

#include "gc/sim/simrun.h"

/*
 * Writes to PATH the map of the segments, as full as they are, and under it
 * how many were clean and how amplification went.  Fails as outfile_open():
 * never over the file INPUT (NULL: none).
 */
int simsvg_write(struct context *cx, const char *path, const char *input,
		 const struct simrun *run);

#endif
