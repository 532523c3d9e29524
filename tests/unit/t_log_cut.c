// SPDX-License-Identifier: GPL-2.0-or-later
/* Chunks of a log: all blocks once, lengths, ends at runs. */
#include "log/write/logcut.h"

#include "tap.h"

#define RUNS 400

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

struct counts {
	uint32_t wrong;		/* chunks that are not what they should be */
	uint32_t chunks;
	uint32_t cuts;		/* runs of no more than a chunk that are cut */
	uint32_t odd;		/* runs cut although they were short */
};

/* The block of the payload where RUN begins. */
static uint32_t begin_of(const struct logout_log *log, uint32_t run)
{
	uint32_t i, at = 0;

	for (i = 0; i < run; i++)
		at += log->runs[i].count;
	return at;
}

static void check(const struct logout_log *log, uint32_t size, struct counts *c)
{
	struct logcut cut = {0};
	uint32_t end = 0;

	while (logcut_next(&cut, log, size)) {
		c->chunks++;
		c->wrong += cut.at != end;
		c->wrong += cut.at != begin_of(log, cut.run) + cut.skip;
		c->wrong += cut.skip >= log->runs[cut.run].count;
		end = cut.at + cut.count;
		c->wrong += cut.count > 2 * size || !cut.count;
		c->wrong += end < log->npayload && 4 * cut.count < 3 * size;
		c->odd += cut.skip && log->runs[cut.run].count <= size;
	}
	c->wrong += end != log->npayload;
}

int main(void)
{
	static struct logout_run runs[RUNS];
	struct logout_log log = {.runs = runs};
	struct logcut cut = {0};
	struct counts c = {0};
	uint32_t seed = 1, i, round;

	for (round = 0; round < 2000; round++) {
		log.nruns = 1 + rnd(&seed, RUNS);
		log.npayload = 0;
		for (i = 0; i < log.nruns; i++) {
			runs[i].count = 1 + rnd(&seed, rnd(&seed, 9) ?
							 20 : 3000);
			log.npayload += runs[i].count;
		}
		check(&log, 1 + rnd(&seed, 300), &c);
	}
	ok(c.chunks > 2000, "payloads are cut");
	is_int(c.wrong, 0, "all of it, in order, into chunks of the right length");

	/* A run of at most a chunk fits after three quarters of one. */
	is_int(c.odd, 0, "no run is cut that a chunk could have held");

	runs[0].count = 10000;
	log.nruns = 1;
	log.npayload = 10000;
	for (i = 0; logcut_next(&cut, &log, 256); i++)
		;
	is_int(i, 39, "10000 blocks by 256: 38 of them and a longer rest");
	return tap_done();
}
