// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator against theory: uniform writes to a volume of many blocks.
 *
 * Where the oldest segment is cleaned, and segments are large, a block has been
 * overwritten with the probability that none of the writes of a lap misses it:
 * with a = places / blocks, amplification A solves A = 1 / (1 - exp(-a / A))
 * (Desnoyers; Xiang and Kurkoski).  Choosing the emptiest gains next to nothing
 * over that with segments of hundreds of blocks.
 */
#include <math.h>

#include "gc/sim/run/simrun.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simwork.h"

#include "sample.h"
#include "tap.h"

#define SEGMENTS 600u
#define BLOCKS 256u

static double analytic(double fill)
{
	double a = 1 / fill, amplification = 2;
	int i;

	for (i = 0; i < 10000; i++)
		amplification = 1 / (1 - exp(-a / amplification));
	return amplification;
}

static int go(struct simrun *run, struct context *cx, struct simwork *work,
	      uint64_t writes)
{
	struct simop op;
	int ret = 0;

	while (!ret && run->asked < writes) {
		simwork_next(work, &op);
		ret = simrun_step(run, cx, &op);
	}
	return ret;
}

static double simulated(struct context *cx, const char *policy, double fill)
{
	const struct simvol_config config = {
		.nsegments = SEGMENTS, .blocks = BLOCKS,
		.data = (uint64_t)(SEGMENTS * BLOCKS * fill),
	};
	const struct simclean_config cleaning = {
		.choice.policy = policy_find(policy), .low = 2, .high = 2,
	};
	const struct simwork_config using = {
		.kind = simwork_find("uniform"), .data = config.data,
		.file_blocks = 1, .seed = 4,
	};
	const struct simrun_config running = { 0 };
	struct simvol vol;
	struct simclean cleaner;
	struct simwork work;
	struct simrun run;
	struct simvol_totals t;
	int ret = simvol_open(&vol, cx, &config);

	ret = ret ? ret : simclean_open(&cleaner, cx, &vol, &cleaning);
	ret = ret ? ret : simwork_open(&work, cx, &using);
	ret = ret ? ret : simrun_open(&run, cx, &vol, &cleaner, &running);
	ret = ret ? ret : go(&run, cx, &work, (tries_all() ? 5 : 3) * config.data);
	simrun_measure(&run);
	ret = ret ? ret : go(&run, cx, &work, (tries_all() ? 9 : 5) * config.data);
	ok(!ret && !simcheck_volume(&vol, cx), "%s, %.0f %% full: it runs",
	   policy, 100 * fill);
	t = simrun_totals(&run);
	simrun_close(&run);
	simwork_close(&work);
	simclean_close(&cleaner);
	simvol_close(&vol);
	return (double)simrun_written(&t) / (double)t.user;
}

int main(void)
{
	static const double fills[] = { 0.60, 0.80, 0.90 };
	/* As solved elsewhere, with the Lambert W function. */
	static const double known[] = { 1.480, 2.693, 5.179 };
	struct context cx;
	double a, want;
	int i;

	context_init(&cx);
	for (i = 0; i < 3; i++) {
		want = analytic(fills[i]);
		ok(fabs(want - known[i]) < 0.001, "theory says %.3f", want);
		a = simulated(&cx, "timestamp", fills[i]);
		ok(fabs(a / want - 1) < 0.05, "the oldest first: %.3f", a);
		a = simulated(&cx, "greedy", fills[i]);
		ok(fabs(a / want - 1) < 0.05, "the emptiest first: %.3f", a);
	}
	return tap_done();
}
