/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tool that is run on images with a changed field.
 *
 * fields.c is linked with one of field_fsck.c, field_dump.c, field_gc.c and field_mkfs.c, as
 * names of functions differ within a tool only.
 */
#ifndef NILFS2_TESTS_FUZZ_FIELDTOOL_H
#define NILFS2_TESTS_FUZZ_FIELDTOOL_H

#include <stdbool.h>

#include "arena.h"
#include "silent.h"

struct fieldtool;

struct fieldtool_case {
	struct silent_change change;
	unsigned long number;	/* of cases before it */
	bool sealed;		/* all checksums are right */
	bool excused;		/* set: it need not be found */
};

/*
 * Begins MODE, a word of the command line, with the sound image in ARENA, which
 * is borrowed: NULL where the tool has no such mode.
 */
struct fieldtool *fieldtool_open(struct arena *arena, const char *mode);
void fieldtool_close(struct fieldtool *t);

/*
 * Runs the tool on the arena with the change of C: NULL, or what is wrong with
 * how it ended.  The arena is then what it was before.
 */
const char *fieldtool_run(struct fieldtool *t, struct fieldtool_case *c);

#endif
