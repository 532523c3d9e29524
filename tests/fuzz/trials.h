/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cases of a fuzzer that may end the process, and how many did. */
#ifndef NILFS2_TESTS_FUZZ_TRIALS_H
#define NILFS2_TESTS_FUZZ_TRIALS_H

/* Shared by the process that tries and the one that counts. */
struct trials {
	unsigned long next;	/* the first case to be tried */
	unsigned long cases, wrong, excused;
	unsigned long crashes, hangs;
};

/*
 * Has a process of its own call TRY_ALL with ARG, which tries all cases from
 * t->next on, one after another; before each it sets t->next to the number of the
 * one after it.  Where a case ends the process, which is said, another one goes on
 * with the next.  Returns what is to be freed with trials_free().
 */
struct trials *trials_run(void (*try_all)(void *arg, struct trials *t),
			  void *arg);
void trials_free(struct trials *t);

/* How many were not as they should. */
unsigned long trials_failed(const struct trials *t);

#endif
