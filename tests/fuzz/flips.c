// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flips IMAGE COUNT [SEED [ROUND]]: every dump command against damaged metadata.
 *
 * A copy of the image is damaged by flipping bits in what the tools interpret
 * (superblocks, summaries, super roots, metadata files, map nodes,
 * directories), a few at a time; all commands run on it within this process;
 * the bits are put back.  Half of the rounds make the checksums fit again, so
 * that the damage is not stopped at the door.  A command must end as reading.h
 * says.  A crash, a hang or an error found by a sanitizer ends the program, and
 * the last line printed says how to get there again.
 */
#include <stdlib.h>

#include "arena.h"
#include "damage.h"
#include "reading.h"

#define FLIPS_MAX 32

static int round_of_commands(struct arena *a)
{
	size_t i;
	int bad = 0;

	for (i = 0; i < reading_count(); i++)
		bad += reading_run(a, i) != NULL;
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
	arena_close(&arena);
	return bad != 0;
}
