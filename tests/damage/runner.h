/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All cases of an image, each in a process of its own. */
#ifndef NILFS2_TESTS_DAMAGE_RUNNER_H
#define NILFS2_TESTS_DAMAGE_RUNNER_H

#include "table.h"
#include "verdict.h"

/* Which cases are run, and how. */
struct runner_options {
	bool kinds[TARGET_KINDS];
	bool spoils[SPOIL_KINDS];
	bool sums[2];	     /* left, matched */
	unsigned long many;  /* so many cases of several damages, or 0 */
	unsigned long every; /* about one of so many */
	uint64_t seed;
	const char *only;  /* identifier of the only case, or NULL */
	unsigned int jobs; /* processes at once */
	bool list;	   /* print a line for each case not restored */
	bool list_all;	   /* or for every case */
	const char *keep;  /* directory for repaired images, or NULL */
};

/* Opens the sound image at PATH; ends the program where it cannot. */
void runner_open(struct bench *b, const char *path, uint64_t seed);
void runner_close(struct bench *b);

/*
 * Runs the cases of B, an image called NAME at PATH, and adds to TABLE how they
 * ended.  MAIN_OF is the main() of fsck.nilfs2.
 */
void runner_run(const struct bench *b, const char *name, const char *path,
		const struct runner_options *o, arena_main *main_of,
		struct table *table);

/* Writes SIZE bytes to a new file at PATH, with holes where they are zero. */
void runner_write(const char *path, const char *bytes, size_t size);

/* The case with identifier ID; false where there is none. */
bool runner_find(const struct bench *b, const char *id, struct damage_case *c);

#endif
