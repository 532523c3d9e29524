/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass that searches for flipped bits. */
#ifndef NILFS2_FSCK_PASS_BITS_H
#define NILFS2_FSCK_PASS_BITS_H

#include "check/pass/passes.h"

/*
 * Flipped bits that checksums show, where the passes have found damage, or
 * logs may be missing after a crash; after all of them, open or not.
 */
pass_run pass_bits;
pass_estimate pass_bits_work;

#endif
