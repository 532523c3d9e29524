// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The placement MiDAS (Oh et al., FAST 2024; its model is in simchain.h): blocks
 * move through groups of segments, whose sizes a model chooses.
 *
 * Group 0 is the hot one, group 1 receives the user's other writes, and a block
 * that is moved goes to the next group, or stays in the last.  The log of a
 * group has its number.  A policy may choose from the last group; those before
 * it are queues, whose first segment is cleaned if they are too long.
 *
 * After each epoch, in which the user writes four times the data, the model
 * chooses number and sizes of groups; they are used if it expects less than was
 * measured.  In the middle of an epoch the live share of victims is compared
 * with the expected one: from the first group on that is off by a tenth there
 * are no queues until the next epoch.  At the beginning there are no queues.
 *
 * A block is hot if it has died in group 1 three times sooner than a segment of
 * group 0 is cleaned, and was not moved.  If that proved wrong, or was rare,
 * the next sizes have no hot group.
 */
#include "gc/sim/volume/simplace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simchain.h"
#include "gc/sim/volume/simchoice.h"
#include "gc/sim/volume/simvol.h"

#define EPOCH 4u	/* in multiples of the data */
#define HOT 3u
#define OFF_BY 0.1
#define CHECK_FROM 3u	/* after a third, at half of an epoch */
#define CHECK_TO 2u
#define HOT_LIVED 0.2	/* maximum live share leaving group 0 */
#define HOT_TRAFFIC 0.15	/* minimum share of hot writes */

struct simmidas {
	struct simchain chain;
	struct simchain_sizes sizes;
	uint32_t queues;	/* number of groups with queues, the first ones */
	uint32_t last;		/* group */
	uint32_t victim;	/* group of the segment that is cleaned */
	uint8_t *heat;		/* by block: up to HOT */
	struct policy_rank *ranks;	/* room for all segments */
	uint64_t epoch, begun;	/* blocks of the user: length, start of this one */
	uint64_t moved;		/* blocks moved before it */
	bool checks;		/* this epoch has unchecked sizes */
	/*
	 * Of victims since CHECK_FROM: their number, and the sum of live
	 * blocks.
	 */
	uint32_t cleaned[SIMCHAIN_GROUPS];
	double lived[SIMCHAIN_GROUPS];
	uint64_t hot;		/* writes of this epoch */
	/*
	 * Lifetimes of hot segments: a mean, and those since it was computed.
	 */
	double span, lives;
	uint32_t nlives;
	uint64_t spanned;	/* the time of that */
};

int simmidas_open(struct simvol *v, struct context *cx)
{
	struct simmidas *m = calloc(1, sizeof(*m));
	uint64_t data = v->config.data;

	v->place.midas = m;
	if (!m)
		return fail(cx, -ENOMEM, "groups");
	m->epoch = EPOCH * data;
	m->span = (double)data;
	m->last = v->place.classes - 1;
	m->heat = calloc(data, sizeof(*m->heat));
	m->ranks = calloc(v->config.nsegments, sizeof(*m->ranks));
	if (!m->heat || !m->ranks)
		return fail(cx, -ENOMEM, "groups");
	return simchain_open(&m->chain, cx, m->epoch / v->config.blocks + 1);
}

void simmidas_close(struct simplace *p)
{
	if (!p->midas)
		return;
	simchain_close(&p->midas->chain);
	free(p->midas->heat);
	free(p->midas->ranks);
	free(p->midas);
	p->midas = NULL;
}

bool simmidas_guards(const struct simvol *v, uint32_t segnum)
{
	return v->origin[segnum].log < v->place.midas->queues;
}

uint32_t simmidas_sizes(const struct simvol *v, struct simchain_sizes *sizes)
{
	*sizes = v->place.midas->sizes;
	return v->place.midas->queues;
}

/* The set of segments in queues has changed. */
static void notify_all(struct simvol *v)
{
	uint32_t i;

	for (i = 0; i < v->config.nsegments; i++)
		if (v->state[i] == SIMVOL_FULL)
			simvol_notify(v, i);
}

/* Ends the queues from GROUP on. */
static void end_queues(struct simvol *v, uint32_t group)
{
	v->place.midas->queues = group;
	v->place.midas->last = v->place.classes - 1;
	v->place.midas->checks = false;
	notify_all(v);
}

int64_t simmidas_victim(struct simvol *v)
{
	const struct simmidas *m = v->place.midas;
	uint32_t length[SIMCHAIN_GROUPS] = { 0 }, i, group, dead = 0;
	int64_t first[SIMCHAIN_GROUPS];

	for (i = 0; i < m->queues; i++)
		first[i] = -1;
	for (i = 0; i < v->config.nsegments && m->queues; i++) {
		bool is_full = v->state[i] == SIMVOL_FULL;

		group = v->origin[i].log;
		if (!is_full && v->state[i] != SIMVOL_OPEN)
			continue;
		if (is_full && group >= m->queues)
			dead |= v->segments[i].written - v->needed[i];
		if (group >= m->queues)
			continue;
		length[group]++;
		if (is_full && (first[group] < 0 || v->origin[i].opened <
				v->origin[first[group]].opened))
			first[group] = i;
	}
	for (group = 0; group < m->queues; group++)
		if (length[group] > m->sizes.size[group] && first[group] >= 0)
			return first[group];
	/* The last group has no dead blocks. */
	if (m->queues && !dead)
		end_queues(v, 0);
	return -1;
}

void simmidas_clean(struct simvol *v, uint32_t segnum)
{
	struct simmidas *m = v->place.midas;
	uint32_t group = v->origin[segnum].log;

	/* Segments of metadata. */
	if (group >= v->place.logs)
		return;
	m->victim = group;
	m->cleaned[group]++;
	m->lived[group] += (double)v->needed[segnum] /
			   v->segments[segnum].written;
	if (group)
		return;
	m->lives += (double)(v->totals.user - v->origin[segnum].opened);
	m->nlives++;
}

static void take_sizes(struct simvol *v, const struct simchain_sizes *s)
{
	struct simmidas *m = v->place.midas;
	uint32_t last = s->groups - 1, group, i, n;
	uint32_t from = m->queues < last ? m->queues : last;

	m->sizes = *s;
	m->last = m->queues = last;
	m->checks = true;
	/* Segments of no queue, before and now, belong to the last group. */
	for (i = from < 2 ? 2 : from; i < v->place.logs; i++)
		simvol_end_log(v, i);
	for (i = 0; i < v->config.nsegments; i++)
		if (v->state[i] == SIMVOL_FULL && v->origin[i].log >= from &&
		    v->origin[i].log < v->place.logs)
			v->origin[i].log = (uint8_t)last;
	/* So do the first segments of a group that is now too long. */
	for (group = 0; group < last; group++) {
		for (i = n = 0; i < v->config.nsegments; i++)
			if (v->state[i] == SIMVOL_FULL &&
			    v->origin[i].log == group)
				m->ranks[n++] = (struct policy_rank){
					v->origin[i].opened, i
				};
		simchoice_sort(m->ranks, n);
		for (i = 0; i + s->size[group] < n; i++)
			v->origin[m->ranks[i].index].log = (uint8_t)last;
	}
	notify_all(v);
}

/* Checks the expected values in the middle of an epoch, and ends it. */
static void pass_time(struct simvol *v)
{
	struct simmidas *m = v->place.midas;
	uint64_t age = v->totals.user - m->begun, moved, needed = 0;
	struct simchain_sizes s;
	bool trusts_heat;
	uint32_t group, i;

	if (age == m->epoch / CHECK_FROM) {
		memset(m->cleaned, 0, sizeof(m->cleaned));
		memset(m->lived, 0, sizeof(m->lived));
	}
	if (age == m->epoch / CHECK_TO && m->checks) {
		m->checks = false;
		for (group = 0; group <= m->last; group++) {
			if (!m->cleaned[group] ||
			    fabs(m->lived[group] / m->cleaned[group] -
				 m->sizes.valid[group]) <= OFF_BY)
				continue;
			end_queues(v, group);
			break;
		}
	}
	if (age >= m->epoch) {
		moved = v->totals.moved[SIMVOL_DATA] + v->totals.held;
		for (i = 0; i < v->config.nsegments; i++)
			needed += v->needed[i];
		simchain_settle(&m->chain);
		if (m->cleaned[0] && m->sizes.size[0])
			m->chain.hot_valid = m->lived[0] / m->cleaned[0];
		trusts_heat = m->chain.hot_valid <= HOT_LIVED &&
			      (double)m->hot >= HOT_TRAFFIC * (double)m->epoch;
		s = simchain_best(&m->chain, v->place.classes, trusts_heat,
				  v->config.nsegments - v->nclean,
				  (double)needed / v->config.blocks);
		if (s.amplification <
		    1 + (double)(moved - m->moved) / (double)m->epoch)
			take_sizes(v, &s);
		memset(m->chain.counts, 0,
		       m->chain.times * sizeof(*m->chain.counts));
		m->chain.total = 0;
		memset(m->cleaned, 0, sizeof(m->cleaned));
		memset(m->lived, 0, sizeof(m->lived));
		m->hot = 0;
		m->begun = v->totals.user;
		m->moved = moved;
	}
	if (!m->nlives || (double)(v->totals.user - m->spanned) < m->span)
		return;
	m->span = (m->span + m->lives / m->nlives) / 2;
	m->spanned = v->totals.user;
	m->lives = 0;
	m->nlives = 0;
}

unsigned int simmidas_choose(struct simvol *v, uint32_t id,
			     enum simplace_cause why)
{
	struct simmidas *m = v->place.midas;
	uint64_t now = v->totals.user + 1, last = v->place.written[id], life;
	unsigned int cooler = m->victim > 1 ? 0 : m->victim ? 1 : 2;
	const struct simvol_origin *origin;

	if (why == SIMPLACE_HELD)
		return m->last;
	if (why == SIMPLACE_MOVED) {
		m->heat[id] -= (uint8_t)(m->heat[id] < cooler ? m->heat[id] :
								cooler);
		return m->victim < m->last ? m->victim + 1 : m->last;
	}
	pass_time(v);
	if (last) {
		life = (now - last) / v->config.blocks;
		m->chain.total++;
		if (life < m->chain.times)
			m->chain.counts[life]++;
	}
	v->place.written[id] = now;
	/* Adjusts the heat by the lifetime in group 1. */
	if (v->at[id] != SIMVOL_NONE) {
		origin = &v->origin[v->at[id] / v->config.blocks];
		if (origin->log == 1 &&
		    (double)(v->totals.user - origin->opened) <= m->span)
			m->heat[id] += m->heat[id] < HOT;
		else if (origin->log == 1)
			m->heat[id] -= m->heat[id] > 0;
	}
	m->hot += m->heat[id] == HOT;
	if (m->queues && !m->sizes.size[0])
		return 1;
	return m->heat[id] < HOT;
}
