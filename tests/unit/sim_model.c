// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simple simulator.
 *
 * It keeps no counts but goes over everything for each question, keeps its
 * clean segments in a plain queue, looks at all segments for each victim, has
 * copies of what the last checkpoint needs, and knows what the user will do by
 * going through it.
 */
#include "sim_model.h"

#include <math.h>
#include <string.h>

static bool lives(const struct model *m, uint32_t s, uint32_t i)
{
	const struct place *p = &m->places[s][i];

	return p->id != NONE && m->at[p->id] == s * BLOCKS + i;
}

static bool kept(const struct model *m, uint32_t s, uint32_t i)
{
	const struct place *p = &m->places[s][i];
	uint32_t n;

	for (n = 0; p->id != NONE && n < m->nsnapshots; n++)
		if (m->snapshots[n] >= p->birth && m->snapshots[n] < p->death)
			return true;
	return false;
}

uint32_t sim_model_needed(const struct model *m, uint32_t s)
{
	uint32_t i, n = 0;

	for (i = 0; i < m->written[s]; i++)
		n += lives(m, s, i) || kept(m, s, i);
	return n;
}

static bool is_hole(const struct model *m, uint32_t s, uint32_t i)
{
	return !lives(m, s, i) && !m->then[s][i];
}

static uint32_t holes(const struct model *m, uint32_t s)
{
	uint32_t i, n = 0;

	for (i = 0; i < m->written[s]; i++)
		n += is_hole(m, s, i);
	return n;
}

static bool is_open(const struct model *m, uint32_t s)
{
	uint32_t log;

	for (log = 0; log < LOGS; log++)
		if (m->open[log] == s)
			return true;
	return false;
}

/* From the oldest on: a half, a quarter, ... of all time. */
static uint32_t class_by_age(const struct model *m, uint64_t age)
{
	uint32_t class, halves = 1;

	for (class = m->classes; class > 1; class--, halves++)
		if (age >= m->now >> halves)
			return class;
	return 1;
}

static uint32_t dac(struct model *m, uint32_t id, enum simplace_cause why)
{
	uint32_t *level = &m->level[id];

	if (why == SIMPLACE_HELD)
		return 0;
	if (why == SIMPLACE_MOVED && *level > 1)
		--*level;
	if (why == SIMPLACE_USER && *level < m->classes)
		++*level;
	return *level - 1;
}

/* Blocks that are not garbage of full segments. */
static double valid(const struct model *m)
{
	uint32_t s, n = 0;

	for (s = 0; s < SEGMENTS; s++)
		if (m->in_use[s])
			n += is_open(m, s) || s == m->victim ? m->written[s] :
							       sim_model_needed(m, s);
	return n;
}

/* Writes HEAD ... NOW are in the queue; the first one is about to leave. */
static uint32_t sepbit_user(struct model *m, uint32_t id)
{
	uint64_t now = m->now + 1, last = m->last[id];
	bool is_short = last > m->head && (double)(now - last) < m->span;

	if ((double)(now + 1 - m->head) > fmin(valid(m), m->span)) {
		m->head++;
		m->head += (double)(now + 1 - m->head) > m->span;
	}
	m->last[id] = now;
	return is_short ? 0 : 1;
}

static uint32_t sepbit(struct model *m, uint32_t id, enum simplace_cause why)
{
	double age = (double)(m->now - m->last[id]);

	if (why == SIMPLACE_USER)
		return sepbit_user(m, id);
	if (why == SIMPLACE_HELD)
		return 5;
	return m->was_short ? 2 : age < 4 * m->span ? 3 :
	       age < 16 * m->span ? 4 : 5;
}

/* How many blocks the user writes until ID is written or trimmed again. */
static uint32_t future(const struct model *m, uint32_t id,
		       enum simplace_cause why)
{
	uint32_t i, left = 0, class = 0, from = m->now_step;

	if (why == SIMPLACE_USER)
		from++;
	for (i = from; i < STEPS && why != SIMPLACE_HELD; i++) {
		if (m->steps[i].what < 56 && m->steps[i].id == id)
			break;
		left += m->steps[i].what < 50;
	}
	left += why == SIMPLACE_USER;
	if (i == STEPS || why == SIMPLACE_HELD)
		return m->classes - 1;
	while (class < m->classes - 1 && left >= BLOCKS << class)
		class++;
	return class;
}

/* Midas, in its first epoch: groups by moves, and what is hot. */
static uint32_t midas_user(struct model *m, uint32_t id)
{
	uint32_t s = m->at[id] / BLOCKS;

	double mean = m->nhot ? m->hot_lives / m->nhot : 0;

	if (m->nhot && (double)m->now >= (double)m->since + m->span) {
		m->span = mean >= 2 * m->span ? m->span * 1.5 : (m->span + mean) / 2;
		m->since = m->now;
		m->hot_lives = m->nhot = 0;
	}
	if (m->at[id] != NONE && m->log_of[s] == 1 && m->now >= 2 * m->c.data) {
		if (m->ended[s] && (double)(m->now - m->ended[s]) > m->span)
			m->heat[id] = m->heat[id] ? m->heat[id] - 1 : 0;
		else if (m->heat[id] < 3)
			m->heat[id]++;
	}
	return m->heat[id] == 3 ? 0 : 1;
}

static uint32_t midas(struct model *m, uint32_t id, enum simplace_cause why)
{
	static const uint32_t loss[] = { 2, 1 };
	uint32_t by = m->group < 2 ? loss[m->group] : 0, next = m->group + 1;
	/* Hot ones, and four without queues. */
	uint32_t last = m->classes < 5 ? m->classes - 1 : 4;

	if (why == SIMPLACE_USER)
		return midas_user(m, id);
	if (why == SIMPLACE_HELD)
		return last;
	m->heat[id] = m->heat[id] > by ? m->heat[id] - by : 0;
	return next < last ? next : last;
}

static uint32_t log_of(struct model *m, uint32_t id, enum simplace_cause why)
{
	const char *name = m->c.placement->name;

	if (id >= m->nodes)
		return m->c.metadata_log ? METADATA : 0;
	if (!strcmp(name, "survivors"))
		return why != SIMPLACE_USER;
	if (!strcmp(name, "hot-cold"))
		return id >= m->c.hot;
	if (!strcmp(name, "dac"))
		return dac(m, id, why);
	if (!strcmp(name, "sepbit"))
		return sepbit(m, id, why);
	if (!strcmp(name, "future"))
		return future(m, id, why);
	if (!strcmp(name, "midas"))
		return midas(m, id, why);
	if (strcmp(name, "age") != 0)
		return 0;
	if (why == SIMPLACE_USER)
		m->last[id] = m->now + 1;
	return why == SIMPLACE_USER ? 0 : why == SIMPLACE_HELD ? m->classes :
	       class_by_age(m, m->now - m->last[id]);
}

static bool is_candidate(const struct model *m, uint32_t s)
{
	return m->in_use[s] && !is_open(m, s) && s != m->victim;
}

/* The segment with the most holes that LOG has written. */
static uint32_t choose_holes(struct model *m, uint32_t log)
{
	uint32_t best = NONE, looked = 0, step, s;

	for (step = 0; step < SEGMENTS && looked < m->window; step++) {
		s = (m->from + step) % SEGMENTS;
		if (!is_candidate(m, s) || m->log_of[s] != log || !holes(m, s))
			continue;
		looked++;
		if (best == NONE || holes(m, s) > holes(m, best))
			best = s;
	}
	m->from = (m->from + step) % SEGMENTS;
	return best;
}

static bool next_segment(struct model *m, uint32_t log)
{
	uint32_t *s = &m->open[log];

	if (*s != NONE)
		m->filled[*s] = ++m->nfilled;
	if (*s != NONE)
		m->ended[*s] = m->now;
	*s = NONE;
	if (m->nqueue < m->c.holes && log != METADATA)
		*s = choose_holes(m, log);
	m->fills[log] = *s != NONE;
	m->at_hole[log] = 0;
	if (*s != NONE)
		return true;
	if (!m->nqueue)
		return false;
	*s = m->queue[0];
	memmove(m->queue, m->queue + 1, --m->nqueue * 4);
	m->in_use[*s] = true;
	m->log_of[*s] = log;
	m->opened[*s] = m->now;
	m->ended[*s] = 0;
	/* No checkpoint needs anything of a clean one. */
	memset(m->then[*s], 0, sizeof(m->then[*s]));
	return true;
}

/* Whether the segment of LOG has no place any more; moves on to a hole. */
static bool is_full(struct model *m, uint32_t log)
{
	uint32_t s = m->open[log];

	if (s == NONE || !m->fills[log])
		return s == NONE || m->written[s] == BLOCKS;
	while (m->at_hole[log] < BLOCKS && !is_hole(m, s, m->at_hole[log]))
		m->at_hole[log]++;
	return m->at_hole[log] == BLOCKS;
}

static bool next_place(struct model *m, uint32_t log, uint32_t *segment,
		       uint32_t *offset)
{
	uint32_t s;

	while (is_full(m, log))
		if (!next_segment(m, log))
			return false;
	s = m->open[log];
	m->lastmod[s] = m->now;
	if (!m->fills[log] && m->c.summary_span &&
	    m->written[s] % m->c.summary_span == 0) {
		m->places[s][m->written[s]++].id = NONE;
		if (m->written[s] == BLOCKS)
			return next_place(m, log, segment, offset);
	}
	*segment = s;
	*offset = m->fills[log] ? m->at_hole[log]++ : m->written[s]++;
	return true;
}

static bool put(struct model *m, uint32_t log, const struct place *p,
		bool lives_there)
{
	uint32_t s, i;

	if (!next_place(m, log, &s, &i))
		return false;
	if (lives_there)
		m->at[p->id] = s * BLOCKS + i;
	if (lives_there && p->id < m->nodes && p->time > m->youngest[s])
		m->youngest[s] = p->time;
	m->places[s][i] = *p;
	return true;
}

void sim_model_end(struct model *m, uint32_t id)
{
	if (m->at[id] != NONE)
		m->places[m->at[id] / BLOCKS][m->at[id] % BLOCKS].death =
			m->cno;
}

void sim_model_touch(struct model *m, uint32_t id, bool moved)
{
	if (m->c.node_fanout && id < m->nodes &&
	    (!moved || m->c.moves_change_nodes))
		m->dirty[m->nodes + id / m->c.node_fanout] = true;
	if (m->c.dat_fanout && id < m->dats)
		m->dirty[m->dats + id / m->c.dat_fanout] = true;
}

bool sim_model_write(struct model *m, uint32_t id)
{
	const struct place p = { id, m->cno, NONE, m->now };

	sim_model_end(m, id);
	if (!put(m, log_of(m, id, SIMPLACE_USER), &p, true))
		return false;
	m->now++;
	sim_model_touch(m, id, false);
	return true;
}

/* What was moved or flushed is as old as it was, and leaves nothing behind. */
static bool move_one(struct model *m, uint32_t id, enum simplace_cause why)
{
	struct place p = { id, m->cno, NONE, 0 };
	uint32_t at = m->at[id];

	if (at != NONE) {
		p.birth = m->places[at / BLOCKS][at % BLOCKS].birth;
		p.time = m->places[at / BLOCKS][at % BLOCKS].time;
		m->places[at / BLOCKS][at % BLOCKS].death = 0;
	}
	return put(m, log_of(m, id, why), &p, true);
}

/* What lives now is what the last checkpoint needs. */
static void remember(struct model *m)
{
	uint32_t s, i;

	for (s = 0; s < SEGMENTS; s++)
		for (i = 0; i < BLOCKS; i++)
			m->then[s][i] = i < m->written[s] && lives(m, s, i);
}

bool sim_model_flush(struct model *m)
{
	uint32_t id;
	bool good = true;

	for (id = m->nodes; id < m->nids && good; id++) {
		if (!m->dirty[id])
			continue;
		good = move_one(m, id, SIMPLACE_USER);
		m->dirty[id] = false;
		sim_model_touch(m, id, false);
	}
	m->cno++;
	remember(m);
	return good;
}

/* Greater is better; the doubles hold these small numbers exactly enough. */
static double worth(const struct model *m, uint32_t s)
{
	double live = sim_model_needed(m, s), dead = m->written[s] - live;

	if (m->policy == 'g' || m->policy == 'a' || m->policy == 'w')
		return dead;
	if (m->policy == 't')
		return -(double)m->lastmod[s];
	/* (1 - u) age / (1 + u), in whole numbers. */
	if (m->policy == 'b')
		return (double)(uint64_t)((double)(m->now -
						   m->youngest[s]) * 1000 *
					  (BLOCKS - live) / (BLOCKS + live));
	return (double)(uint64_t)((double)(m->now - m->lastmod[s]) * 1000 *
				  dead / (live ? 2 * live : 1));
}

static uint64_t mean_time(const struct model *m, uint32_t s)
{
	uint64_t sum = 0, n = 0;
	uint32_t i;

	for (i = 0; i < m->written[s]; i++)
		if (lives(m, s, i) && m->places[s][i].id < m->nodes) {
			sum += m->places[s][i].time;
			n++;
		}
	return n ? sum / n : m->lastmod[s];
}

/* How many candidates are older than S, or as old and before it. */
static uint32_t older_ones(const struct model *m, const bool *candidate,
			   uint32_t s)
{
	uint64_t time = mean_time(m, s), other;
	uint32_t i, n = 0;

	for (i = 0; i < SEGMENTS; i++) {
		other = candidate[i] ? mean_time(m, i) : UINT64_MAX;
		n += other < time || (other == time && i < s);
	}
	return n;
}

/*
 * ATGC: of what is older than the youngest by a threshold, the oldest fifth, at
 * least ten; age counts for 60, dead blocks for 40.
 */
static uint32_t choose_by_age(const struct model *m, const bool *candidate)
{
	uint64_t first = UINT64_MAX, last = 0, time;
	uint32_t s, old = 0, all = 0, most, best = NONE;
	double cost, highest = -1;

	for (s = 0; s < SEGMENTS; s++) {
		time = candidate[s] ? mean_time(m, s) : first;
		first = time < first ? time : first;
		last = candidate[s] && time > last ? time : last;
	}
	for (s = 0; s < SEGMENTS; s++) {
		all += candidate[s];
		old += candidate[s] && last - mean_time(m, s) >= m->parameter;
	}
	old = old ? old : all;
	most = old / 5 > 10 ? old / 5 : 10;
	most = most < old ? most : old;
	for (s = 0; s < SEGMENTS; s++) {
		if (!candidate[s] || older_ones(m, candidate, s) >= most)
			continue;
		cost = 60 * ((double)(last + 1 - mean_time(m, s)) /
			     (double)(last + 1 - first)) +
		       40 * ((m->written[s] - sim_model_needed(m, s)) /
			     (double)m->written[s]);
		if (cost > highest + 1e-9 || (cost > highest - 1e-9 &&
		    older_ones(m, candidate, s) < older_ones(m, candidate, best)))
			best = s;
		highest = cost > highest ? cost : highest;
	}
	return best;
}

/* The victim of a policy that only the simulator has, or NONE. */
static uint32_t choose_otherwise(const struct model *m)
{
	bool candidate[SEGMENTS];
	uint32_t s, i, before, best = NONE, n = 0;

	for (s = 0; s < SEGMENTS; s++) {
		candidate[s] = is_candidate(m, s) &&
			       sim_model_needed(m, s) < m->written[s];
		n += candidate[s];
	}
	if (m->policy == 'a' && n)
		return choose_by_age(m, candidate);
	if (m->policy != 'w')
		return NONE;
	for (s = 0; s < SEGMENTS; s++) {
		if (!is_candidate(m, s) || (m->c.holes && !candidate[s]))
			continue;
		for (i = before = 0; i < SEGMENTS; i++)
			before += is_candidate(m, i) &&
				  (!m->c.holes || candidate[i]) &&
				  m->filled[i] < m->filled[s];
		if (before < m->parameter &&
		    (best == NONE || worth(m, s) > worth(m, best)))
			best = s;
	}
	return best;
}

static uint32_t choose(struct model *m)
{
	uint32_t best = choose_otherwise(m), looked = 0, step, s;

	if (best != NONE)
		return best;
	for (step = 0; step < SEGMENTS && looked < m->window; step++) {
		s = (m->from + step) % SEGMENTS;
		if (!is_candidate(m, s) ||
		    (m->c.holes && sim_model_needed(m, s) == m->written[s]))
			continue;
		looked++;
		if (best == NONE || worth(m, s) > worth(m, best) ||
		    (s < best && worth(m, s) == worth(m, best)))
			best = s;
	}
	m->from = (m->from + step) % SEGMENTS;
	return best;
}

/* The mean life of the last segments of class 0. */
static void note_life(struct model *m, uint32_t s)
{
	double sum = 0;
	uint32_t i;

	if (m->log_of[s] != METADATA)
		m->group = m->log_of[s];
	m->was_short = m->log_of[s] == 0;
	if (!m->was_short)
		return;
	m->hot_lives += (double)(m->now - m->ended[s]);
	m->nhot++;
	if (strcmp(m->c.placement->name, "sepbit") != 0)
		return;
	m->lives[m->nlives++] = (double)(m->now - m->opened[s]);
	if (m->nlives < LIVES)
		return;
	for (i = 0; i < LIVES; i++)
		sum += m->lives[i];
	m->span = sum / LIVES;
	m->nlives = 0;
}

bool sim_model_clean(struct model *m)
{
	uint32_t s = choose(m), i;

	m->victim = s;
	if (s != NONE)
		note_life(m, s);
	for (i = 0; s != NONE && i < m->written[s]; i++) {
		struct place *p = &m->places[s][i];
		struct place copy = *p;

		if (lives(m, s, i) && p->id >= m->nodes) {
			m->dirty[p->id] = true;
		} else if (lives(m, s, i)) {
			if (!move_one(m, p->id, SIMPLACE_MOVED))
				return false;
			sim_model_touch(m, p->id, true);
		} else if (kept(m, s, i)) {
			p->death = p->birth;
			if (!put(m, log_of(m, copy.id, SIMPLACE_HELD), &copy,
				 false))
				return false;
		}
	}
	for (i = m->nodes; i < m->nids && !m->dirty[i]; i++)
		;
	if (s == NONE || (i < m->nids && !sim_model_flush(m)))
		return false;
	m->victim = NONE;
	m->in_use[s] = false;
	m->youngest[s] = 0;
	m->written[s] = 0;
	m->queue[m->nqueue++] = s;
	return true;
}

void sim_model_open(struct model *m, const struct simvol *v, char policy,
		    uint32_t parameter, uint64_t window)
{
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->c = v->config;
	m->nodes = (uint32_t)v->config.data;
	m->dats = v->layers[SIMVOL_DAT].base;
	m->nids = v->nlogical;
	m->cno = 1;
	m->policy = policy;
	m->parameter = parameter;
	m->window = window ? (uint32_t)window : SEGMENTS;
	m->classes = v->place.classes;
	m->span = strcmp(m->c.placement->name, "midas") ?
			  INFINITY : (double)m->c.data;
	m->since = 2 * m->c.data;
	m->head = 1;
	m->victim = NONE;
	memset(m->at, 0xff, sizeof(m->at));
	memset(m->open, 0xff, sizeof(m->open));
	for (i = 0; i < SEGMENTS; i++)
		m->queue[m->nqueue++] = i;
}
