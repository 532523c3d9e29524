/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of a file whose map was rebuilt, in as few words as it takes. */
#ifndef NILFS2_FSCK_MAPREPORT_H
#define NILFS2_FSCK_MAPREPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "fsck/maps/mapfound.h"
#include "fsck/plan/fixers.h"

enum mapreport_fate {
	MAPREPORT_NOTHING,
	MAPREPORT_LOST,
	MAPREPORT_FILLED,	/* of a directory: lost, with the names in it */
	MAPREPORT_FOUND,		/* in the logs, or alive in a checkpoint */
	MAPREPORT_OLD,		/* content of an older checkpoint */
};

struct mapreport {
	struct fixer_job *job;
	uint64_t ino;
	/* Blocks [FROM, END) that are not told yet. */
	enum mapreport_fate fate;
	uint64_t from, end, cno;
	/* The rest is reported in the end. */
	uint64_t found;			/* how many */
	uint64_t past;		/* dropped, past the size */
	bool unsure;		/* more may be lost than anybody knows of */
	bool removed, resized;
	uint64_t size;
};

void mapreport_begin(struct mapreport *s, struct fixer_job *job, uint64_t ino);

/* What became of block BLKOFF; they ascend. */
void mapreport_lost(struct mapreport *s, uint64_t blkoff);
void mapreport_filled(struct mapreport *s, uint64_t blkoff);
void mapreport_found(struct mapreport *s, uint64_t blkoff,
		    const struct mapfound_run *run);

/* A block past the size was dropped. */
void mapreport_past(struct mapreport *s);

/* What became of the file. */
void mapreport_resized(struct mapreport *s, uint64_t size);
void mapreport_removed(struct mapreport *s);

/* Reports what was not reported yet. */
void mapreport_end(struct mapreport *s);

#endif
