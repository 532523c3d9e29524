// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A check of a volume that cannot be read to its end: from the N-th read on
 * the device fails, for every N.  Whatever pass that hits, the volume must not
 * be called clean.  And a check that is cancelled says nothing of it at all.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "dev/fault.h"
#include "dev/memory.h"
#include "fsck/check.h"
#include "fsck/passes.h"
#include "fsck/session.h"
#include "mkfs/format.h"

#include "tap.h"
#include "tree.h"

#define SIZE (1u << 20)

struct rig {
	struct context cx;
	struct tree low, high;
	uint8_t *bytes;
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
}

static int make_volume(struct rig *r)
{
	const char *sources[] = { r->low.path, r->high.path };
	struct content content = {
		.sources = sources, .nsources = 2,
		.snapshots = CONTENT_EACH, .collect = 8,
	};
	struct format_how how = { .blank = true, .content = &content };
	struct mkfs_options o = options_defaults;
	struct plan_facts facts = {
		.name = "device", .size = SIZE, .sector_size = 512,
		.now = 1000,
	};
	struct dev *dev = NULL;
	struct plan plan;
	int ret;

	o.block_size = 1024;
	o.blocks_per_segment = 16;
	ret = plan_make(&r->cx, &o, &facts, &plan);
	memory_open(&dev, &r->cx, r->bytes, SIZE);
	if (!ret)
		ret = format_run(&r->cx, dev, &plan, &how);
	dev_close(dev);
	return ret;
}

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

/* How a run of all passes ended. */
struct result {
	int ret;
	uint64_t errors, warnings;	/* errors: and worse */
	uint64_t reads;
	bool happened;			/* the fault */
};

static int run_passes(struct check *c, struct context *cx)
{
	int ret = pass_super(c, cx);
	const struct pass *pass;
	size_t i;

	for (i = 0; !ret && c->vol && (pass = passes_at(i)); i++)
		ret = pass->run(c, cx);
	return ret;
}

static struct result run(struct rig *r, const struct fault_plan *fault,
			 bool data)
{
	struct check c = { .data = data };
	struct result result;
	struct dev *disk = NULL;
	struct context cx;

	context_child(&r->cx, &cx);
	memory_open_const(&disk, &cx, r->bytes, SIZE);
	fault_open(&c.dev, &cx, disk, fault);
	findings_open(&c.findings, &cx, ignore, NULL, false);
	result.ret = run_passes(&c, &cx);
	result.errors = findings_count_severity(c.findings, RULE_ERROR);
	result.warnings = findings_count_severity(c.findings, RULE_WARNING) -
			  result.errors;
	result.reads = fault_counted(c.dev);
	result.happened = fault_happened(c.dev);
	check_fini(&c);
	findings_close(c.findings);
	dev_close(c.dev);
	dev_close(disk);
	return result;
}

static void test_cuts(struct rig *r, bool data)
{
	struct fault_plan fault = { .kind = FAULT_NONE,
				    .counted = FAULT_READS };
	struct result sound = run(r, &fault, data), cut;
	uint64_t missed = 0;

	is_int(sound.ret, 0, "a sound volume");
	is_int(sound.errors, 0, "has no errors");
	is_int(sound.warnings, 0, "and no warnings");
	ok(sound.reads > 2, "it takes %llu reads to know",
	   (unsigned long long)sound.reads);
	fault.kind = FAULT_CUT;
	for (fault.at = 1; fault.at <= sound.reads; fault.at++) {
		cut = run(r, &fault, data);
		if (!cut.happened || (!cut.ret && !cut.errors)) {
			printf("# read %llu\n", (unsigned long long)fault.at);
			missed++;
		}
	}
	is_int(missed, 0, "none of which can fail unseen");
}

static void test_cancelled(struct rig *r)
{
	static volatile sig_atomic_t stop = 1;
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	struct options options = { .force = true };
	struct dev *dev = NULL;

	context_child(&r->cx, &tool.cx);
	tool.cx.cancel = &stop;
	memory_open_const(&dev, &tool.cx, r->bytes, SIZE);
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	is_int(session_run(&tool, &options, dev), -EINTR,
	       "a check that is cancelled ends");
	is_str(out_memory(tool.out, NULL), "", "and gives no verdict");
	out_close(tool.out, &tool.cx);
	dev_close(dev);
}

static void test_damage(struct rig *r)
{
	static const struct {
		int err, ret;
		enum rule rule;
	} cases[] = {
		{ 0, 0, RULE_OK },
		{ -EIO, 0, RULE_DEV_UNREADABLE },
		{ -EUCLEAN, 0, RULE_SR_SUM },
		{ -EINVAL, 0, RULE_SR_SUM },
		{ -ENOENT, 0, RULE_SR_SUM },
		{ -ENOMEM, -ENOMEM, RULE_OK },
		{ -EINTR, -EINTR, RULE_OK },
	};
	struct place place = place_number(PLACE_BLOCK, 7);
	struct check c = { .data = false };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		findings_open(&c.findings, &r->cx, ignore, NULL, false);
		fail(&r->cx, -EIO, "text");
		is_int(check_damage(&c, &r->cx, cases[i].err, RULE_SR_SUM,
				    place), cases[i].ret,
		       strerror(-cases[i].err));
		is_int(findings_count_severity(c.findings, RULE_WARNING),
		       cases[i].rule ? 1 : 0, "a finding or none");
		ok(!cases[i].rule || findings_count(c.findings, cases[i].rule),
		   "of the right rule");
		findings_close(c.findings);
	}
	fail_clear(&r->cx);
}

int main(void)
{
	struct rig r;

	context_init(&r.cx);
	fill_trees(&r);
	r.bytes = calloc(1, SIZE);
	is_int(make_volume(&r), 0, "a volume");
	test_cuts(&r, false);
	test_cuts(&r, true);
	test_cancelled(&r);
	test_damage(&r);
	tree_remove(&r.low);
	tree_remove(&r.high);
	free(r.bytes);
	return tap_done();
}
