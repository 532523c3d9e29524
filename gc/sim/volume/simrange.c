// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Placements by the state of ranges of blocks.  Details that the publications
 * leave open are those of trace_replay, the simulator of Wang et al., FAST 2022.
 *
 * sfr, mq: Yang et al., "AutoStream: automatic stream management for
 * multi-streamed SSDs", SYSTOR 2017.  The last class is for moved blocks.  A
 * range of blocks counts requests; its class is the logarithm of the count.
 * With sfr the count is halved for each 16384 blocks written since its last
 * request, and a request that continues the previous one stays in its class.
 * With mq ranges are in queues by class, and the oldest of a queue goes to the
 * one below if it was not written for the time between the last two requests for
 * the range with the most.
 *
 * eti: Shafaei, Desnoyers and Fitzpatrick, "Write amplification reduction in
 * flash-based SSDs through extent-based temperature identification", HotStorage
 * 2016.  Extents count up to 15 requests, and are divided where a request covers
 * a part of one.  Those of four or more are hot, class 0, the others class 1;
 * moved blocks are class 2.  Every 4096 requests counts are halved, and adjacent
 * extents united if they have the same count or both are cold.
 */
#include "gc/sim/volume/simclass.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "gc/sim/volume/simvol.h"

#define NONE UINT32_MAX

#define SFR_HALVES 16384u	/* blocks */
#define EXTENTS 1024u
#define EXTENT_MOST 15u
#define EXTENT_HOT 4u
#define EXTENT_DECAYS 4096u	/* requests */

/* A range of blocks; its neighbours in a queue are numbers of ranges. */
struct range {
	uint64_t last, expires;
	uint64_t writes;	/* 0: none yet */
	uint32_t before, after;
	uint32_t class;
};

struct range_queue {
	uint32_t first, last;	/* ranges, or NONE */
};

struct simrange {
	/* Of sfr and mq: */
	struct range *ranges;
	uint32_t range_blocks;
	struct range_queue queues[SIMPLACE_CLASSES];
	uint64_t requests, lifetime, most;
	uint32_t hottest;
	uint64_t end;		/* of the last request */
	uint32_t class;		/* of it */
	bool goes_on;
	/* Of eti; extents follow each other. */
	uint32_t nextents;
	uint64_t begin[EXTENTS + 2];
	uint8_t heat[EXTENTS + 2];
};

int simrange_open(struct simvol *v, struct context *cx)
{
	struct simrange *s = calloc(1, sizeof(*s));
	uint32_t i, blocks = v->place.kind->range_blocks;

	v->place.range = s;
	if (!s)
		return fail(cx, -ENOMEM, "ranges");
	s->hottest = NONE;
	s->nextents = 1;
	s->begin[1] = v->config.data;
	for (i = 0; i < SIMPLACE_CLASSES; i++)
		s->queues[i] = (struct range_queue){ NONE, NONE };
	s->range_blocks = blocks;
	if (!blocks)
		return 0;
	s->ranges = calloc(div_round_up(v->config.data, blocks),
			   sizeof(*s->ranges));
	return s->ranges ? 0 : fail(cx, -ENOMEM, "ranges");
}

void simrange_close(struct simplace *p)
{
	if (p->range)
		free(p->range->ranges);
	free(p->range);
	p->range = NULL;
}

/* The class of N requests; the last one is for moved blocks. */
static uint32_t class_of(const struct simvol *v, uint64_t n)
{
	uint32_t class = n ? (uint32_t)log((double)n) : 0;

	return class + 2 < v->place.classes ? class : v->place.classes - 2;
}

void simrange_ask_sfr(struct simvol *v, uint64_t first, uint64_t count)
{
	struct simrange *s = v->place.range;
	uint64_t now = v->totals.user, i;

	s->goes_on = first == s->end;
	s->end = first + count;
	for (i = first / s->range_blocks; i * s->range_blocks < s->end; i++) {
		struct range *r = &s->ranges[i];
		uint64_t halves = (now - r->last) / SFR_HALVES;

		r->writes = 1 + (halves < 64 ? r->writes >> halves : 0);
		r->last = now;
		r->class = class_of(v, r->writes);
	}
}

static void leave_queue(struct simrange *s, uint32_t i)
{
	struct range *r = &s->ranges[i];
	struct range_queue *q = &s->queues[r->class];

	*(r->before == NONE ? &q->first : &s->ranges[r->before].after) =
		r->after;
	*(r->after == NONE ? &q->last : &s->ranges[r->after].before) =
		r->before;
}

static void enter_queue(struct simrange *s, uint32_t i, uint32_t class)
{
	struct range *r = &s->ranges[i];
	struct range_queue *q = &s->queues[class];

	r->class = class;
	r->before = q->last;
	r->after = NONE;
	*(q->last == NONE ? &q->first : &s->ranges[q->last].after) = i;
	q->last = i;
	r->expires = s->requests + s->lifetime;
}

void simrange_ask_mq(struct simvol *v, uint64_t first, uint64_t count)
{
	struct simrange *s = v->place.range;
	uint64_t i;
	uint32_t class, head, next;

	for (i = first / s->range_blocks;
	     i * s->range_blocks < first + count; i++) {
		struct range *r = &s->ranges[i];

		s->requests++;
		if (r->writes)
			leave_queue(s, (uint32_t)i);
		if (++r->writes > s->most) {
			s->hottest = (uint32_t)i;
			s->lifetime = s->requests - r->last;
			s->most = r->writes;
		}
		r->last = s->requests;
		enter_queue(s, (uint32_t)i, class_of(v, r->writes));
		for (class = 0; class + 1 < v->place.classes; class++) {
			head = s->queues[class].first;
			if (head == NONE ||
			    s->ranges[head].expires >= s->requests)
				continue;
			next = s->ranges[head].after;
			leave_queue(s, head);
			enter_queue(s, head, class ? class - 1 : 0);
			if (head == s->hottest && next != NONE) {
				s->most = s->ranges[next].writes;
				s->hottest = next;
			}
		}
	}
}

unsigned int simrange_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why)
{
	struct simrange *s = v->place.range;

	if (why != SIMPLACE_USER)
		return v->place.classes - 1;
	if (!s->goes_on)
		s->class = s->ranges[id / s->range_blocks].class;
	return s->class;
}

/* The extent in which block ID is. */
static uint32_t extent_of(const struct simrange *s, uint64_t id)
{
	uint32_t low = 0, high = s->nextents, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (s->begin[middle] <= id)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Divides extent I at block AT. */
static void divide_extent(struct simrange *s, uint32_t i, uint64_t at)
{
	memmove(&s->begin[i + 2], &s->begin[i + 1],
		(s->nextents - i) * sizeof(s->begin[0]));
	memmove(&s->heat[i + 1], &s->heat[i], s->nextents - i);
	s->begin[i + 1] = at;
	s->nextents++;
}

static void cool_extents(struct simrange *s)
{
	uint32_t i, n = 0, end = s->nextents;
	uint64_t last = s->begin[end];

	for (i = 0; i < end; i++) {
		uint8_t heat = s->heat[i] / 2;

		if (n && (heat == s->heat[n - 1] ||
			  (heat < EXTENT_HOT && s->heat[n - 1] < EXTENT_HOT)))
			continue;
		s->begin[n] = s->begin[i];
		s->heat[n++] = heat;
	}
	s->begin[n] = last;
	s->nextents = n;
}

void simrange_ask_eti(struct simvol *v, uint64_t first, uint64_t count)
{
	struct simrange *s = v->place.range;
	uint64_t end = first + count;
	uint32_t i;

	if (++s->requests % EXTENT_DECAYS == 0)
		cool_extents(s);
	for (i = extent_of(s, first); i < s->nextents && s->begin[i] < end;
	     i++) {
		bool divides = s->begin[i] < first || s->begin[i + 1] > end;

		if (s->heat[i] == EXTENT_MOST ||
		    (divides && s->nextents >= EXTENTS))
			continue;
		if (s->begin[i + 1] > end)
			divide_extent(s, i, end);
		if (s->begin[i] < first)
			divide_extent(s, i++, first);
		s->heat[i]++;
	}
}

unsigned int simrange_choose_extent(struct simvol *v, uint32_t id,
				    enum simplace_cause why)
{
	const struct simrange *s = v->place.range;

	return why != SIMPLACE_USER ? 2 :
				      s->heat[extent_of(s, id)] < EXTENT_HOT;
}
