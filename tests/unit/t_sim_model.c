// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator against one that is as simple as can be: it keeps no counts
 * but goes over everything for each question, keeps its clean segments in a
 * plain queue, and looks at all segments for each victim.  Volumes, users and
 * cleaners are made up at random; after each lot of writes both must have
 * every block in the same place.
 */
#include <errno.h>

#include "gc/sim/simvol.h"
#include "gc/sim/simclean.h"
#include "gc/sim/simrandom.h"
#include "gc/sim/simrun.h"

#include "tap.h"

#define SEGMENTS 24u
#define BLOCKS 16u
#define IDS 400u
#define NONE UINT32_MAX
#define FULL 1

struct place {
	uint32_t id, birth, death;
};

struct model {
	struct simvol_config c;
	struct place places[SEGMENTS][BLOCKS];
	uint32_t written[SEGMENTS];
	uint64_t lastmod[SEGMENTS];
	uint32_t queue[SEGMENTS], nqueue;
	uint32_t open[3];
	bool in_use[SEGMENTS], dirty[IDS];
	uint32_t at[IDS];	/* segment * BLOCKS + offset */
	uint32_t nodes, dats;	/* first numbers of these */
	uint32_t nids, cno, snapshots[IDS], nsnapshots;
	uint64_t now;
	char policy;		/* g, t, c */
	uint32_t window, from;	/* so many are looked at, from there on */
};

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

static uint32_t needed(const struct model *m, uint32_t s)
{
	uint32_t i, n = 0;

	for (i = 0; i < m->written[s]; i++)
		n += lives(m, s, i) || kept(m, s, i);
	return n;
}

static uint32_t log_of(const struct model *m, uint32_t id, bool moved)
{
	if (id >= m->nodes)
		return m->c.metadata_log ? 2 : 0;
	if (m->c.placement == simplace_find("survivors"))
		return moved;
	return m->c.placement == simplace_find("hot-cold") && id >= m->c.hot;
}

static bool next_place(struct model *m, uint32_t log, uint32_t *segment)
{
	uint32_t *s = &m->open[log];

	if (*s == NONE || m->written[*s] == BLOCKS) {
		if (!m->nqueue)
			return false;
		*s = m->queue[0];
		memmove(m->queue, m->queue + 1, --m->nqueue * 4);
		m->in_use[*s] = true;
	}
	if (m->c.summary_span && m->written[*s] % m->c.summary_span == 0) {
		m->lastmod[*s] = m->now;
		m->places[*s][m->written[*s]++].id = NONE;
		if (m->written[*s] == BLOCKS)
			return next_place(m, log, segment);
	}
	*segment = *s;
	m->lastmod[*s] = m->now;
	return true;
}

static bool put(struct model *m, uint32_t log, const struct place *p,
		bool lives_there)
{
	uint32_t s;

	if (!next_place(m, log, &s))
		return false;
	if (lives_there)
		m->at[p->id] = s * BLOCKS + m->written[s];
	m->places[s][m->written[s]++] = *p;
	return true;
}

static void end(struct model *m, uint32_t id)
{
	if (m->at[id] != NONE)
		m->places[m->at[id] / BLOCKS][m->at[id] % BLOCKS].death =
			m->cno;
}

static void touch(struct model *m, uint32_t id, bool moved)
{
	if (m->c.node_fanout && id < m->nodes &&
	    (!moved || m->c.moves_change_nodes))
		m->dirty[m->nodes + id / m->c.node_fanout] = true;
	if (m->c.dat_fanout && id < m->dats)
		m->dirty[m->dats + id / m->c.dat_fanout] = true;
}

static bool write_one(struct model *m, uint32_t id)
{
	const struct place p = { id, m->cno, NONE };

	end(m, id);
	if (!put(m, log_of(m, id, false), &p, true))
		return false;
	m->now++;
	touch(m, id, false);
	return true;
}

/* What was moved or flushed is as old as it was, and leaves nothing behind. */
static bool move_one(struct model *m, uint32_t id, bool moved)
{
	struct place p = { id, m->cno, NONE };
	uint32_t at = m->at[id];

	if (at != NONE) {
		p.birth = m->places[at / BLOCKS][at % BLOCKS].birth;
		m->places[at / BLOCKS][at % BLOCKS].death = 0;
	}
	return put(m, log_of(m, id, moved), &p, true);
}

static bool flush(struct model *m)
{
	uint32_t id;
	bool good = true;

	for (id = m->nodes; id < m->nids && good; id++) {
		if (!m->dirty[id])
			continue;
		good = move_one(m, id, false);
		m->dirty[id] = false;
		touch(m, id, false);
	}
	m->cno++;
	return good;
}

/* Greater is better; the doubles hold these small numbers exactly enough. */
static double worth(const struct model *m, uint32_t s)
{
	double live = needed(m, s), dead = m->written[s] - live;

	if (m->policy == 'g')
		return dead;
	if (m->policy == 't')
		return -(double)m->lastmod[s];
	return (double)(uint64_t)((double)(m->now - m->lastmod[s]) * 1000 *
				  dead / (live ? 2 * live : 1));
}

static bool is_candidate(const struct model *m, uint32_t s)
{
	return m->in_use[s] && s != m->open[0] && s != m->open[1] &&
	       s != m->open[2];
}

static uint32_t choose(struct model *m)
{
	uint32_t best = NONE, looked = 0, step, s;

	for (step = 0; step < SEGMENTS && looked < m->window; step++) {
		s = (m->from + step) % SEGMENTS;
		if (!is_candidate(m, s))
			continue;
		looked++;
		if (best == NONE || worth(m, s) > worth(m, best) ||
		    (s < best && worth(m, s) == worth(m, best)))
			best = s;
	}
	m->from = (m->from + step) % SEGMENTS;
	return best;
}

static bool clean(struct model *m)
{
	uint32_t s = choose(m), i;

	for (i = 0; s != NONE && i < m->written[s]; i++) {
		struct place *p = &m->places[s][i];
		struct place copy = *p;

		if (lives(m, s, i) && p->id >= m->nodes) {
			m->dirty[p->id] = true;
		} else if (lives(m, s, i)) {
			if (!move_one(m, p->id, true))
				return false;
			touch(m, p->id, true);
		} else if (kept(m, s, i)) {
			p->death = p->birth;
			if (!put(m, log_of(m, copy.id, true), &copy, false))
				return false;
		}
	}
	for (i = m->nodes; i < m->nids && !m->dirty[i]; i++)
		;
	if (s == NONE || (i < m->nids && !flush(m)))
		return false;
	m->in_use[s] = false;
	m->written[s] = 0;
	m->queue[m->nqueue++] = s;
	return true;
}

static void model_open(struct model *m, const struct simvol *v, char policy,
		       uint64_t window)
{
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->c = v->config;
	m->nodes = (uint32_t)v->config.data;
	m->dats = v->layers[SIMVOL_DAT].base;
	m->nids = v->nlogical;
	m->cno = 1;
	m->policy = policy;
	m->window = window ? (uint32_t)window : SEGMENTS;
	memset(m->at, 0xff, sizeof(m->at));
	memset(m->open, 0xff, sizeof(m->open));
	for (i = 0; i < SEGMENTS; i++)
		m->queue[m->nqueue++] = i;
}

static bool is_same(const struct model *m, const struct simvol *v)
{
	uint32_t i;

	if (m->nqueue != v->nclean || memcmp(m->at, v->at, m->nids * 4))
		return false;
	for (i = 0; i < m->nqueue; i++)
		if (m->queue[i] != v->clean[(v->clean_first + i) % SEGMENTS])
			return false;
	for (i = 0; i < SEGMENTS; i++)
		if (m->in_use[i] && needed(m, i) != v->needed[i])
			return false;
	return true;
}

/* One thing that a user or an administrator does, to both. */
static int act(struct model *m, struct simvol *v, struct simclean *k,
	       struct context *cx, struct simrandom *r)
{
	uint32_t id = (uint32_t)simrandom_below(r, v->config.data);
	uint32_t what = (uint32_t)simrandom_below(r, 60), before;
	bool good = true;
	int ret = 0;

	while (!ret && good && simclean_is_due(k)) {
		before = (uint32_t)v->totals.cleaned;
		ret = simclean_round(k, cx);
		for (; good && before < v->totals.cleaned; before++)
			good = clean(m);
	}
	/* The simple one knows no end of cleaning. */
	if (ret || !good)
		return ret == -ENOSPC ? FULL : -EINVAL;
	if (what < 50)
		return simvol_write(v, cx, id) || !write_one(m, id) ? -EINVAL :
								      0;
	if (what < 56) {
		if (m->at[id] != NONE)
			touch(m, id, false);
		end(m, id);
		m->at[id] = NONE;
		simvol_trim(v, id);
	} else if (what < 58) {
		return simmeta_flush(v, cx) || !flush(m) ? -EINVAL : 0;
	} else if (v->config.history && what == 58) {
		if (simmeta_flush(v, cx) || !flush(m) || simpast_take(v, cx))
			return -EINVAL;
		m->snapshots[m->nsnapshots++] = m->cno - 1;
	} else if (m->nsnapshots && what == 59) {
		memmove(m->snapshots, m->snapshots + 1, --m->nsnapshots * 4);
		simpast_drop(v);
	}
	return 0;
}

static void make_config(struct simvol_config *c, struct simrandom *r)
{
	*c = (struct simvol_config){
		.nsegments = SEGMENTS, .blocks = BLOCKS,
		.data = 40 + simrandom_below(r, 80),
		.node_fanout = simrandom_below(r, 2) ? 8 : 0,
		.dat_fanout = simrandom_below(r, 2) ? 16 : 0,
		.summary_span = simrandom_below(r, 2) ? 6 : 0,
		.placement = &simplace_list[simrandom_below(r, 3)],
		.metadata_log = simrandom_below(r, 2),
		.moves_change_nodes = simrandom_below(r, 2),
		.history = simrandom_below(r, 2),
	};
	c->hot = c->data / 4;
}

/* Steps that both did alike, of N; what they end with may be a full volume. */
static int compare(uint64_t seed, uint64_t n, uint64_t *cleaned)
{
	static const char *const names[] = { "greedy", "timestamp",
					     "cost-benefit" };
	struct simrandom r = { seed };
	struct simvol_config config;
	uint64_t policy = simrandom_below(&r, 3), i;
	const struct simclean_config cleaning = {
		.policy = policy_find(names[policy]), .low = 9, .high = 9,
		.env.max_search = simrandom_below(&r, 4) ? 0 : 4,
	};
	struct context cx;
	struct simvol v;
	struct simclean k;
	struct model m;
	bool same = true;
	int ret = 0;

	context_init(&cx);
	make_config(&config, &r);
	if (simvol_open(&v, &cx, &config) ||
	    simclean_open(&k, &cx, &v, &cleaning))
		return -1;
	model_open(&m, &v, names[policy][0], cleaning.env.max_search);
	for (i = 0; i < n && same && !ret; i++) {
		ret = act(&m, &v, &k, &cx, &r);
		same = ret == FULL || (!ret && is_same(&m, &v) &&
				       !simcheck_volume(&v, &cx));
	}
	*cleaned += v.totals.cleaned;
	if (!same)
		printf("# seed %llu, step %llu: %s\n", (unsigned long long)seed,
		       (unsigned long long)i, cx.failure);
	simclean_close(&k);
	simvol_close(&v);
	return same;
}

/* A volume that was damaged is not taken for a good one. */
static void test_check(void)
{
	const struct simvol_config config = {
		.nsegments = 4, .blocks = 8, .data = 10,
	};
	struct context cx;
	struct simvol v;
	uint32_t i;

	context_init(&cx);
	simvol_open(&v, &cx, &config);
	for (i = 0; i < 20; i++)
		simvol_write(&v, &cx, i % 10);
	ok(!simcheck_volume(&v, &cx), "a volume as it should be");
	v.needed[1]++;
	ok(simcheck_volume(&v, &cx) == -EUCLEAN, "one needed too much");
	v.needed[1]--;
	v.at[3] = v.at[4];
	ok(simcheck_volume(&v, &cx) == -EUCLEAN, "two blocks in one place");
	v.at[3] = SIMVOL_NONE;
	ok(simcheck_volume(&v, &cx) == -EUCLEAN, "a block is lost");
	simvol_close(&v);
}

/* There must be room for data after a summary. */
static void test_sizes(void)
{
	struct simvol_config config = {
		.nsegments = 4, .blocks = 1, .data = 2, .summary_span = 2,
	};
	struct context cx;
	struct simvol v;

	context_init(&cx);
	is_int(simvol_open(&v, &cx, &config), -EINVAL, "segments of a block");
	simvol_close(&v);
	config.blocks = 2;
	is_int(simvol_open(&v, &cx, &config), 0, "of two");
	is_int(simvol_write(&v, &cx, 0), 0, "there is a place");
	is_int((int)v.at[0], 1, "after the summary");
	simvol_close(&v);
}

/* Of an image is one snapshot that stays, however many come and go. */
static void test_kept(void)
{
	const struct simvol_config config = {
		.nsegments = 8, .blocks = 8, .data = 4, .history = true,
	};
	const struct simclean_config cleaning = {
		.policy = policy_find("greedy"), .low = 1, .high = 1,
	};
	const struct simrun_config every = {
		.snapshot_every = 2, .snapshots = 1,
	};
	struct simop op = { SIMOP_WRITE, 0, 1 };
	struct context cx;
	struct simclean k;
	struct simvol v;
	struct simrun r;
	int i, ret;

	context_init(&cx);
	simvol_open(&v, &cx, &config);
	simvol_write(&v, &cx, 0);
	simmeta_flush(&v, &cx);
	simpast_take(&v, &cx);
	v.nkept = 1;
	ret = simclean_open(&k, &cx, &v, &cleaning);
	simrun_open(&r, &cx, &v, &k, &every);
	for (i = 0; i < 20 && !ret; i++)
		ret = simrun_step(&r, &cx, &op);
	is_int(ret, 0, "writes, and a snapshot now and then");
	is_int((int)v.nsnapshots, 2, "the last one is there");
	is_int((int)v.snapshots[0], 1, "and the first one");
	ok(simvol_is_held(&v, 0), "with what it needs");
	simrun_close(&r);
	simclean_close(&k);
	simvol_close(&v);
}

int main(void)
{
	uint64_t seed, cleaned = 0;
	int wrong = 0;

	for (seed = 1; seed <= 300; seed++)
		wrong += compare(seed, 400, &cleaned) != 1;
	is_int(wrong, 0, "the same as the simple one");
	ok(cleaned > 3000, "... with %llu segments cleaned",
	   (unsigned long long)cleaned);
	test_check();
	test_sizes();
	test_kept();
	return tap_done();
}
