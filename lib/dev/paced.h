/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that is read no faster than permitted, so that others can use it. */
#ifndef NILFS2_DEV_PACED_H
#define NILFS2_DEV_PACED_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

/* The clock of the tool, in milliseconds, and a function that waits. */
struct paced_clock {
	uint64_t (*now)(void);
	void (*wait)(uint64_t ms);
};

/*
 * A device over UNDER (borrowed) of which on average no more than SPEED bytes, not 0,
 * are read in a second, by all threads together.  Nothing is read ahead.  Reads fail
 * with -EINTR if the context is cancelled while they wait.  -ENOMEM.
 */
int paced_open(struct dev **devp, struct context *cx, struct dev *under,
	       uint64_t speed, const struct paced_clock *clock);

#endif
