// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shell: commands of dump.nilfs2, one after another, on an image that stays open.
 *
 * A line is run as a command line by the frame of the tool, with four differences.
 * IMAGE is put in front of its words.  image_open() gets the open image.  A word in the
 * place of a PATH, as the synopsis of the command has it, is completed by the current
 * directory.  The default of --checkpoint is the current checkpoint.  So each command
 * prints what it prints without a shell.
 *
 * With --expert the image is opened as `set` does, for as long as the shell lasts, and an
 * overlay is put above it, which `set` writes to and the other commands read.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/lineread.h"
#include "cli/moment.h"
#include "cli/pager.h"
#include "dev/overlay.h"
#include "dump/common/image.h"
#include "dump/common/position.h"
#include "dump/set.h"
#include "dump/shell/complete.h"
#include "dump/shell/words.h"
#include "vol/dir.h"

struct shell_options {
	const char *file;
	uint64_t checkpoint;
	bool expert, pager;
};

static const struct cli_option shell_rows[] = {
	{ 'f', "file", "FILE", "read the commands from FILE", OPTION_STRING,
	  offsetof(struct shell_options, file) },
	{ 'c', "checkpoint", "CNO",
	  "begin at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct shell_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0, "pager", NULL, "show the output of each command by $PAGER",
	  OPTION_FLAG, offsetof(struct shell_options, pager) },
	{ 0, "expert", NULL, "allow set; commit writes the changes",
	  OPTION_FLAG, offsetof(struct shell_options, expert) },
	{ 0 },
};

struct shell {
	struct tool *tool;
	const struct shell_options *o;
	const char *image;
	struct dump_image im;	/* with --expert, its DEV is the overlay */
	struct tool_shell how;
	struct lineread *lines;
	bool terminal;
	char *cwd;		/* absolute */
	uint64_t cno;		/* 0: the latest */
	bool warned;		/* of changes, by the line before */
	bool ended;
	char **words;		/* of the line, with IMAGE; paths are from CWD */
	int kept;		/* number of the first of WORDS that is freed */
};

/* A command that only a shell has; returns 0 or a negative errno. */
struct builtin {
	const char *name, *synopsis, *summary;
	int (*run)(struct shell *s, const char *argument);
};

static bool is_changed(const struct shell *s)
{
	return s->o->expert && overlay_is_changed(s->im.dev);
}

/* Opens checkpoint MOMENT of the volume, which may have to be opened first. */
static int open_root(struct shell *s, struct context *cx, uint64_t moment,
		     struct root *root)
{
	int err = s->im.vol ? 0 :
		  volume_open(&s->im.vol, cx, s->im.dev, NULL);

	return err ? err : image_root(root, cx, s->im.vol, moment);
}

static int change_directory(struct shell *s, const char *argument)
{
	struct context *cx = &s->tool->cx;
	char *path = words_path(s->cwd, argument ? argument : "/");
	struct root root;
	struct file file;
	uint64_t ino;
	int err;

	if (!path)
		return fail(cx, -ENOMEM, "directory");
	err = open_root(s, cx, s->cno, &root);
	if (!err)
		err = dir_resolve(&root, cx, path, &ino);
	if (!err)
		err = root_file(&root, cx, ino, &file);
	if (!err && !S_ISDIR(le16_get(file.inode.i_mode)))
		err = fail(cx, -ENOTDIR, "%s", path);
	if (err) {
		free(path);
		return err;
	}
	free(s->cwd);
	s->cwd = path;
	return 0;
}

static int print_directory(struct shell *s, const char *argument)
{
	char text[4096];

	(void)argument;
	text_escape(text, sizeof(text), s->cwd, strlen(s->cwd));
	out_printf(s->tool->out, "%s\n", text);
	return 0;
}

static int check_out(struct shell *s, const char *argument)
{
	struct context *cx = &s->tool->cx;
	uint64_t moment = 0;
	struct root root;
	int err = argument ? moment_parse(cx, argument, &moment) : 0;

	if (err)
		return tool_usage_failed(s->tool, err);
	err = open_root(s, cx, moment, &root);
	if (!err)
		s->cno = moment ? root.cno : 0;
	return err;
}

static int commit(struct shell *s, const char *argument)
{
	(void)argument;
	return is_changed(s) ? set_write_all(s->tool, s->im.dev) : 0;
}

static int discard(struct shell *s, const char *argument)
{
	(void)argument;
	if (s->o->expert)
		overlay_drop(s->im.dev);
	image_close_volume(&s->im);
	return 0;
}

static int quit(struct shell *s, const char *argument)
{
	(void)argument;
	s->ended = !s->terminal || !is_changed(s) || s->warned;
	if (!s->ended)
		tool_warn(s->tool, "there are changes: commit or discard them, or "
			  "quit again without them");
	s->warned = true;
	return 0;
}

static int print_help(struct shell *s, const char *argument);

static const struct builtin builtins[] = {
	{ "cd", "[PATH]", "change the current directory (/)", change_directory },
	{ "pwd", "", "print the current directory", print_directory },
	{ "checkout", "[CNO]", "change the checkpoint or time (0: the latest)",
	  check_out },
	{ "commit", "", "write the changes of set to the image", commit },
	{ "discard", "", "forget the changes of set", discard },
	{ "help", "[COMMAND]", "print the commands, or the options of one",
	  print_help },
	{ "quit", "", "end the shell", quit },
	{ NULL },
};

static const struct builtin *find_builtin(const char *name)
{
	const struct builtin *b;

	for (b = builtins; b->name && strcmp(b->name, name); b++)
		;
	return b->name ? b : NULL;
}

/* Whether COMMAND of the tool is one of the shell. */
static bool is_allowed(const struct shell *s, const struct cli_command *command)
{
	return command == &set_command ? s->o->expert :
	       command != &shell_command && command != &mount_command;
}

static int print_help(struct shell *s, const char *argument)
{
	const struct cli_command *const *c;
	const struct builtin *b;

	for (b = builtins; b->name; b++)
		if (!argument || !strcmp(argument, b->name))
			out_printf(s->tool->out, "  %-11s %-9s  %s\n", b->name,
				   b->synopsis, b->summary);
	if (argument)
		return 0;
	out_string(s->tool->out, "Those of dump.nilfs2, without IMAGE:\n"
		   "  stat                   the same as inode\n");
	for (c = s->tool->cli->commands; *c; c++)
		if (is_allowed(s, *c))
			out_printf(s->tool->out, "  %-21s  %s\n", (*c)->name,
				   (*c)->summary);
	return 0;
}

static void preset(const struct tool_shell *how, const struct cli_command *command,
		   void *options)
{
	const struct shell *s = how->state;
	const struct cli_option *row = command->options;

	for (; row && (row->letter || row->name); row++) {
		char *at = (char *)options + row->at;

		if (row->call == moment_parse && row->letter == 'c')
			memcpy(at, &s->cno, sizeof(s->cno));
		if (row->name && !strcmp(row->name, "expert"))
			memcpy(at, &s->o->expert, sizeof(s->o->expert));
	}
}

/*
 * Finds the word of SYNOPSIS that is a path: returns its number, and whether it may be
 * missing, several, or an inode number.  INT32_MAX if there is none.
 */
static int find_path(const char *synopsis, bool *optional, bool *several, bool *number)
{
	int place;
	size_t len;

	*optional = *several = *number = false;
	for (place = 0; *synopsis; place++) {
		char word[64] = "";

		len = strcspn(synopsis, " ");
		memcpy(word, synopsis, len < sizeof(word) ? len : sizeof(word) - 1);
		*optional = *word == '[';
		*several = strstr(word, "...");
		*number = strstr(word, "INO");
		if (strstr(word, "PATH"))
			return place;
		synopsis += len;
		synopsis += strspn(synopsis, " ");
	}
	return INT32_MAX;
}

/* Whether WORD is an inode by number, or a metadata file. */
static bool is_inode(const struct context *cx, const char *word)
{
	struct context quiet;
	uint64_t ino;

	context_child(cx, &quiet);
	for (ino = NILFS_DAT_INO; ino <= NILFS_IFILE_INO; ino++)
		if (!strcmp(position_file_name(ino), word))
			return true;
	return !option_number(&quiet, "", word, UINT64_MAX, &ino);
}

static int arrange(struct tool *tool, const struct cli_command *command)
{
	struct shell *s = tool->shell->state;
	bool optional, several, number;
	int place = find_path(command->synopsis, &optional, &several, &number);
	int i, count = tool->argc + 1;

	if (command == &set_command && !s->o->expert)
		return fail(&tool->cx, -EPERM, "set needs a shell with --expert");
	if (!is_allowed(s, command))
		return tool_usage(tool, "%s: not in a shell", command->name);
	s->words = calloc((size_t)count + 2, sizeof(*s->words));
	if (!s->words)
		return fail(&tool->cx, -ENOMEM, "words");
	s->words[0] = (char *)(uintptr_t)s->image;
	memcpy(s->words + 1, tool->argv, (size_t)tool->argc * sizeof(*s->words));
	/* Without a PATH a command shows the root directory; elsewhere add ".". */
	if (count == place && optional && strcmp(s->cwd, "/"))
		s->words[count++] = (char *)(uintptr_t)".";
	for (i = s->kept = place < count ? place : count; i < count; i++) {
		if ((i > place && !several) || words_is_absolute(s->words[i]) ||
		    (number && is_inode(&tool->cx, s->words[i])))
			s->words[i] = strdup(s->words[i]);
		else
			s->words[i] = words_path(s->cwd, s->words[i]);
		if (!s->words[i])
			return fail(&tool->cx, -ENOMEM, "words");
	}
	tool->argv = s->words;
	tool->argc = count;
	return 0;
}

/* Runs a command of the tool, W without IMAGE; returns its exit status. */
static int run_command(struct shell *s, const struct words *w)
{
	char **argv = calloc((size_t)w->count + 2, sizeof(*argv));
	struct pager pager = { .saved = -1 };
	int status = 1, i;

	if (!argv)
		return status;
	argv[0] = (char *)(uintptr_t)s->tool->cli->name;
	memcpy(argv + 1, w->items, (size_t)w->count * sizeof(*argv));
	if (!strcmp(argv[1], "stat"))
		argv[1] = (char *)(uintptr_t)inode_command.name;
	if (s->o->pager && pager_begin(&pager, &s->tool->cx))
		tool_failed(s->tool, NULL, -EIO);
	status = tool_line(s->tool, &s->how, w->count + 1, argv);
	pager_end(&pager);
	for (i = s->kept; s->words && s->words[i]; i++)
		free(s->words[i]);
	free(s->words);
	s->words = NULL;
	free(argv);
	return status;
}

/* Runs LINE and returns its exit status; prints its failure. */
static int run_line(struct shell *s, const char *line)
{
	const struct builtin *b;
	struct words w;
	int status = 0, err = words_split(&w, &s->tool->cx, line);

	s->tool->bad_usage = err == -EINVAL;
	b = err || !w.count ? NULL : find_builtin(w.items[0]);
	/* Help about a command of the tool is that of the tool. */
	if (b && b->run == print_help && w.count == 2 && !find_builtin(w.items[1]))
		b = NULL;
	if (b && w.count > (*b->synopsis ? 2 : 1))
		err = tool_usage(s->tool, "unexpected argument '%s'",
				 w.items[w.count - 1]);
	if (w.count && (!b || b->run != quit))
		s->warned = false;
	if (!err && b)
		err = b->run(s, w.items[1]);
	else if (!err && w.count)
		status = run_command(s, &w);
	out_flush(s->tool->out);
	if (err) {
		status = s->tool->bad_usage ? s->tool->cli->exit_usage :
					      s->tool->cli->exit_failure;
		tool_failed(s->tool, b ? b->name : NULL, err);
	}
	s->tool->bad_usage = false;
	words_free(&w);
	return status;
}

/* Completes names of commands, options and, from the current directory, paths. */
static void complete(void *arg, const char *line, size_t len, struct out *insert,
		     struct out *choices)
{
	struct shell *s = arg;
	struct completion c = { .choices = choices };
	const struct cli_command *const *command;
	const struct builtin *b;
	char *dir = NULL, *slash;
	struct context cx;
	struct root root;
	struct words w;

	context_child(&s->tool->cx, &cx);
	if (words_split_begun(&w, &cx, line, len))
		goto out;
	c.text = w.open ? w.items[w.count - 1] : "";
	c.quote = w.quote;
	slash = strrchr(c.text, '/');
	if (w.count <= (w.open ? 1 : 0)) {
		c.len = strlen(c.text);
		for (b = builtins; b->name; b++)
			complete_name(&c, b->name, strlen(b->name), false);
		for (command = s->tool->cli->commands; *command; command++)
			if (is_allowed(s, *command))
				complete_name(&c, (*command)->name,
					      strlen((*command)->name), false);
	} else if (!strncmp(c.text, "--", 2)) {
		c.len = strlen(c.text);
		for (command = s->tool->cli->commands; *command; command++)
			if (!strcmp((*command)->name, w.items[0]))
				complete_options(&c, (*command)->options);
		complete_options(&c, tool_options);
	} else {
		if (slash) {
			c.text = slash + 1;
			*slash = '\0';
		}
		dir = words_path(s->cwd, !slash ? "" : slash == w.items[w.count - 1] ?
				 "/" : w.items[w.count - 1]);
		c.len = strlen(c.text);
		if (dir && !open_root(s, &cx, s->cno, &root))
			complete_directory(&c, &cx, &root, dir);
	}
	complete_end(&c, insert);
out:
	free(dir);
	words_free(&w);
}

static int open_image(struct shell *s)
{
	struct context *cx = &s->tool->cx;
	struct volume *bare = NULL;
	struct context quiet;
	int err;

	if (!s->o->expert) {
		err = image_open(&s->im, s->tool, s->image, NULL);
	} else {
		err = set_open_device(&s->im.file, s->tool, s->image);
		if (!err)
			err = overlay_open(&s->im.dev, cx, s->im.file, false);
		if (err)
			return err;
		err = volume_open(&s->im.vol, cx, s->im.dev, NULL);
	}
	if ((err != -EUCLEAN && err != -EIO) || !s->im.dev)
		return err;
	/* Some commands show a damaged volume, and a superblock can be set. */
	context_child(cx, &quiet);
	if (!s->o->expert && volume_open_bare(&bare, &quiet, s->im.dev))
		return err;
	volume_close(bare);
	tool_failed(s->tool, NULL, err);
	return 0;
}

/* Reads and runs a line, or ends the shell; returns an exit status, or a failure. */
static int next_line(struct shell *s)
{
	char dir[256], prompt[300], at[24] = "";
	const char *line;
	int ret;

	text_escape(dir, sizeof(dir), s->cwd, strlen(s->cwd));
	if (s->cno)
		snprintf(at, sizeof(at), "@%llu", (unsigned long long)s->cno);
	snprintf(prompt, sizeof(prompt), "nilfs2%s:%s%s> ", at, dir,
		 is_changed(s) ? "*" : "");
	ret = lineread_next(s->lines, &s->tool->cx, prompt, &line);
	if (!ret || ret == -EINTR) {
		if (s->terminal)
			out_char(s->tool->out, '\n');
		out_flush(s->tool->out);
		return ret ? context_cancelled(&s->tool->cx) : quit(s, NULL);
	}
	if (ret == -EINVAL) {
		tool_failed(s->tool, NULL, ret);
		return s->tool->cli->exit_usage;
	}
	if (ret < 0)
		return ret;
	line += strspn(line, " \t\r");
	if (!*line || *line == '#')
		return 0;
	if (*line != '-')
		return run_line(s, line);
	run_line(s, line + 1);
	return 0;
}

/* Runs all lines; fails as next_line(). */
static int run_lines(struct shell *s)
{
	unsigned long long number = 0;
	int stopped, ret = 0;

	while (!ret && !s->ended) {
		number++;
		ret = next_line(s);
		stopped = *s->tool->cx.cancel;
		if (stopped == SIGINT ? s->terminal :
		    stopped == SIGPIPE && s->terminal && s->o->pager) {
			fail_clear(&s->tool->cx);
			tool_continue(s->tool, &s->how);
		} else if (stopped == SIGPIPE) {
			return -EPIPE;
		} else if (stopped) {
			return fail(&s->tool->cx, -EINTR, "interrupted");
		} else if (s->terminal && ret < 0) {
			return ret;
		}
		if (s->terminal)
			ret = 0;
	}
	if (ret > 0)
		tool_note(s->tool, "%s: line %llu failed, the shell ends",
			  s->o->file ? s->o->file : "standard input", number);
	return ret;
}

static int shell_run(struct tool *tool, const void *options)
{
	struct shell s = {
		.tool = tool,
		.o = options,
		.image = tool->argv[0],
		.cwd = strdup("/"),
		.how = { .preset = preset, .arrange = arrange },
	};
	struct root root;
	int ret = s.cwd ? 0 : fail(&tool->cx, -ENOMEM, "directory");

	s.how.state = &s;
	s.how.shared = &s.im;
	if (!ret)
		ret = open_image(&s);
	if (!ret && s.o->checkpoint) {
		ret = open_root(&s, &tool->cx, s.o->checkpoint, &root);
		s.cno = ret ? 0 : root.cno;
	}
	if (!ret)
		ret = lineread_open(&s.lines, &tool->cx, s.o->file, complete, &s,
				    &s.terminal);
	if (!ret) {
		s.how.terminal = s.terminal;
		tool_continue(tool, &s.how);
		ret = run_lines(&s);
	}
	if (s.im.dev && is_changed(&s)) {
		tool_warn(tool, "%s: the changes were not written", s.image);
		if (!s.terminal && !ret)
			ret = tool->cli->exit_failure;
	}
	lineread_close(s.lines);
	image_close(&s.im);
	free(s.cwd);
	return ret;
}

const struct cli_command shell_command = {
	.name = "shell",
	.summary = "commands on an image that stays open",
	.synopsis = "IMAGE",
	.about =
	"Runs the commands of dump.nilfs2, without IMAGE, and those that `help' there\n"
	"lists: on a terminal with completion and history, otherwise the lines of\n"
	"standard input.  Paths may be relative to a current directory.  Words are\n"
	"separated by blanks; quotes, backslashes and \\xHH work as in names.\n"
	"A file, or standard input, ends with the first command that fails, with its\n"
	"status, but for lines that begin with `-'; lines with # are comments.\n"
	"With --expert, `set' changes a copy in memory until `commit' or `discard'.",
	.options = shell_rows,
	.options_size = sizeof(struct shell_options),
	.min_args = 1,
	.max_args = 1,
	.run = shell_run,
};
