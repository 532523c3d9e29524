// SPDX-License-Identifier: GPL-2.0-or-later
/* The frame of a tool: a tool of two commands, run in a child. */
#include "cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct say_options {
	uint64_t times;
	bool fail_at_end;
};

static const struct say_options say_defaults = { .times = 1 };

static const struct cli_option say_rows[] = {
	{ 'n', "times", "N", "say it N times", OPTION_U64,
	  offsetof(struct say_options, times) },
	{ 'F', "fail", NULL, "fail after that", OPTION_FLAG,
	  offsetof(struct say_options, fail_at_end) },
	{ 0 },
};

static int say_run(struct tool *tool, const void *options)
{
	const struct say_options *o = options;
	uint64_t i;

	report_begin(&tool->report, "said", NULL);
	for (i = 0; i < o->times; i++)
		report_string(&tool->report, "word", "Word", tool->argv[0]);
	report_value(&tool->report, VALUE_TIME, "now", "Now",
		     value_u64((uint64_t)tool->cx.now));
	report_end(&tool->report);
	tool_note(tool, "a note");
	tool_detail(tool, "a detail");
	if (o->fail_at_end)
		return fail(&tool->cx, -EIO, "%s: read", tool->argv[0]);
	return 0;
}

static const struct cli_command say_command = {
	.name = "say",
	.summary = "say a word",
	.synopsis = "WORD",
	.options = say_rows,
	.options_size = sizeof(struct say_options),
	.defaults = &say_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = say_run,
};

/* Prints without end, until it is cancelled or output fails. */
static int flood(struct tool *tool)
{
	unsigned int i;

	for (i = 0; i < 1000000; i++) {
		report_text(&tool->report, "word");
		if (context_cancelled(&tool->cx))
			return -EINTR;
	}
	return 3;
}

static int stop_run(struct tool *tool, const void *options)
{
	(void)options;
	if (!strcmp(tool->argv[0], "flood"))
		return flood(tool);
	if (!strcmp(tool->argv[0], "signal"))
		raise(SIGTERM);
	if (!strcmp(tool->argv[0], "usage"))
		return tool_usage(tool, "no such word");
	if (!strcmp(tool->argv[0], "differ"))
		return 7;
	return context_cancelled(&tool->cx);
}

static const struct cli_command stop_command = {
	.name = "stop",
	.summary = "stop in some way",
	.synopsis = "WAY",
	.min_args = 1,
	.max_args = TOOL_ANY_ARGS,
	.run = stop_run,
};

static const struct cli_command *const commands[] = {
	&say_command,
	&stop_command,
	NULL,
};
static const struct cli_tool both = {
	.name = "both",
	.summary = "Two commands.",
	.commands = commands,
	.exit_failure = 8,
	.exit_usage = 16,
	.exit_cancelled = 32,
};

static const struct cli_tool reader = {
	.name = "reader",
	.summary = "The same, for reading.",
	.commands = commands,
	.exit_failure = 1,
	.exit_usage = 2,
	.only_reads = true,
};

static const struct cli_command only_command = {
	.summary = "Say a word.",
	.synopsis = "WORD",
	.options = say_rows,
	.options_size = sizeof(struct say_options),
	.defaults = &say_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = say_run,
};
static const struct cli_tool single = {
	.name = "single",
	.only = &only_command,
	.exit_failure = 1,
	.exit_usage = 2,
};

static char said[2][8192];	/* standard output and error of the child */

/* With OUT < 0, standard output is a pipe without a reader. */
static int output_or_pipe(int out)
{
	int ends[2];

	if (out >= 0)
		return out;
	if (pipe(ends))
		exit(99);
	close(ends[0]);
	return ends[1];
}

static void run_child(const struct cli_tool *cli, const char *line,
		      const int fds[2])
{
	static char copy[256];
	static char *argv[32];
	char *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s %s", cli->name, line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	dup2(output_or_pipe(strstr(line, "flood") ? -1 : fds[0]),
	     STDOUT_FILENO);
	dup2(fds[1], STDERR_FILENO);
	exit(tool_main(cli, argc, argv));
}

/* The exit status of the tool; what it said goes to said[]. */
static int status_of(const struct cli_tool *cli, const char *line)
{
	int fds[2], i, status;
	pid_t child;

	for (i = 0; i < 2; i++) {
		char path[] = "/tmp/t_cli_tool.XXXXXX";

		fds[i] = mkstemp(path);
		if (fds[i] < 0)
			exit(99);
		unlink(path);
	}
	fflush(stdout);
	child = fork();
	if (!child)
		run_child(cli, line, fds);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		exit(99);
	for (i = 0; i < 2; i++) {
		ssize_t n = pread(fds[i], said[i], sizeof(said[i]) - 1, 0);

		said[i][n > 0 ? n : 0] = '\0';
		close(fds[i]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_output(void)
{
	setenv("SOURCE_DATE_EPOCH", "1234567890", 1);
	setenv("TZ", "XST-05:30", 1);
	is_int(status_of(&both, "say word"), 0, "a command succeeds");
	is_str(said[0],
	       "Word:                     word\n"
	       "Now:                      2009-02-14 05:01:30 +0530\n",
	       "with SOURCE_DATE_EPOCH as its time, in the local zone");
	is_str(said[1], "both: a note\n", "notes go to standard error");
	is_int(status_of(&both, "say --utc --bytes word"), 0,
	       "times in UTC, sizes in bytes");
	is_str(said[0],
	       "Word:                     word\n"
	       "Now:                      2009-02-13 23:31:30 +0000\n",
	       "the time in UTC");
	is_int(status_of(&both, "--json say -q -n 0 word"), 0,
	       "options before and after the command");
	is_str(said[0],
	       "{\n  \"said\": {\n    \"now\": 1234567890,\n"
	       "    \"now_iso\": \"2009-02-13T23:31:30Z\"\n  }\n}\n",
	       "JSON is a whole document");
	is_str(said[1], "", "quiet has no notes");
	status_of(&single, "-v word --json-lines");
	is_str(said[1], "single: a note\nsingle: a detail\n",
	       "a tool without commands; verbose has details");
	is_int(strncmp(said[0], "{\"record\":\"said\",\"word\":\"word\",", 30),
	       0, "JSON lines");
}

/* The reason is the C library's. */
static void test_failures(void)
{
	char text[128], member[192];

	snprintf(text, sizeof(text), "disk.img: read: %s", strerror(EIO));
	snprintf(member, sizeof(member), "\n  \"error\": {\n    \"message\": "
		 "\"%s\",\n    \"status\": 8\n  }\n}\n", text);
	is_int(status_of(&both, "say -q --json --fail disk.img"), 8,
	       "a failure has the tool's status");
	ok(!strncmp(said[1], "both: ", 6) &&
	   !strncmp(said[1] + 6, text, strlen(text)) &&
	   !strcmp(said[1] + 6 + strlen(text), "\n"),
	   "tool: object: what happened: reason");
	ok(strstr(said[0], member), "half a document ends with the error");
	is_int(status_of(&both, "stop differ"), 7,
	       "a positive result is the status");
	is_int(status_of(&both, "stop signal"), 32, "stopped by a signal");
	is_str(said[1], "both: interrupted\n", "which is said, too");
	setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
	is_int(status_of(&both, "stop never"), 8, "a date that is none");
	is_str(said[1],
	       "both: SOURCE_DATE_EPOCH: 'yesterday' is not a number\n",
	       "is refused by name");
	unsetenv("SOURCE_DATE_EPOCH");
}

static void test_no_reader(void)
{
	is_int(status_of(&reader, "stop flood"), 1,
	       "a tool that reads stops where output is not read");
	is_str(said[1], "", "without a word");
	is_int(status_of(&both, "stop flood"), 8,
	       "one that writes goes on, and fails at its end");
	is_str(said[1], "", "without a word");
}

static void is_usage_error(const struct cli_tool *cli, const char *line,
			   int status, const char *text)
{
	is_int(status_of(cli, line), status, line);
	is_str(said[1], text, "and the way to the help");
}

static void test_usage(void)
{
	is_usage_error(&both, "", 16,
		       "both: no command given\nTry 'both --help'.\n");
	is_usage_error(&both, "sing", 16,
		       "both: unknown command 'sing'\nTry 'both --help'.\n");
	is_usage_error(&both, "sya", 16,
		       "both: unknown command 'sya': did you mean 'say'?\n"
		       "Try 'both --help'.\n");
	is_usage_error(&both, "help sotp", 16,
		       "both: unknown command 'sotp': did you mean 'stop'?\n"
		       "Try 'both --help'.\n");
	is_usage_error(&both, "say --tmies 5", 16,
		       "both: unrecognized option '--tmies': did you mean "
		       "'--times'?\nTry 'both say --help'.\n");
	is_usage_error(&both, "say --nope", 16,
		       "both: unrecognized option '--nope'\n"
		       "Try 'both say --help'.\n");
	is_usage_error(&both, "say", 16,
		       "both: too few arguments: WORD expected\n"
		       "Try 'both say --help'.\n");
	is_usage_error(&single, "a b", 2,
		       "single: unexpected argument 'b'\n"
		       "Try 'single --help'.\n");
	is_usage_error(&both, "stop usage", 16,
		       "both: no such word\nTry 'both stop --help'.\n");
	is_usage_error(&both, "-j 0 stop x", 16,
		       "both: --threads: '0' is not a number from 1 to "
		       "4294967295\nTry 'both --help'.\n");
}

static void test_help(void)
{
	is_int(status_of(&both, "help say"), 0, "help of a command");
	ok(!strncmp(said[0],
		    "Usage: both say [OPTIONS] WORD\n\nsay a word\n\nOptions:\n"
		    "  -n, --times N               say it N times\n", 95),
	   "usage, purpose, its own options first");
	ok(strstr(said[0], "  -V, --version               show the version\n"),
	   "those of every tool last");
	status_of(&both, "--help");
	ok(strstr(said[0], "\nCommands:\n  say                         "
			   "say a word\n  stop "),
	   "the commands of the tool");
	is_int(status_of(&single, "--version"), 0,
	       "--version needs no words");
}

int main(void)
{
	test_output();
	test_failures();
	test_no_reader();
	test_usage();
	test_help();
	return tap_done();
}
