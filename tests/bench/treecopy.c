// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * treecopy [-cd] [-b BYTES] [-t THREADS] TREE [OUT]: the least that the machine
 * asks for the files of a tree.
 *
 * Threads share a stack of directories, and of pieces where a file is large.
 * Each opens, reads and closes the files of a directory through one small
 * buffer, every file padded to whole blocks of 4 KiB, and writes the buffer
 * to OUT when it is full, wherever the next free place is.  No name, inode or
 * map is written and nothing is waited for: what a tool takes beyond this is
 * its own doing.
 *
 *	-b BYTES	of the buffer of each thread (1 MiB)
 *	-c		a CRC-32 over all that is read, with our code for it
 *	-d		O_DIRECT: OUT is there already
 *	-t THREADS	(1)
 *
 * Without OUT it only reads.  It says how many files, bytes and blocks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc.h"

#define BLOCK 4096u
#define PIECE (32u << 20)	/* what one thread takes of a large file */
#define THREADS_MAX 16u

/* A directory, or LENGTH bytes of a file. */
struct job {
	struct job *next;
	off_t offset, length;
	bool directory;
	char path[];
};

struct work {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *jobs;
	unsigned int busy;
	int out;		/* -1: only read */
	bool checksum;
	size_t room;
	atomic_uint_fast64_t at;
};

struct worker {
	struct work *work;
	char *buf;
	size_t used;
	uint32_t crc;
	uint64_t files, bytes, blocks;
	pthread_t id;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct job *new_job(const char *format, ...)
{
	char path[4096];
	struct job *j;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(path, sizeof(path), format, ap);
	va_end(ap);
	j = calloc(1, sizeof(*j) + (size_t)n + 1);
	if (!j || n >= (int)sizeof(path))
		die(format);
	memcpy(j->path, path, (size_t)n + 1);
	return j;
}

static void push(struct work *w, struct job *j)
{
	pthread_mutex_lock(&w->lock);
	j->next = w->jobs;
	w->jobs = j;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

/* The next job; NULL once there is none and none will be made. */
static struct job *take(struct work *w)
{
	struct job *j;

	pthread_mutex_lock(&w->lock);
	while (!w->jobs && w->busy)
		pthread_cond_wait(&w->changed, &w->lock);
	j = w->jobs;
	if (j) {
		w->jobs = j->next;
		w->busy++;
	}
	pthread_mutex_unlock(&w->lock);
	return j;
}

static void done(struct work *w)
{
	pthread_mutex_lock(&w->lock);
	if (!--w->busy)
		pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void flush(struct worker *me)
{
	struct work *w = me->work;
	uint64_t at;

	if (w->checksum)
		me->crc = crc32_le(me->crc, me->buf, me->used);
	at = atomic_fetch_add(&w->at, me->used);
	if (w->out >= 0 && pwrite(w->out, me->buf, me->used, (off_t)at) !=
				   (ssize_t)me->used)
		die("write");
	me->used = 0;
}

static void copy(struct worker *me, int fd, off_t offset, off_t length)
{
	size_t room = me->work->room, n, pad;

	for (; length > 0; offset += (off_t)n, length -= (off_t)n) {
		n = room - me->used < (size_t)length ? room - me->used :
						       (size_t)length;
		if (pread(fd, me->buf + me->used, n, offset) != (ssize_t)n)
			die("read");
		pad = -n & (BLOCK - 1);
		memset(me->buf + me->used + n, 0, pad);
		me->used += n + pad;
		me->bytes += n;
		me->blocks += (n + pad) / BLOCK;
		if (me->used == room)
			flush(me);
	}
}

/* Leaves a large file to all free workers, in pieces. */
static void cut(struct worker *me, const char *dir, const char *name,
		off_t size)
{
	off_t offset;

	for (offset = 0; offset < size; offset += PIECE) {
		struct job *j = new_job("%s/%s", dir, name);

		j->offset = offset;
		j->length = size - offset < PIECE ? size - offset : PIECE;
		push(me->work, j);
	}
}

static void file(struct worker *me, int dirfd, const char *dir,
		 const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(name);
	me->files++;
	if (st.st_size > PIECE)
		cut(me, dir, name, st.st_size);
	else
		copy(me, fd, 0, st.st_size);
	close(fd);
}

static void piece(struct worker *me, const struct job *j)
{
	int fd = open(j->path, O_RDONLY);

	if (fd < 0)
		die(j->path);
	copy(me, fd, j->offset, j->length);
	close(fd);
}

static void directory(struct worker *me, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		die(path);
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (e->d_type == DT_REG) {
			file(me, dirfd(dir), path, e->d_name);
		} else if (e->d_type == DT_DIR) {
			struct job *j = new_job("%s/%s", path, e->d_name);

			j->directory = true;
			push(me->work, j);
		}
	}
	closedir(dir);
}

static void *run(void *arg)
{
	struct worker *me = arg;
	struct job *j;

	me->buf = aligned_alloc(BLOCK, me->work->room);
	if (!me->buf)
		die("buffer");
	while ((j = take(me->work))) {
		if (j->directory)
			directory(me, j->path);
		else
			piece(me, j);
		free(j);
		done(me->work);
	}
	flush(me);
	free(me->buf);
	return NULL;
}

static void run_all(struct work *w, unsigned int threads)
{
	struct worker workers[THREADS_MAX] = { 0 };
	uint64_t files = 0, bytes = 0, blocks = 0;
	unsigned int i;

	for (i = 0; i < threads; i++)
		workers[i].work = w;
	for (i = 1; i < threads; i++)
		if (pthread_create(&workers[i].id, NULL, run, &workers[i]))
			die("thread");
	run(&workers[0]);
	for (i = 0; i < threads; i++) {
		if (i)
			pthread_join(workers[i].id, NULL);
		files += workers[i].files;
		bytes += workers[i].bytes;
		blocks += workers[i].blocks;
	}
	printf("%llu files, %llu bytes, %llu blocks of 4 KiB\n",
	       (unsigned long long)files, (unsigned long long)bytes,
	       (unsigned long long)blocks);
}

int main(int argc, char **argv)
{
	struct work w = { .out = -1, .room = 1 << 20 };
	int option, flags = O_WRONLY | O_CREAT;
	unsigned int threads = 1;

	while ((option = getopt(argc, argv, "b:cdt:")) != -1) {
		if (option == 'b')
			w.room = strtoul(optarg, NULL, 0);
		else if (option == 'c')
			w.checksum = true;
		else if (option == 'd')
			flags = O_WRONLY | O_DIRECT;
		else if (option == 't')
			threads = (unsigned int)atoi(optarg);
		else
			return 2;
	}
	if (optind >= argc || !threads || threads > THREADS_MAX ||
	    !w.room || w.room % BLOCK) {
		fputs("usage: treecopy [-cd] [-b BYTES] [-t THREADS] TREE [OUT]\n",
		      stderr);
		return 2;
	}
	if (optind + 1 < argc) {
		w.out = open(argv[optind + 1], flags, 0644);
		if (w.out < 0)
			die(argv[optind + 1]);
	}
	pthread_mutex_init(&w.lock, NULL);
	pthread_cond_init(&w.changed, NULL);
	w.jobs = new_job("%s", argv[optind]);
	w.jobs->directory = true;
	run_all(&w, threads);
	return 0;
}
