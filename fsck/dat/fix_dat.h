/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DAT whose map is broken, or of which blocks cannot be read. */
#ifndef NILFS2_FSCK_FIX_DAT_H
#define NILFS2_FSCK_FIX_DAT_H

#include <stdbool.h>

#include "fsck/plan/fixers.h"

/* True where FIX is to be repaired by making the map of the DAT again: fix_dat() is
   given a writer with a DAT that is again then. */
bool fix_dat_is_anew(const struct fix *fix);

#endif
