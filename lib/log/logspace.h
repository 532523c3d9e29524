/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Space for logs, asked for before they are written. */
#ifndef NILFS2_LOG_LOGSPACE_H
#define NILFS2_LOG_LOGSPACE_H

#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"

struct logspace {
	struct dev *dev;	/* borrowed */
	uint64_t at_once;	/* bytes to ask for, 0: never ask */
	uint64_t to;		/* bytes of the device that were asked for */
};

/*
 * Asks for the space of bytes [START, END), and for more after it, unless it
 * was asked for before.  Logs come in ascending order.  That there is none is
 * no failure here: a write will tell.
 */
void logspace_ask(struct logspace *s, struct context *cx, uint64_t start,
		  uint64_t end);

#endif
