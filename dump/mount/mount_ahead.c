// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Small files that are given to the kernel before it asks for them.
 *
 * Files are kept in the order in which they were listed, whatever their directory;
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

/* Waits for files to give: their number, 0 at the end. */
static unsigned int wait_for_batch(struct mount_ahead *a)
{
	unsigned int count;

	pthread_mutex_lock(&a->lock);
	while (!a->count && !a->ending)
		pthread_cond_wait(&a->changed, &a->lock);
	count = a->ending ? 0 : a->count;
	a->ended = !count;
	pthread_mutex_unlock(&a->lock);
	return count;
}

/* Whether NODE is to be given now: not what the kernel waits for. */
static bool begin_file(struct mount_ahead *a, uint64_t node)
{
	bool wanted;

	pthread_mutex_lock(&a->lock);
	wanted = !a->ending && node != a->asked;
	a->giving = wanted ? node : 0;
	pthread_mutex_unlock(&a->lock);
	return wanted;
}

static void end_batch(struct mount_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->count = 0;
	a->giving = 0;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

static void *give_files(void *arg)
{
	struct mount_ahead *a = arg;
	unsigned int count, i;

	while ((count = wait_for_batch(a)) > 0) {
		for (i = 0; i < count; i++)
			if (begin_file(a, a->batch[i].node))
				a->store(a->arg, a->batch[i].node,
					 a->bytes + a->batch[i].at,
					 a->batch[i].len);
		end_batch(a);
	}
	return NULL;
}

/* Waits are not to depend on the time of day. */
static int start_thread(struct mount_ahead *a)
{
	pthread_condattr_t attr;
	int err;

	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&a->thread, NULL, give_files, a);
	return err ? fail(a->cx, -err, "thread") : 0;
}

int mount_ahead_open(struct mount_ahead **ahead, struct context *cx,
		     struct mountfs *fs,
		     void (*store)(void *arg, uint64_t node, char *bytes,
				   size_t len),
		     void *arg)
{
	struct mount_ahead *a = calloc(1, sizeof(*a));
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
	err = start_thread(a);
	if (err) {
		free(a->bytes);
		free(a);
		return err;
	}
	*ahead = a;
	return 0;
}

static void forget_files(struct mount_ahead *a)
{
	pairtable_fini(&a->places);
	a->places = (struct pairtable){ .used = 0 };
	a->used = 0;
	a->first = a->next = NOWHERE;
	a->window = 0;
}

void mount_ahead_listed(struct mount_ahead *a, uint64_t node,
			const struct stat *st)
{
	if (!node || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
	    st->st_size > MOUNT_AHEAD_SIZE ||
	    pairtable_find(&a->places, node, 0))
		return;
	if (a->used == LISTED_MAX)
		forget_files(a);
	if (array_reserve(a->cx, &a->files, &a->room, a->used + 1) ||
	    pairtable_add(&a->places, a->cx, node, 0, a->used + 1)) {
		fail_clear(a->cx);
		return;
	}
	a->files[a->used++] = (struct listed){
		.node = node, .size = (uint32_t)st->st_size,
	};
}

/* The window of a read at PLACE, which grows while a sequence goes on. */
static void move_window(struct mount_ahead *a, size_t place)
{
	bool near = place >= a->first && place < a->next + WINDOW_MAX;

	if (!near)
		a->window = 0;
	else if (!a->window)
		a->window = FIRST_FILES;
	else if (a->window < WINDOW_MAX)
		a->window *= 2;
	if (near && place < a->next)
		return;
	a->first = place;
	a->next = place + 1;
}

static bool is_busy(struct mount_ahead *a)
{
	bool busy;

	pthread_mutex_lock(&a->lock);
	busy = a->count || a->ending;
	pthread_mutex_unlock(&a->lock);
	return busy;
}

/* Appends the content of FILE to the batch, which has room; false: it cannot be. */
static bool read_whole(struct mount_ahead *a, const struct listed *file,
		       struct given *given, size_t at)
{
	const char *bytes;
	size_t len;

	if (mountfs_read(a->fs, a->cx, file->node, 0, file->size, &bytes,
			 &len)) {
		fail_clear(a->cx);
		return false;
	}
	if (len != file->size)
		return false;
	memcpy(a->bytes + at, bytes, len);
	*given = (struct given){ file->node, at, len };
	return true;
}

/* Fills the batch with at most MAX files that come next: their number. */
static unsigned int fill_batch(struct mount_ahead *a, unsigned int max)
{
	size_t end = a->next + BATCH_FILES, bytes = 0;
	unsigned int count = 0;

	a->first = a->next;
	if (end > a->used)
		end = a->used;
	for (; a->next < end && count < max; a->next++) {
		const struct listed *file = &a->files[a->next];

		if (file->size > BATCH_BYTES - bytes)
			break;
		if (!read_whole(a, file, &a->batch[count], bytes))
			continue;
		bytes += file->size;
		count++;
	}
	return count;
}

/* Hands at most MAX files to the thread, if that has none. */
static void hand_over(struct mount_ahead *a, unsigned int max)
{
	unsigned int count;

	if (!max || is_busy(a))
		return;
	count = fill_batch(a, max);
	pthread_mutex_lock(&a->lock);
	a->count = count;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

void mount_ahead_asked(struct mount_ahead *a, uint64_t node)
{
	const struct pairtable_entry *found = pairtable_find(&a->places, node,
							     0);

	a->continued = found != NULL;
	if (!found)
		return;
	move_window(a, found->value - 1);
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
