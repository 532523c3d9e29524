// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs under power cuts, at every write and flush, torn and reordered.
 *
 * A device that holds an old volume is formatted again and the power goes off.
 * Whatever superblock is valid then must have its volume: an old one an
 * untouched old volume, a new one the whole first log.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "disk/super.h"
#include "mkfs/format.h"

#include "tap.h"

#define SIZE (1u << 20)
#define PLACE 4096u		/* of a superblock */

struct rig {
	struct context cx;
	struct plan old, new;
	uint64_t log_blocks;			/* of the new volume */
	uint8_t *before, *after, *bytes;	/* SIZE each */
};

/* How a cut run ended, over all runs. */
struct tally {
	unsigned int old, none, new, bad;
};

static void make_plan(struct rig *r, uint8_t mark, uint64_t block_size,
		      struct plan *plan)
{
	struct mkfs_options o = options_defaults;
	struct plan_facts facts = {
		.name = "device", .size = SIZE, .sector_size = 512,
		.now = 1000,
	};

	memset(facts.uuid, mark, 16);
	o.block_size = block_size;
	o.blocks_per_segment = 16;
	is_int(plan_make(&r->cx, &o, &facts, plan), 0, "a plan");
}

static int run(struct rig *r, uint8_t *bytes, struct plan *plan,
	       const struct format_how *how, const struct fault_plan *fault)
{
	struct dev *disk = NULL, *dev = NULL;
	struct content content = { 0 };
	struct format_how filled = *how;
	int ret;

	filled.content = &content;
	memory_open(&disk, &r->cx, bytes, SIZE);
	fault_open(&dev, &r->cx, disk, fault);
	ret = format_run(&r->cx, dev, plan, &filled);
	if (!ret && fault_happened(dev))
		ret = -EIO;
	if (!ret)
		r->log_blocks = content.end.blocks;
	dev_close(dev);
	dev_close(disk);
	return ret;
}

static void rig_open(struct rig *r, const struct format_how *how)
{
	struct fault_plan none = { .kind = FAULT_NONE };
	size_t i;

	context_init(&r->cx);
	r->before = malloc(SIZE);
	r->after = malloc(SIZE);
	r->bytes = malloc(SIZE);
	make_plan(r, 'o', 2048, &r->old);
	make_plan(r, 'n', 1024, &r->new);
	memset(r->before, 0, SIZE);
	is_int(run(r, r->before, &r->old, how, &none), 0, "the old volume");
	for (i = SIZE / 2; i < SIZE - PLACE; i++)
		r->before[i] = (uint8_t)i;
	memcpy(r->after, r->before, SIZE);
	is_int(run(r, r->after, &r->new, how, &none), 0, "the new volume");
}

static void rig_close(struct rig *r)
{
	free(r->before);
	free(r->after);
	free(r->bytes);
}

/* Marks of the valid superblocks: 0 where there is none. */
static uint8_t valid_at(const uint8_t *bytes, uint64_t off)
{
	struct nilfs_super_block sb;

	memcpy(&sb, bytes + off, sizeof(sb));
	return super_check(&sb) == RULE_OK ? sb.s_uuid[0] : 0;
}

static bool same(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
	return !memcmp(a + from, b + from, to - from);
}

static void judge(const struct rig *r, struct tally *tally)
{
	uint8_t first = valid_at(r->bytes, NILFS_SB_OFFSET_BYTES);
	uint8_t second = valid_at(r->bytes, r->new.super2);
	size_t log_end = PLACE + r->log_blocks * 1024;
	bool is_old = first == 'o' || second == 'o';
	bool is_new = first == 'n' || second == 'n';

	if (is_old && is_new)
		tally->bad++;
	else if (is_old && same(r->bytes, r->before, PLACE, SIZE - PLACE))
		tally->old++;
	else if (is_new && same(r->bytes, r->after, PLACE, log_end))
		tally->new++;
	else if (is_old || is_new)
		tally->bad++;
	else
		tally->none++;
}

/* Every operation in turn; returns how many there are. */
static unsigned int cut_all(struct rig *r, const struct format_how *how,
			    struct fault_plan fault, struct tally *tally)
{
	for (fault.at = 1; fault.at < 1000; fault.at++) {
		memcpy(r->bytes, r->before, SIZE);
		if (!run(r, r->bytes, &r->new, how, &fault))
			break;
		judge(r, tally);
	}
	ok(same(r->bytes, r->after, 0, SIZE), "uncut, the volume is whole");
	return (unsigned int)fault.at - 1;
}

static void test_cuts(const struct format_how *how, const char *name)
{
	struct fault_plan cut = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	struct fault_plan tear = {
		.kind = FAULT_TEAR, .counted = FAULT_WRITES,
	};
	struct fault_plan error = {
		.kind = FAULT_FAIL, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	struct tally t = { 0 };
	struct rig r;
	unsigned int points;

	rig_open(&r, how);
	points = cut_all(&r, how, cut, &t);
	ok(points > 8, "%s: %u points to cut at", name, points);
	is_int(cut_all(&r, how, error, &t), points, "each may fail, too");
	for (tear.tear_bytes = 512; tear.tear_bytes < PLACE;
	     tear.tear_bytes += 512)
		cut_all(&r, how, tear, &t);
	cut.reorder = true;
	for (cut.seed = 1; cut.seed <= 30; cut.seed++)
		cut_all(&r, how, cut, &t);
	is_int(t.bad, 0, "no superblock without its volume");
	ok(t.old, "some cuts leave the old volume (%u)", t.old);
	ok(t.none, "some leave none (%u)", t.none);
	ok(t.new, "some leave the new one (%u)", t.new);
	rig_close(&r);
}

/* A write test that does not end must leave nothing mountable: data are gone. */
static void test_stopped_test(void)
{
	volatile sig_atomic_t cancel = 1;
	struct progress progress;
	struct badblocks test = { .progress = &progress, .fd = -1 };
	struct format_how how = { .discard = true };
	struct fault_plan none = { .kind = FAULT_NONE };
	struct tally t = { 0 };
	struct rig r;

	progress_init(&progress, -1, true);
	rig_open(&r, &how);
	memcpy(r.bytes, r.before, SIZE);
	how.test = &test;
	r.cx.cancel = &cancel;
	is_int(run(&r, r.bytes, &r.new, &how, &none), -EINTR, "it is stopped");
	r.cx.cancel = NULL;
	judge(&r, &t);
	is_int(t.none, 1, "and no superblock is left");
	rig_close(&r);
}

/* Three writes on a blank device, none of them of zeros alone. */
static void test_blank(void)
{
	struct format_how how = { .blank = true, .discard = true };
	struct fault_plan fault = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES,
	};
	struct tally t = { 0 };
	struct rig r;

	rig_open(&r, &how);
	memset(r.before, 0, SIZE);
	memset(r.after, 0, SIZE);
	fault.at = 4;
	is_int(run(&r, r.after, &r.new, &how, &fault), 0, "three writes");
	is_int(cut_all(&r, &how, fault, &t), 3, "and not fewer");
	is_int(t.bad, 0, "no superblock without its volume");
	rig_close(&r);
}

int main(void)
{
	struct format_how discard = { .discard = true }, keep = { 0 };

	test_cuts(&discard, "with discard");
	test_cuts(&keep, "without");
	test_stopped_test();
	test_blank();
	return tap_done();
}
