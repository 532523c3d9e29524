// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flips IMAGE COUNT [SEED [ROUND]]: every dump command against damaged metadata.
 *
 * A copy of the image is damaged by flipping bits in what the tools interpret
 * (superblocks, summaries, super roots, metadata files, map nodes,
 * directories), a few at a time; all commands run on it within this process;
 * the bits are put back.  Half of the rounds make the checksums fit again, so
 * that the damage is not stopped at the door.  A command must end with exit
 * status 0, or with 1 and a message.  A crash, a hang or an error found by a
 * sanitizer ends the program, and the last line printed says how to get there
 * again.  A status of 2 would mean that a command does not know its options,
 * so that nothing was tested.
 *
 * The commands are those of dump.nilfs2 itself: its sources are compiled in,
 * with main() renamed.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "damage.h"

#define EXIT_DIFFERENT 3	/* of diff: no failure */
#define FLIPS_MAX 32
#define WORDS_MAX 6

int dump_main(int argc, char **argv);

/* What a command that makes a file writes; removed after each. */
static char new_path[64];

static const char *const commands[][WORDS_MAX] = {
	{ "info", "IMAGE" },
	{ "info", "--json", "IMAGE" },
	{ "segments", "-a", "IMAGE" },
	{ "segments", "--json", "--histogram", "IMAGE" },
	{ "map", "IMAGE" },
	{ "checkpoints", "-a", "IMAGE" },
	{ "logs", "--blocks", "IMAGE" },
	{ "logs", "--json", "--verify", "IMAGE" },
	{ "inode", "IMAGE", "/" },
	{ "inode", "IMAGE", "12" },
	{ "bmap", "--nodes", "IMAGE", "/" },
	{ "bmap", "IMAGE", "13" },
	{ "dat", "--all", "IMAGE" },
	{ "block", "IMAGE", "5", "20", "77" },
	{ "ls", "-lR", "IMAGE" },
	{ "ls", "--json", "-R", "--recover", "IMAGE" },
	{ "cat", "IMAGE", "/.nilfs" },
	{ "export", "IMAGE", "-" },
	{ "export", "--deleted", "IMAGE", "-" },
	{ "diff", "IMAGE", "1", "2" },
	{ "du", "-a", "--shared", "IMAGE" },
	{ "du", "--free", "..", "IMAGE" },
	{ "find", "--all", "-l", "IMAGE", "*a*" },
	{ "find", "--json", "--deleted", "IMAGE" },
	{ "history", "IMAGE", "/" },
	{ "history", "--json", "IMAGE", "12" },
	{ "report", "IMAGE" },
	{ "image", "IMAGE", "NEW" },
	{ "image", "--scramble-names", "--json", "IMAGE", "NEW" },
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

/* The word that a command gets for WORD: the image, or the file it makes. */
static const char *word_of(const struct arena *a, const char *word)
{
	if (!strcmp(word, "IMAGE"))
		return a->path;
	return strcmp(word, "NEW") ? word : new_path;
}

static int run(struct arena *a, size_t i)
{
	char words[WORDS_MAX + 1][64] = { "dump.nilfs2" };
	char *argv[WORDS_MAX + 2] = { words[0] };
	size_t w;
	int status;

	for (w = 0; w < WORDS_MAX && commands[i][w]; w++) {
		snprintf(words[w + 1], sizeof(words[w + 1]), "%s",
			 word_of(a, commands[i][w]));
		argv[w + 1] = words[w + 1];
	}
	status = arena_run(a, dump_main, argv, open_output(commands[i][0]));
	unlink(new_path);
	return status;
}

static int judge(struct arena *a, size_t i, int status)
{
	if (!status ||
	    (status == 1 && arena_complained(a, "dump.nilfs2: ")) ||
	    (status == EXIT_DIFFERENT && !strcmp(commands[i][0], "diff")))
		return 0;
	printf("'%s' ended with status %d\n", commands[i][0], status);
	return 1;
}

static int round_of_commands(struct arena *a)
{
	size_t i;
	int bad = 0;

	for (i = 0; i < COMMANDS; i++)
		bad += judge(a, i, run(a, i));
	return bad;
}

#undef main
int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned int seed = argc > 3 ? (unsigned int)atoi(argv[3]) : 1;
	struct arena arena;
	struct damage damage;
	unsigned long round = argc > 4 ? strtoul(argv[4], NULL, 0) : 0, done;
	int bad = 0;

	if (!count) {
		fprintf(stderr, "usage: flips IMAGE COUNT [SEED [ROUND]]\n");
		return 2;
	}
	snprintf(new_path, sizeof(new_path), P_tmpdir "/flips.%d", getpid());
	setvbuf(stdout, NULL, _IOLBF, 0);
	arena_load(&arena, argv[1]);
	if (damage_open(&damage, arena.bytes, arena.size))
		return 99;
	for (done = 0; done < count && !bad; round++) {
		unsigned int n = 1 + round % FLIPS_MAX;

		printf("%lu done, now: flips %s 1 %u %lu\n", done, argv[1],
		       seed, round);
		damage_do(&damage, seed, round, n, round / 2 % 2);
		bad = round_of_commands(&arena);
		if (bad)
			arena_keep(&arena, "flips.image");
		damage_undo(&damage);
		done += n;
	}
	damage_close(&damage);
	fclose(arena.errors);
	return bad != 0;
}
