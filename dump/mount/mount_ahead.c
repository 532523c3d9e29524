// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files that are given to the kernel before it asks for them.
 *
 * Files are kept in the order in which they were listed, in any directory;
 * when there are too many all are forgotten.  A read of one soon after the last
 * that was read, or given, continues the sequence.  As in readahead within a file
 * the number that is given doubles while the sequence goes on.
 */
#include "dump/mount/mount_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/pairtable.h"

/* Files that are remembered. */
#define LISTED_MAX 65536u

/* Files that are given before an answer, the first time and at most. */
#define FIRST_FILES 8u
#define WINDOW_MAX 256u

/* Files and bytes that are given at a time: more than that after an answer. */
#define BATCH_FILES 1024u
#define BATCH_BYTES (4u << 20)

/* How long an answer waits, in nanoseconds. */
#define WAIT_MAX 5000000

/* A place that no file is near to. */
#define NOWHERE (SIZE_MAX / 2)

struct listed {
	uint64_t node;
	uint32_t size;
};

struct given {
	uint64_t node;
	size_t at, len;
};

struct mount_ahead {
	struct context *cx;
	struct mountfs *fs;
	void (*store)(void *arg, uint64_t node, char *bytes, size_t len);
	void *arg;

	struct listed *files;
	size_t used, room;
	struct pairtable places; /* in FILES, plus 1, by node */
	size_t next;		 /* the place after the last read or given */
	size_t first;		 /* that of the first that were given last */
	unsigned int window;
	bool continued; /* what is being read now is one of FILES */

	/* Of the thread while COUNT is not 0, of the other one otherwise. */
	struct given batch[BATCH_FILES];
	char *bytes;

	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	unsigned int count;
	uint64_t giving, asked; /* nodes: STORE has it, must not get it */
	bool ending, ended;
};

/* Gives one batch after the other, without what the kernel waits for. */
static void *give_files(void *arg)
{
	struct mount_ahead *a = arg;
	const struct given *file;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		while (!a->count && !a->ending)
			pthread_cond_wait(&a->changed, &a->lock);
		if (a->ending)
			break;
		for (file = a->batch; file < a->batch + a->count; file++) {
			if (a->ending || file->node == a->asked)
				continue;
			a->giving = file->node;
			pthread_mutex_unlock(&a->lock);
			a->store(a->arg, file->node, a->bytes + file->at,
				 file->len);
			pthread_mutex_lock(&a->lock);
			a->giving = 0;
		}
		a->count = 0;
		pthread_cond_broadcast(&a->changed);
	}
	a->ended = true;
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

int mount_ahead_open(struct mount_ahead **ahead, struct context *cx,
		     struct mountfs *fs,
		     void (*store)(void *arg, uint64_t node, char *bytes,
				   size_t len),
		     void *arg)
{
	struct mount_ahead *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;
	int err;

	*ahead = NULL;
	if (a)
		a->bytes = malloc(BATCH_BYTES);
	if (!a || !a->bytes) {
		free(a);
		return fail(cx, -ENOMEM, "files to be read ahead");
	}
	a->cx = cx;
	a->fs = fs;
	a->store = store;
	a->arg = arg;
	a->first = a->next = NOWHERE;
	/* Waits are not to depend on the time of day. */
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&a->thread, NULL, give_files, a);
	if (err) {
		free(a->bytes);
		free(a);
		return fail(cx, -err, "thread");
	}
	*ahead = a;
	return 0;
}

void mount_ahead_listed(struct mount_ahead *a, uint64_t node,
			const struct stat *st)
{
	if (!node || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
	    st->st_size > MOUNT_AHEAD_SIZE ||
	    pairtable_find(&a->places, node, 0))
		return;
	if (a->used == LISTED_MAX) {
		pairtable_fini(&a->places);
		a->places = (struct pairtable){ .used = 0 };
		a->used = 0;
		a->first = a->next = NOWHERE;
		a->window = 0;
	}
	if (array_reserve(a->cx, &a->files, &a->room, a->used + 1) ||
	    pairtable_add(&a->places, a->cx, node, 0, a->used + 1)) {
		fail_clear(a->cx);
		return;
	}
	a->files[a->used++] = (struct listed){
		.node = node, .size = (uint32_t)st->st_size,
	};
}

/* Hands at most MAX files that come next to the thread, if that has none. */
static void hand_over(struct mount_ahead *a, unsigned int max)
{
	size_t end = a->next + BATCH_FILES, used = 0, len;
	const struct listed *file;
	unsigned int count = 0;
	const char *bytes;
	bool busy;

	pthread_mutex_lock(&a->lock);
	busy = a->count || a->ending;
	pthread_mutex_unlock(&a->lock);
	if (!max || busy)
		return;
	a->first = a->next;
	if (end > a->used)
		end = a->used;
	for (; a->next < end && count < max; a->next++) {
		file = &a->files[a->next];
		if (file->size > BATCH_BYTES - used)
			break;
		if (mountfs_read(a->fs, a->cx, file->node, 0, file->size,
				 &bytes, &len)) {
			fail_clear(a->cx);
			continue;
		}
		if (len != file->size)
			continue;
		memcpy(a->bytes + used, bytes, len);
		a->batch[count++] = (struct given){ file->node, used, len };
		used += len;
	}
	pthread_mutex_lock(&a->lock);
	a->count = count;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

void mount_ahead_asked(struct mount_ahead *a, uint64_t node)
{
	const struct pairtable_entry *found = pairtable_find(&a->places, node,
							     0);
	size_t place;
	bool near;

	a->continued = found != NULL;
	if (!found)
		return;
	place = found->value - 1;
	near = place >= a->first && place < a->next + WINDOW_MAX;
	if (!near)
		a->window = 0;
	else if (!a->window)
		a->window = FIRST_FILES;
	else if (a->window < WINDOW_MAX)
		a->window *= 2;
	if (!near || place >= a->next) {
		a->first = place;
		a->next = place + 1;
	}
	hand_over(a, a->window);
}

/*
 * The thread skips NODE, and if it has it already it waits for the answer.  It may
 * also wait for that of another file, which comes after this one.
 */
void mount_ahead_wait(struct mount_ahead *a, uint64_t node)
{
	struct timespec until;

	if (!a->continued || !a->window)
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MAX;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&a->lock);
	a->asked = node;
	while (a->count && a->giving != node && !a->ending)
		if (pthread_cond_timedwait(&a->changed, &a->lock, &until))
			break;
	a->asked = 0;
	pthread_mutex_unlock(&a->lock);
}

void mount_ahead_answered(struct mount_ahead *a)
{
	if (a->continued && a->window == WINDOW_MAX)
		hand_over(a, BATCH_FILES);
}

bool mount_ahead_end(struct mount_ahead *a)
{
	bool ended;

	pthread_mutex_lock(&a->lock);
	a->ending = true;
	ended = a->ended;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return ended;
}

void mount_ahead_close(struct mount_ahead *a)
{
	if (!a)
		return;
	mount_ahead_end(a);
	pthread_join(a->thread, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	pairtable_fini(&a->places);
	free(a->files);
	free(a->bytes);
	free(a);
}
