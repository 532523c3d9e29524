/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The DAT whose map is broken, or of which blocks cannot be read. */
#ifndef NILFS2_FSCK_FIX_DAT_H
#define NILFS2_FSCK_FIX_DAT_H

#include <stdbool.h>

#include "fsck/plan/fixers.h"

/* True where FIX is to be mended by making the map of the DAT anew: fix_dat() is
   given a writer with a DAT that is anew then. */
bool fix_dat_is_anew(const struct fix *fix);

#endif
