/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The placement midas: groups by how often a block was moved, each a queue of a
 * size that a model chooses.  See simchain.h for the publication.
 */
#ifndef NILFS2_GC_SIM_SIMMIDAS_H
#define NILFS2_GC_SIM_SIMMIDAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/sim/volume/simplace.h"

/* What it knows of V, which is as large as it will be; -ENOMEM. */
int simmidas_open(struct simvol *v, struct context *cx);
void simmidas_close(struct simplace *p);

unsigned int simmidas_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why);
void simmidas_clean(struct simvol *v, uint32_t segnum);

/* The first segment of a queue that is too long, or -1. */
int64_t simmidas_victim(struct simvol *v);

/* How many queues there are, and *SIZES, as they were chosen last. */
struct simchain_sizes;
uint32_t simmidas_sizes(const struct simvol *v, struct simchain_sizes *sizes);

/* Whether SEGNUM is in a queue, where no policy may choose it. */
bool simmidas_guards(const struct simvol *v, uint32_t segnum);

#endif
