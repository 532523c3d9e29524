/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image in memory that a tool is run on, within this process. */
#ifndef NILFS2_TESTS_FUZZ_ARENA_H
#define NILFS2_TESTS_FUZZ_ARENA_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct arena_range {
	off_t begin, end;
};

struct arena {
	char path[64];		/* for this process alone, */
	char *bytes;		/* and what is after it */
	size_t size;
	int fd;
	struct arena_range *ranges;	/* no holes when it was loaded */
	size_t nranges;
	FILE *errors;		/* what the last tool put on standard error */
};

/* What a tool's main() is. */
typedef int arena_main(int argc, char **argv);

/* Loads the image at PATH; ends the program where it cannot. */
void arena_load(struct arena *a, const char *path);
void arena_close(struct arena *a);

/*
 * Runs MAIN with the words ARGV, which end with NULL, and returns its status.
 * Standard output goes to SINK, which is closed.  A hang, which is a minute of CPU
 * time, or ten in all, ends the program by SIGPROF or SIGALRM.
 */
int arena_run(struct arena *a, arena_main *main_of, char **argv, int sink);

/*
 * The same with words that end with NULL, of which IMAGE stands for the image and
 * NEW for a file that the tool makes and that is removed then.
 */
int arena_command(struct arena *a, arena_main *main_of,
		  const char *const *words, int sink);

/*
 * A copy of the image, to be freed; the copy is made what the image is, or the
 * image what the copy is.  Holes of the image, which are most of it, are passed
 * over, but for those that were none when it was loaded: they are zeros in both.
 */
char *arena_copy(const struct arena *a);
void arena_save(const struct arena *a, char *copy);
void arena_restore(struct arena *a, const char *copy);

/* Whether the image is what the copy is. */
bool arena_equals(const struct arena *a, const char *copy);

/* Whether a line of the last tool's errors begins with WANTED. */
int arena_complained(struct arena *a, const char *wanted);

/* Leaves the image in the file NAME, to be looked at, and says so. */
void arena_keep(const struct arena *a, const char *name);

/* Says what failed and ends the program. */
_Noreturn void arena_die(const char *what);

#endif
