// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator against one that is as simple as can be.  Volumes, users and
 * cleaners are made up at random; after each step of the user both must have
 * every block in the same place.
 */
#include <errno.h>

#include "gc/sim/volume/simplace.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/writers/simrandom.h"

#include "sample.h"
#include "sim_model.h"
#include "tap.h"

#define FULL 1

static bool is_same(const struct model *m, const struct simvol *v)
{
	uint32_t i;

	if (m->nqueue != v->nclean || memcmp(m->at, v->at, m->nids * 4))
		return false;
	for (i = 0; i < m->nqueue; i++)
		if (m->queue[i] != v->clean[(v->clean_first + i) % SEGMENTS])
			return false;
	for (i = 0; i < SEGMENTS; i++)
		if (m->in_use[i] && sim_model_needed(m, i) != v->needed[i])
			return false;
	return true;
}

/* One thing that a user or an administrator does, to both. */
static int act(struct model *m, struct simvol *v, struct simclean *k,
	       struct context *cx)
{
	uint32_t id = m->steps[m->now_step].id, before;
	uint32_t what = m->steps[m->now_step].what;
	bool good = true;
	int ret = 0;

	while (!ret && good && simclean_is_due(k)) {
		before = (uint32_t)v->totals.cleaned;
		ret = simclean_round(k, cx);
		for (; good && before < v->totals.cleaned; before++)
			good = sim_model_clean(m);
	}
	/* The simple one knows no end of cleaning. */
	if (ret || !good)
		return ret == -ENOSPC ? FULL : -EINVAL;
	if (what < 50)
		return simvol_write(v, cx, id) || !sim_model_write(m, id) ? -EINVAL :
								      0;
	if (what < 56) {
		if (m->at[id] != NONE)
			sim_model_touch(m, id, false);
		sim_model_end(m, id);
		m->at[id] = NONE;
		simvol_trim(v, id);
	} else if (what < 58) {
		return simmeta_flush(v, cx) || !sim_model_flush(m) ? -EINVAL : 0;
	} else if (v->config.history && what == 58) {
		if (simmeta_flush(v, cx) || !sim_model_flush(m) || simhistory_take(v, cx))
			return -EINVAL;
		m->snapshots[m->nsnapshots++] = m->cno - 1;
	} else if (m->nsnapshots && what == 59) {
		memmove(m->snapshots, m->snapshots + 1, --m->nsnapshots * 4);
		simhistory_drop(v);
	}
	return 0;
}

/* The others are held against another simulator, or theory: t_sim_place,
   t_sim_residual. */
static bool has_model(const struct simplace_kind *kind)
{
	return !kind->classify && !kind->ask && !kind->words;
}

static void make_config(struct simvol_config *c, struct simrandom *r)
{
	size_t kinds = 0, i;
	const struct simplace_kind *modelled[16];

	for (i = 0; simplace_word(i); i++)
		if (has_model(&simplace_list[i]))
			modelled[kinds++] = &simplace_list[i];
	*c = (struct simvol_config){
		.nsegments = SEGMENTS, .blocks = BLOCKS,
		.data = 40 + simrandom_below(r, 80),
		.node_fanout = simrandom_below(r, 2) ? 8 : 0,
		.dat_fanout = simrandom_below(r, 2) ? 16 : 0,
		.summary_span = simrandom_below(r, 2) ? 6 : 0,
		.placement = modelled[simrandom_below(r, kinds)],
		.metadata_log = simrandom_below(r, 2),
		.moves_change_nodes = simrandom_below(r, 2),
		.history = simrandom_below(r, 2),
		.holes = simrandom_below(r, 3) ? 0 : 12,
	};
	c->hot = c->data / 4;
	if (c->placement->least)
		c->classes = (uint32_t)(c->placement->least +
					simrandom_below(r, 4));
	c->history = c->history && !c->holes;
	if (c->holes)
		c->summary_span = 0;
	/* An epoch is longer than all that is done. */
	if (c->placement == simplace_find("midas"))
		c->data = 60 + simrandom_below(r, 40);
}

static void make_steps(struct step *steps, uint64_t data, struct simrandom *r)
{
	uint32_t i;

	for (i = 0; i < STEPS; i++) {
		steps[i].id = (uint32_t)simrandom_below(r, data);
		steps[i].what = (uint32_t)simrandom_below(r, 60);
	}
}

/* What a placement is to know of them. */
static void look_ahead(struct simahead *a, struct context *cx, struct simvol *v,
		       const struct step *steps)
{
	uint32_t i;

	if (!v->place.kind->ahead)
		return;
	must(simplace_ahead_open(a, cx, v->config.data));
	for (i = 0; i < STEPS; i++) {
		const struct simop op = {
			steps[i].what < 50 ? SIMOP_WRITE : SIMOP_TRIM,
			steps[i].id, 1,
		};

		if (steps[i].what < 56)
			must(simplace_ahead_add(a, cx, &op));
	}
	v->place.ahead = a->next;
}

static const struct {
	const char *name;
	char letter;		/* of the simple one */
} policies[] = {
	{ "greedy", 'g' }, { "timestamp", 't' }, { "cost-benefit", 'c' },
	{ "age-threshold:0", 'a' }, { "age-threshold:60", 'a' },
	{ "cost-benefit-data", 'b' }, { "windowed:5", 'w' },
};

#define POLICIES (sizeof(policies) / sizeof(policies[0]))

/* Those that only the simulator has look at all that they may. */
static void take_policy(struct simclean_config *c, const char *name)
{
	struct simchoice_policy p = { 0 };

	must(simchoice_parse(&p, name));
	c->choice.policy = p.policy;
	c->choice.kind = p.kind;
	c->choice.parameter = p.parameter;
	if (p.kind)
		c->env.max_search = 0;
}

/* What both have come to. */
struct outcome {
	uint64_t cleaned, filled;
	uint64_t by_kind[16];	/* segments cleaned, by number of placement */
	uint64_t by_policy[POLICIES];
};

/* Whether both did all alike; what they end with may be a full volume. */
static int compare(uint64_t seed, struct outcome *out)
{
	struct simrandom r = { seed };
	struct simvol_config config;
	uint64_t policy = simrandom_below(&r, POLICIES);
	struct simclean_config cleaning = {
		.low = 9, .high = 9,
		.env.max_search = simrandom_below(&r, 4) ? 0 : 4,
	};
	struct step steps[STEPS];
	struct simahead ahead = { 0 };
	struct context cx;
	struct simvol v;
	struct simclean k;
	struct model m;
	bool same = true;
	int ret = 0;

	context_init(&cx);
	take_policy(&cleaning, policies[policy].name);
	make_config(&config, &r);
	make_steps(steps, config.data, &r);
	if (simvol_open(&v, &cx, &config) ||
	    simclean_open(&k, &cx, &v, &cleaning))
		return -1;
	look_ahead(&ahead, &cx, &v, steps);
	sim_model_open(&m, &v, policies[policy].letter, cleaning.choice.parameter,
		       cleaning.env.max_search);
	m.steps = steps;
	for (; m.now_step < STEPS && same && !ret; m.now_step++) {
		ret = act(&m, &v, &k, &cx);
		same = ret == FULL || (!ret && is_same(&m, &v) &&
				       !simcheck_volume(&v, &cx));
	}
	out->cleaned += v.totals.cleaned;
	out->filled += v.totals.filled;
	out->by_policy[policy] += v.totals.cleaned;
	out->by_kind[config.placement - simplace_list] += v.totals.cleaned;
	if (!same)
		printf("# seed %llu, step %u: %s, %s, %s\n",
		       (unsigned long long)seed, m.now_step,
		       policies[policy].name, config.placement->name,
		       cx.failure);
	simclean_close(&k);
	simplace_ahead_close(&ahead);
	simvol_close(&v);
	return same;
}

int main(void)
{
	struct outcome out = { 0 };
	uint64_t seed;
	int wrong = 0;
	size_t i;

	for (seed = 1; seed <= 1000; seed++)
		if (is_sampled(seed, 3))
			wrong += compare(seed, &out) != 1;
	is_int(wrong, 0, "the same as the simple one");
	ok(out.cleaned > 6000, "... with %llu segments cleaned",
	   (unsigned long long)out.cleaned);
	ok(out.filled > 3000, "... and %llu blocks in holes",
	   (unsigned long long)out.filled);
	for (i = 0; i < POLICIES; i++)
		ok(out.by_policy[i] > 300, "... %llu by %s",
		   (unsigned long long)out.by_policy[i], policies[i].name);
	for (i = 0; simplace_word(i); i++)
		if (has_model(&simplace_list[i]))
			ok(out.by_kind[i] > 300, "... %llu by %s",
			   (unsigned long long)out.by_kind[i],
			   simplace_word(i));
	return tap_done();
}
