/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of repairs: phrases of the fixers, kept until the commit.
 */
#ifndef NILFS2_FSCK_REPAIRLIST_H
#define NILFS2_FSCK_REPAIRLIST_H

#include <stddef.h>
#include <stdint.h>

#include "out/report.h"

/* The most phrases that are kept. */
#define REPAIRLIST_MAX 10000

/* All zero: nothing. */
struct repairlist {
	char **lines;
	size_t n, room;
	uint64_t more;		/* that were not kept */
};

/* A copy of TEXT; fixer_job.note. */
void repairlist_add(void *repaired, const char *text);

/* Forgets all phrases but the first N. */
void repairlist_rewind(struct repairlist *m, size_t n);

/*
 * Puts the lines "repaired: PHRASE", or the list "repairs" of sections with the
 * member text.
 */
void repairlist_report(const struct repairlist *m, struct report *r);

void repairlist_fini(struct repairlist *m);

#endif
