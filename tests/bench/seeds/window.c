// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * window [SEED]: how far to look for a victim.
 *
 * "f2fs: optimize gc for better performance" (2013): a partition of 2 GB is
 * filled with 52023 files of 32 KiB, then 100000 records of 4 KiB are written
 * at random and synchronized.  With a window of 20 segments there were 1174
 * cleanings that had 174840 dead blocks back, with 4096 there were 645 and
 * 106682.
 *
 * 2 GiB have 1011 segments beside metadata of fixed places, of which 48 are
 * reserved and 48 more are not for users: 915 for 52023 times (8 + 1) blocks
 * and 260 of directories, which fits to 13 blocks.  Not stated is whether
 * records were aligned; those that were not change two blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gc/sim/simrandom.h"

#include "slack.h"

#define FILES 52023u
#define FILE_BLOCKS 8u
#define DIRECTORY_BLOCKS 260u
#define RECORDS 100000u

static void create(struct slack *s)
{
	uint32_t file, i;

	for (i = 0; i < DIRECTORY_BLOCKS; i++)
		slack_write(s, SLACK_DENTRY, s->ndata + s->nnodes + i);
	for (file = 0; file < FILES; file++) {
		slack_balance(s);
		for (i = 0; i < FILE_BLOCKS; i++)
			slack_write(s, SLACK_DATA, file * FILE_BLOCKS + i);
		slack_sync(s, file * FILE_BLOCKS);
	}
	slack_checkpoint(s);
}

static void rewrite(struct slack *s, struct simrandom *r, bool straddle)
{
	uint32_t i, block;

	for (i = 0; i < RECORDS && !s->failed; i++) {
		block = (uint32_t)simrandom_below(r, s->ndata);
		slack_balance(s);
		slack_write(s, SLACK_DATA, block);
		if (straddle && (block + 1) % FILE_BLOCKS)
			slack_write(s, SLACK_DATA, block + 1);
		slack_sync(s, block);
	}
}

static void run(const struct slack *variant, uint64_t seed, bool straddle)
{
	struct slack s = *variant;
	struct simrandom r = { seed };

	if (slack_open(&s)) {
		create(&s);
		s.victims = s.garbage = s.moved = s.runs = 0;
		rewrite(&s, &r, straddle);
		printf("%u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "%s\n",
		       s.window, straddle ? "any" : "aligned",
		       s.apart ? "two" : "one", s.victims, s.garbage, s.moved,
		       s.failed ? " full" : "");
	}
	slack_close(&s);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	struct slack variant = {
		.nsegments = 1011, .reserved = 48, .overprovision = 96,
		.ndata = FILES * FILE_BLOCKS, .nnodes = FILES,
		.per_node = FILE_BLOCKS,
	};
	int i;

	puts("window records searches cleanings garbage moved");
	for (i = 0; i < 8; i++) {
		variant.window = i & 1 ? 4096 : 20;
		variant.apart = i & 4;
		run(&variant, seed, i & 2);
	}
	return 0;
}
