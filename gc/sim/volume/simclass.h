/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Placements by how often and how recently blocks, or ranges of them, were
 * written.
 *
 * The functions are members of struct simplace_kind, which describes them.
 * simclass.c (state of blocks) and simrange.c (of ranges) have the formulas and
 * publications.
 */
#ifndef NILFS2_GC_SIM_SIMCLASS_H
#define NILFS2_GC_SIM_SIMCLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "gc/sim/volume/simplace.h"

int simclass_open(struct simvol *v, struct context *cx);
void simclass_close(struct simplace *p);

/* The class by the function of the kind; a held block is in the last one. */
unsigned int simclass_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why);
void simclass_forget(struct simvol *v, uint32_t id);
void simclass_clean(struct simvol *v, uint32_t segnum);

unsigned int simclass_sfs(struct simvol *v, uint64_t *word, bool moved);
unsigned int simclass_multilog(struct simvol *v, uint64_t *word, bool moved);
unsigned int simclass_fadac(struct simvol *v, uint64_t *word, bool moved);
void simclass_ask_fadac(struct simvol *v, uint64_t first, uint64_t count);
unsigned int simclass_warcip(struct simvol *v, uint64_t *word, bool moved);

int simrange_open(struct simvol *v, struct context *cx);
void simrange_close(struct simplace *p);
unsigned int simrange_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why);
void simrange_ask_sfr(struct simvol *v, uint64_t first, uint64_t count);
void simrange_ask_mq(struct simvol *v, uint64_t first, uint64_t count);
unsigned int simrange_choose_extent(struct simvol *v, uint32_t id,
				    enum simplace_cause why);
void simrange_ask_eti(struct simvol *v, uint64_t first, uint64_t count);

#endif
