// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs under power cuts. */
#include "cut.h"

#include <stdio.h>
#include <string.h>

#include "tests/testdev/memory.h"

#define MOST 1000u	/* operations of a job */

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

static void judge(const struct cut *cut, uint64_t at, int ret,
		  struct cut_counts *counts)
{
	enum cut_state state = cut->judge(cut->arg, at, ret);

	if (ret >= 0 || state == CUT_BAD) {
		printf("# cut %llu: %d\n", (unsigned long long)at, ret);
		counts->bad++;
	}
	counts->old += state == CUT_OLD;
	counts->new += state == CUT_NEW;
}

struct cut_counts cut_each(const struct cut *cut, struct fault_plan plan)
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
		judge(cut, plan.at, end.ret, &counts);
	}
	printf("Bail out! %u operations and more\n", MOST);
	return counts;
}
