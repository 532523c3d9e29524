// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every command of dump.nilfs2 on an image in memory.
 *
 * The commands are those of dump.nilfs2 itself: its sources are compiled in,
 * with main() renamed.
 */
#include "reading.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define EXIT_DIFFERENT 3	/* of diff: no failure */
#define WORDS_MAX 7
#define TOOL "dump.nilfs2"

int dump_main(int argc, char **argv);

static const char *const commands[][WORDS_MAX + 1] = {
	{ TOOL, "info", "IMAGE", NULL },
	{ TOOL, "info", "--json", "IMAGE", NULL },
	{ TOOL, "segments", "-a", "IMAGE", NULL },
	{ TOOL, "segments", "--json", "--histogram", "IMAGE", NULL },
	{ TOOL, "map", "IMAGE", NULL },
	{ TOOL, "checkpoints", "-a", "IMAGE", NULL },
	{ TOOL, "logs", "--blocks", "IMAGE", NULL },
	{ TOOL, "logs", "--json", "--verify", "IMAGE", NULL },
	{ TOOL, "inode", "IMAGE", "/", NULL },
	{ TOOL, "inode", "IMAGE", "12", NULL },
	{ TOOL, "bmap", "--nodes", "IMAGE", "/", NULL },
	{ TOOL, "bmap", "IMAGE", "13", NULL },
	{ TOOL, "dat", "--all", "IMAGE", NULL },
	{ TOOL, "block", "IMAGE", "5", "20", "77", NULL },
	{ TOOL, "ls", "-lR", "IMAGE", NULL },
	{ TOOL, "ls", "--json", "-R", "--recover", "IMAGE", NULL },
	{ TOOL, "cat", "IMAGE", "/.nilfs", NULL },
	{ TOOL, "export", "IMAGE", "-", NULL },
	{ TOOL, "export", "--deleted", "IMAGE", "-", NULL },
	{ TOOL, "diff", "IMAGE", "1", "2", NULL },
	{ TOOL, "du", "-a", "--shared", "IMAGE", NULL },
	{ TOOL, "du", "--free", "..", "IMAGE", NULL },
	{ TOOL, "find", "--all", "-l", "IMAGE", "*a*", NULL },
	{ TOOL, "find", "--json", "--deleted", "IMAGE", NULL },
	{ TOOL, "history", "IMAGE", "/", NULL },
	{ TOOL, "history", "--json", "IMAGE", "12", NULL },
	{ TOOL, "report", "IMAGE", NULL },
	{ TOOL, "image", "IMAGE", "NEW", NULL },
	{ TOOL, "image", "--scramble-names", "--json", "IMAGE", "NEW", NULL },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/*
 * Where the output goes.  An inode may claim any size, and cat then has to
 * write as many zeros: only into a file can it step over them.
 */
static int open_output(const char *command)
{
	if (!strcmp(command, "cat"))
		return memfd_create("output", 0);
	return open("/dev/null", O_WRONLY);
}

size_t reading_count(void)
{
	return COMMANDS;
}

const char *reading_run(struct arena *a, size_t i)
{
	const char *name = commands[i][1];
	int status = arena_command(a, dump_main, commands[i],
				   open_output(name));

	if (!status ||
	    (status == 1 && arena_complained(a, "dump.nilfs2: ")) ||
	    (status == EXIT_DIFFERENT && !strcmp(name, "diff")))
		return NULL;
	printf("'%s' ended with status %d\n", name, status);
	return "it ended otherwise than it may";
}
