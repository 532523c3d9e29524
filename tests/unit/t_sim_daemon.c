// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the simulated cleaner has of nilfs_cleanerd alone: it cleans more
 * together where clean segments are few, gives segments with little to reclaim
 * a new time, and leaves alone what has the time of this second.
 */
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simvol.h"

#include "tap.h"

#define SEGMENTS 16u
#define BLOCKS 10u
#define DATA 100u
#define SECOND 1000u
#define LOW 4u
#define HIGH 5u

struct daemon {
	struct context cx;
	struct simvol vol;
	struct simclean cleaner;
	uint32_t victims[SEGMENTS];
	uint64_t clean[SEGMENTS];	/* segments, as each was chosen */
	uint32_t n;
};

static void note(void *arg, const struct policy_segment *s)
{
	struct daemon *d = arg;

	if (d->n < SEGMENTS) {
		d->clean[d->n] = d->vol.nclean;
		d->victims[d->n] = (uint32_t)s->segnum;
	}
	d->n++;
}

/* All data once: ten segments are full, six are clean. */
static void start(struct daemon *d, uint32_t second,
		  const struct simclean_config *config)
{
	const struct simvol_config volume = {
		.nsegments = SEGMENTS, .blocks = BLOCKS, .data = DATA,
		.second = second,
	};
	uint32_t i;

	*d = (struct daemon){ 0 };
	context_init(&d->cx);
	simvol_open(&d->vol, &d->cx, &volume);
	simclean_open(&d->cleaner, &d->cx, &d->vol, config);
	d->cleaner.chosen = note;
	d->cleaner.arg = d;
	for (i = 0; i < DATA; i++)
		simvol_write(&d->vol, &d->cx, i);
}

/* FROM on, COUNT blocks again. */
static void rewrite(struct daemon *d, uint32_t from, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		simvol_write(&d->vol, &d->cx, from + i);
}

static void stop(struct daemon *d)
{
	ok(!simcheck_volume(&d->vol, &d->cx), "nothing is lost");
	simclean_close(&d->cleaner);
	simvol_close(&d->vol);
}

/* Two segments are dead, and it is still the second they were written in. */
static void test_second(void)
{
	const struct simclean_config config = {
		.choice.policy = policy_find("timestamp"), .low = LOW, .high = HIGH,
	};
	struct daemon d;

	start(&d, SECOND, &config);
	rewrite(&d, 0, 21);
	is_int((int)d.vol.nclean, 3, "three segments are clean");
	ok(simclean_is_due(&d.cleaner), "too few");
	is_int(simclean_round(&d.cleaner, &d.cx), 0, "which is no error");
	is_int((int)d.n, 0, "all are of this second: there is no victim");
	/* The user goes on. */
	d.vol.now = SECOND;
	is_int(simclean_round(&d.cleaner, &d.cx), 0, "a second later");
	is_int((int)d.vol.nclean, HIGH, "there are enough");
	is_int((int)d.victims[0], 0, "first comes the lowest of that time");
	is_int((int)d.victims[1], 1, "and then the next");
	is_int((int)d.n, 2, "and no other");
	ok(!simclean_is_due(&d.cleaner), "it ends");
	stop(&d);
}

/* Nothing is dead, so all get a new time, once, and it waits for a second. */
static void test_deferred(void)
{
	const struct simclean_config config = {
		.choice.policy = policy_find("timestamp"), .low = 7, .high = 7,
		.min_reclaimable = 10, .mc_min_reclaimable = 10,
	};
	struct daemon d;

	start(&d, SECOND, &config);
	d.vol.now = SECOND;
	is_int(simclean_round(&d.cleaner, &d.cx), 0, "nothing is dead");
	is_int((int)d.vol.totals.cleaned, 0, "nothing is cleaned");
	is_int((int)d.vol.totals.skipped, 9, "nine were looked at, one is open");
	is_int(simclean_round(&d.cleaner, &d.cx), 0, "at once again");
	is_int((int)d.vol.totals.skipped, 9, "nothing was looked at");
	ok(simclean_is_due(&d.cleaner), "it would go on");
	stop(&d);
}

/* Three together as long as fewer than two are clean, then one by one. */
static void test_together(void)
{
	const struct simclean_config config = {
		.choice.policy = policy_find("timestamp"), .low = 2, .high = 6,
		.step = 1, .mc_step = 3,
	};
	struct daemon d;

	start(&d, 0, &config);
	rewrite(&d, 0, 60);
	is_int((int)d.vol.nclean, 0, "none is clean");
	is_int(simclean_round(&d.cleaner, &d.cx), 0, "segments 0 to 5 are dead");
	is_int((int)d.n, 6, "they are cleaned");
	is_int((int)d.clean[2], 0, "three at first");
	is_int((int)d.clean[3], 3, "then one");
	is_int((int)d.clean[4], 4, "by one");
	stop(&d);
}

int main(void)
{
	test_second();
	test_deferred();
	test_together();
	return tap_done();
}
