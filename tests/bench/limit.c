// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limit: the least that the machine asks for a piece of work.
 *
 *	limit format FILE			writes 64 KiB and waits for them
 *	limit read FILE RANGES [THREADS]	reads "OFFSET LENGTH" ranges
 *	limit write BYTES			writes that many to stdout
 *
 * No file system work at all: the same bytes in large requests through a
 * small reused buffer.  What a tool takes beyond this is its own doing.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUEST (256u << 10)
#define THREADS_MAX 16u
#define TEXT_BUFFER (64u << 10)

struct range {
	uint64_t offset, length;
};

struct reading {
	struct range *ranges;
	size_t count;
	int fd;
	unsigned int threads;
};

struct share {
	const struct reading *all;
	size_t first;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void load_ranges(struct reading *r, const char *path)
{
	unsigned long long offset, length;
	FILE *f = fopen(path, "r");
	char line[80];
	size_t room = 0;

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llu %llu", &offset, &length) != 2)
			die("not OFFSET LENGTH");
		if (r->count == room) {
			room = room ? 2 * room : 1024;
			r->ranges = realloc(r->ranges,
					    room * sizeof(*r->ranges));
			if (!r->ranges)
				die(path);
		}
		r->ranges[r->count++] = (struct range){ offset, length };
	}
	fclose(f);
}

static void read_range(int fd, char *buf, struct range r)
{
	while (r.length) {
		size_t n = r.length < REQUEST ? r.length : REQUEST;

		if (pread(fd, buf, n, (off_t)r.offset) != (ssize_t)n)
			die("read");
		r.offset += n;
		r.length -= n;
	}
}

static void *read_share(void *arg)
{
	const struct share *share = arg;
	char *buf = malloc(REQUEST);
	size_t i;

	if (!buf)
		die("buffer");
	for (i = share->first; i < share->all->count; i += share->all->threads)
		read_range(share->all->fd, buf, share->all->ranges[i]);
	free(buf);
	return NULL;
}

static void read_ranges(const char *path, const char *ranges,
			unsigned int threads)
{
	struct reading r = { .threads = threads };
	struct share shares[THREADS_MAX];
	pthread_t ids[THREADS_MAX];
	unsigned int i;

	load_ranges(&r, ranges);
	r.fd = open(path, O_RDONLY);
	if (r.fd < 0 || !threads || threads > THREADS_MAX)
		die(path);
	for (i = 0; i < threads; i++)
		shares[i] = (struct share){ &r, i };
	for (i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, read_share, &shares[i]))
			die("thread");
	read_share(&shares[0]);
	for (i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(r.ranges);
	close(r.fd);
}

static void write_text(uint64_t bytes)
{
	char *buf = malloc(TEXT_BUFFER);

	if (!buf)
		die("buffer");
	while (bytes) {
		size_t n = bytes < TEXT_BUFFER ? bytes : TEXT_BUFFER;

		/* A formatter touches each byte of its buffer once. */
		memset(buf, (int)(bytes & 0x7f), n);
		if (write(STDOUT_FILENO, buf, n) != (ssize_t)n)
			die("write");
		bytes -= n;
	}
	free(buf);
}

static void format(const char *path)
{
	char *buf = calloc(1, 64 << 10);
	int fd = open(path, O_WRONLY);

	if (!buf || fd < 0 || pwrite(fd, buf, 64 << 10, 0) != 64 << 10 ||
	    fsync(fd))
		die(path);
	close(fd);
	free(buf);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int threads = argc > 4 ? atoi(argv[4]) : 1;

	if (!strcmp(what, "format")) {
		format(argv[2]);
	} else if (!strcmp(what, "read") && argc > 3) {
		read_ranges(argv[2], argv[3], (unsigned int)threads);
	} else if (!strcmp(what, "write")) {
		write_text(strtoull(argv[2], NULL, 0));
	} else {
		fputs("usage: limit format FILE | read FILE RANGES [THREADS] | write BYTES\n",
		      stderr);
		return 2;
	}
	return 0;
}
