// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The frame of a tool.
 *
 * Only this file reads the clock for others, the environment and the command line,
 * and converts a failure to a message and an exit status.  A failure is printed
 * once, after all output has been flushed, so that the two do not mix on a terminal.
 *
 * If the reader of the output exits (`| head`), a tool that only reads is cancelled
 * without a message.  A tool that changes a volume completes its work.
 */
#include "config.h"

#include "cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/size.h"
#include "cli/help.h"

#define MESSAGE_MAX 1024

const struct cli_option tool_options[] = {
	{ 0, "json", NULL, "print JSON", OPTION_FLAG,
	  offsetof(struct tool, json), OPTION_GROUP_TOOL },
	{ 0, "json-lines", NULL, "print JSON, one object per line", OPTION_FLAG,
	  offsetof(struct tool, json_lines), OPTION_GROUP_TOOL },
	{ 0, "bytes", NULL, "print sizes in bytes", OPTION_FLAG,
	  offsetof(struct tool, bytes) },
	{ 0, "utc", NULL, "print and take times in UTC, not in local time", OPTION_FLAG,
	  offsetof(struct tool, cx.utc) },
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
	signal(SIGPIPE, SIG_IGN);
}

uint64_t tool_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void tool_wait(uint64_t ms)
{
	const struct timespec pause = {
		(time_t)(ms / 1000), (long)(ms % 1000) * 1000000,
	};

	nanosleep(&pause, NULL);
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
 * A signal handler gets only a number, so its flag is the only writable variable of
 * file scope in the whole tree.  A process has one set of signal handlers, for any
 * number of open volumes.
 */
static volatile sig_atomic_t interrupted;

static void raise_flag(int signal)
{
	__atomic_store_n(&interrupted, signal, __ATOMIC_RELAXED);
}

/*
 * The first signal that stops a tool raises the flag, the second one ends the process.
 * SIGPIPE is not reset, since the buffer is flushed once more.
 */
void tool_continue(const struct tool *tool, const struct tool_shell *shell)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = raise_flag };
	size_t i;

	__atomic_store_n(&interrupted, 0, __ATOMIC_RELAXED);
	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		action.sa_flags = shell && shell->terminal &&
				  stops[i] == SIGINT ? 0 : (int)SA_RESETHAND;
		sigaction(stops[i], &action, NULL);
	}
	action.sa_flags = 0;
	if (!tool->cli->only_reads)
		action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

static int start_tool(struct tool *tool)
{
	const char *dir = getenv("TMPDIR");
	struct context *cx = &tool->cx;
	cpu_set_t set;
	long n;
	int fd;

	/*
	 * An image must never be opened as descriptor 0, 1 or 2, where messages
	 * would be written into it.  The descriptors are opened read-only: a write
	 * to a standard output that was closed fails and is not lost silently.
	 */
	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
	context_init(cx);
	if (tool->cli->max_memory)
		cx->max_memory = tool->cli->max_memory;
	/* The processors that this process may run on. */
	n = sched_getaffinity(0, sizeof(set), &set) ?
	    sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
	if (n > 0)
		cx->threads = (unsigned int)n;
	/* /tmp is often in memory. */
	cx->scratch_dir = dir && *dir ? dir : "/var/tmp";
	tool_continue(tool, NULL);
	/* A write beyond the file size limit fails with -EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	cx->cancel = &interrupted;
	tool->progress_fd = UINT32_MAX;
	return out_open(cx, STDOUT_FILENO, "standard output", &tool->out);
}

/* The offset of local time from UTC; 0 for a year that the C library has not. */
static long local_offset(int64_t seconds)
{
	const time_t at = (time_t)seconds;
	struct tm tm;

	return at == seconds && localtime_r(&at, &tm) ? tm.tm_gmtoff : 0;
}

/* Finds the command NAME; the failure text suggests the nearest one. */
static int find_command(struct tool *tool, const char *name,
			const struct cli_command **command)
{
	const struct cli_command *const *c;
	const char *nearest = NULL;
	unsigned int least = OPTION_FAR, far;

	for (c = tool->cli->commands; *c; c++) {
		far = option_distance(name, (*c)->name);
		if (!far) {
			*command = *c;
			return 0;
		}
		if (far < least) {
			least = far;
			nearest = (*c)->name;
		}
	}
	if (nearest)
		return tool_usage(tool, "unknown command '%s': did you mean "
				  "'%s'?", name, nearest);
	if (!tool->shell && !access(name, F_OK))
		return tool_usage(tool, "the command is missing before '%s', as in "
				  "'%s %s %s'", name, tool->cli->name,
				  tool->cli->commands[0]->name, name);
	return tool_usage(tool, "unknown command '%s'", name);
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

/* Handles the options that print a text instead of running COMMAND. */
static bool print_help(struct tool *tool, const struct cli_command *command)
{
	if (tool->help)
		help_command(tool->out, tool->cli, command);
	else if (tool->version)
		out_printf(tool->out, "%s (%s) %s\n", tool->cli->name,
			   PACKAGE_NAME, PACKAGE_VERSION);
	else if (tool->list_options)
		help_rows(tool->out, tool->cli, command);
	else
		return false;
	return true;
}

/* Parses the options of COMMAND and runs it; ARGV[0] is the name of it or the tool. */
static int run_command(struct tool *tool, const struct cli_command *command,
		       int argc, char **argv)
{
	size_t size = command->options_size ? command->options_size : 1;
	void *options = calloc(1, size);
	const struct option_set set = { command->options, options };
	const char *date = getenv("SOURCE_DATE_EPOCH");
	uint64_t now = (uint64_t)time(NULL);
	int fd, flags, result;

	if (!options)
		return fail(&tool->cx, -ENOMEM, "options");
	if (command->defaults)
		memcpy(options, command->defaults, command->options_size);
	if (tool->shell)
		tool->shell->preset(tool->shell, command, options);
	result = parse(tool, command, options, argc, argv);
	if (result || print_help(tool, command))
		goto out;
	if (tool->shell)
		result = tool->shell->arrange(tool, command);
	if (result)
		goto out;
	if (tool->argc < command->min_args) {
		result = tool_usage(tool, "too few arguments: %s expected",
				    command->synopsis);
		goto out;
	}
	if (command->max_args != TOOL_ANY_ARGS &&
	    tool->argc > command->max_args) {
		result = tool_usage(tool, "unexpected argument '%s'",
				    tool->argv[command->max_args]);
		goto out;
	}
	/* A file opened later could get that number, and lines of progress in it. */
	fd = tool->progress_fd > INT32_MAX ? -1 : (int)tool->progress_fd;
	flags = fd < 0 ? O_WRONLY : fcntl(fd, F_GETFL);
	if (flags < 0 || (fd && (flags & O_ACCMODE) == O_RDONLY)) {
		result = tool_usage(tool, "--progress-fd: %d is not open for "
				    "writing", fd);
		goto out;
	}
	/* The user may set the time, for reproducible images. */
	if (date)
		result = option_number(&tool->cx, "SOURCE_DATE_EPOCH", date,
				       INT64_MAX, &now);
	if (result)
		goto out;
	tool->cx.now = (int64_t)now;
	tool->source_date = date != NULL;
	tool->out->exact = tool->bytes;
	tool->out->zone = tool->cx.utc ? NULL : local_offset;
	report_init(&tool->report, tool->out,
		    tool->json_lines ? REPORT_JSON_LINES :
		    tool->json ? REPORT_JSON : REPORT_TEXT);
	progress_init(&tool->progress, fd, tool->quiet);
	result = command->run(tool, options);
	progress_end(&tool->progress);
	if (result >= 0)
		report_fini(&tool->report);
out:
	option_free(&set, 1);
	free(options);
	return result;
}

/* Runs the command named in ARGV, or `help`, or `help COMMAND`. */
static int run_named(struct tool *tool, int argc, char **argv,
		     const struct cli_command **command)
{
	const struct cli_command *explained = NULL;
	int err = parse(tool, NULL, NULL, argc, argv);

	if (err || print_help(tool, NULL))
		return err;
	if (!tool->argc)
		return tool_usage(tool, "no command given");
	if (strcmp(tool->argv[0], "help")) {
		err = find_command(tool, tool->argv[0], command);
		return err ? err : run_command(tool, *command, tool->argc,
					       tool->argv);
	}
	if (tool->argc > 1)
		err = find_command(tool, tool->argv[1], &explained);
	if (!err)
		help_command(tool->out, tool->cli, explained);
	return err;
}

/* Describes the failure ERR: the text of the lowest function, and the reason. */
static void describe_failure(const struct tool *tool, int err,
			     char text[MESSAGE_MAX])
{
	const char *failure = tool->cx.failure;
	/* For these errors the text of the failure is sufficient. */
	bool explained = err == -EINVAL || err == -EUCLEAN || err == -EINTR ||
			 err == -EBUSY || err == -ESTALE ||
			 err == tool->cx.said;
	bool reason = !*failure || !explained;
	char limit[SIZE_TEXT_MAX];
	size_t length;

	snprintf(text, MESSAGE_MAX, "%s%s%s", failure,
		 *failure && reason ? ": " : "",
		 reason ? strerror(-err) : "");
	if (!reason || err != -ENOMEM)
		return;
	/* Usually this limit is reached, not that of the machine. */
	length = strlen(text);
	snprintf(text + length, MESSAGE_MAX - length, "; --max-memory is %s",
		 size_format(tool->cx.max_memory, limit));
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

/* Runs the started TOOL unless RESULT is an error, and returns its exit status. */
static int run_tool(struct tool *tool, int result, int argc, char **argv)
{
	const struct cli_tool *cli = tool->cli;
	const struct cli_command *command = cli->only;
	char text[MESSAGE_MAX];
	struct context closing;
	int err;

	if (!result && command)
		result = run_command(tool, command, argc, argv);
	else if (!result)
		result = run_named(tool, argc, argv, &command);
	/* If the command has begun a document, the failure is a part of it. */
	if (result < 0 && tool->report.out) {
		describe_failure(tool, result, text);
		report_fail(&tool->report, text, exit_status(tool, result));
	}
	/*
	 * The command's failure takes precedence over that of the last write, unless
	 * the command was cancelled because of the latter.
	 */
	context_child(&tool->cx, &closing);
	err = out_close(tool->out, &closing);
	if (err == -EPIPE && tool->promised)
		err = 0;
	if (err && (result >= 0 || (result == -EINTR && err == -EPIPE))) {
		context_adopt(&tool->cx, &closing);
		result = err;
	}
	/* A signal that ends the shell as well is a message of the shell. */
	if (result < 0 && result != -EPIPE &&
	    !(result == -EINTR && tool->shell && !tool->shell->terminal)) {
		tool_failed(tool, NULL, result);
		if (tool->bad_usage)
			fprintf(stderr, "Try '%s%s%s%s'.\n",
				tool->shell ? "help" : cli->name,
				command && command->name ? " " : "",
				command && command->name ? command->name : "",
				tool->shell ? "" : " --help");
	}
	return exit_status(tool, result);
}

int tool_main(const struct cli_tool *cli, int argc, char **argv)
{
	struct tool tool = { .cli = cli };

	return run_tool(&tool, start_tool(&tool), argc, argv);
}

int tool_line(const struct tool *tool, const struct tool_shell *shell, int argc,
	      char **argv)
{
	struct tool line = {
		.cli = tool->cli,
		.quiet = tool->quiet,
		.verbose = tool->verbose,
		.shell = shell,
		.json = tool->json,
		.json_lines = tool->json_lines,
		.bytes = tool->bytes,
		.progress_fd = tool->progress_fd,
	};

	context_child(&tool->cx, &line.cx);
	return run_tool(&line, out_open(&line.cx, STDOUT_FILENO, "standard output",
					&line.out), argc, argv);
}
