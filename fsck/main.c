// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main program of fsck.nilfs2: opens the device, and checks or restores it.
 */
#include "check/damage.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/output.h"
#include "dev/paced.h"
#include "find/findprint.h"
#include "fsck/apply/undo.h"
#include "fsck/plan/options.h"
#include "fsck/session.h"

#define EXIT_OPERATIONAL 8	/* exit status of fsck(8) */
#define EXIT_USAGE 16
#define EXIT_CANCELED 32

static int fsck_check_options(struct tool *tool, const struct options *o)
{
	const char *const inputs[] = { tool->argv[0], NULL };
	const struct output_how how = { .volume = true, .inputs = inputs };

	if (o->undo_file && (o->mode == OPTIONS_NO || o->undo))
		return tool_usage(tool, "--undo-file: nothing is repaired");
	if (o->output && (o->undo || o->undo_file || o->quick ||
			  (!o->rollback.wanted && o->mode != OPTIONS_COUNTERS &&
			   session_mode(tool, o) == DECISION_MODE_NO)))
		return tool_usage(tool, "--output: needs -y, -p or a terminal, "
				  "and no undo file");
	if (o->state && (o->rollback.wanted || o->undo || o->quick ||
			 o->mode == OPTIONS_COUNTERS))
		return tool_usage(tool, "--state: for checks and repairs only");
	if (o->ddrescue_map && o->undo)
		return tool_usage(tool, "--ddrescue-map: nothing is read");
	if (o->share && (o->mode != OPTIONS_NO || o->quick ||
			 !live_is_directory(tool->argv[0])))
		return tool_usage(tool, "--share: for -n with the directory of a "
				  "mounted volume, without --quick");
	return o->undo_file ? output_check(&tool->cx, o->undo_file, &how) : 0;
}

static int run_fsck(struct tool *tool, const void *options)
{
	static const struct paced_clock clock = { tool_clock, tool_wait };
	struct options asked = *(const struct options *)options;
	const struct options *o = &asked;
	struct dev *paced = NULL;
	struct target t;
	int err, ret;

	if (o->list_rules) {
		findprint_rules(&tool->report);
		return 0;
	}
	if (!tool->argc)
		return tool_usage(tool, "too few arguments: DEVICE expected");
	err = fsck_check_options(tool, o);
	if (err)
		return err;
	tool->progress.device = tool->argv[0];
	err = target_open(&t, tool, tool->argv[0], o);
	/* The checksums of logs show which data was not read. */
	asked.data |= t.unread;
	asked.mounted = t.synced;
	asked.live = t.live;
	/* The lock of the cleaner may not be taken. */
	asked.share |= t.live && !t.lock && !o->quick;
	if (!err && o->speed)
		err = paced_open(&paced, &tool->cx, t.dev, o->speed, &clock);
	if (!err && o->undo) {
		err = undo_restore(&tool->cx, o->undo, t.dev, o->force);
		if (!err)
			tool_note(tool, "%s: restored to the state before the repair",
				  tool->argv[0]);
	} else if (!err) {
		err = damage_failed(&tool->cx, session_run(tool, o,
							   paced ? paced : t.dev));
		if (err == SESSION_UNCORRECTED && t.live)
			tool_note(tool, "%s: to repair the volume, unmount it "
				  "and run fsck.nilfs2 -y %s%s", tool->argv[0],
				  o->data ? "--data " : "", t.live->device);
	}
	/* A copy that could not be checked is not committed. */
	ret = t.copy && err >= 0 ? output_commit(t.copy, &tool->cx) : 0;
	if (ret < 0)
		err = ret;
	else if (t.copy && err >= 0)
		tool_note(tool, "%s: unchanged; the %s copy is %s", tool->argv[0],
			  err == SESSION_UNCORRECTED ? "damaged" : "repaired",
			  o->output);
	dev_close(paced);
	target_close(&t);
	if (err >= 0)
		progress_until(&tool->progress, 100);
	return err;
}

static const struct cli_heading headings[] = {
	{ "Repair",
	  "no a p yes rebuild rebuild-counters rollback output state "
	  "undo-file give-up undo force" },
	{ "Check",
	  "f superblock quick data ddrescue-map share speed" },
	{ "Output and resources",
	  "all list-rules" },
	{ NULL, NULL },
};

static const struct cli_command command = {
	.summary = "check and repair a NILFS2 volume",
	.synopsis = "DEVICE|DIRECTORY",
	.options = options_rows,
	.headings = headings,
	.options_size = sizeof(struct options),
	.max_args = 1,
	.run = run_fsck,
};

static const struct cli_tool fsck = {
	.name = "fsck.nilfs2",
	.summary = "Check and repair a NILFS2 volume on a device or image file.",
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
