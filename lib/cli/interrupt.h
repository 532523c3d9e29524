/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that ask the tool to stop. */
#ifndef NILFS2_CLI_INTERRUPT_H
#define NILFS2_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/*
 * From here on the first SIGINT, SIGTERM or SIGHUP raises the flag returned,
 * and the second one ends the process at once.  A write to a pipe without
 * reader fails with -EPIPE; with PIPE_TOO it raises the flag as well.
 */
const volatile sig_atomic_t *interrupt_catch(bool pipe_too);

/* After that: a write to such a pipe raises the flag no longer. */
void interrupt_ignore_pipe(void);

#endif
