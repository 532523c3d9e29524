// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes around the page cache: they reach the file, together with writes by
 * the cache to the same pages, and do not stay in the cache.
 */
#include "config.h"

#include "dev/devfile.h"
#include "dev/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

#define SIZE (16u << 20)
#define WRITES 300
#define THREADS 3

static const char image[] = "t_dev_direct.img";

struct half {
	struct dev *dev;
	unsigned char *want;
	unsigned int number;
	int ret;
};

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static struct dev *create_image(const char *path)
{
	struct context cx;
	struct dev *dev = NULL;

	context_init(&cx);
	close(open(path, O_CREAT | O_WRONLY | O_EXCL, 0600));
	if (devfile_open(&dev, &cx, path, DEVFILE_WRITE | DEVFILE_EMPTY) ||
	    devfile_resize(dev, &cx, SIZE)) {
		printf("Bail out! %s: %s\n", path, cx.failure);
		exit(99);
	}
	return dev;
}

/*
 * 1: in the page cache, 0: not, -1: the system does not say.  To read it, even
 * without waiting, would bring it there.
 */
static int is_cached(struct dev *dev, off_t off)
{
	off_t page = off & -(off_t)sysconf(_SC_PAGESIZE);
	unsigned char resident = 0;
	void *map = mmap(NULL, 1, PROT_READ, MAP_SHARED, devfile_fd(dev), page);
	int ret;

	if (map == MAP_FAILED)
		return -1;
	ret = mincore(map, 1, &resident);
	munmap(map, 1);
	return ret ? -1 : resident & 1;
}

static void test_cache(struct dev *dev, unsigned char *buf)
{
	struct context cx;

	context_init(&cx);
	memset(buf, 1, 1 << 20);
	dev_write(dev, &cx, 1 << 20, buf, 1 << 20);
	if (is_cached(dev, 1 << 20) < 0)
		return (void)ok(true, "# SKIP not known what is cached");
	is_int(is_cached(dev, 1 << 20), 0, "a long write leaves nothing there");
	dev_write(dev, &cx, 4 << 20, buf, 4096);
	is_int(is_cached(dev, 4 << 20), 1, "a short one goes by the cache");
	dev_write(dev, &cx, (6 << 20) + 1024, buf + 1024, 1 << 20);
	is_int(is_cached(dev, (6 << 20) + 1024), 1,
	       "so does the beginning of one inside a page");
	is_int(is_cached(dev, (6 << 20) + (1 << 19)), 0,
	       "but not what follows");
	is_int(is_cached(dev, (7 << 20) + 1023), 1, "up to the last page");
}

static bool is_cached_soon(struct dev *dev, off_t off)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int i;

	for (i = 0; i < 1000 && is_cached(dev, off) != 1; i++)
		nanosleep(&pause, NULL);
	return is_cached(dev, off) == 1;
}

/* A request of 1 MiB is cut on the way. */
static void test_readahead(struct dev *dev, unsigned char *buf)
{
	uint64_t reads = dev->stats.reads;
	struct context cx;

	context_init(&cx);
	memset(buf, 1, 1 << 20);
	dev_write(dev, &cx, 8 << 20, buf, 1 << 20);
	dev_write(dev, &cx, 9 << 20, buf, 1 << 20);
	if (is_cached(dev, 8 << 20))
		return (void)ok(true, "# SKIP all is cached, or unknown");
	posix_fadvise(devfile_fd(dev), 0, 0, POSIX_FADV_RANDOM);
	dev_readahead(dev, 8 << 20, 1 << 20);
	ok(is_cached_soon(dev, 8 << 20), "what will be read is read ahead");
	ok(is_cached_soon(dev, (9 << 20) - 1), "to its end");
	is_int(is_cached(dev, 9 << 20), 0, "and no more");
	dev_readahead(dev, SIZE - 1, UINT64_MAX);
	dev_readahead(dev, UINT64_MAX, 1);
	is_int((intmax_t)(dev->stats.reads - reads), 0, "which is no read");
}

/* Long and short writes at odd places, each read back, and all at the end. */
static void test_content(struct dev *dev, unsigned char *buf,
			 unsigned char *want)
{
	uint32_t i, wrong = 0, seed = 5, off, len, skew;
	struct context cx;
	size_t j;

	context_init(&cx);
	dev_read(dev, &cx, 0, want, SIZE);
	for (i = 0; i < WRITES; i++) {
		skew = rnd(&seed, 3) ? 0 : rnd(&seed, 5000);
		len = 1 + rnd(&seed, rnd(&seed, 2) ? 1 << 20 : 5000);
		off = rnd(&seed, SIZE - len);
		if (rnd(&seed, 2))
			off &= ~1023u;
		for (j = 0; j < len; j++)
			buf[skew + j] = (unsigned char)(i + j / 100);
		memcpy(want + off, buf + skew, len);
		wrong += dev_write(dev, &cx, off, buf + skew, len) != 0;
		if (rnd(&seed, 2))
			continue;
		wrong += dev_read(dev, &cx, off, buf, len) != 0;
		wrong += memcmp(buf, want + off, len) != 0;
	}
	is_int(wrong, 0, "what was written is read back");
	is_int(dev_flush(dev, &cx), 0, "and flushed");
}

/* Writes every THREADS-th piece of about 100 KiB, none ending with a page. */
static void *write_pieces(void *arg)
{
	struct half *h = arg;
	const uint32_t piece = 99 << 10;
	unsigned char *buf = aligned_alloc(4096, 100 << 10);
	uint32_t n, off;
	struct context cx;

	context_init(&cx);
	h->ret = buf ? 0 : -ENOMEM;
	for (n = h->number; (off = n * piece) + piece <= SIZE; n += THREADS) {
		unsigned char *p = buf + off % 4096;

		if (h->ret)
			break;
		if (off % 4096 + piece > 100 << 10)
			p = buf;
		memset(p, (int)n + 1, piece);
		memcpy(h->want + off, p, piece);
		h->ret = dev_write(h->dev, &cx, off, p, piece);
	}
	free(buf);
	return NULL;
}

static void test_threads(struct dev *dev, unsigned char *want)
{
	struct half halves[THREADS];
	pthread_t threads[THREADS];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < THREADS; i++) {
		halves[i] = (struct half){.dev = dev, .want = want, .number = i};
		if (pthread_create(&threads[i], NULL, write_pieces, &halves[i]))
			exit(99);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ret |= halves[i].ret;
	}
	is_int(ret, 0, "several threads write parts of the same pages");
}

/* The file as a new descriptor reads it. */
static void test_file(const unsigned char *want, unsigned char *buf,
		      const char *name)
{
	int fd = open(image, O_RDONLY);

	ok(pread(fd, buf, SIZE, 0) == SIZE && !memcmp(buf, want, SIZE), "%s",
	   name);
	close(fd);
}

static void test_allocate(void)
{
	struct context cx;
	struct dev *dev = create_image(image);
	struct stat before, after;
	unsigned char byte = 7;

	context_init(&cx);
	fstat(devfile_fd(dev), &before);
	is_int(dev_allocate(dev, &cx, 1 << 20, 2 << 20), 0, "space is given");
	fstat(devfile_fd(dev), &after);
	is_int(after.st_size, SIZE, "the file is as long as before");
	dev_read(dev, &cx, 2 << 20, &byte, 1);
	is_int(byte, 0, "and still empty");
	if (after.st_blocks == before.st_blocks)
		ok(true, "# SKIP this file system gives space when it writes");
	else
		ok(after.st_blocks - before.st_blocks >= 4096,
		   "it has 2 MiB more");
	is_int(dev_allocate(dev, &cx, SIZE - 1, 2), -EIO, "past the end: none");
	dev_close(dev);
	unlink(image);
}

static void test_memory(void)
{
	static const char path[] = "/dev/shm/t_dev_direct.img";
	struct dev *dev;

	if (access("/dev/shm", W_OK))
		return (void)ok(true, "# SKIP no /dev/shm");
	unlink(path);
	dev = create_image(path);
	ok(!devfile_direct(dev), "a file in memory is not written directly");
	dev_close(dev);
	unlink(path);
}

/* What goes how, of a descriptor with sectors of 512 bytes and large pages. */
static void test_shares(void)
{
	const struct direct d = {.fd = 1, .align = 65536, .buffer_align = 512};
	const char *p = NULL;
	bool yes;

	is_int(direct_share(&d, 0, p, 200000, &yes), 3 * 65536, "whole pages");
	ok(yes, "go directly");
	is_int(direct_share(&d, 1024, p, 200000, &yes), 65536 - 1024,
	       "what is before them");
	ok(!yes, "does not");
	is_int(direct_share(&d, 0, p + 256, 200000, &yes), 200000,
	       "a buffer in between sectors");
	ok(!yes, "does not either");
	is_int(direct_share(&d, 1024, p, 70000, &yes), 70000,
	       "a write with no page in it");
	ok(!yes, "nor does that");
}

int main(void)
{
	unsigned char *buf = aligned_alloc(4096, SIZE + 8192);
	unsigned char *want = calloc(1, SIZE);
	struct dev *dev;

	unlink(image);
	if (!buf || !want) {
		free(want);
		free(buf);
		return 99;
	}
	test_shares();
	test_allocate();
	test_memory();
	dev = create_image(image);
	if (devfile_direct(dev)) {
		ok(devfile_direct(dev), "asking twice does no harm");
		test_cache(dev, buf);
		test_readahead(dev, buf);
	} else {
		ok(true, "# SKIP no direct writes in this folder");
	}
	test_content(dev, buf, want);
	test_file(want, buf, "the file holds all that was written");
	test_threads(dev, want);
	test_file(want, buf, "and neither write undoes the other");
	dev_close(dev);
	unlink(image);
	free(want);
	free(buf);
	return tap_done();
}
