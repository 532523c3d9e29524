// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Temporary files without a name.
 *
 * If the system supports it, the file never has a name; otherwise the name is
 * removed at once.  So no other process can open it, and it is freed when the
 * process ends, for any reason.  It is read and written by offset, so threads share
 * it without a lock.
 */
#include "config.h"

#include "base/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 4096

static int failed(struct context *cx, const char *what, int err)
{
	return fail(cx, -ENOMEM, "%s: %s a temporary file beyond the memory "
				 "budget: %s", cx->scratch_dir, what,
				 strerror(err));
}

int tempfile_open(struct context *cx, int *fd)
{
	char path[PATH_MAX_BYTES];
	int n;

	*fd = -1;
	if (!cx->scratch_dir)
		return fail(cx, -ENOMEM, "the memory budget is used up");
	*fd = open(cx->scratch_dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL,
		   S_IRUSR | S_IWUSR);
	/* Without O_TMPFILE: create a file and unlink it. */
	if (*fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		n = snprintf(path, sizeof(path), "%s/nilfs2-XXXXXX",
			     cx->scratch_dir);
		if (n < 0 || (size_t)n >= sizeof(path))
			return failed(cx, "opening", ENAMETOOLONG);
		*fd = mkostemp(path, O_CLOEXEC);
		if (*fd >= 0)
			unlink(path);
	}
	return *fd < 0 ? failed(cx, "opening", errno) : 0;
}

int tempfile_read(struct context *cx, int fd, uint64_t off, void *buf,
		  size_t len)
{
	char *p = buf;
	ssize_t n;

	for (; len; p += n, off += (uint64_t)n, len -= (size_t)n) {
		n = pread(fd, p, len, (off_t)off);
		if (n < 0 && errno != EINTR)
			return failed(cx, "reading", errno);
		if (!n)
			return failed(cx, "reading", EIO);
		if (n < 0)
			n = 0;
	}
	return 0;
}

int tempfile_write(struct context *cx, int fd, uint64_t off, const void *buf,
		   size_t len)
{
	const char *p = buf;
	ssize_t n;

	for (; len; p += n, off += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(fd, p, len, (off_t)off);
		if (n < 0 && errno != EINTR)
			return failed(cx, "writing", errno);
		if (n < 0)
			n = 0;
	}
	return 0;
}
