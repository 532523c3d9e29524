/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DAT whose map is broken, or of which blocks cannot be read. */
#ifndef NILFS2_FSCK_FIX_DAT_H
#define NILFS2_FSCK_FIX_DAT_H

#include <stdbool.h>

#include "fsck/plan/fixers.h"

/* True where FIX rebuilds the map of the DAT: fix_dat() then needs a writer
   whose DAT begins without blocks. */
bool fix_dat_is_rebuilt(const struct fix *fix);

#endif
