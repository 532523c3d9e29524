// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening files and directories of a source.
 *
 * Only the owner may read a file without changing its access time; for others
 * that open fails, and is repeated without the flag.  For directories this is
 * tried each time, for files once: there are many of them.
 */
#include "config.h"

#include "mkfs/source/sourceopen.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int sourceopen_directory(int fd, const char *name, int flags, struct statx *st)
{
	int opened, err;

	flags |= O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	opened = openat(fd, name, flags | O_NOATIME);
	if (opened < 0 && errno == EPERM)
		opened = openat(fd, name, flags);
	if (opened < 0)
		return -errno;
	if (!statx(opened, "", AT_EMPTY_PATH, STATX_BASIC_STATS, st))
		return opened;
	err = -errno;
	close(opened);
	return err;
}

/*
 * Do not block on a file that has become a FIFO.  If another process has a
 * lease on the file, wait as any open does.
 */
static int open_file(int dirfd, const char *name, int flags)
{
	int fd = openat(dirfd, name, flags | O_NONBLOCK);

	if (fd < 0 && errno == EWOULDBLOCK)
		fd = openat(dirfd, name, flags);
	return fd;
}

int sourceopen_file(int fd, const char *name, int *noatime)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC, opened;
	int more = __atomic_load_n(noatime, __ATOMIC_RELAXED);

	opened = open_file(fd, name, flags | more);
	if (opened < 0 && errno == EPERM && more) {
		__atomic_store_n(noatime, 0, __ATOMIC_RELAXED);
		opened = open_file(fd, name, flags);
	}
	return opened < 0 ? -errno : opened;
}
