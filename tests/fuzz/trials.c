// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cases of a fuzzer that may end the process, and how many did.
 *
 * A process for each case would cost more than the case, so there is one for all
 * of them, and another one only after a crash or a hang.
 */
#include "trials.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"

/* What is no case: the program itself could not go on. */
#define EXIT_UNABLE 99

static void count_end(struct trials *t, int status)
{
	bool hang = WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF ||
					    WTERMSIG(status) == SIGALRM);

	if (WIFEXITED(status))
		printf("FAILED: a crash, exit status %d\n",
		       WEXITSTATUS(status));
	else
		printf("FAILED: %s, %s\n", hang ? "a hang" : "a crash",
		       strsignal(WTERMSIG(status)));
	if (hang)
		t->hangs++;
	else
		t->crashes++;
}

struct trials *trials_run(void (*try_all)(void *arg, struct trials *t),
			  void *arg)
{
	struct trials *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	if (t == MAP_FAILED)
		arena_die("mmap");
	for (;;) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			try_all(arg, t);
			exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			arena_die("process");
		if (!status)
			return t;
		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_UNABLE)
			exit(EXIT_UNABLE);
		count_end(t, status);
	}
}

unsigned long trials_failed(const struct trials *t)
{
	return t->wrong + t->crashes + t->hangs;
}

void trials_free(struct trials *t)
{
	munmap(t, sizeof(*t));
}
