// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readahead of small files.
 *
 * Files are kept in the order in which they were listed, in any directory; if they
 * are too many, all are dropped.  A read of a file that was listed shortly after
 * the last one read or stored continues the sequence.  As in readahead within a
 * file, the number of files doubles while the sequence continues.
 */
#include "dump/mount/mount_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/pairtable.h"

/* Maximum number of files that are kept. */
#define LISTED_MAX 65536u

/* Files that are stored before an answer, at first and at most. */
#define FIRST_FILES 8u
#define WINDOW_MAX 256u

/* Maximum number of files and bytes of a batch. */
#define BATCH_FILES 1024u
#define BATCH_BYTES (4u << 20)

/* Maximum delay of an answer, in nanoseconds. */
#define WAIT_MAX 5000000

/* An index that is far from that of any file. */
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
	struct pairtable places; /* index in FILES, plus 1, by node */
	size_t next;		 /* index after the last file read or stored */
	size_t first;		 /* index of the first file of the last batch */
	unsigned int window;
	bool continued; /* the current read is of one of FILES */

	/* Owned by the thread while COUNT is not 0, else by the other one. */
	struct given batch[BATCH_FILES];
	char *bytes;

	pthread_t thread;
	pthread_mutex_t lock; /* of the following members */
	pthread_cond_t changed;
	unsigned int count;
	uint64_t giving, asked; /* nodes: being stored; not to be stored */
	bool ending, ended;
};

/* Stores each batch, except the file that the kernel waits for. */
static void *store_batches(void *arg)
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
	/* Waits must not depend on the time of day. */
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&a->thread, NULL, store_batches, a);
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

/* Hands the next files, at most MAX, to the thread, if it has no batch. */
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
 * The thread skips NODE.  If it is already storing NODE, STORE waits for the answer;
 * it may also wait for the answer for another file, which is given later.
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
