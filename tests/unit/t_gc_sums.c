// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which logs a run verifies: each before its blocks move, and once.  A segment
 * may be looked at when fewer of its logs are needed than later.  A flipped bit
 * reads as what it was.  And how much memory a load takes.
 */
#include <errno.h>

#include "gc/move/load.h"
#include "gc/move/sums.h"

#include "gc_rig.h"
#include "tap.h"

static const struct log_shape shape = { 1024, 256, 24, 0, 4, 1, true };

/* Byte 7 of the last block of the log I. */
static uint64_t last_byte(const struct load *l, size_t i)
{
	uint64_t last = l->logs[i].pseg + le32_get(l->logs[i].ss.ss_nblocks) - 1;

	return last * shape.block_size + 7;
}

static uint8_t read_byte(struct rig *r, struct dev *dev, uint64_t at)
{
	uint8_t c = 0;

	dev_read(dev, &r->v.cx, at, &c, 1);
	return c;
}

/* These bits of it. */
static void flip(struct rig *r, const struct load *l, size_t i, uint8_t bits)
{
	uint8_t c = read_byte(r, r->v.dev, last_byte(l, i)) ^ bits;

	dev_write(r->v.dev, &r->v.cx, last_byte(l, i), &c, 1);
}

#define ONE 4u
#define SOME 7u		/* which no single bit explains */

static int check(struct rig *r, struct sums *s, const struct load *l,
		 uint64_t *bad)
{
	struct summing *u;
	int ret = sums_begin(&u, &r->v.cx, s, l);

	*bad = 0;
	if (!ret)
		ret = sums_wait(u, &r->v.cx);
	if (ret > 0)
		ret = sums_judge(u, &r->v.cx, bad);
	sums_end(u);
	return ret;
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
	ret = check(r, s, &part, &bad);
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
	size_t n = l->has.nlogs;
	struct sums s;

	is_int(sums_open(&s, &r->v.cx, r->v.dev), 0, "nothing is verified yet");
	is_int(find_bad(r, &s, l, 1), 0, "the first log is right");
	flip(r, l, n - 1, SOME);
	is_int(find_bad(r, &s, l, 1), 0, "and is so where another one is not");
	ok(!sums_is_bad(&s, l->victims[0]), "nothing is known of that");
	is_int(find_bad(r, &s, l, n), n, "which is found when it is needed");
	ok(sums_is_bad(&s, l->victims[0]), "and remembered");
	flip(r, l, n - 1, SOME);
	is_int(find_bad(r, &s, l, n), 0, "all are right");
	flip(r, l, n - 1, SOME);
	is_int(find_bad(r, &s, l, n), 0, "they are not read again");
	sums_forget(&s, l);
	is_int(find_bad(r, &s, l, n), n, "but after the segment was freed");
	flip(r, l, n - 1, SOME);
	sums_close(&s);
}

static void test_bit(struct rig *r, struct load *l)
{
	size_t n = l->has.nlogs;
	uint64_t at = last_byte(l, n - 1), bad;
	uint8_t was = read_byte(r, r->v.dev, at);
	struct sums s;

	sums_open(&s, &r->v.cx, r->v.dev);
	flip(r, l, n - 1, ONE);
	is_int(check(r, &s, l, &bad), -EAGAIN, "a bit is found");
	fail_clear(&r->v.cx);
	is_int(bad, 0, "which is no log that has to stay");
	is_int(read_byte(r, s.dev, at), was, "it reads as what it was");
	is_int(read_byte(r, r->v.dev, at), was ^ ONE, "and is not written");
	is_int(check(r, &s, l, &bad), 0, "then the log is right");
	sums_forget(&s, l);
	is_int(read_byte(r, s.dev, at), was ^ ONE,
	       "no longer than until the segment is free");
	flip(r, l, n - 1, ONE);
	sums_close(&s);
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
		test_bit(&r, &l);
		load_fini(&l);
	}
	facts_fini(&f);
	volume_close(vol);
	rig_close(&r);
	return tap_done();
}
