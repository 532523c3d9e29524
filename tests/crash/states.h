/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device states met in a test, each once, put into a directory as images. */
#ifndef NILFS2_TESTS_STATES_H
#define NILFS2_TESTS_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct states {
	const char *dir;	/* where the images are made */
	uint64_t *sums;		/* of the states met */
	size_t n, room;
};

/* Whether what OVERLAY makes of UNDER was not met before; it is now. */
bool states_meet(struct states *s, struct context *cx, struct dev *overlay,
		 struct dev *under);

/*
 * Writes DEV as the sparse image CLASS.N, N being how many states were met;
 * 0 or a failure.
 */
int states_keep(const struct states *s, struct context *cx, struct dev *dev,
		const char *class);

void states_fini(struct states *s);

#endif
