// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The placement residual, which was not published elsewhere.
 *
 * Classes are of equal ratio by the expected residual life of a block,
 * its life plus three times the time since it was written.  Its life is the
 * geometric mean of the one before and the interval that ends with a write or a
 * trim, so that it follows a change of a factor of a thousand within a few
 * writes.  A block that is moved is placed anew: the longer it was not written,
 * the longer it is expected to last.  An open segment that hardly fills is lost
 * to the others, so blocks of a class with few of them go to the nearest other
 * class.  While one segment is clean, those of a log without an open segment go
 * to the nearest log that has one, so that the number of classes needs no
 * additional clean segments.
 *
 * The state of a block is a word of 32 bits: a time, in units by which it wraps
 * around after 256 times the data was written, and the logarithm of its life.
 * A block that was not written for longer may so be taken for a younger one, and
 * is in a class of shorter lives until it is moved again.
 */
#include "gc/sim/volume/simresidual.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "gc/sim/volume/simvol.h"

#define TIME_BITS 22u
#define TIME_MASK ((UINT32_C(1) << TIME_BITS) - 1)
/* Units of time for which the data is written once. */
#define UNITS (UINT32_C(1) << (TIME_BITS - 8))
#define PER_DOUBLING 32.0	/* steps of a life */
#define LIFE_MAX ((1 << (32 - TIME_BITS)) - 1)

/* A class with a smaller share of the blocks, one in so many, has no log. */
#define SHARE 32u

/* The last class begins at so many times the data; the others end at quarters. */
#define LAST_CLASS 8.0
#define RATIO 4.0
/*
 * A block that outlives its life is rather one that has become cold.  This and
 * SHARE are fitted, to loads that are not in tests/bench/seeds/README.md.
 */
#define AGE_WEIGHT 3

struct simresidual {
	uint64_t unit;		/* of time, in blocks of the user */
	uint64_t placed[SIMPLACE_CLASSES], all;	/* blocks, by class, which fade */
	uint32_t words[];	/* by block */
};

/* A life of so many units, as a part of a word. */
static uint32_t encode_life(double life)
{
	double code = PER_DOUBLING * log2(life);

	return code < 0 ? 0 : code > LIFE_MAX ? LIFE_MAX : (uint32_t)code;
}

int simresidual_open(struct simvol *v, struct context *cx)
{
	uint64_t n = v->config.data, i;
	struct simresidual *r = calloc(1, sizeof(*r) + n * sizeof(r->words[0]));

	v->place.residual = r;
	if (!r)
		return fail(cx, -ENOMEM, "residual lives");
	r->unit = n / UNITS + 1;
	/* Blocks are expected to be written as often as all others. */
	for (i = 0; i < n; i++)
		r->words[i] = encode_life((double)n / (double)r->unit)
			      << TIME_BITS;
	return 0;
}

void simresidual_close(struct simplace *p)
{
	free(p->residual);
	p->residual = NULL;
}

static uint32_t now_of(const struct simvol *v)
{
	return (uint32_t)(v->totals.user / v->place.residual->unit) & TIME_MASK;
}

/* Units since the block of WORD was written; in the same one half a unit. */
static double age_of(const struct simvol *v, uint32_t word)
{
	return ((now_of(v) - word) & TIME_MASK) + 0.5;
}

void simresidual_forget(struct simvol *v, uint32_t id)
{
	uint32_t *word = &v->place.residual->words[id];
	uint32_t life = *word >> TIME_BITS;

	life = (life + encode_life(age_of(v, *word)) + 1) / 2;
	*word = life << TIME_BITS | now_of(v);
}

static bool has_room(const struct simvol *v, uint32_t log)
{
	const struct simvol_log *l = &v->logs[log];

	return l->segnum != SIMVOL_NONE &&
	       l->offset < v->segments[l->segnum].blocks;
}

/*
 * Whether CLASS may have the next block: it has a share of the writes that is
 * worth an open segment, or, while only one is clean, such a segment.
 */
static bool is_open(const struct simvol *v, uint32_t class)
{
	const struct simresidual *r = v->place.residual;

	if (class >= v->place.classes)
		return false;
	return v->nclean > 1 ? r->placed[class] * SHARE >= r->all :
			       has_room(v, class);
}

/* The log for a block of CLASS: that, or the nearest open one. */
static uint32_t log_for(struct simvol *v, uint32_t class)
{
	struct simresidual *r = v->place.residual;
	uint32_t d, i;

	r->placed[class]++;
	if (++r->all > v->config.data) {
		for (r->all = i = 0; i < v->place.classes; i++)
			r->all += r->placed[i] /= 2;
	}
	for (d = 0; d < v->place.classes; d++) {
		if (is_open(v, class + d))
			return class + d;
		if (class >= d && is_open(v, class - d))
			return class - d;
	}
	return class;
}

unsigned int simresidual_choose(struct simvol *v, uint32_t id,
				enum simplace_cause why)
{
	const struct simresidual *r = v->place.residual;
	uint32_t *word = &v->place.residual->words[id];
	uint32_t last = v->place.classes - 1;
	double data = (double)v->config.data / (double)r->unit, left, over;

	if (why == SIMPLACE_HELD)
		return log_for(v, last);
	if (why == SIMPLACE_USER && v->at[id] != SIMVOL_NONE)
		simresidual_forget(v, id);
	else if (why == SIMPLACE_USER)
		*word = (*word & ~TIME_MASK) | now_of(v);
	left = exp2((*word >> TIME_BITS) / PER_DOUBLING) +
	       AGE_WEIGHT * age_of(v, *word);
	/* The number of classes before the last one. */
	over = ceil(log2(LAST_CLASS * data / left) / log2(RATIO));
	if (over < 0)
		over = 0;
	return log_for(v, over < last ? last - (uint32_t)over : 0);
}
