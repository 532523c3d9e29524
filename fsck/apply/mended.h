/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was mended: phrases of the fixers, kept until it is known that they
 * hold.
 */
#ifndef NILFS2_FSCK_MENDED_H
#define NILFS2_FSCK_MENDED_H

#include <stddef.h>
#include <stdint.h>

#include "out/report.h"

/* The most phrases that are kept. */
#define MENDED_MOST 10000

/* All zero: nothing. */
struct mended {
	char **lines;
	size_t n, room;
	uint64_t more;		/* that were not kept */
};

/* A copy of TEXT; fixer_job.tell. */
void mended_add(void *mended, const char *text);

/* Forgets all phrases but the first N. */
void mended_rewind(struct mended *m, size_t n);

/*
 * Puts the lines "mended: PHRASE", or the list "repairs" of sections with the
 * member text.
 */
void mended_report(const struct mended *m, struct report *r);

void mended_fini(struct mended *m);

#endif
