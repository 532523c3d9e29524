// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts what a collector asks the kernel for: to be preloaded to nilfs_cleanerd and to
 * gc.nilfs2, so that the same is counted of both.
 *
 * The file of the environment variable LIVECOUNT has four numbers of 64 bits, which
 * stay if the collector is killed: calls of NILFS_IOCTL_CLEAN_SEGMENTS, segments
 * cleaned, blocks moved, and the microseconds that the calls took.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nilfs2_api.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int ioctl_fn(int fd, unsigned long request, void *arg);

static uint64_t *open_counts(void)
{
	const char *name = getenv("LIVECOUNT");
	int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4 * sizeof(uint64_t),
					      PROT_READ | PROT_WRITE, MAP_SHARED,
					      fd, 0);

	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int ioctl(int fd, unsigned long request, ...)
{
	static uint64_t *counts;
	const struct nilfs_argv *argv;
	ioctl_fn *next = (ioctl_fn *)dlsym(RTLD_NEXT, "ioctl");
	uint64_t began;
	va_list list;
	void *arg;
	int ret, error;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if (request != NILFS_IOCTL_CLEAN_SEGMENTS)
		return next(fd, request, arg);
	if (!counts)
		counts = open_counts();
	began = now();
	ret = next(fd, request, arg);
	error = errno;
	if (!ret && counts) {
		argv = arg;
		counts[0]++;
		counts[1] += argv[4].v_nmembs;
		counts[2] += argv[0].v_nmembs + argv[3].v_nmembs;
		counts[3] += now() - began;
	}
	errno = error;
	return ret;
}
