// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The frame of a tool.
 *
 * This is the only place that reads the clock for others, the environment
 * and the command line, and the only one that turns a failure into words and
 * an exit status.  A failure is printed once, after all output has been
 * flushed, so that the two do not mix on a terminal.
 *
 * A reader of our output that goes away (`| head`) is no mistake of anybody:
 * a tool that only reads is cancelled, and says nothing.  One that was asked to
 * change something has promised it, and does it.
 */
#include "config.h"

#include "cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "cli/interrupt.h"
#include "cli/manual.h"

#define MESSAGE_MAX 1024

const struct cli_option tool_options[] = {
	{ 0, "json", NULL, "print JSON", OPTION_FLAG,
	  offsetof(struct tool, json), OPTION_GROUP_TOOL },
	{ 0, "json-lines", NULL, "print JSON, one object per line", OPTION_FLAG,
	  offsetof(struct tool, json_lines), OPTION_GROUP_TOOL },
	{ 'q', "quiet", NULL, "no notes, no progress", OPTION_FLAG,
	  offsetof(struct tool, quiet) },
	{ 'v', "verbose", NULL, "print more; may be repeated", OPTION_COUNT,
	  offsetof(struct tool, verbose) },
	{ 0, "max-memory", "SIZE", "memory of each cache or table", OPTION_SIZE,
	  offsetof(struct tool, cx.max_memory) },
	{ 'j', "threads", "N", "workers to use", OPTION_U32,
	  offsetof(struct tool, cx.threads), .least = 1 },
	{ 'C', "progress-fd", "FD", "write progress to this descriptor",
	  OPTION_U32, offsetof(struct tool, progress_fd) },
	{ 'h', "help", NULL, "show this help", OPTION_FLAG,
	  offsetof(struct tool, help) },
	{ 'V', "version", NULL, "show the version", OPTION_FLAG,
	  offsetof(struct tool, version) },
	{ 0, "list-options", NULL, NULL, OPTION_FLAG,
	  offsetof(struct tool, list_options) },
	{ 0 },
};

__attribute__((format(printf, 2, 0))) static void
say(const struct tool *tool, const char *fmt, va_list ap)
{
	char text[MESSAGE_MAX];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "%s: %s\n", tool->cli->name, text);
}

void tool_warn(struct tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(tool, fmt, ap);
	va_end(ap);
}

void tool_note(struct tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!tool->quiet)
		say(tool, fmt, ap);
	va_end(ap);
}

void tool_detail(struct tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (tool->verbose)
		say(tool, fmt, ap);
	va_end(ap);
}

void tool_promise(struct tool *tool)
{
	tool->promised = true;
	interrupt_ignore_pipe();
}

uint64_t tool_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int tool_usage(struct tool *tool, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(tool->cx.failure, sizeof(tool->cx.failure), fmt, ap);
	va_end(ap);
	tool->bad_usage = true;
	return -EINVAL;
}

int tool_usage_failed(struct tool *tool, int err)
{
	tool->bad_usage = true;
	return err;
}

/*
 * An image must never be opened as descriptor 0, 1 or 2, where messages
 * would be written into it.  The mode is the useless one: a write to a
 * standard output that was closed is an error, not lost silently.
 */
static void hold_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* The time is what the user says it is, for images that can be reproduced. */
static int read_clock(struct tool *tool)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	uint64_t v;
	int err;

	if (!text) {
		tool->cx.now = (int64_t)time(NULL);
		return 0;
	}
	err = option_number(&tool->cx, "SOURCE_DATE_EPOCH", text, INT64_MAX,
			    &v);
	if (err)
		return err;
	tool->cx.now = (int64_t)v;
	tool->source_date = true;
	return 0;
}

/* Those that this process may run on, 0: not known. */
static unsigned int processors(void)
{
	cpu_set_t set;
	long n;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return (unsigned int)CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned int)n : 0;
}

/*
 * Not where the system puts what is small and short-lived, which is memory
 * often enough.
 */
static const char *scratch_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

static int start_tool(struct tool *tool)
{
	unsigned int threads = processors();

	hold_standard_descriptors();
	context_init(&tool->cx);
	if (tool->cli->max_memory)
		tool->cx.max_memory = tool->cli->max_memory;
	if (threads)
		tool->cx.threads = threads;
	tool->cx.scratch_dir = scratch_dir();
	tool->cx.cancel = interrupt_catch(tool->cli->only_reads);
	tool->progress_fd = UINT32_MAX;
	return out_open(&tool->cx, STDOUT_FILENO, "standard output",
			&tool->out);
}

static const struct cli_command *find_command(const struct cli_tool *cli,
					      const char *name)
{
	const struct cli_command *const *c;

	for (c = cli->commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

/* Parses by the common options and those of COMMAND (NULL: none) at BASE. */
static int parse(struct tool *tool, const struct cli_command *command,
		 void *base, int argc, char **argv)
{
	const struct option_set sets[] = {
		{ command ? command->options : NULL, base },
		{ tool_options, tool },
	};
	int first = option_parse(&tool->cx, sets, 2, argc, argv, !command);

	if (first < 0) {
		tool->bad_usage = true;
		return first;
	}
	tool->argc = argc - first;
	tool->argv = argv + first;
	return 0;
}

static enum report_mode mode_of(const struct tool *tool)
{
	if (tool->json_lines)
		return REPORT_JSON_LINES;
	return tool->json ? REPORT_JSON : REPORT_TEXT;
}

static int check_words(struct tool *tool, const struct cli_command *command)
{
	if (tool->argc < command->min_args)
		return tool_usage(tool, "too few arguments: %s expected",
				  command->synopsis);
	if (command->max_args != TOOL_ANY_ARGS &&
	    tool->argc > command->max_args)
		return tool_usage(tool, "unexpected argument '%s'",
				  tool->argv[command->max_args]);
	return 0;
}

/* What is opened next would get that number, and lines of progress in it. */
static int check_progress_fd(struct tool *tool, int fd)
{
	int flags = fd < 0 ? O_WRONLY : fcntl(fd, F_GETFL);

	if (flags < 0 || (fd && (flags & O_ACCMODE) == O_RDONLY))
		return tool_usage(tool, "--progress-fd: %d is not open for "
				  "writing", fd);
	return 0;
}

static int run_prepared(struct tool *tool, const struct cli_command *command,
			const void *options)
{
	int fd = tool->progress_fd > INT32_MAX ? -1 : (int)tool->progress_fd;
	int result = check_words(tool, command);

	if (!result)
		result = check_progress_fd(tool, fd);
	if (!result)
		result = read_clock(tool);
	if (result)
		return result;
	report_init(&tool->report, tool->out, mode_of(tool));
	progress_init(&tool->progress, fd, tool->quiet);
	result = command->run(tool, options);
	progress_end(&tool->progress);
	if (result >= 0)
		report_fini(&tool->report);
	return result;
}

/* What the options of every tool print instead of running COMMAND. */
static bool print_manual(struct tool *tool, const struct cli_command *command)
{
	if (tool->help && command)
		manual_command(tool->out, tool->cli, command);
	else if (tool->help)
		manual_tool(tool->out, tool->cli);
	else if (tool->version)
		manual_version(tool->out, tool->cli);
	else if (tool->list_options)
		manual_rows(tool->out, tool->cli, command);
	else
		return false;
	return true;
}

/* ARGV[0] is the name of the tool or of the command. */
static int run_command(struct tool *tool, const struct cli_command *command,
		       int argc, char **argv)
{
	size_t size = command->options_size ? command->options_size : 1;
	void *options = calloc(1, size);
	const struct option_set set = { command->options, options };
	int result;

	if (!options)
		return fail(&tool->cx, -ENOMEM, "options");
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	result = parse(tool, command, options, argc, argv);
	if (!result && !print_manual(tool, command))
		result = run_prepared(tool, command, options);
	option_free(&set, 1);
	free(options);
	return result;
}

/* `help` alone, or `help COMMAND`. */
static int run_help(struct tool *tool)
{
	const struct cli_command *command;

	if (tool->argc < 2) {
		manual_tool(tool->out, tool->cli);
		return 0;
	}
	command = find_command(tool->cli, tool->argv[1]);
	if (!command)
		return tool_usage(tool, "unknown command '%s'",
				  tool->argv[1]);
	manual_command(tool->out, tool->cli, command);
	return 0;
}

static int run_tool(struct tool *tool, int argc, char **argv,
		    const struct cli_command **command)
{
	int err = parse(tool, NULL, NULL, argc, argv);

	if (err)
		return err;
	if (print_manual(tool, NULL))
		return 0;
	if (!tool->argc)
		return tool_usage(tool, "no command given");
	if (!strcmp(tool->argv[0], "help"))
		return run_help(tool);
	*command = find_command(tool->cli, tool->argv[0]);
	if (!*command)
		return tool_usage(tool, "unknown command '%s'",
				  tool->argv[0]);
	return run_command(tool, *command, tool->argc, tool->argv);
}

/* Errors that the system does not explain better than the text has. */
static bool is_explained(int err)
{
	switch (err) {
	case -EINVAL:
	case -EUCLEAN:
	case -EINTR:
	case -EBUSY:
	case -ESTALE:
		return true;
	default:
		return false;
	}
}

/* Usually it is this limit that is reached, not that of the machine. */
static void append_limit(const struct tool *tool, char text[MESSAGE_MAX])
{
	size_t length = strlen(text);
	char limit[SIZE_TEXT_MAX];

	snprintf(text + length, MESSAGE_MAX - length, "; --max-memory is %s",
		 size_format(tool->cx.max_memory, limit));
}

/* The failure ERR in words: the text of the lowest function, and the reason. */
static void describe_failure(const struct tool *tool, int err,
			     char text[MESSAGE_MAX])
{
	const char *failure = tool->cx.failure;
	bool reason = !*failure ||
		      !(is_explained(err) || err == tool->cx.said);

	snprintf(text, MESSAGE_MAX, "%s%s%s", failure,
		 *failure && reason ? ": " : "",
		 reason ? strerror(-err) : "");
	if (reason && err == -ENOMEM)
		append_limit(tool, text);
}

void tool_failed(struct tool *tool, const char *what, int err)
{
	char text[MESSAGE_MAX];

	describe_failure(tool, err, text);
	fprintf(stderr, "%s: %s%s%s\n", tool->cli->name, what ? what : "",
		what ? ": " : "", text);
	fail_clear(&tool->cx);
}

static int exit_status(const struct tool *tool, int result)
{
	const struct cli_tool *cli = tool->cli;

	if (result >= 0)
		return result;
	if (result == -EINTR && cli->exit_cancelled)
		return cli->exit_cancelled;
	return tool->bad_usage && result != -EPIPE ? cli->exit_usage :
						     cli->exit_failure;
}

static void say_failure(struct tool *tool, const struct cli_command *command,
			int err)
{
	const struct cli_tool *cli = tool->cli;

	if (err == -EPIPE)
		return;
	tool_failed(tool, NULL, err);
	if (tool->bad_usage)
		fprintf(stderr, "Try '%s%s%s --help'.\n", cli->name,
			command && command->name ? " " : "",
			command && command->name ? command->name : "");
}

/* The failure as a part of the document, once a command has begun one. */
static void report_failure(struct tool *tool, int err)
{
	char text[MESSAGE_MAX];

	if (!tool->report.out)
		return;
	describe_failure(tool, err, text);
	report_fail(&tool->report, text, exit_status(tool, err));
}

int tool_main(const struct cli_tool *cli, int argc, char **argv)
{
	const struct cli_command *command = cli->only;
	struct tool tool = { .cli = cli };
	struct context closing;
	int result, err;

	result = start_tool(&tool);
	if (!result && command)
		result = run_command(&tool, command, argc, argv);
	else if (!result)
		result = run_tool(&tool, argc, argv, &command);
	if (result < 0)
		report_failure(&tool, result);
	/*
	 * The command's failure counts more than that of the last write,
	 * but for being cancelled because of it.
	 */
	context_child(&tool.cx, &closing);
	err = out_close(tool.out, &closing);
	if (err == -EPIPE && tool.promised)
		err = 0;
	if (err && (result >= 0 || (result == -EINTR && err == -EPIPE))) {
		context_adopt(&tool.cx, &closing);
		result = err;
	}
	if (result < 0)
		say_failure(&tool, command, result);
	return exit_status(&tool, result);
}
