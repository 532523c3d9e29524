// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns.
 *
 * One number says whose turn it is.  Those who wait are few, the threads of a
 * crew, so all are woken when it moves and all but one sleep on.
 */
#include "config.h"

#include "base/ticket.h"

void ticket_init(struct ticket *t)
{
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	t->next = 0;
	t->broken = false;
}

void ticket_fini(struct ticket *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

bool ticket_begin(struct ticket *t, uint64_t number)
{
	bool good;

	pthread_mutex_lock(&t->lock);
	while (t->next != number)
		pthread_cond_wait(&t->changed, &t->lock);
	good = !t->broken;
	pthread_mutex_unlock(&t->lock);
	return good;
}

void ticket_end(struct ticket *t, bool good)
{
	pthread_mutex_lock(&t->lock);
	t->next++;
	t->broken |= !good;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}
