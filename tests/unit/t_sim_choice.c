// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Policies that draw, against the mean field model of Van Houdt (SIGMETRICS
 * 2013) for uniform writes, where segments are large.
 *
 * Of all full segments let S(t) be the share that was full for longer than t,
 * in units in which each is chosen once in the mean.  The emptiest of d that are
 * drawn is the oldest, which is older than t with q = 1 - (1 - S)^d, so
 * S' = -q.  As a block lives on with exp(-ct), the share of live blocks is
 * r = integral of exp(-ct) q, by which c is found; in this time, c r of a
 * segment are dead where it is chosen, and amplification is 1 / (c r).  For one
 * draw that is 1 / (1 - r).
 *
 * The oldest without a draw, a window of one, costs A = 1 / (1 - exp(-1 / (r
 * A))) (Desnoyers, SYSTOR 2012), which a window of all (Hu et al., SYSTOR 2009)
 * nearly does as well.
 *
 * Each policy is tried with one of two volumes, unless all are asked for.
 */
#include <math.h>

#include "gc/sim/run/simrun.h"
#include "gc/sim/writers/simwork.h"

#include "sample.h"
#include "tap.h"

#define SEGMENTS 600u
#define BLOCKS 256u
#define STEP 0.002

/* The share that lives with a rate C of dying. */
static double living(double c, unsigned int d)
{
	double share = 0, s = 1, t, q, middle;

	for (t = 0; t < 40; t += STEP) {
		q = 1 - pow(1 - s, d);
		middle = fmax(s - q * STEP / 2, 0);
		q = 1 - pow(1 - middle, d);
		share += exp(-c * (t + STEP / 2)) * q * STEP;
		s = fmax(s - q * STEP, 0);
	}
	return share;
}

static double oldest_first(double share)
{
	double a = 1;
	int i;

	for (i = 0; i < 10000; i++)
		a = 1 / (1 - exp(-1 / (share * a)));
	return a;
}

/* D 0 is no draw. */
static double theory(double share, unsigned int d)
{
	double low = 0, high = 100, c = 0;
	int i;

	if (!d)
		return oldest_first(share);
	for (i = 0; i < 40; i++) {
		c = (low + high) / 2;
		*(living(c, d) > share ? &low : &high) = c;
	}
	return 1 / (c * share);
}

struct rig {
	struct context cx;
	struct simvol vol;
	struct simclean cleaner;
	struct simwork work;
	struct simrun run;
};

static void open_rig(struct rig *r, const char *name, uint64_t data)
{
	struct simchoice_policy p = { 0 };
	const struct simvol_config config = {
		.nsegments = SEGMENTS, .blocks = BLOCKS, .data = data,
	};
	const struct simwork_config using = {
		.kind = simwork_find("uniform"), .data = data,
		.file_blocks = 1, .seed = 4,
	};
	const struct simrun_config running = { 0 };
	struct simclean_config cleaning = { .low = 2, .high = 2,
					    .choice.seed = 7 };

	must(simchoice_parse(&p, name));
	cleaning.choice.policy = p.policy;
	cleaning.choice.kind = p.kind;
	cleaning.choice.parameter = p.parameter;
	context_init(&r->cx);
	must(simvol_open(&r->vol, &r->cx, &config));
	must(simclean_open(&r->cleaner, &r->cx, &r->vol, &cleaning));
	must(simwork_open(&r->work, &r->cx, &using));
	must(simrun_open(&r->run, &r->cx, &r->vol, &r->cleaner, &running));
}

static void go(struct rig *r, uint64_t writes)
{
	struct simop op;

	while (r->run.asked < writes) {
		simwork_next(&r->work, &op);
		must(simrun_step(&r->run, &r->cx, &op));
	}
}

/* *SHARE is that of live blocks in segments that are not clean. */
static double simulated(const char *name, double fill, double *share)
{
	uint64_t data = (uint64_t)(SEGMENTS * BLOCKS * fill);
	struct simvol_totals t;
	struct rig r = { 0 };

	open_rig(&r, name, data);
	go(&r, (tries_all() ? 5 : 3) * data);
	simrun_measure(&r.run);
	go(&r, (tries_all() ? 11 : 7) * data);
	t = simrun_totals(&r.run);
	ok(!simcheck_volume(&r.vol, &r.cx), "%s loses no block", name);
	*share = (double)data / (double)r.vol.nwritten;
	simrun_close(&r.run);
	simwork_close(&r.work);
	simclean_close(&r.cleaner);
	simvol_close(&r.vol);
	return (double)simrun_written(&t) / (double)t.user;
}

int main(void)
{
	static const struct {
		const char *name;
		unsigned int d;
	} cases[] = {
		{ "random", 1 }, { "d-choices:1", 1 }, { "d-choices:2", 2 },
		{ "d-choices:4", 4 }, { "d-choices:10", 10 },
		{ "d-choices:300", 300 }, { "d-choices:3000", 3000 },
		{ "windowed:1", 0 }, { "windowed:10000", 0 },
	};
	static const double fills[] = { 0.6, 0.8 };
	double share, got, want;
	size_t i, f;

	ok(fabs(theory(0.8, 1) / 5 - 1) < 0.001, "one draw, by the model");
	for (f = 0; f < 2; f++) {
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			if (cases[i].d == 3000 ? !tries_all() :
						 !is_sampled(2 * i + f, 3))
				continue;
			got = simulated(cases[i].name, fills[f], &share);
			want = theory(share, cases[i].d);
			ok(fabs(got / want - 1) < 0.02,
			   "%.0f %% full, %s: %.3f, by the model %.3f",
			   100 * fills[f], cases[i].name, got, want);
		}
	}
	return tap_done();
}
