/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A repair of whatever was done to an image in memory.
 *
 * It must end with 0, 1 or 4, or with 8 where a check of the same image does.
 * After 0 and 1 nothing is found any more but warnings that have no repair, or
 * are about snapshots; after 4 no kind of error is found that was not found
 * before.  After 1, files that nothing was found of are what they were in the
 * sound image (untouched.h).
 *
 * Where more was lost than one field what had been hidden by it may be found
 * after 4, and what depends on it changes after 1: neither is asked then.
 */
#ifndef NILFS2_TESTS_FUZZ_REPAIRING_H
#define NILFS2_TESTS_FUZZ_REPAIRING_H

#include <stdbool.h>

#include "checker.h"
#include "treesum.h"

struct repairing {
	struct checker checker;
	struct treesum sound;	/* of the image, before it was changed */
	bool lossy;		/* more was lost than one field */
	char *kept;		/* the image before the repair */
	char *before, *after;	/* what checks said then */
};

void repairing_open(struct repairing *m, struct arena *arena,
		    arena_main *main_of);
void repairing_close(struct repairing *m);

/*
 * NULL, or what is wrong with how the repair ended, and said on stdout.  The
 * image is then what it was before.
 */
const char *repairing_run(struct repairing *m);

/*
 * Whether TEXT, what a check said, has nothing that could be repaired or should
 * not be there at all; inodes of snapshots cannot be written again.
 */
bool repairing_is_complete(const char *text);

#endif
