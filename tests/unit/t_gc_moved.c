// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is moved comes from where it is, wherever that is, in few requests; and
 * only a block that is wanted can be missed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "gc/move/moved.h"
#include "vol/volume.h"

#include "tap.h"

#define BITS 10u
#define BLOCKS 4096u
#define SIZE ((size_t)BLOCKS << BITS)

struct rig {
	struct context cx;
	char *bytes;
	struct dev *disk, *dev;
	struct volume vol;
	struct facts facts;
	struct load load;
};

static void open_rig(struct rig *r, struct load_run *runs, size_t n,
		     uint64_t bad)
{
	const struct fault_plan plan = {
		.bad_off = bad << BITS, .bad_bytes = bad ? 1u << BITS : 0,
	};
	size_t i;

	*r = (struct rig){ .bytes = malloc(SIZE) };
	context_init(&r->cx);
	for (i = 0; r->bytes && i < SIZE; i++)
		r->bytes[i] = (char)(i >> BITS) * 7 + (char)(i >> (BITS + 8));
	if (memory_open(&r->disk, &r->cx, r->bytes, SIZE) ||
	    fault_open(&r->dev, &r->cx, r->disk, &plan))
		abort();
	r->vol.dev = r->dev;
	r->vol.geo.block_bits = BITS;
	r->facts.vol = &r->vol;
	r->load = (struct load){
		.facts = &r->facts, .runs = runs, .has.nruns = n,
	};
}

static void close_rig(struct rig *r)
{
	dev_close(r->dev);
	dev_close(r->disk);
	free(r->bytes);
}

/* Whether BUF has the blocks [AT, AT + COUNT) of the runs. */
static bool is_right(const struct rig *r, uint64_t at, uint32_t count,
		     const char *buf)
{
	const struct load_run *run = r->load.runs;
	uint64_t i = 0;

	for (; i < at + count; run++) {
		uint64_t k = 0;

		for (; k < run->entry.count && i < at + count; k++, i++)
			if (i >= at && memcmp(buf + ((i - at) << BITS),
					      r->bytes + ((run->blocknr + k)
							  << BITS),
					      1u << BITS))
				return false;
	}
	return true;
}

/* Reads them all at once: what comes of it, and which block was bad. */
static int fill(struct rig *r, uint64_t at, uint32_t count, uint64_t *bad)
{
	struct moved *m = NULL;
	char *buf = calloc(count, 1u << BITS);
	struct payload *p;
	int ret;

	if (!buf || moved_make(&m, &r->cx, &r->load, false, bad))
		abort();
	p = moved_payload(m, r->load.runs);
	ret = p->ops->fill(p, &r->cx, at, count, buf);
	if (!ret && !is_right(r, at, count, buf))
		ret = -EILSEQ;
	moved_put(m);
	free(buf);
	return ret;
}

static void set_run(struct load_run *run, uint64_t blocknr, uint32_t count)
{
	*run = (struct load_run){ .blocknr = blocknr, .entry.count = count };
}

/* Every second block, the last first: one sweep over the device. */
static void test_scattered(void)
{
	struct load_run runs[300];
	struct rig r;
	uint64_t bad;
	unsigned int i;

	for (i = 0; i < 300; i++)
		set_run(&runs[i], 1000 - 3 * i, 1 + i % 2);
	open_rig(&r, runs, 300, 0);
	is_int(fill(&r, 0, 450, &bad), 0, "scattered blocks are as they were");
	ok(r.dev->stats.reads < 10, "in %u requests",
	   (unsigned int)r.dev->stats.reads);
	is_int(fill(&r, 100, 1, &bad), 0, "one of them");
	is_int(fill(&r, 101, 200, &bad), 0, "or some in the middle of runs");
	close_rig(&r);
}

static void test_far(void)
{
	struct load_run runs[4];
	struct rig r;
	uint64_t bad;

	set_run(&runs[0], 3000, 20);
	set_run(&runs[1], 10, 5);
	set_run(&runs[2], 2990, 3);
	set_run(&runs[3], 10, 2);
	open_rig(&r, runs, 4, 0);
	is_int(fill(&r, 0, 30, &bad), 0, "what lies far apart, or lies twice");
	is_int(r.dev->stats.reads, 3, "takes a request each");
	ok(r.dev->stats.read_bytes <= 37u << BITS,
	   "and nothing far between is read");
	close_rig(&r);
}

static void test_bad(uint64_t bad_block, int want)
{
	struct load_run runs[2];
	struct rig r;
	uint64_t bad;

	set_run(&runs[0], 104, 4);
	set_run(&runs[1], 100, 2);
	open_rig(&r, runs, 2, bad_block);
	ok(fill(&r, 0, 6, &bad) == want, "block %u cannot be read",
	   (unsigned int)bad_block);
	is_int(bad, want ? bad_block : 0, "and is named, if it is wanted");
	close_rig(&r);
}

int main(void)
{
	test_scattered();
	test_far();
	test_bad(101, -EIO);
	test_bad(102, 0);
	test_bad(107, -EIO);
	test_bad(108, 0);
	return tap_done();
}
