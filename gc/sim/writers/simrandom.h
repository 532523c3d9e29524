/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pseudorandom numbers, the same ones for the same seed on every machine. */
#ifndef NILFS2_GC_SIM_SIMRANDOM_H
#define NILFS2_GC_SIM_SIMRANDOM_H

#include "base/wide.h"

struct simrandom {
	uint64_t state;
};

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t simrandom_next(struct simrandom *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* From 0 to BELOW - 1; 0 if BELOW is 0. */
static inline uint64_t simrandom_below(struct simrandom *r, uint64_t below)
{
	return wide_mul(simrandom_next(r), below).high;
}

/* From 0 on, less than 1. */
static inline double simrandom_fraction(struct simrandom *r)
{
	return (double)(simrandom_next(r) >> 11) * 0x1p-53;
}

#endif
