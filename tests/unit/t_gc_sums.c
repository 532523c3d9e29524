// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which logs a run verifies: each before its blocks move, and once.  A segment
 * may be looked at when fewer of its logs are needed than later.  And how much
 * memory a load takes.
 */
#include <errno.h>

#include "gc/move/load.h"
#include "gc/move/sums.h"

#include "gc_rig.h"
#include "tap.h"

static const struct log_shape shape = { 1024, 256, 24, 0, 4, 1, true };

/* One bit of the last block of the log I. */
static void flip(struct rig *r, const struct load *l, size_t i)
{
	uint64_t last = l->logs[i].pseg + le32_get(l->logs[i].ss.ss_nblocks) - 1;
	uint8_t c;

	dev_read(r->v.dev, &r->v.cx, last * shape.block_size + 7, &c, 1);
	c ^= 4;
	dev_write(r->v.dev, &r->v.cx, last * shape.block_size + 7, &c, 1);
}

/* What the first N logs of L are called: 0, or the number of a bad one from 1. */
static size_t find_bad(struct rig *r, struct sums *s, const struct load *l,
		       size_t n)
{
	struct load part = *l;
	uint64_t bad;
	size_t i = 0;
	int ret;

	part.has.nlogs = n;
	ret = sums_check(s, &r->v.cx, &part, &bad);
	if (ret == -EUCLEAN)
		for (i = 0; i < n && l->logs[i].pseg != bad; i++)
			;
	fail_clear(&r->v.cx);
	return ret ? i + 1 : 0;
}

/* A candidate with several logs. */
static bool take_segment(struct rig *r, struct load *l, const struct facts *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		load_init(l, f);
		if (load_take(l, &r->v.cx, &f->segments[i]) > 0 &&
		    l->has.nlogs > 2)
			return true;
		load_fini(l);
	}
	return false;
}

static void test_logs(struct rig *r, struct load *l)
{
	struct sums s = { .dev = r->v.dev };
	size_t n = l->has.nlogs;

	is_int(find_bad(r, &s, l, 1), 0, "the first log is right");
	flip(r, l, n - 1);
	is_int(find_bad(r, &s, l, 1), 0, "and is so where another one is not");
	is_int(find_bad(r, &s, l, n), n, "which is found when it is needed");
	flip(r, l, n - 1);
	is_int(find_bad(r, &s, l, n), 0, "all are right");
	flip(r, l, n - 1);
	is_int(find_bad(r, &s, l, n), 0, "they are not read again");
	sums_forget(&s, l);
	is_int(find_bad(r, &s, l, n), n, "but after the segment was freed");
	flip(r, l, n - 1);
	sums_fini(&s);
}

/* Whether L is full with so little memory, or with so many victims. */
static bool is_full_with(struct rig *r, struct load *l, uint64_t memory,
			 size_t nvictims)
{
	struct context cx = r->v.cx;
	size_t all = l->has.nvictims;
	bool full;

	cx.max_memory = memory;
	l->has.nvictims = nvictims;
	full = load_is_full(l, &cx);
	l->has.nvictims = all;
	return full;
}

/* Whatever a commit rewrites it holds in memory, and twice for a while. */
static void test_bytes(struct rig *r, const struct facts *f)
{
	struct load l, without;
	size_t i;

	load_init(&l, f);
	for (i = 0; i < f->n; i++)
		load_take(&l, &r->v.cx, &f->segments[i]);
	ok(l.has.ndat && l.has.others, "metadata of the DAT and of others");
	without = l;
	without.has.ndat = without.has.others = 0;
	is_int(load_bytes(&l) - load_bytes(&without),
	       2 * (l.has.ndat + l.has.others) * shape.block_size,
	       "all of it counts as memory");
	ok(is_full_with(r, &l, 2 * load_bytes(&l) - 2, 2), "half is too little");
	ok(!is_full_with(r, &l, 2 * load_bytes(&l), 2), "or just enough");
	ok(!is_full_with(r, &l, 1, 1), "and never too little for one segment");
	fail_clear(&r->v.cx);
	load_fini(&l);
}

int main(void)
{
	struct volume *vol = NULL;
	struct facts f = { .vol = NULL };
	struct load l;
	struct rig r;

	rig_open(&r, &shape);
	is_int(volume_open(&vol, &r.v.cx, r.v.dev, NULL), 0, "a volume");
	is_int(facts_gather(&f, &r.v.cx, vol, 0, NULL), 0, "its segments");
	test_bytes(&r, &f);
	if (ok(take_segment(&r, &l, &f), "one with several logs")) {
		test_logs(&r, &l);
		load_fini(&l);
	}
	facts_fini(&f);
	volume_close(vol);
	rig_close(&r);
	return tap_done();
}
