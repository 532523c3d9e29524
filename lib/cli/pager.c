// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Standard output through the pager of the user.
 *
 * The descriptor is replaced, not the writer, so that it works for all that writes to
 * standard output.
 */
#include "cli/pager.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int pager_begin(struct pager *p, struct context *cx)
{
	const char *command = getenv("PAGER");
	int err;

	*p = (struct pager){ .saved = -1 };
	if (!isatty(STDOUT_FILENO))
		return 0;
	/* less ends at the end of a text that fits the terminal. */
	setenv("LESS", "FRX", 0);
	p->saved = dup(STDOUT_FILENO);
	if (p->saved < 0)
		return fail(cx, -errno, "standard output");
	p->pipe = popen(command && *command ? command : "less", "we");
	if (p->pipe && dup2(fileno(p->pipe), STDOUT_FILENO) >= 0)
		return 0;
	err = fail(cx, -errno, "pager");
	pager_end(p);
	return err;
}

void pager_end(struct pager *p)
{
	if (p->saved < 0)
		return;
	dup2(p->saved, STDOUT_FILENO);
	close(p->saved);
	p->saved = -1;
	if (p->pipe)
		pclose(p->pipe);
	p->pipe = NULL;
}
