/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings that are told later, or never. */
#ifndef NILFS2_FSCK_KEPT_H
#define NILFS2_FSCK_KEPT_H

#include <stddef.h>

#include "find/finding.h"
#include "out/report.h"

/* The most that are kept. */
#define KEPT_MOST 10000

/* All zero: none. */
struct kept {
	struct finding *findings;	/* their details are their own */
	size_t n, room;
};

/* A copy of F, unless there are too many; KEPT is a struct kept. */
void kept_add(void *kept, const struct finding *f);

/* Puts them, in a list KEY. */
void kept_report(const struct kept *k, struct report *r, const char *key);

void kept_fini(struct kept *k);

#endif
