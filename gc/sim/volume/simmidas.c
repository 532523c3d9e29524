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
 * After each epoch, in which the user writes four times the volume, the model
 * chooses number and sizes of groups; they are used if it expects less than was
 * measured for the last volume.  The first one begins after twice the data.  If
 * too much of the hot group was live, the next one is twice as long instead.
 *
 * From when each group was cleaned the live share of victims is compared with
 * the expected one: from the first group on of which a tenth more is live there
 * are no queues, but up to four groups by the number of moves, as at the
 * beginning.  The same is done from the last group but one on, or the one
 * before, where cleaning does not end.
 *
 * A block is hot if it has died in group 1 three times sooner than a segment of
 * group 0 is cleaned, and was not moved.  If that proved wrong, or was rare,
 * the hot group of the next sizes is the measured one.
 */
#include "gc/sim/volume/simplace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simchain.h"
#include "gc/sim/volume/simchoice.h"
#include "gc/sim/volume/simvol.h"

#define EPOCH 4u	/* in volumes */
#define WAITS 2u	/* in multiples of the data */
#define HOT 3u
#define OFF_BY 0.1
#define CHECKED 0.3	/* of an epoch */
#define FREE_GROUPS 4u	/* without queues */
#define ENDLESS 25u	/* victims that make no room */
#define HOT_TOO_LIVE 0.18	/* for an epoch; in a group of one segment: */
#define HOT_ONE_LIVE 0.3
#define HOT_LIVED 0.1	/* maximum live share leaving group 0 */
#define HOT_NONE_LIVE 0.05	/* if none has left it */
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
	uint64_t places;	/* of the volume */
	uint64_t moved;		/* blocks moved before the present volume */
	double recent;		/* amplification of the last one */
	uint32_t round;		/* victims since the last write of the user, */
	uint32_t clean;		/* or since so many segments were clean */
	/* Clean segments at writes of the user in this epoch. */
	uint32_t least_clean, most_clean;
	uint64_t checked;	/* time of the last check, or 0: not yet in use */
	/*
	 * Of victims since CHECKED: their number, and the sum of live blocks;
	 * of those of group 0 in this epoch.
	 */
	uint32_t cleaned[SIMCHAIN_GROUPS], hots;
	double lived[SIMCHAIN_GROUPS], hot_lived;
	uint64_t hot;		/* writes of this epoch */
	/*
	 * Lifetimes of hot segments: a mean, and those since it was computed.
	 */
	double span, lives;
	uint32_t nlives;
	uint64_t spanned;	/* the time of that */
};

/* The set of segments in queues has changed. */
static void notify_all(struct simvol *v)
{
	uint32_t i;

	for (i = 0; i < v->config.nsegments; i++)
		if (v->state[i] == SIMVOL_FULL)
			simvol_notify(v, i);
}

/* Ends the queues from GROUP on; that of hot blocks is none alone. */
static void end_queues(struct simvol *v, uint32_t group)
{
	struct simmidas *m = v->place.midas;

	if (group < 2)
		group = 0;
	m->queues = group;
	m->last = (group ? group : 1) + FREE_GROUPS - 1;
	if (m->last >= v->place.classes)
		m->last = v->place.classes - 1;
	notify_all(v);
}

int simmidas_open(struct simvol *v, struct context *cx)
{
	struct simmidas *m = calloc(1, sizeof(*m));
	uint64_t data = v->config.data;

	v->place.midas = m;
	if (!m)
		return fail(cx, -ENOMEM, "groups");
	m->places = (uint64_t)v->config.nsegments * v->config.blocks;
	m->epoch = EPOCH * m->places;
	m->begun = m->spanned = WAITS * data;
	m->span = (double)data;
	end_queues(v, 0);
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



int64_t simmidas_victim(struct simvol *v)
{
	struct simmidas *m = v->place.midas;
	uint32_t length[SIMCHAIN_GROUPS] = { 0 }, i, group;
	int64_t first[SIMCHAIN_GROUPS];

	if (m->round >= ENDLESS && m->queues && v->nclean <= m->clean) {
		group = m->victim < m->queues ? m->victim : m->queues - 1;
		end_queues(v, m->checked ? group : m->queues - 2);
	}
	if (m->round >= ENDLESS) {
		m->round = 0;
		m->clean = v->nclean;
	}
	for (i = 0; i < m->queues; i++)
		first[i] = -1;
	for (i = 0; i < v->config.nsegments && m->queues; i++) {
		bool is_full = v->state[i] == SIMVOL_FULL;

		group = v->origin[i].log;
		if (!is_full && v->state[i] != SIMVOL_OPEN)
			continue;
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
	return -1;
}

void simmidas_clean(struct simvol *v, uint32_t segnum)
{
	struct simmidas *m = v->place.midas;
	uint32_t group = v->origin[segnum].log, i;
	double live = (double)v->needed[segnum] / v->segments[segnum].written;

	m->round++;
	/* Segments of metadata. */
	if (group >= v->place.logs)
		return;
	m->victim = group;
	m->cleaned[group]++;
	m->lived[group] += live;
	/* Sizes are in use once all groups were cleaned. */
	for (i = 0; !m->checked && i <= m->last && (m->cleaned[i] || !m->sizes.size[i]);)
		i++;
	if (!m->checked && m->queues && i > m->last) {
		m->checked = v->totals.user;
		memset(m->cleaned, 0, sizeof(m->cleaned));
		memset(m->lived, 0, sizeof(m->lived));
	}
	if (group)
		return;
	m->hots++;
	m->hot_lived += live;
	m->lives += (double)(v->totals.user - v->origin[segnum].ended);
	m->nlives++;
}

static void take_sizes(struct simvol *v, const struct simchain_sizes *s)
{
	struct simmidas *m = v->place.midas;
	uint32_t last = s->groups - 1, group, i, n;
	uint32_t from = !m->queues ? 1 : m->queues < last ? m->queues : last;

	m->sizes = *s;
	m->last = m->queues = last;
	m->checked = 0;
	memset(m->cleaned, 0, sizeof(m->cleaned));
	memset(m->lived, 0, sizeof(m->lived));
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

/* Chooses new sizes. */
static void end_epoch(struct simvol *v)
{
	struct simmidas *m = v->place.midas;
	double live = m->hots ? m->hot_lived / m->hots : HOT_NONE_LIVE;
	double traffic = m->hots ? (double)m->hot / (double)m->epoch : 0.01;
	uint64_t needed = 0;
	struct simchain_sizes s;
	bool trusts_heat;
	uint32_t i, hot = 0;

	for (i = 0; i < v->config.nsegments; i++)
		hot += v->state[i] == SIMVOL_FULL && !v->origin[i].log;
	if (live > (hot ? HOT_TOO_LIVE : HOT_ONE_LIVE)) {
		m->epoch *= 2;
	} else {
		for (i = 0; i < v->config.nsegments; i++)
			needed += v->needed[i];
		simchain_settle(&m->chain);
		trusts_heat = live <= HOT_LIVED && traffic >= HOT_TRAFFIC;
		m->chain.hot_valid = trusts_heat ? 0 : live;
		m->chain.hot_traffic = trusts_heat ? 0 : traffic;
		m->chain.hot_size = trusts_heat ? 0 : hot + 1;
		m->chain.round = m->most_clean - m->least_clean;
		s = simchain_best(&m->chain, v->place.classes, trusts_heat,
				  v->config.nsegments - m->most_clean,
				  (double)needed / v->config.blocks);
		if (s.groups > 2 && s.amplification <= m->recent)
			take_sizes(v, &s);
	}
	memset(m->chain.counts, 0, m->chain.times * sizeof(*m->chain.counts));
	m->chain.total = 0;
	m->hot_lived = 0;
	m->hots = 0;
	m->hot = 0;
	m->least_clean = m->most_clean = v->nclean;
	m->begun = v->totals.user;
}

/* Checks the expected values, and ends epochs. */
static void pass_time(struct simvol *v)
{
	struct simmidas *m = v->place.midas;
	uint64_t now = v->totals.user, moved;
	uint32_t group;
	double mean;

	if (now && now % m->places == 0) {
		moved = v->totals.moved[SIMVOL_DATA] + v->totals.held;
		m->recent = 1 + (double)(moved - m->moved) / (double)m->places;
		m->moved = moved;
	}
	if (m->checked && m->queues &&
	    (double)(now - m->checked) > CHECKED * (double)m->epoch) {
		for (group = 1; group < m->queues; group++)
			if (m->cleaned[group] &&
			    m->lived[group] / m->cleaned[group] -
				    m->sizes.valid[group] >= OFF_BY)
				break;
		if (group < m->queues)
			end_queues(v, group);
		m->checked = now;
		memset(m->cleaned, 0, sizeof(m->cleaned));
		memset(m->lived, 0, sizeof(m->lived));
	}
	if (now >= m->begun + m->epoch)
		end_epoch(v);
	if (!m->nlives || now < m->spanned || (double)(now - m->spanned) < m->span)
		return;
	mean = m->lives / m->nlives;
	m->span = mean < 2 * m->span ? (m->span + mean) / 2 : 1.5 * m->span;
	m->spanned = now;
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
	m->round = 0;
	m->clean = v->nclean;
	if (v->nclean > m->most_clean || now == m->begun)
		m->most_clean = v->nclean;
	if (v->nclean < m->least_clean || now == m->begun)
		m->least_clean = v->nclean;
	pass_time(v);
	if (last && now > m->begun) {
		life = (now - last) / v->config.blocks;
		m->chain.total++;
		if (life < m->chain.times)
			m->chain.counts[life]++;
	}
	v->place.written[id] = now;
	/* Adjusts the heat by the lifetime in group 1. */
	if (v->at[id] != SIMVOL_NONE && now > WAITS * v->config.data) {
		origin = &v->origin[v->at[id] / v->config.blocks];
		if (origin->log == 1 &&
		    (!origin->ended ||
		     (double)(v->totals.user - origin->ended) <= m->span))
			m->heat[id] += m->heat[id] < HOT;
		else if (origin->log == 1)
			m->heat[id] -= m->heat[id] > 0;
	}
	m->hot += m->heat[id] == HOT && now > m->begun;
	if (m->queues && !m->sizes.size[0])
		return 1;
	return m->heat[id] < HOT;
}
