// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Turns.
 *
 * One number says whose turn it is.  Those who wait are few, the threads of a
 * crew, so all are woken when it moves and all but one sleep on.
 */
#include "config.h"

#include "base/turn.h"

void turn_init(struct turn *t)
{
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	t->next = 0;
	t->broken = false;
}

void turn_fini(struct turn *t)
{
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

bool turn_begin(struct turn *t, uint64_t number)
{
	bool good;

	pthread_mutex_lock(&t->lock);
	while (t->next != number)
		pthread_cond_wait(&t->changed, &t->lock);
	good = !t->broken;
	pthread_mutex_unlock(&t->lock);
	return good;
}

void turn_end(struct turn *t, bool good)
{
	pthread_mutex_lock(&t->lock);
	t->next++;
	t->broken |= !good;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}
