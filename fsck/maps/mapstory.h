/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of a file whose map was made anew, in as few words as it takes. */
#ifndef NILFS2_FSCK_MAPSTORY_H
#define NILFS2_FSCK_MAPSTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "fsck/maps/mapfound.h"
#include "fsck/plan/fixers.h"

enum mapstory_fate {
	MAPSTORY_NOTHING,
	MAPSTORY_LOST,
	MAPSTORY_FILLED,	/* of a directory: lost, with the names in it */
	MAPSTORY_FOUND,		/* in the logs, or alive in a checkpoint */
	MAPSTORY_OLD,		/* content of an older checkpoint */
};

struct mapstory {
	struct fixer_job *job;
	uint64_t ino;
	/* Blocks [FROM, END) that are not told yet. */
	enum mapstory_fate fate;
	uint64_t from, end, cno;
	/* The rest is told in the end. */
	uint64_t found;			/* how many */
	uint64_t past;		/* dropped, past the size */
	bool unsure;		/* more may be lost than anybody knows of */
	bool removed, resized;
	uint64_t size;
};

void mapstory_begin(struct mapstory *s, struct fixer_job *job, uint64_t ino);

/* What became of block BLKOFF; they ascend. */
void mapstory_lost(struct mapstory *s, uint64_t blkoff);
void mapstory_filled(struct mapstory *s, uint64_t blkoff);
void mapstory_found(struct mapstory *s, uint64_t blkoff,
		    const struct mapfound_run *run);

/* A block past the size was dropped. */
void mapstory_past(struct mapstory *s);

/* What became of the file. */
void mapstory_resized(struct mapstory *s, uint64_t size);
void mapstory_removed(struct mapstory *s);

/* Reports what was not reported yet. */
void mapstory_end(struct mapstory *s);

#endif
