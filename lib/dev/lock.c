// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Locks on image files.
 *
 * The kernel excludes a second writer of a block device (O_EXCL), but not of a
 * file.  Open file description locks are used, as by QEMU; the backing file of
 * a loop device is locked by users of the device.  They do not exclude programs
 * that take no locks, such as the loop device itself.
 */
#include "config.h"

#include "dev/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dev/probe.h"

int lock_file(struct context *cx, const char *path, int fd, bool writer)
{
	struct flock whole = {
		.l_type = writer ? F_WRLCK : F_RDLCK,
		.l_whence = SEEK_SET,
	};

	if (!fcntl(fd, F_OFD_SETLK, &whole))
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return fail(cx, -EBUSY, "%s: in use by another process", path);
	if (!writer)
		return 0;
	return fail_said(cx, -ENOLCK, "%s: cannot be locked against other "
			 "programs: %s; copy it to a file system that has "
			 "locks, or use it as a loop device", path,
			 strerror(errno));
}

int lock_backing_file(struct context *cx, const char *sys, const char *path,
		      uint64_t rdev, bool writer, int *fd)
{
	/* Of the device itself, or of the device that it is a partition of. */
	static const char *const places[] = { "loop", "../loop" };
	char name[PATH_MAX];
	unsigned int i;
	struct stat st;
	int err;

	*fd = -1;
	for (i = 0; i < 2 && *fd < 0; i++) {
		if (probe_line(name, sizeof(name),
			       "%s/dev/block/%u:%u/%s/backing_file", sys,
			       major(rdev), minor(rdev), places[i]))
			*fd = open(name, O_CLOEXEC | O_NONBLOCK |
					 (writer ? O_RDWR : O_RDONLY));
		/* A loop device over a block device needs no lock. */
		if (*fd >= 0 && (fstat(*fd, &st) || !S_ISREG(st.st_mode))) {
			close(*fd);
			*fd = -1;
		}
	}
	err = *fd < 0 ? 0 : lock_file(cx, path, *fd, writer);
	if (err == -ENOLCK) {
		fail_clear(cx);
		err = 0;
	}
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}
