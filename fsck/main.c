// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck.nilfs2: runs the passes over a volume and tells what they find.
 */
#include "cli/tool.h"
#include "dev/devfile.h"
#include "find/tell.h"
#include "fsck/check.h"
#include "fsck/options.h"
#include "fsck/passes.h"
#include "fsck/summary.h"

#define EXIT_UNCORRECTED 4	/* of fsck(8) */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16
#define EXIT_CANCELED 32

static void tell(void *arg, const struct finding *f)
{
	struct tool *tool = arg;

	tell_finding(&tool->report, f);
}

static void show_progress(void *arg, uint64_t done)
{
	struct tool *tool = arg;

	progress_update(&tool->progress, done);
}

static void note(void *arg, const char *text)
{
	struct tool *tool = arg;

	tool_note(tool, "%s: %s", tool->argv[0], text);
}

static int run_pass(struct tool *tool, struct check *c,
		    const struct pass *pass)
{
	uint64_t total = pass->estimate ? pass->estimate(c) : 0;
	int err;

	progress_begin(&tool->progress, pass->doing, total, false);
	err = pass->run(c, &tool->cx);
	progress_end(&tool->progress);
	return err;
}

static int run_passes(struct tool *tool, struct check *c)
{
	const struct pass *pass;
	int err = pass_super(c, &tool->cx);
	size_t i;

	if (err || !c->vol)
		return err;
	for (i = 0; (pass = passes_at(i)) && !err; i++)
		err = run_pass(tool, c, pass);
	return err;
}

static int check(struct tool *tool, const struct options *o, struct dev *dev)
{
	struct report *r = &tool->report;
	struct check c = {
		.dev = dev,
		.data = o->data,
		.progress = show_progress,
		.progress_arg = tool,
		.note = note,
		.note_arg = tool,
	};
	int err = findings_open(&c.findings, &tool->cx, tell, tool,
				o->everything);

	if (err)
		return err;
	report_list(r, "findings");
	err = run_passes(tool, &c);
	report_end(r);
	tell_counts(r, c.findings, o->everything);
	summary_report(r, tool->argv[0], c.findings);
	if (!err && findings_count_severity(c.findings, RULE_ERROR))
		err = EXIT_UNCORRECTED;
	findings_close(c.findings);
	check_fini(&c);
	return err;
}

static int run(struct tool *tool, const void *options)
{
	const struct options *o = options;
	struct dev *dev = NULL;
	int err;

	if (o->list_rules) {
		tell_rules(&tool->report);
		return 0;
	}
	if (!tool->argc)
		return tool_usage(tool, "too few arguments: DEVICE expected");
	if (o->mode == OPTIONS_YES)
		return tool_usage(tool, "-y: this version finds what is wrong "
				  "and repairs nothing; -n checks");
	err = devfile_open(&dev, &tool->cx, tool->argv[0], DEVFILE_READ);
	if (!err)
		err = check(tool, o, dev);
	dev_close(dev);
	return err;
}

static const struct cli_command command = {
	.summary = "check an NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct options),
	.max_args = 1,
	.run = run,
};

static const struct cli_tool fsck = {
	.name = "fsck.nilfs2",
	.summary = "Check an NILFS2 volume on a device or image file.",
	.only = &command,
	.exit_failure = EXIT_OPERATIONAL,
	.exit_usage = EXIT_USAGE,
	.exit_cancelled = EXIT_CANCELED,
	.only_reads = true,
};

int main(int argc, char **argv)
{
	return tool_main(&fsck, argc, argv);
}
