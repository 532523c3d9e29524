// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * livewrite fill LOAD BLOCKS: makes the files of a load in the current directory.
 * livewrite run LOAD BLOCKS WARM-UP WRITES SEED DEVICE PROCESS COUNTS: writes so many
 * blocks of them again, beside a collector, and prints what was written after the warm-up.
 *
 * Loads, in blocks of 4 KiB: "uniform", "hot" (90 % of the writes to the first tenth)
 * and "zipf" (exponent 0.99) write blocks of one file, 64 of them and fdatasync at a
 * time.  "tree" replaces files of one to eight blocks by others, the files by Zipf's
 * distribution, 64 blocks and fsync at a time.  "database" writes one to four blocks
 * anywhere in a file and one of a log file, with fdatasync of both each time.
 *
 * The kernel has the age of a segment in seconds.  So that it does not depend on the
 * speed of the machine, the clock of the guest is set one second forward after each
 * 256 blocks.  Where the kernel reports that there is no space, the writer tries again
 * after a hundredth of a second; if that fails for PATIENCE seconds it stops, and prints
 * "stuck".  After LIMIT seconds it stops as well, and prints "slow" if the warm-up has
 * not ended.
 *
 * The line has: blocks of the user; sectors written to the device for one of them;
 * write amplification, 1 + moved / written; calls of the collector; blocks moved by a
 * call; seconds of CPU time of the collector, and of the writer's time, for the whole
 * run; the median, the 99th percentile and the greatest time, in ms, of a write
 * with its synchronization; and seconds of waiting for space.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gc/sim/writers/simdist.h"
#include "gc/sim/writers/simrandom.h"

#define BLOCK 4096u
#define BATCH 64u	/* blocks to a synchronization */
#define SECOND 256u	/* blocks to a second of the guest */
#define PATIENCE 20u	/* seconds without a block */
#define LIMIT 400u	/* seconds */
#define FILES_PER_DIR 64u
#define FILE_MAX 8u	/* blocks, of a tree */
#define FILE_MEAN 4.5

enum load { UNIFORM, HOT, ZIPF, TREE, DATABASE, LOADS };

static const char *const names[LOADS] = { "uniform", "hot", "zipf", "tree", "database" };

struct writer {
	enum load load;
	uint64_t blocks;	/* of the load */
	uint64_t files;		/* of a tree */
	uint64_t written, last_second, logged;
	double waited;		/* seconds, for space */
	int data, log;		/* descriptors */
	struct simrandom random;
	struct simdist_zipf zipf;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* After a failure: waits, if it is for want of space, since BEGAN at the latest. */
static void wait_for_space(struct writer *w, const char *what, double began)
{
	const struct timespec pause = { 0, 10000000 };
	double from = clock_ms();

	if (errno != ENOSPC && errno != EINTR)
		die(what);
	if (from - began > PATIENCE * 1e3) {
		printf("stuck after %" PRIu64 "\n", w->written);
		exit(3);
	}
	nanosleep(&pause, NULL);
	w->waited += (clock_ms() - from) / 1e3;
}

static void put_blocks(struct writer *w, int fd, uint64_t at, unsigned int n)
{
	static uint64_t buffer[FILE_MAX * BLOCK / sizeof(uint64_t)];
	double began = clock_ms();
	unsigned int i;
	ssize_t done;

	for (i = 0; i < n; i++)
		buffer[i * BLOCK / sizeof(uint64_t)] = w->written + i + 1;
	while ((done = pwrite(fd, buffer, (size_t)n * BLOCK, (off_t)(at * BLOCK))) !=
	       (ssize_t)n * BLOCK) {
		/* There was space for some of them. */
		if (done >= 0)
			errno = ENOSPC;
		wait_for_space(w, "write", began);
	}
	w->written += n;
}

static void synchronize(struct writer *w, int fd)
{
	double began = clock_ms();

	while (fdatasync(fd))
		wait_for_space(w, "fdatasync", began);
}

/* Replaces file I of the tree: a descriptor of the new one. */
static int put_file(struct writer *w, uint64_t i)
{
	unsigned int n = 1 + (unsigned int)simrandom_below(&w->random, FILE_MAX);
	double began = clock_ms();
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "%" PRIu64, i / FILES_PER_DIR);
	mkdir(name, 0755);
	snprintf(name, sizeof(name), "%" PRIu64 "/%" PRIu64, i / FILES_PER_DIR, i);
	while (unlink(name) && errno != ENOENT)
		wait_for_space(w, name, began);
	while ((fd = open(name, O_RDWR | O_CREAT, 0644)) < 0)
		wait_for_space(w, name, began);
	put_blocks(w, fd, 0, n);
	return fd;
}

static int open_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0644);

	if (fd < 0)
		die(name);
	return fd;
}

static void open_load(struct writer *w)
{
	uint64_t ranks = w->blocks;

	w->files = (uint64_t)((double)w->blocks / FILE_MEAN);
	if (w->load == TREE)
		ranks = w->files;
	else
		w->data = open_file("data");
	if (w->load == DATABASE)
		w->log = open_file("log");
	simdist_zipf_init(&w->zipf, ranks, 0.99);
}

/* The log is a sixteenth of a database. */
static uint64_t log_blocks(const struct writer *w)
{
	return w->load == DATABASE ? w->blocks / 16 : 0;
}

static void fill(struct writer *w)
{
	uint64_t i;
	int fd;

	for (i = 0; w->load == TREE && i < w->files; i++) {
		fd = put_file(w, i);
		close(fd);
	}
	for (i = 0; w->load != TREE && i < w->blocks - log_blocks(w); i++)
		put_blocks(w, w->data, i, 1);
	for (i = 0; i < log_blocks(w); i++)
		put_blocks(w, w->log, i, 1);
	sync();
}

/* The place of the block of RANK, which is no neighbour of the next one's. */
static uint64_t spread(uint64_t rank, uint64_t n)
{
	return (rank - 1) * UINT64_C(2654435761) % n;
}

/* Writes as much as is synchronized together. */
static void write_batch(struct writer *w)
{
	struct simrandom *r = &w->random;
	uint64_t end = w->written + BATCH, n = w->blocks, at;
	int fd = -1;

	if (w->load == DATABASE) {
		unsigned int k = 1 + (unsigned int)simrandom_below(r, 4);

		put_blocks(w, w->log, w->logged++ % log_blocks(w), 1);
		synchronize(w, w->log);
		put_blocks(w, w->data, simrandom_below(r, n - log_blocks(w) - 3), k);
		synchronize(w, w->data);
		return;
	}
	while (w->written < end) {
		if (w->load == TREE) {
			if (fd >= 0)
				close(fd);
			at = spread(simdist_zipf_next(&w->zipf, r), w->files);
			fd = put_file(w, at);
			continue;
		}
		at = w->load == ZIPF ? spread(simdist_zipf_next(&w->zipf, r), n) :
		     w->load == UNIFORM ? simrandom_below(r, n) :
		     simrandom_below(r, 10) ? simrandom_below(r, n / 10) :
		     n / 10 + simrandom_below(r, n - n / 10);
		put_blocks(w, w->data, at, 1);
	}
	synchronize(w, w->load == TREE ? fd : w->data);
	if (fd >= 0)
		close(fd);
}

/* Seconds of the guest go by as blocks are written. */
static void move_clock(struct writer *w)
{
	struct timespec t;

	if (w->written / SECOND == w->last_second)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += (time_t)(w->written / SECOND - w->last_second);
	if (clock_settime(CLOCK_REALTIME, &t))
		die("clock_settime");
	w->last_second = w->written / SECOND;
}

/* Sectors written to DEVICE so far. */
static uint64_t sectors(const char *device)
{
	uint64_t n = 0;
	char name[128];
	FILE *f;

	snprintf(name, sizeof(name), "/sys/block/%s/stat", device);
	f = fopen(name, "re");
	if (!f || fscanf(f, "%*u %*u %*u %*u %*u %*u %" SCNu64, &n) != 1)
		die(name);
	fclose(f);
	return n;
}

/* Seconds of CPU time of PROCESS. */
static double cpu_time(const char *process)
{
	unsigned long user = 0, kernel = 0;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%s/stat", process);
	f = fopen(name, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			   "%lu %lu", &user, &kernel) != 2)
		user = kernel = 0;
	if (f)
		fclose(f);
	return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static int compare_times(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void run(struct writer *w, uint64_t warm_up, uint64_t writes, char **args)
{
	const char *device = args[0], *process = args[1];
	int fd = open(args[2], O_RDWR);
	const uint64_t *counts = mmap(NULL, 4 * sizeof(*counts), PROT_READ,
				      MAP_SHARED, fd, 0);
	double *times = malloc((warm_up + writes + 1) * sizeof(*times));
	double began = clock_ms();
	uint64_t before[4] = { 0 }, from = 0, first = 0, user;
	size_t n = 0;

	if (counts == MAP_FAILED || !times)
		die(args[2]);
	while (w->written < warm_up + writes && clock_ms() - began < LIMIT * 1e3) {
		double start = clock_ms();

		if (!first && w->written >= warm_up) {
			first = w->written;
			from = sectors(device);
			memcpy(before, counts, sizeof(before));
			n = 0;
		}
		write_batch(w);
		times[n++] = clock_ms() - start;
		move_clock(w);
	}
	user = w->written - first;
	if (!first || !user) {
		printf("slow after %" PRIu64 "\n", w->written);
		exit(3);
	}
	qsort(times, n, sizeof(*times), compare_times);
	printf("%" PRIu64 " %.2f %.2f %" PRIu64 " %.0f %.2f %.1f %.2f %.2f %.2f %.1f\n",
	       user, (double)(sectors(device) - from) / (double)user / 8,
	       1 + (double)(counts[2] - before[2]) / (double)user,
	       counts[0] - before[0],
	       (double)(counts[2] - before[2]) /
		       (double)(counts[0] - before[0] ? counts[0] - before[0] : 1),
	       cpu_time(process), (clock_ms() - began) / 1e3, times[n / 2],
	       times[n - 1 - n / 100], times[n - 1], w->waited);
	free(times);
}

int main(int argc, char **argv)
{
	struct writer w = { .data = -1, .log = -1 };
	bool filling = argc == 4 && !strcmp(argv[1], "fill");

	if (!filling && (argc != 10 || strcmp(argv[1], "run") != 0)) {
		fputs("usage: livewrite fill LOAD BLOCKS\n"
		      "       livewrite run LOAD BLOCKS WARM-UP WRITES SEED DEVICE "
		      "PROCESS COUNTS\n", stderr);
		return 2;
	}
	while (w.load < LOADS && strcmp(argv[2], names[w.load]) != 0)
		w.load++;
	if (w.load == LOADS)
		die(argv[2]);
	w.blocks = strtoull(argv[3], NULL, 10);
	open_load(&w);
	if (filling) {
		w.random.state = 1;
		fill(&w);
		return 0;
	}
	w.random.state = strtoull(argv[6], NULL, 10);
	run(&w, strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10), argv + 7);
	return 0;
}
