// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Volumes that become smaller and larger, under power cuts.
 *
 * Wherever the power goes off, the volume has the old size or the new one, by
 * the rules by which a mount chooses a superblock; fsck.nilfs2 finds nothing, and
 * the files of the latest state and of a snapshot read as before.  Another run
 * completes what was begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "disk/super.h"
#include "fsck/session.h"
#include "gc/grow.h"
#include "gc/shrink.h"
#include "gc_rig.h"

#include "tap.h"

#define ROUNDS 26u	/* checkpoints */

/* The SUFILE of so many segments has several blocks, of which some must go. */
static const struct log_shape shapes[] = {
	{ .block_size = 1024, .blocks_per_segment = 32, .nsegments = 200,
	  .log_blocks = 32, .collect = 8, .threads = 1, .live_blks = true },
	{ .block_size = 1024, .blocks_per_segment = 16, .nsegments = 150,
	  .log_blocks = 16, .collect = 8, .threads = 1 },
};

struct sized {
	struct rig r;
	bool grows;
	uint64_t segments;	/* that the volume has before */
};

/* As a power cut leaves it: a mount looks for logs behind the latest one. */
static void unmount_badly(struct rig *r)
{
	const uint64_t offsets[] = {
		NILFS_SB_OFFSET_BYTES, super_offset2(r->v.dev->size),
	};
	struct nilfs_super_block sb;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		memcpy(&sb, r->before + offsets[i], sizeof(sb));
		sb.s_state = le16_make(0);
		sb.s_sum = le32_make(super_checksum(&sb));
		memcpy(r->before + offsets[i], &sb, sizeof(sb));
	}
}

/* With room for MORE segments behind the volume. */
static void open_sized(struct sized *s, const struct log_shape *shape,
		       uint64_t more)
{
	rig_open_larger(&s->r, shape, ROUNDS, more);
	s->segments = shape->nsegments;
	s->grows = more;
}

static int change_size(struct sized *s, struct dev *dev, uint64_t *segments)
{
	const struct grow_options all = { .time = LOG_VOLUME_TIME + 1 };
	const struct shrink_options least = {
		.clean = {
			.policy = policy_find("optimal"),
			.how.batch.time = LOG_VOLUME_TIME + 1,
		},
	};
	struct context cx;
	struct shrink shrunk;
	struct grow grown;
	int ret;

	context_child(&s->r.v.cx, &cx);
	if (s->grows) {
		ret = grow_run(&grown, &cx, dev, &all);
		*segments = grown.segments;
	} else {
		ret = shrink_run(&shrunk, &cx, dev, &least);
		*segments = shrunk.segments;
	}
	return ret;
}

/* 0, or what fsck.nilfs2 -fn ends with. */
static int check(struct rig *r, struct dev *dev)
{
	const struct options no = { .mode = OPTIONS_NO, .force = true };
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	int ret;

	context_child(&r->v.cx, &tool.cx);
	tool.cx.now = LOG_VOLUME_TIME + 1;
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	ret = session_run(&tool, &no, dev);
	out_close(tool.out, &tool.cx);
	return ret;
}

struct outcome {
	int ret;
	uint64_t aimed;		/* segments that the run came to */
	uint64_t segments;	/* that the volume has */
	bool happened, good;
};

struct judged {
	struct sized *s;
	uint64_t segments;	/* 0: it did not come to that */
};

static bool judge(void *arg, struct volume *vol, struct dev *dev)
{
	struct judged *j = arg;

	j->segments = vol->geo.nsegments;
	/* A device that has become larger has no second superblock at first. */
	if (j->s->grows && j->segments == j->s->segments)
		return true;
	return !check(&j->s->r, dev);
}

/* Whether what is on the SIZE bytes is as it should be. */
static bool holds(struct sized *s, size_t size, uint64_t *segments)
{
	struct judged j = { .s = s };
	bool good = rig_holds_also(&s->r, size, judge, &j);

	*segments = good ? j.segments : 0;
	return good;
}

static struct outcome run(struct sized *s, const struct fault_plan *plan)
{
	struct rig *r = &s->r;
	struct dev *disk, *dev;
	struct outcome o;

	memory_open(&disk, &r->v.cx, r->bytes, r->size);
	fault_open(&dev, &r->v.cx, disk, plan);
	dev->is_block_device = true;	/* it keeps its size */
	o.ret = change_size(s, dev, &o.aimed);
	o.happened = fault_happened(dev);
	fault_power_off(dev);
	dev_close(dev);
	dev_close(disk);
	o.good = holds(s, r->size, &o.segments);
	return o;
}

/* Also on a device that is cut behind the volume. */
static bool holds_short(struct sized *s, uint64_t segments)
{
	const struct rig *r = &s->r;
	uint64_t got;

	return holds(s, segments * r->shape->blocks_per_segment *
				r->shape->block_size + 4096, &got) &&
	       got == segments;
}

static void test_whole(struct sized *s)
{
	struct rig *r = &s->r;
	const struct fault_plan none = { .kind = FAULT_NONE };
	struct outcome o, again;
	char *copy = malloc(r->size);

	memcpy(r->bytes, r->before, r->size);
	o = run(s, &none);
	ok(!o.ret && o.good && o.segments == o.aimed,
	   "%llu segments, all files and the snapshot are as before",
	   (unsigned long long)o.segments);
	ok(s->grows ? o.segments > s->segments : o.segments < s->segments / 2,
	   "there were %llu", (unsigned long long)s->segments);
	ok(holds_short(s, o.segments), "a device of that size has room for it");
	memcpy(copy, r->bytes, r->size);
	again = run(s, &none);
	ok(!again.ret && !memcmp(copy, r->bytes, r->size),
	   "a second run has nothing to do");
	free(copy);
}

static void test_cuts(struct sized *s, enum fault_kind kind, bool reorder,
		      const char *how)
{
	struct rig *r = &s->r;
	struct fault_plan plan = {
		.kind = kind, .reorder = reorder,
		.counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	const struct fault_plan none = { .kind = FAULT_NONE };
	unsigned int old = 0, new = 0, bad = 0;
	struct outcome o, again;

	do {
		plan.at++;
		plan.seed = plan.at;
		memcpy(r->bytes, r->before, r->size);
		o = run(s, &plan);
		if (!o.happened)
			break;
		again = run(s, &none);
		bad += o.ret >= 0 || !o.good || again.ret || !again.good ||
		       again.segments == s->segments;
		old += o.segments == s->segments;
		new += o.segments != s->segments;
	} while (plan.at < 1000);
	is_int(bad, 0, how);
	ok(old && new && old + new == plan.at - 1,
	   "the old size %u times, the new one %u times", old, new);
}

static void test(struct sized *s)
{
	test_whole(s);
	test_cuts(s, FAULT_CUT, false, "cut before each write and flush");
	test_cuts(s, FAULT_CUT, true, "the same, writes reordered");
	test_cuts(s, FAULT_TEAR, false, "torn in each write");
	rig_close(&s->r);
}

int main(void)
{
	struct sized s;
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		open_sized(&s, &shapes[i], 0);
		test(&s);
		open_sized(&s, &shapes[i], 77);
		test(&s);
		open_sized(&s, &shapes[i], 77);
		unmount_badly(&s.r);
		test(&s);
	}
	return tap_done();
}
