/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frame of a tool: options, signals, the clock, output, exit status.
 *
 * A tool is a constant `struct cli_tool` and a main() that hands it to
 * tool_main().  It has either commands, each a constant `struct cli_command`
 * of its own file, or one nameless command that is the whole tool.
 *
 *	static int info_run(struct tool *tool, const void *options)
 *	{
 *		const struct info_options *o = options;
 *		const char *image = tool->argv[0];
 *		...
 *		return 0;
 *	}
 *
 *	const struct cli_command info_command = {
 *		.name = "info",
 *		.summary = "what the superblocks say",
 *		.synopsis = "IMAGE",
 *		.options = info_rows,
 *		.options_size = sizeof(struct info_options),
 *		.min_args = 1,
 *		.max_args = 1,
 *		.run = info_run,
 *	};
 */
#ifndef NILFS2_CLI_TOOL_H
#define NILFS2_CLI_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "out/report.h"

struct tool;
struct tool_shell;

#define TOOL_ANY_ARGS (-1)

/* A heading of --help, and its options. */
struct cli_heading {
	const char *title;
	/*
	 * Long names, or letters of options without one, separated by blanks, in the
	 * order of the help.  Options without a heading follow under the last one.
	 */
	const char *names;
};

struct cli_command {
	const char *name;	/* NULL for the only command of a tool */
	const char *summary;	/* one phrase */
	const char *synopsis;	/* words after the options; a shell reads it */
	const char *about;	/* paragraphs for --help, or NULL */
	const struct cli_option *options;	/* NULL: none of its own */
	/* Headings of --help; ends with an all-zero one. */
	const struct cli_heading *headings;
	size_t options_size;	/* bytes of the structure of options */
	const void *defaults;	/* copied into it first; NULL: zeros */
	int min_args, max_args;	/* words; TOOL_ANY_ARGS: no upper limit */
	/*
	 * Returns 0, a negative errno with the failure text, or a positive exit status
	 * for a result that is not a failure (as diff's "they differ").
	 */
	int (*run)(struct tool *tool, const void *options);
};

struct cli_tool {
	const char *name;	/* "dump.nilfs2" */
	const char *summary;	/* one sentence */
	const struct cli_command *const *commands;	/* NULL at the end */
	const struct cli_command *only;	/* for a tool without commands */
	int exit_failure;	/* 1 for most */
	int exit_usage;		/* 2 for most */
	int exit_cancelled;	/* 0: as exit_failure */
	bool only_reads;	/* stop when the output is closed */
	uint64_t max_memory;	/* default budget, 0: that of every context */
};

/* The options of every tool; tool_main() adds them to each parse. */
extern const struct cli_option tool_options[];

/* The state of a running command. */
struct tool {
	struct context cx;
	const struct cli_tool *cli;
	struct out *out;	/* standard output */
	struct report report;	/* on OUT, in the form the user asked for */
	struct progress progress;
	int argc;		/* words after the options */
	char **argv;		/* ends with NULL */
	bool quiet;
	unsigned int verbose;
	bool source_date;	/* cx.now comes from SOURCE_DATE_EPOCH */
	bool promised;		/* tool_promise() */
	char noted[FAILURE_TEXT_MAX];	/* the last failure that was no reason to end */
	const struct tool_shell *shell;	/* NULL: not a line of a shell */
	/* The other members belong to tool_main(). */
	bool json, json_lines, help, version, list_options, bad_usage;
	bool bytes;
	uint32_t progress_fd;	/* UINT32_MAX: not given */
};

/*
 * Runs the tool and returns its exit status.  It prints a failure once, as "tool:
 * object: event: reason", flushes the output, and prints nothing if the reader of
 * the output has exited.  In that case a tool that only reads is cancelled
 * (context_cancelled()), and any other tool continues.
 */
int tool_main(const struct cli_tool *cli, int argc, char **argv);

/* Changes that a shell, a command that runs others, makes to each of them. */
struct tool_shell {
	/* Changes the defaults in the structure of options. */
	void (*preset)(const struct tool_shell *shell,
		       const struct cli_command *command, void *options);
	/*
	 * Replaces the words after the options, TOOL->argv and TOOL->argc: 0 or a
	 * negative errno with the failure text.
	 */
	int (*arrange)(struct tool *tool, const struct cli_command *command);
	void *shared;		/* what the commands share, for them */
	void *state;		/* of the shell */
	bool terminal;		/* an interrupt never ends the process */
};

/*
 * Runs the command that ARGV names (ARGV[0] is skipped), as tool_main() would, for the
 * command of TOOL: with the common options of TOOL unless it has its own, and with
 * output of its own on the same descriptor.  Returns its exit status.
 */
int tool_line(const struct tool *tool, const struct tool_shell *shell, int argc,
	      char **argv);

/*
 * Continues after a signal, whose number was *TOOL->cx.cancel: that is 0 again, and the
 * next signal is caught.
 */
void tool_continue(const struct tool *tool, const struct tool_shell *shell);

/*
 * From now on a tool that only reads completes its work even if the output is
 * closed, and its exit status depends on that work only.
 */
void tool_promise(struct tool *tool);

/*
 * A line "tool: text" on standard error: tool_warn() always, tool_note()
 * unless -q was given, tool_detail() where -v was.
 */
void tool_warn(struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tool_note(struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void tool_detail(struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints the failure ERR, for a tool that continues: "tool: WHAT: text: reason",
 * without the reason if the text includes it.  WHAT may be NULL.  Clears the
 * failure.
 */
void tool_failed(struct tool *tool, const char *what, int err);

/* Milliseconds of a monotonic clock, to measure durations. */
uint64_t tool_clock(void);

/* Waits so many milliseconds, or until a signal. */
void tool_wait(uint64_t ms);

/* Reports wrong arguments: returns -EINVAL, which ends in a usage error. */
int tool_usage(struct tool *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for the failure ERR, whose text is set; returns ERR. */
int tool_usage_failed(struct tool *tool, int err);

#endif
