// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated volume: its check, its sizes, snapshots that stay. */
#include <errno.h>

#include "gc/sim/run/simrun.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simvol.h"

#include "tap.h"

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
		.choice.policy = policy_find("greedy"), .low = 1, .high = 1,
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
	simhistory_take(&v, &cx);
	v.nkept = 1;
	ret = simclean_open(&k, &cx, &v, &cleaning);
	simrun_open(&r, &cx, &v, &k, &every);
	for (i = 0; i < 20 && !ret; i++)
		ret = simrun_step(&r, &cx, &op);
	is_int(ret, 0, "writes, and a snapshot now and then");
	is_int((int)v.nsnapshots, 2, "the last one is there");
	is_int((int)v.snapshots[0], 1, "and the first one");
	ok(simhistory_is_held(&v, 0), "with what it needs");
	simrun_close(&r);
	simclean_close(&k);
	simvol_close(&v);
}

int main(void)
{
	test_check();
	test_sizes();
	test_kept();
	return tap_done();
}
