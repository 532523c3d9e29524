// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Placements by frequency and recency.  Details that the publications leave open
 * are those of trace_replay, the simulator of Wang et al., FAST 2022.
 *
 * sfs: Min et al., "SFS: random write considered harmful in solid state drives",
 * FAST 2012.  The hotness of a block is its number of writes, divided by the
 * time since the last one; that of a segment is the sum of writes divided by the
 * sum of times of its live blocks.  Whenever a segment is cleaned, k-means
 * divides those of full segments into classes, and a block goes to the class of
 * the nearest mean.
 *
 * multilog: Stoica and Ailamaki, "Improving flash write performance by using
 * update frequency", PVLDB 6(9), 2013.  A block goes to the next class when it
 * is moved, and to the previous one when the user writes it after a time t, with
 * a probability of 1 - t / e.  e is half the live blocks of the class, times the
 * live share of its victims.
 *
 * fadac: Kremer and Brinkmann, "FADaC: a self-adapting data classifier for flash
 * memory", SYSTOR 2019.  A block counts writes minus moves; its class is the
 * number of times that a fading mean of all requests has to be multiplied by
 * ten to reach the count.
 *
 * warcip: Yang, Pei and Yang, "WARCIP: write amplification reduction by
 * clustering I/O pages", SYSTOR 2019.  Class 0 is for moved blocks.  A write of
 * the user goes to the class with the nearest mean interval between writes, to
 * which the interval until the last move is added.  The mean is that of the
 * blocks in the open segment.  After 256 segments a class with more than half
 * the writes is divided, or one with few of them is removed.
 */
#include "gc/sim/volume/simclass.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simrandom.h"

#define NONE UINT32_MAX

/* A word of sfs and warcip: a time, and a number that does not overflow. */
#define LOW_BITS 24u
#define LOW_MOST ((UINT64_C(1) << LOW_BITS) - 1)
/* Of multilog: a level, and a time. */
#define LEVEL_SHIFT 56u
#define TIME_MASK ((UINT64_C(1) << LEVEL_SHIFT) - 1)

#define MEANS_PASSES 3u
#define FADES 10.0
#define MERGES_AFTER 256u	/* segments that the user filled */

/* Sums over the live blocks of a segment. */
struct class_sums {
	double writes, times;
	uint32_t n;
};

struct simclass {
	/* Of sfs and multilog: */
	struct class_sums *sums;	/* by segment */
	uint32_t latest;	/* the block that was placed last, or NONE */
	uint64_t live[SIMPLACE_CLASSES];	/* data blocks */
	double cleaned[SIMPLACE_CLASSES], dead[SIMPLACE_CLASSES];
	uint32_t top;		/* the greatest level in use */
	struct simrandom random;
	/* Means of sfs, descending, and of warcip; of fadac the first one. */
	double mean[SIMPLACE_CLASSES];
	/* Of warcip, by place in the order of means: */
	uint32_t log[SIMPLACE_CLASSES];
	uint64_t n[SIMPLACE_CLASSES];	/* blocks in the open segment */
	uint64_t writes[SIMPLACE_CLASSES], all_writes;
	uint32_t count;		/* of classes in use; logs of the others follow */
	uint32_t ended;		/* segments */
	uint32_t leaving;	/* class that ends with its segment, or NONE */
};

int simclass_open(struct simvol *v, struct context *cx)
{
	struct simclass *s = calloc(1, sizeof(*s));
	uint32_t i;

	v->place.class = s;
	if (!s)
		return fail(cx, -ENOMEM, "classes");
	s->latest = s->leaving = NONE;
	s->count = v->place.classes;
	for (i = 0; i < SIMPLACE_CLASSES; i++)
		s->log[i] = i;
	if (!v->place.kind->clean)
		return 0;
	s->sums = calloc(v->config.nsegments, sizeof(*s->sums));
	return s->sums ? 0 : fail(cx, -ENOMEM, "classes");
}

void simclass_close(struct simplace *p)
{
	if (p->class)
		free(p->class->sums);
	free(p->class);
	p->class = NULL;
}

/* Adds SIGN times block ID to the sums of the segment where it is. */
static void count_block(struct simvol *v, uint32_t id, int sign)
{
	struct simclass *s = v->place.class;
	uint64_t word = v->place.written[id];
	uint32_t segnum;

	/* Blocks of an image have no state until they are written. */
	if (v->at[id] == SIMVOL_NONE || !word)
		return;
	segnum = v->at[id] / v->config.blocks;
	s->sums[segnum].writes += sign * (double)(word & LOW_MOST);
	s->sums[segnum].times += sign * (double)(word >> LOW_BITS);
	s->sums[segnum].n += (uint32_t)sign;
	/* The log of metadata has none of these. */
	s->live[v->origin[segnum].log] += (uint64_t)sign;
}

/* The block that was placed last is now in its segment. */
static void settle(struct simvol *v)
{
	struct simclass *s = v->place.class;

	if (s->latest != NONE)
		count_block(v, s->latest, 1);
	s->latest = NONE;
}

void simclass_forget(struct simvol *v, uint32_t id)
{
	settle(v);
	count_block(v, id, -1);
}

unsigned int simclass_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why)
{
	struct simplace *p = &v->place;
	struct simclass *s = p->class;
	unsigned int class;

	if (s->sums)
		settle(v);
	if (why == SIMPLACE_HELD)
		return p->classes - 1;
	/* Segments that are cleaned have no sums any more. */
	if (s->sums && why == SIMPLACE_USER)
		count_block(v, id, -1);
	class = p->kind->classify(v, &p->written[id], why == SIMPLACE_MOVED);
	s->latest = id;
	return class;
}

/* The index of the mean nearest to VALUE; of equal ones the last, if AT_END. */
static uint32_t nearest(const double *means, uint32_t first, uint32_t end,
			double value, bool at_end)
{
	uint32_t best = first, i;

	for (i = first + 1; i < end; i++) {
		double d = fabs(means[i] - value);
		double least = fabs(means[best] - value);

		if (d < least || (at_end && d == least))
			best = i;
	}
	return best;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Divides full segments, and SEGNUM, by their hotness. */
static void find_means(struct simvol *v, uint32_t segnum)
{
	struct simclass *s = v->place.class;
	uint32_t classes = v->place.classes, pass, i, c;
	double now = (double)v->totals.user, time;

	for (pass = 0; pass < MEANS_PASSES; pass++) {
		double sum[SIMPLACE_CLASSES] = { 0 };
		uint32_t n[SIMPLACE_CLASSES] = { 0 };

		for (i = 0; i < v->config.nsegments; i++) {
			const struct class_sums *t = &s->sums[i];

			time = t->n * now - t->times;
			if ((v->state[i] != SIMVOL_FULL && i != segnum) ||
			    !t->n || time <= 0)
				continue;
			c = nearest(s->mean, 0, classes, t->writes / time,
				    false);
			sum[c] += t->writes / time;
			n[c]++;
		}
		for (c = 0; c < classes; c++)
			s->mean[c] = n[c] ? sum[c] / n[c] : 0;
	}
	qsort(s->mean, classes, sizeof(s->mean[0]), descending);
}

void simclass_clean(struct simvol *v, uint32_t segnum)
{
	struct simclass *s = v->place.class;
	uint32_t log = v->origin[segnum].log;

	settle(v);
	if (v->place.kind->classify == simclass_sfs)
		find_means(v, segnum);
	if (log < v->place.classes) {
		s->cleaned[log] += v->segments[segnum].written;
		s->dead[log] += v->segments[segnum].written - s->sums[segnum].n;
		s->live[log] -= s->sums[segnum].n;
	}
	s->sums[segnum] = (struct class_sums){ 0 };
}

unsigned int simclass_sfs(struct simvol *v, uint64_t *word, bool moved)
{
	const struct simclass *s = v->place.class;
	uint64_t now = v->totals.user + !moved, last = *word >> LOW_BITS;
	uint64_t n = *word & LOW_MOST;

	if (!moved)
		*word = now << LOW_BITS | (n + (n < LOW_MOST));
	/* The hottest class is for what was not written before. */
	if (!n || now == last)
		return moved && !n ? v->place.classes - 1 : 0;
	return nearest(s->mean, 0, v->place.classes,
		       (double)n / (double)(now - last), true);
}

unsigned int simclass_multilog(struct simvol *v, uint64_t *word, bool moved)
{
	struct simclass *s = v->place.class;
	uint64_t now = v->totals.user + !moved, last = *word & TIME_MASK;
	uint32_t level = (uint32_t)(*word >> LEVEL_SHIFT);
	double expected;

	if (moved && level < s->top) {
		level++;
	} else if (moved && s->top + 1 < v->place.classes &&
		   s->live[level] >= v->config.blocks) {
		level++;
		s->top++;
	} else if (!moved && level && s->cleaned[level] > 0) {
		expected = (double)s->live[level] / 2 *
			   (1 - s->dead[level] / s->cleaned[level]);
		if (last && simrandom_fraction(&s->random) <
				    1 - (double)(now - last) / expected)
			level--;
	}
	*word = (uint64_t)level << LEVEL_SHIFT | (moved ? last : now);
	return level;
}

void simclass_ask_fadac(struct simvol *v, uint64_t first, uint64_t count)
{
	double *mean = &v->place.class->mean[0];
	uint64_t valid = v->nwritten - v->ngarbage;

	(void)first;
	/* Rounding decides what becomes of a count that equals the mean. */
	if (valid)
		*mean = *mean + (double)count / (double)valid -
			*mean / (double)valid;
}

unsigned int simclass_fadac(struct simvol *v, uint64_t *word, bool moved)
{
	double limit = v->place.class->mean[0];
	unsigned int class = 0;

	if (moved)
		*word -= *word > 0;
	else
		++*word;
	for (; limit > 0 && (double)*word > limit &&
	       class + 1 < v->place.classes; limit *= FADES)
		class++;
	return class;
}

/* Removes class I of warcip; its log is the first of those not in use. */
static void remove_class(struct simclass *s, uint32_t i)
{
	uint32_t log = s->log[i];

	for (s->count--; i < s->count; i++) {
		s->log[i] = s->log[i + 1];
		s->mean[i] = s->mean[i + 1];
		s->n[i] = s->n[i + 1];
		s->writes[i] = s->writes[i + 1];
	}
	s->log[i] = log;
}

/* Adds a class before class I, with a mean between those around it. */
static void divide_class(struct simclass *s, uint32_t i)
{
	uint32_t log = s->log[s->count], k;

	for (k = s->count++; k > i; k--) {
		s->log[k] = s->log[k - 1];
		s->mean[k] = s->mean[k - 1];
		s->n[k] = s->n[k - 1];
	}
	s->log[i] = log;
	s->mean[i] = (s->mean[i - 1] + s->mean[i + 1]) / 2;
	s->n[i] = 0;
}

static void balance_classes(struct simvol *v)
{
	struct simclass *s = v->place.class;
	uint32_t i;

	s->ended = 0;
	for (i = 1; i < s->count && s->writes[i] <= s->all_writes / 2; i++)
		;
	if (i < s->count && s->count < v->place.classes) {
		divide_class(s, i);
	} else if (s->leaving == NONE) {
		for (i = 1; i < s->count && s->writes[i] >= v->config.blocks;
		     i++)
			;
		if (i < s->count && s->count > 2)
			s->leaving = i;
	}
	memset(s->writes, 0, sizeof(s->writes));
	s->all_writes = 0;
}

unsigned int simclass_warcip(struct simvol *v, uint64_t *word, bool moved)
{
	struct simclass *s = v->place.class;
	uint64_t now = v->totals.user + !moved, last = *word >> LOW_BITS;
	uint64_t penalty = *word & LOW_MOST, unit = v->config.blocks;
	const struct simvol_log *log;
	double interval = 0;
	uint32_t i;

	if (moved) {
		penalty = (now - last) / unit;
		if (last)
			*word = last << LOW_BITS |
				(penalty < LOW_MOST ? penalty : LOW_MOST);
		return s->log[0];
	}
	if (last)
		interval = (double)(now - last + penalty * unit);
	*word = now << LOW_BITS;
	i = nearest(s->mean, 1, s->count, interval, true);
	s->mean[i] = (s->mean[i] * (double)s->n[i] + interval) /
		     (double)(s->n[i] + 1);
	s->n[i]++;
	s->writes[i]++;
	s->all_writes++;
	log = &v->logs[s->log[i]];
	if (log->segnum == SIMVOL_NONE || log->offset + 1 < v->config.blocks)
		return (unsigned int)(log - v->logs);
	/* This block ends the segment. */
	s->n[i] = 0;
	if (i == s->leaving) {
		remove_class(s, i);
		s->leaving = NONE;
	}
	if (++s->ended == MERGES_AFTER)
		balance_classes(v);
	return (unsigned int)(log - v->logs);
}
