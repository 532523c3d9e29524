// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Filling a volume under power cuts, at every write and flush, torn and
 * reordered.
 *
 * A device that holds an old volume becomes one of two layers, each a
 * snapshot.  Whatever superblock is valid after a cut must have its volume: an
 * old one an untouched old volume, a new one all logs of both layers, as an
 * uncut run leaves them.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "disk/super.h"
#include "mkfs/format.h"

#include "tap.h"
#include "tree.h"

#define SIZE (1u << 20)
#define PLACE 4096u		/* of a superblock */

struct rig {
	struct context cx;
	struct tree low, high;
	uint8_t *before, *after, *bytes;	/* SIZE each */
};

/* How a cut run ended, over all runs. */
struct tally {
	unsigned int old, none, new, bad;
};

static void fill_trees(struct rig *r)
{
	char name[16];
	unsigned int i;

	tree_make(&r->low);
	tree_make(&r->high);
	tree_dir(&r->low, "d");
	tree_dir(&r->high, "d");
	for (i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), "d/%u", i);
		tree_file(&r->low, name, i * 160, i);
		if (i % 4 == 0)
			tree_file(&r->high, name, i * 100, i);
	}
	tree_file(&r->low, "long", 60000, 41);
	tree_file(&r->high, "long", 30000, 42);
}

static int make_plan(struct rig *r, uint8_t mark, uint64_t block_size,
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
	o.features = "sufile_live_blks_ext";
	return plan_make(&r->cx, &o, &facts, plan);
}

static int run(struct rig *r, uint8_t *bytes, uint8_t mark,
	       struct content *content, const struct fault_plan *fault)
{
	struct format_how how = { .discard = true, .content = content };
	struct dev *disk = NULL, *dev = NULL;
	struct plan plan;
	int ret = make_plan(r, mark, mark == 'n' ? 1024 : 2048, &plan);

	if (ret)
		return ret;
	memory_open(&disk, &r->cx, bytes, SIZE);
	fault_open(&dev, &r->cx, disk, fault);
	ret = format_run(&r->cx, dev, &plan, &how);
	if (!ret && fault_happened(dev))
		ret = -EIO;
	dev_close(dev);
	dev_close(disk);
	return ret;
}

static int run_new(struct rig *r, uint8_t *bytes,
		   const struct fault_plan *fault)
{
	const char *sources[] = { r->low.path, r->high.path };
	struct content content = {
		.sources = sources, .nsources = 2,
		.snapshots = CONTENT_EACH, .collect = 8,
	};

	return run(r, bytes, 'n', &content, fault);
}

static void rig_open(struct rig *r)
{
	struct fault_plan none = { .kind = FAULT_NONE };
	struct content empty = { .nsources = 0 };

	context_init(&r->cx);
	fill_trees(r);
	r->before = calloc(1, SIZE);
	r->after = malloc(SIZE);
	r->bytes = malloc(SIZE);
	is_int(run(r, r->before, 'o', &empty, &none), 0, "the old volume");
	memset(r->before + SIZE / 2, 'x', SIZE / 2 - PLACE);
	memcpy(r->after, r->before, SIZE);
	is_int(run_new(r, r->after, &none), 0, "the new volume");
}

static void rig_close(struct rig *r)
{
	tree_remove(&r->low);
	tree_remove(&r->high);
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
	uint8_t second = valid_at(r->bytes, SIZE - PLACE);
	bool is_old = first == 'o' || second == 'o';
	bool is_new = first == 'n' || second == 'n';

	if (is_old && is_new)
		tally->bad++;
	else if (is_old && same(r->bytes, r->before, PLACE, SIZE - PLACE))
		tally->old++;
	else if (is_new && same(r->bytes, r->after, PLACE, SIZE - PLACE))
		tally->new++;
	else if (is_old || is_new)
		tally->bad++;
	else
		tally->none++;
}

/* Every operation in turn; returns how many there are. */
static unsigned int cut_all(struct rig *r, struct fault_plan fault,
			    struct tally *tally)
{
	for (fault.at = 1; fault.at < 10000; fault.at++) {
		memcpy(r->bytes, r->before, SIZE);
		if (!run_new(r, r->bytes, &fault))
			break;
		judge(r, tally);
	}
	ok(same(r->bytes, r->after, 0, SIZE), "uncut, the volume is whole");
	return (unsigned int)fault.at - 1;
}

static void is_sound(const struct tally *t, const char *how)
{
	ok(!t->bad, "%s: no superblock without its volume (%u)", how, t->bad);
	ok(t->none, "%s: some leave none (%u)", how, t->none);
	ok(t->new, "%s: some leave the new one (%u)", how, t->new);
}

static void test_cuts(struct rig *r)
{
	struct fault_plan fault = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	struct tally t = { 0 };
	unsigned int points = cut_all(r, fault, &t);

	ok(points > 20, "%u points to cut at", points);
	ok(t.old, "some leave the old volume (%u)", t.old);
	fault.kind = FAULT_FAIL;
	is_int(cut_all(r, fault, &t), points, "each may fail, too");
	is_sound(&t, "cut");
}

static void test_tears(struct rig *r)
{
	struct fault_plan fault = {
		.kind = FAULT_TEAR, .counted = FAULT_WRITES,
	};
	struct tally t = { 0 };

	for (fault.tear_bytes = 512; fault.tear_bytes < PLACE;
	     fault.tear_bytes += 1024)
		cut_all(r, fault, &t);
	is_sound(&t, "torn");
}

static void test_reordered(struct rig *r)
{
	struct fault_plan fault = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
		.reorder = true,
	};
	struct tally t = { 0 };

	for (fault.seed = 1; fault.seed <= 6; fault.seed++)
		cut_all(r, fault, &t);
	is_sound(&t, "reordered");
}

/* Workers write the logs in any order. */
static void test_workers(struct rig *r)
{
	struct fault_plan fault = {
		.kind = FAULT_CUT, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	struct tally t = { 0 };

	r->cx.threads = 4;
	cut_all(r, fault, &t);
	fault.reorder = true;
	cut_all(r, fault, &t);
	is_sound(&t, "by workers");
	r->cx.threads = 1;
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	test_cuts(&r);
	test_tears(&r);
	test_reordered(&r);
	test_workers(&r);
	rig_close(&r);
	return tap_done();
}
