// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The placement residual with the policy marginal against theory.
 *
 * Uniform writes: there is nothing to separate, and greedy is optimal.
 *
 * Hot and cold blocks: with each kind in segments of its own, and the places
 * divided in the best way, amplification is the sum of that of both kinds by
 * their share of the writes; each solves A = 1 / (1 - exp(-a / A)), a = places /
 * blocks.  No placement by kinds is better.
 */
#include <math.h>
#include <string.h>

#include "gc/sim/run/simrun.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simwork.h"

#include "tap.h"

#define SEGMENTS 1200u
#define BLOCKS 128u
#define LOW 3u		/* clean segments */

static double analytic(double a)
{
	double amplification = 2;
	int i;

	for (i = 0; i < 1000; i++)
		amplification = 1 / (1 - exp(-a / amplification));
	return amplification;
}

/* SHARE of the data has HOT of the writes, on a volume that is FILL full. */
static double bound(double share, double hot, double fill)
{
	double best = INFINITY, of_hot, all;

	for (of_hot = 0.01; of_hot < 1; of_hot += 0.01) {
		all = hot * analytic(1 + of_hot * (1 / fill - 1) / share) +
		      (1 - hot) * analytic(1 + (1 - of_hot) * (1 / fill - 1) /
						       (1 - share));
		best = fmin(best, all);
	}
	return best;
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

static double simulated(struct context *cx, const char *workload,
			const char *placement, uint32_t classes,
			const char *policy, double fill)
{
	const uint64_t data = (uint64_t)(SEGMENTS * BLOCKS * fill);
	const struct simvol_config config = {
		.nsegments = SEGMENTS, .blocks = BLOCKS, .data = data,
		.hot = data / 10, .placement = simplace_find(placement),
		.classes = classes,
	};
	const struct simwork_config using = {
		.kind = simwork_find(workload), .data = data, .hot = data / 10,
		.hot_writes = 90, .file_blocks = 1, .seed = 4,
	};
	const struct simrun_config running = { 0 };
	struct simclean_config cleaning = { .low = LOW, .high = LOW };
	struct simchoice_policy chosen;
	struct simvol vol;
	struct simclean cleaner;
	struct simwork work;
	struct simrun run;
	struct simvol_totals t;
	int ret = simvol_open(&vol, cx, &config);

	ret = ret ? ret : simchoice_parse(&chosen, policy);
	cleaning.choice.policy = chosen.policy;
	cleaning.choice.kind = chosen.kind;
	ret = ret ? ret : simclean_open(&cleaner, cx, &vol, &cleaning);
	ret = ret ? ret : simwork_open(&work, cx, &using);
	ret = ret ? ret : simrun_open(&run, cx, &vol, &cleaner, &running);
	ret = ret ? ret : go(&run, cx, &work, 5 * data);
	simrun_measure(&run);
	ret = ret ? ret : go(&run, cx, &work, 8 * data);
	ok(!ret && !simcheck_volume(&vol, cx), "%s, %s, %s: it runs", workload,
	   placement, policy);
	t = simrun_totals(&run);
	simrun_close(&run);
	simwork_close(&work);
	simclean_close(&cleaner);
	simvol_close(&vol);
	return (double)simrun_written(&t) / (double)t.user;
}

int main(void)
{
	static const double fills[] = { 0.8, 0.9 };
	struct context cx;
	double ours, other;
	size_t i;

	context_init(&cx);
	ok(fabs(bound(0.1, 0.9, 0.8) - 1.481) < 0.002, "the bound as known");
	for (i = 0; i < 2; i++) {
		ours = simulated(&cx, "uniform", "residual", 0, "marginal",
				 fills[i]);
		other = simulated(&cx, "uniform", "one", 0, "greedy", fills[i]);
		/* Open segments take more of the fewer spare ones. */
		ok(ours < (i ? 1.02 : 1.01) * other, "uniform, %.0f %% full: %.3f, greedy %.3f",
		   100 * fills[i], ours, other);
		ours = simulated(&cx, "hot-cold", "residual", 0, "marginal",
				 fills[i]);
		other = bound(0.1, 0.9, fills[i]);
		ok(ours >= other && ours < 1.05 * other,
		   "hot and cold, %.0f %% full: %.3f, the bound is %.3f",
		   100 * fills[i], ours, other);
	}
	/* More logs than there are segments to spare. */
	ours = simulated(&cx, "hot-cold", "residual", SIMPLACE_CLASSES,
			 "marginal", 0.95);
	ok(ours < 20, "with 64 classes three clean segments suffice: %.3f", ours);
	return tap_done();
}
