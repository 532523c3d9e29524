/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a power cut may leave of files, from a trace of their changes. */
#ifndef NILFS2_TESTS_POWERCUT_H
#define NILFS2_TESTS_POWERCUT_H

#include <stdint.h>

#include "filestate.h"

enum cut_way {
	CUT_CLEAN,	/* before a change */
	CUT_TORN,	/* within it */
	CUT_LOST,	/* one change that no flush followed is missing */
	CUT_REORDERED,	/* of those any part is missing, by chance */
	CUT_WAYS,
};

struct powercut;

/* From the file FD, of which the files are there now. */
struct powercut *powercut_open(int fd);
void powercut_close(struct powercut *p);

/* How many changes there are. */
uint64_t powercut_count(const struct powercut *p);

/* Makes *AFTER (to be freed) what BEFORE becomes by all of them. */
void powercut_replay(const struct powercut *p, const struct filestate *before,
		     struct filestate *after);

/*
 * Makes *AFTER (to be freed) what BEFORE becomes if that happens at change AT,
 * from 1.
 */
void powercut_make(const struct powercut *p, const struct filestate *before,
		   enum cut_way way, uint64_t at, struct filestate *after);

#endif
