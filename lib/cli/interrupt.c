// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Signals that ask the tool to stop.
 *
 * A signal handler is given nothing but a number, so its flag is the one
 * variable of the whole tree that has file scope and is written; a process
 * has one set of signal handlers however many volumes it has open.
 */
#include "cli/interrupt.h"

#include <stddef.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void raise_flag(int signal)
{
	(void)signal;
	__atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED);
}

const volatile sig_atomic_t *interrupt_catch(bool pipe_too)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	size_t i;

	memset(&action, 0, sizeof(action));
	action.sa_handler = raise_flag;
	action.sa_flags = (int)SA_RESETHAND;
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		sigaction(stops[i], &action, NULL);
	/* No second SIGPIPE may kill: the buffer is flushed once more. */
	action.sa_flags = 0;
	if (pipe_too)
		sigaction(SIGPIPE, &action, NULL);
	else
		interrupt_ignore_pipe();
	/* A file that gets too large is a failed write, -EFBIG. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGXFSZ, &action, NULL);
	return &interrupted;
}

void interrupt_ignore_pipe(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}
