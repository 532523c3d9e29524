// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The times of a trace in a simulation: snapshots by time, ages by time.
 */
#include "gc/sim/run/simrun.h"

#include "tap.h"

#define SECOND UINT64_C(1000000)

struct rig {
	struct context cx;
	struct simvol vol;
	struct simclean cleaner;
	struct simrun run;
};

static void open_rig(struct rig *r, const struct simrun_config *running,
		     bool clocked)
{
	const struct simvol_config config = {
		.nsegments = 40, .blocks = 16, .data = 200,
		.history = running->snapshot_time, .clocked = clocked,
	};
	const struct simclean_config cleaning = {
		.choice.policy = policy_find("greedy"), .low = 3, .high = 3,
		.step = 1,
	};

	context_init(&r->cx);
	must(simvol_open(&r->vol, &r->cx, &config));
	must(simclean_open(&r->cleaner, &r->cx, &r->vol, &cleaning));
	must(simrun_open(&r->run, &r->cx, &r->vol, &r->cleaner, running));
}

static void close_rig(struct rig *r)
{
	simrun_close(&r->run);
	simclean_close(&r->cleaner);
	simvol_close(&r->vol);
}

static int write_at(struct rig *r, uint64_t block, uint64_t time)
{
	const struct simop op = { SIMOP_WRITE, block, 1, time };

	return simrun_step(&r->run, &r->cx, &op);
}

/* There are as many snapshots as whole periods have passed, or as are kept. */
static void test_snapshots(void)
{
	const struct simrun_config running = {
		.snapshot_time = 10 * SECOND, .snapshots = 3,
	};
	uint64_t i, time, want;
	unsigned int wrong = 0;
	struct rig r;

	open_rig(&r, &running, false);
	for (i = 0; i < 2000; i++) {
		/* 0.7 seconds from one to the next, and a long pause. */
		time = i * SECOND * 7 / 10 + (i < 1000 ? 0 : 5000 * SECOND);
		wrong += write_at(&r, i * 7 % 200, time) != 0;
		want = time / (10 * SECOND);
		wrong += r.vol.nsnapshots != (want < 3 ? want : 3);
		/* After the pause the oldest that is kept is the newest. */
		if (i == 1000)
			wrong += r.vol.snapshots[0] + 2 != r.vol.snapshots[2];
	}
	is_int(wrong, 0, "snapshots by time");
	is_int(simcheck_volume(&r.vol, &r.cx), 0, "... lose no block");
	close_rig(&r);
}

/* A segment is as old as the last operation that wrote to it. */
static void test_ages(void)
{
	const struct simrun_config running = { 0 };
	unsigned int wrong = 0;
	uint64_t i, time = 0;
	struct rig r;

	open_rig(&r, &running, true);
	for (i = 0; i < 3000; i++) {
		time += i * i % 1000;
		wrong += write_at(&r, i * 7 % 200, time) != 0;
		wrong += r.vol.segments[r.vol.at[i * 7 % 200] / 16].lastmod !=
			 time;
	}
	is_int(wrong, 0, "ages by time");
	close_rig(&r);
}

int main(void)
{
	test_snapshots();
	test_ages();
	return tap_done();
}
