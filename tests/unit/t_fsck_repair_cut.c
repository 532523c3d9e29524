// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck -y under power cuts: at every write and flush of its commit, torn or
 * reordered up to a flush.
 *
 * Whenever the power goes off, what is left is the old state or the new one: a
 * second check finds what the first one found, or nothing, and all files read
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"

#include "fsck_rig.h"
#include "tap.h"

static const struct options yes = { .mode = OPTIONS_YES };

struct outcome {
	int ret, left;
	uint64_t counted;
	bool happened;
};

/* Mends a fresh copy while PLAN is carried out, then turns the power off. */
static struct outcome run(struct rig *r, const struct fault_plan *plan)
{
	struct dev *disk, *dev;
	struct outcome outcome;

	memcpy(r->bytes, r->before, r->size);
	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, plan);
	outcome.ret = rig_run(r, dev, &yes);
	outcome.counted = fault_counted(dev);
	outcome.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	outcome.left = rig_judge(r);
	return outcome;
}

static void test_cuts(struct rig *r, enum fault_kind kind, bool reorder,
		      const char *how)
{
	struct fault_plan plan = {
		.kind = kind, .reorder = reorder,
		.counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	unsigned int old = 0, new = 0, bad = 0;
	struct outcome o;

	do {
		plan.at++;
		plan.seed = plan.at;
		o = run(r, &plan);
		if (!o.happened)
			break;
		if (o.ret >= 0 || (o.left && o.left != SESSION_UNCORRECTED)) {
			printf("# cut %llu: %d, then %d\n",
			       (unsigned long long)plan.at, o.ret, o.left);
			bad++;
		} else if (o.left) {
			old++;
		} else {
			new++;
		}
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new, "the old state %u times, the new one %u times", old,
	   new);
	is_int(o.ret, SESSION_MENDED, "without a cut it is mended");
	is_int(o.left, 0, "and clean");
}

static void test_untouched(struct rig *r)
{
	struct fault_plan plan = { .kind = FAULT_NONE,
				   .counted = FAULT_WRITES | FAULT_FLUSHES };
	struct outcome o = run(r, &plan);
	char *mended = malloc(r->size);

	is_int(o.ret, SESSION_MENDED, "a repair");
	memcpy(mended, r->bytes, r->size);
	memcpy(r->before, r->bytes, r->size);
	o = run(r, &plan);
	is_int(o.ret, 0, "a second one has nothing to do");
	is_int(o.counted, 0, "and writes nothing");
	ok(!memcmp(r->bytes, mended, r->size), "and changes nothing");
	free(mended);
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	test_cuts(&r, FAULT_CUT, false, "cut before each write and flush");
	test_cuts(&r, FAULT_CUT, true, "the same, writes reordered");
	test_cuts(&r, FAULT_TEAR, false, "torn in each write");
	test_untouched(&r);
	rig_close(&r);
	return tap_done();
}
