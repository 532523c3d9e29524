// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs under power cuts. */
#include "cut.h"

#include <stdio.h>
#include <string.h>

#include "base/crc.h"
#include "tests/testdev/memory.h"
#include "tests/testdev/trace.h"

#define MOST 1000u	/* operations of a job */
#define JUDGED 1000u	/* states of a device */

const struct cut_way cut_ways[CUT_WAYS] = {
	{ { .kind = FAULT_CUT }, "cut before each write and flush" },
	{ { .kind = FAULT_CUT, .reorder = true },
	  "the same, writes reordered" },
	{ { .kind = FAULT_TEAR }, "torn in each write" },
};

struct cut_end cut_run(const struct cut *cut, const struct fault_plan *plan)
{
	struct dev *disk, *dev;
	struct context cx;
	struct cut_end end;

	context_child(cut->cx, &cx);
	memory_open(&disk, &cx, cut->bytes, cut->size);
	fault_open(&dev, &cx, disk, plan);
	end.ret = cut->job(cut->arg, &cx, dev);
	end.counted = fault_counted(dev);
	end.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	return end;
}

/* What was judged. */
struct judged {
	struct {
		uint64_t sum;
		enum cut_state state;
	} known[JUDGED];
	size_t n;
};

static uint64_t sum_of(const struct cut *cut)
{
	const size_t step = 4096;
	uint64_t sum = 0;
	size_t at, n;

	for (at = 0; at < cut->size; at += n) {
		n = cut->size - at < step ? cut->size - at : step;
		sum = (sum ^ crc32_le(~0u, cut->bytes + at, n)) *
		      UINT64_C(0x100000001b3);
	}
	return sum;
}

/* A cut after a flush, say, leaves what one before the flush leaves. */
static enum cut_state judge(const struct cut *cut, struct judged *j)
{
	uint64_t sum = sum_of(cut);
	enum cut_state state;
	size_t i;

	for (i = 0; i < j->n; i++)
		if (j->known[i].sum == sum)
			return j->known[i].state;
	state = cut->judge(cut->arg);
	if (j->n < JUDGED) {
		j->known[j->n].sum = sum;
		j->known[j->n++].state = state;
	}
	return state;
}

static void count(const struct cut *cut, uint64_t at, int ret,
		  struct judged *judged, struct cut_counts *counts)
{
	enum cut_state state = judge(cut, judged);

	if (ret >= 0 || state == CUT_BAD) {
		printf("# cut %llu: %d\n", (unsigned long long)at, ret);
		counts->bad++;
	}
	counts->old += state == CUT_OLD;
	counts->new += state == CUT_NEW;
}

static struct cut_counts cut_way(const struct cut *cut, struct fault_plan plan,
				 struct judged *judged)
{
	struct cut_counts counts = { 0 };
	struct cut_end end;

	plan.counted = FAULT_WRITES | FAULT_FLUSHES;
	while (plan.at++ < MOST) {
		plan.seed++;
		memcpy(cut->bytes, cut->before, cut->size);
		end = cut_run(cut, &plan);
		counts.ret = end.ret;
		if (!end.happened)
			return counts;
		count(cut, plan.at, end.ret, judged, &counts);
	}
	printf("Bail out! %u operations and more\n", MOST);
	return counts;
}

struct cut_counts cut_each(const struct cut *cut, struct fault_plan plan)
{
	struct judged judged = { .n = 0 };

	return cut_way(cut, plan, &judged);
}

/* A job's writes, to be done again in its place. */
struct replay {
	const struct cut *cut;
	struct trace trace;
};

static int play(void *arg, struct context *cx, struct dev *dev)
{
	struct replay *r = arg;

	return trace_play(&r->trace, cx, dev);
}

static enum cut_state judge_played(void *arg)
{
	struct replay *r = arg;

	return r->cut->judge(r->cut->arg);
}

static void record(struct replay *r)
{
	const struct cut *cut = r->cut;
	struct dev *disk, *dev;
	struct context cx;

	context_child(cut->cx, &cx);
	memcpy(cut->bytes, cut->before, cut->size);
	memory_open(&disk, &cx, cut->bytes, cut->size);
	trace_open(&dev, &cx, disk, &r->trace);
	if (cut->job(cut->arg, &cx, dev) < 0)
		printf("Bail out! %s\n", cx.failure);
	dev_close(dev);
	dev_close(disk);
}

void cut_all(const struct cut *cut, struct cut_counts counts[CUT_WAYS])
{
	struct replay r = { .cut = cut };
	struct cut played = *cut;
	struct judged judged = { .n = 0 };
	unsigned int i;

	counts[0] = cut_way(cut, cut_ways[0].plan, &judged);
	record(&r);
	played.job = play;
	played.judge = judge_played;
	played.arg = &r;
	for (i = 1; i < CUT_WAYS; i++) {
		counts[i] = cut_way(&played, cut_ways[i].plan, &judged);
		counts[i].ret = counts[0].ret;
	}
	trace_fini(&r.trace);
}
