// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A check of a volume that cannot be read to its end: from the N-th read on
 * the device fails, for every N.  Whatever pass that hits, the volume must not
 * be called clean.  And a check that is cancelled says nothing of it at all.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "check/pass/passes.h"
#include "find/findprint.h"
#include "fsck/session.h"
#include "tests/testdev/fault.h"

#include "fsck_volume.h"
#include "tap.h"

/* Of a sound volume there are none: what is shown explains a failure. */
static void show(void *arg, const struct finding *f)
{
	char place[PLACE_TEXT_MAX];

	if (!arg)
		return;
	findprint_place(&f->place, place);
	printf("# %s: %s\n", rule_info(f->rule)->slug, place);
}

/* How a run of all passes ended. */
struct result {
	int ret;
	uint64_t errors, warnings;	/* errors: and worse */
	uint64_t reads;
	bool happened;			/* the fault */
};

static struct result run(struct log_volume *v, const struct fault_plan *fault,
			 bool data)
{
	struct check c = { .data = data };
	struct result result;
	struct context cx;

	context_child(&v->cx, &cx);
	fault_open(&c.dev, &cx, v->dev, fault);
	findings_open(&c.findings, &cx, show,
		      fault->kind == FAULT_NONE ? &c : NULL, false);
	result.ret = check_volume(&c, &cx, &(struct check_run){ 0 });
	if (result.ret > 0)
		result.ret = 0;
	result.errors = findings_count_severity(c.findings, RULE_ERROR);
	result.warnings = findings_count_severity(c.findings, RULE_WARNING) -
			  result.errors;
	result.reads = fault_counted(c.dev);
	result.happened = fault_happened(c.dev);
	check_fini(&c);
	findings_close(c.findings);
	dev_close(c.dev);
	return result;
}

static void test_cuts(struct log_volume *v, bool data)
{
	struct fault_plan fault = { .kind = FAULT_NONE,
				    .counted = FAULT_READS };
	struct result sound = run(v, &fault, data), cut;
	uint64_t missed = 0;

	is_int(sound.ret, 0, "a sound volume");
	is_int(sound.errors, 0, "has no errors");
	is_int(sound.warnings, 0, "and no warnings");
	ok(sound.reads > 2, "it takes %llu reads to know",
	   (unsigned long long)sound.reads);
	fault.kind = FAULT_CUT;
	for (fault.at = 1; fault.at <= sound.reads; fault.at++) {
		cut = run(v, &fault, data);
		if (!cut.happened || (!cut.ret && !cut.errors)) {
			printf("# read %llu\n", (unsigned long long)fault.at);
			missed++;
		}
	}
	is_int(missed, 0, "none of which can fail unseen");
}

static void test_cancelled(struct log_volume *v)
{
	static volatile sig_atomic_t stop = 1;
	char *argv[] = { (char[]){ "image" }, NULL };
	struct tool tool = { .argc = 1, .argv = argv, .quiet = true };
	struct options options = { .always = true };

	context_child(&v->cx, &tool.cx);
	tool.cx.cancel = &stop;
	out_open_memory(&tool.cx, &tool.out);
	report_init(&tool.report, tool.out, REPORT_TEXT);
	progress_init(&tool.progress, -1, true);
	is_int(session_run(&tool, &options, v->dev), -EINTR,
	       "a check that is cancelled ends");
	is_str(out_memory(tool.out, NULL), "", "and gives no verdict");
	out_close(tool.out, &tool.cx);
}

static void test_damage(struct log_volume *v)
{
	static const struct {
		int err, ret;
		enum rule rule;
	} cases[] = {
		{ 0, 0, RULE_OK },
		{ -EIO, 0, RULE_DEV_UNREADABLE },
		{ -EUCLEAN, 0, RULE_SR_SUM },
		{ -EINVAL, -EINVAL, RULE_OK },
		{ -ENOENT, 0, RULE_SR_SUM },
		{ -ENOMEM, -ENOMEM, RULE_OK },
		{ -EINTR, -EINTR, RULE_OK },
	};
	struct place place = place_number(PLACE_BLOCK, 7);
	struct check c = { .data = false };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		findings_open(&c.findings, &v->cx, show, NULL, false);
		fail(&v->cx, -EIO, "text");
		is_int(check_damage(c.findings, &v->cx, cases[i].err, RULE_SR_SUM,
				    place), cases[i].ret,
		       strerror(-cases[i].err));
		is_int(findings_count_severity(c.findings, RULE_WARNING),
		       cases[i].rule ? 1 : 0, "a finding or none");
		ok(!cases[i].rule || findings_count(c.findings, cases[i].rule),
		   "of the right rule");
		findings_close(c.findings);
	}
	fail_clear(&v->cx);
}

int main(void)
{
	struct log_volume v;

	is_int(fsck_volume_make(&v, NULL), 0, "a volume");
	test_cuts(&v, false);
	test_cuts(&v, true);
	test_cancelled(&v);
	test_damage(&v);
	log_volume_fini(&v);
	return tap_done();
}
