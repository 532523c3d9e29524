/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The default memory budget of a check. */
#ifndef NILFS2_CHECK_BUDGET_H
#define NILFS2_CHECK_BUDGET_H

#include <stdint.h>

#include "base/context.h"
#include "vol/volume.h"

/*
 * Bytes for a volume with BLOCKS blocks in use on a machine with MEMORY bytes:
 * the USUAL budget and half a byte for each block, but of what is above the
 * usual one no more than would take half of the machine.
 */
uint64_t budget_bytes(uint64_t usual, uint64_t blocks, uint64_t memory);

/* Raises the budget of CX, if it is the USUAL one, to what VOL needs. */
void budget_raise(struct context *cx, struct volume *vol, uint64_t usual);

#endif
