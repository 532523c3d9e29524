/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns: what threads prepare in any order is done in order.
 */
#ifndef NILFS2_BASE_TICKET_H
#define NILFS2_BASE_TICKET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ticket {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next;	/* whose turn it is */
	bool broken;	/* somebody has failed */
};

/* The first turn is that of number 0. */
void ticket_init(struct ticket *t);
void ticket_fini(struct ticket *t);

/*
 * Sleeps until it is the turn of NUMBER; every number takes its turn, also one
 * that has nothing to do.  False where one before has failed.
 */
bool ticket_begin(struct ticket *t, uint64_t number);

/* Lets the next one have its turn; GOOD: this one has not failed. */
void ticket_end(struct ticket *t, bool good);

#endif
