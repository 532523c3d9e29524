// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated volume: its check, its sizes, snapshots that stay. */
#include <errno.h>

#include "gc/sim/run/simrun.h"
#include "gc/sim/volume/simclean.h"
#include "gc/sim/volume/simvol.h"
#include "gc/sim/writers/simrandom.h"

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

/* A group has 256 blocks; 4096 places need four, and one more is searched. */
#define FANOUT 4u
#define GROUP (FANOUT * 256)
#define ENTRIES (5 * GROUP)

/*
 * The entry that nilfs_palloc_prepare_alloc_entry() finds for TARGET: in the rest
 * of the group, at its beginning, or in the groups after it.
 */
static uint32_t entry_for(const struct simvol *v, uint32_t target)
{
	uint32_t group = target / GROUP * GROUP, i, entry;
	bool used[ENTRIES] = { false };

	for (i = 0; i < v->nplaces; i++)
		if (v->entries.of[i] != SIMVOL_NONE)
			used[v->entries.of[i]] = true;
	for (i = 0; i < GROUP; i++) {
		entry = group + (target + i) % GROUP;
		if (!used[entry])
			return entry;
	}
	for (entry = group + GROUP; used[entry % ENTRIES]; entry++)
		;
	return entry % ENTRIES;
}

static bool is_dirty(const struct simvol *v, uint32_t entry)
{
	const struct simvol_layer *dat = &v->layers[SIMVOL_DAT];

	return dat->dirty[entry / FANOUT / SIMVOL_BITS] >>
	       entry / FANOUT % SIMVOL_BITS & 1;
}

/* Entries of the DAT are those that the kernel would allocate. */
static void test_entries(void)
{
	const struct simvol_config config = {
		.nsegments = 256, .blocks = 16, .data = 1000,
		.dat_fanout = FANOUT,
		.dat_allocates = true,
	};
	const struct simclean_config cleaning = {
		.choice.policy = policy_find("greedy"), .low = 24, .high = 24,
		.step = 8,
	};
	uint32_t i, id, old, target, last = 0, wrong = 0, clean = 0;
	struct simvol_config large = config;
	struct simrandom r = { 1 };
	struct simclean cleaner;
	struct context cx;
	struct simvol v;

	context_init(&cx);
	large.dat_fanout = UINT32_MAX;
	is_int(simvol_open(&v, &cx, &large), -EINVAL, "too many entries");
	simvol_close(&v);
	is_int(simvol_open(&v, &cx, &config), 0, "entries are allocated");
	must(simclean_open(&cleaner, &cx, &v, &cleaning));
	for (i = 0; i < 6000; i++) {
		id = (uint32_t)simrandom_below(&r, 1000);
		if (i < 1000)
			id = i * 7 % 1000;
		if (v.nclean < 24)
			must(simclean_round(&cleaner, &cx));
		if (simmeta_dirty(&v) > 100)
			must(simmeta_flush(&v, &cx));
		old = v.at[id] == SIMVOL_NONE ? SIMVOL_NONE :
						v.entries.of[v.at[id]];
		target = old != SIMVOL_NONE ? old + 1 : last + 1;
		if (old == SIMVOL_NONE && id && v.at[id - 1] != SIMVOL_NONE)
			target = v.entries.of[v.at[id - 1]] + 1;
		target = entry_for(&v, target % ENTRIES);
		must(simvol_write(&v, &cx, id));
		last = v.entries.of[v.at[id]];
		wrong += last != target || !is_dirty(&v, last) ||
			 (old != SIMVOL_NONE && !is_dirty(&v, old));
		if (id % 40 == 3)
			simvol_trim(&v, id);
	}
	is_int((int)wrong, 0, "as by the kernel");
	for (i = 0; i < v.nplaces; i++)
		clean += v.entries.of[i] != SIMVOL_NONE &&
			 v.state[i / 16] == SIMVOL_CLEAN;
	is_int((int)clean, 0, "none in clean segments");
	ok(v.totals.cleaned > 100, "%llu were cleaned",
	   (unsigned long long)v.totals.cleaned);
	is_int(simcheck_volume(&v, &cx), 0, "all have one");
	simclean_close(&cleaner);
	simvol_close(&v);
}

int main(void)
{
	test_entries();
	test_check();
	test_sizes();
	test_kept();
	return tap_done();
}
