/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a CRC-32 that does not match says about the bytes it covers. */
#ifndef NILFS2_BASE_CRCSOLVE_H
#define NILFS2_BASE_CRCSOLVE_H

#include <stddef.h>
#include <stdint.h>

/* Messages longer than this, in bytes, may have two explanations. */
#define CRCSOLVE_BYTES_MAX ((UINT64_C(0xffffffff) - 32) / 8)

#define CRCSOLVE_NONE UINT64_MAX

/*
 * The bit whose flip explains that COMPUTED over LEN bytes is not STORED; the
 * seed does not matter.  Below 8 * LEN it is bit % 8 of byte bit / 8 of the
 * message, from there on bit - 8 * LEN of the stored number.  At most one bit
 * explains a difference.  CRCSOLVE_NONE: none does, or there is no difference,
 * or the message is longer than CRCSOLVE_BYTES_MAX.  Takes some milliseconds
 * whatever LEN is.
 */
uint64_t crcsolve_bit(uint32_t stored, uint32_t computed, uint64_t len);

/*
 * By what, in the sense of exclusive or, the checksum of a message changes
 * where LEN bytes of it, OLD, become NEW; AFTER bytes of the message follow
 * them.
 */
uint32_t crcsolve_exchange(const void *old, const void *new, size_t len,
			   uint64_t after);

#endif
