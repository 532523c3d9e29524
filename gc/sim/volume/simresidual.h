/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The placement residual, by expected residual lives of blocks.
 *
 * The functions are members of struct simplace_kind, which describes them.
 */
#ifndef NILFS2_GC_SIM_SIMRESIDUAL_H
#define NILFS2_GC_SIM_SIMRESIDUAL_H

#include <stdint.h>

#include "base/context.h"
#include "gc/sim/volume/simplace.h"

int simresidual_open(struct simvol *v, struct context *cx);
void simresidual_close(struct simplace *p);
unsigned int simresidual_choose(struct simvol *v, uint32_t id,
				enum simplace_cause why);
void simresidual_forget(struct simvol *v, uint32_t id);

#endif
