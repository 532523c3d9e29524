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
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "damage.h"

#define HANG_SECONDS 60
#define EXIT_DIFFERENT 3	/* of diff: no failure */
#define FLIPS_MAX 32
#define WORDS_MAX 6

int dump_main(int argc, char **argv);

/* A path for this process alone, and the bytes behind it. */
static char image[64];
static char *bytes;
static size_t size;

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
	{ "diff", "IMAGE", "1", "2" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void die(const char *what)
{
	perror(what);
	exit(99);
}

static void load(const char *path)
{
	int from = open(path, O_RDONLY), to = memfd_create("image", 0);
	struct stat st;
	off_t data = 0, hole;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    ftruncate(to, st.st_size))
		die(path);
	size = (size_t)st.st_size;
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (bytes == MAP_FAILED)
		die("mmap");
	while ((data = lseek(from, data, SEEK_DATA)) >= 0) {
		hole = lseek(from, data, SEEK_HOLE);
		if (pread(from, bytes + data, (size_t)(hole - data), data) !=
		    hole - data)
			die(path);
		data = hole;
	}
	close(from);
	snprintf(image, sizeof(image), "/proc/self/fd/%d", to);
}

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

/* Runs command I with standard output and error kept away from ours. */
static int run(size_t i, FILE *errors)
{
	char words[WORDS_MAX + 1][64] = { "dump.nilfs2" };
	char *argv[WORDS_MAX + 2] = { words[0] };
	int argc = 1, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	int sink = open_output(commands[i][0]), status;
	size_t w;

	for (w = 0; w < WORDS_MAX && commands[i][w]; w++, argc++) {
		snprintf(words[argc], sizeof(words[argc]), "%s",
			 strcmp(commands[i][w], "IMAGE") ? commands[i][w] :
			 image);
		argv[argc] = words[argc];
	}
	rewind(errors);
	if (out < 0 || err < 0 || sink < 0 || ftruncate(fileno(errors), 0) ||
	    dup2(sink, STDOUT_FILENO) < 0 ||
	    dup2(fileno(errors), STDERR_FILENO) < 0)
		die("redirection");
	alarm(HANG_SECONDS);
	status = dump_main(argc, argv);
	alarm(0);
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(sink);
	return status;
}

static int judge(size_t i, int status, FILE *errors)
{
	static const char wanted[] = "dump.nilfs2: ";
	char text[sizeof(wanted)] = "";

	rewind(errors);
	if (status && !fgets(text, sizeof(text), errors))
		text[0] = '\0';
	if (!status || (status == 1 && !strcmp(text, wanted)) ||
	    (status == EXIT_DIFFERENT && !strcmp(commands[i][0], "diff")))
		return 0;
	printf("'%s' ended with status %d and the message '%s'\n",
	       commands[i][0], status, text);
	return 1;
}

static int round_of_commands(FILE *errors)
{
	size_t i;
	int bad = 0;

	for (i = 0; i < COMMANDS; i++)
		bad += judge(i, run(i, errors), errors);
	return bad;
}

/* Leaves the damaged image to be looked at: cp makes it sparse again. */
static void keep_image(void)
{
	FILE *f = fopen("flips.image", "w");

	if (f && fwrite(bytes, 1, size, f) == size)
		printf("the damaged image is flips.image\n");
	if (f)
		fclose(f);
}

#undef main
int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned int seed = argc > 3 ? (unsigned int)atoi(argv[3]) : 1;
	FILE *errors = tmpfile();
	struct damage damage;
	unsigned long round = argc > 4 ? strtoul(argv[4], NULL, 0) : 0, done;
	int bad = 0;

	if (!count || !errors) {
		fprintf(stderr, "usage: flips IMAGE COUNT [SEED [ROUND]]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	load(argv[1]);
	if (damage_open(&damage, bytes, size))
		return 99;
	for (done = 0; done < count && !bad; round++) {
		unsigned int n = 1 + round % FLIPS_MAX;

		printf("%lu done, now: flips %s 1 %u %lu\n", done, argv[1],
		       seed, round);
		damage_do(&damage, seed, round, n, round / 2 % 2);
		bad = round_of_commands(errors);
		if (bad)
			keep_image();
		damage_undo(&damage);
		done += n;
	}
	damage_close(&damage);
	fclose(errors);
	return bad != 0;
}
