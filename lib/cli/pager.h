/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Standard output through the pager of the user. */
#ifndef NILFS2_CLI_PAGER_H
#define NILFS2_CLI_PAGER_H

#include <stdio.h>

#include "base/context.h"

struct pager {
	FILE *pipe;		/* NULL: none runs */
	int saved;		/* a copy of standard output */
};

/*
 * Starts $PAGER, or less, and makes it standard output until pager_end(), if that is a
 * terminal.  Fails as popen(3).
 */
int pager_begin(struct pager *p, struct context *cx);

/* Waits until the pager ends.  Accepts one that was not started. */
void pager_end(struct pager *p);

#endif
