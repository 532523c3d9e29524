// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads and writes that bypass the page cache.
 *
 * A kernel that has a volume mounted writes its logs without the page cache of the
 * block device, which keeps the old content: only direct reads return the new one.
 * Blocks that the kernel itself has in that cache, such as the superblocks, are
 * written back first.
 *
 * Copying data into the cache takes a third of the time of a stream, and evicts
 * other data.  The kernel keeps both kinds of access coherent by page: a direct
 * write of one half of a page could be undone when the other half, cached, is
 * written back.  So only whole pages are written directly, and the rest of a write,
 * before and after them, through the cache.  Short writes, for which no caller
 * waits, also use the cache.
 */
#include "config.h"

#include "dev/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LEAST (64u << 10)
#define ALIGN_GUESS 4096u	/* the largest known sector */

bool direct_open(struct direct *d, int fd, int access)
{
	long page = sysconf(_SC_PAGESIZE);
	struct statfs fs;
	struct stat st;
	char path[32];

	d->fd = -1;
	/* The file system of the device node gives no information about the device. */
	if (page <= 0 ||
	    (!fstat(fd, &st) && S_ISREG(st.st_mode) && !fstatfs(fd, &fs) &&
	     ((unsigned long)fs.f_type == TMPFS_MAGIC ||
	      (unsigned long)fs.f_type == RAMFS_MAGIC)))
		return false;
	/* Works also after the file was renamed. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	d->fd = open(path, access | O_DIRECT | O_CLOEXEC | O_NONBLOCK |
			   O_NOCTTY);
	if (d->fd < 0)
		return false;
	d->align = ALIGN_GUESS;
	d->buffer_align = ALIGN_GUESS;
#ifdef STATX_DIOALIGN
	struct statx stx;

	if (!statx(d->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) &&
	    stx.stx_mask & STATX_DIOALIGN) {
		d->align = stx.stx_dio_offset_align;
		d->buffer_align = stx.stx_dio_mem_align;
	}
#endif
	/* 0: not supported. */
	if (!d->align || !d->buffer_align) {
		close(d->fd);
		d->fd = -1;
		return false;
	}
	if (d->align < (unsigned long)page)
		d->align = (uint32_t)page;
	return true;
}

#define READ_MOST (256u << 10)

ssize_t direct_preadv(const struct direct *d, const struct iovec *iov,
		      int count, off_t off)
{
	size_t before = (size_t)off % d->align, len = 0, done = 0, part;
	char *buf = NULL;
	ssize_t n;
	int i, err;

	for (i = 0; i < count && len < READ_MOST; i++)
		len += iov[i].iov_len;
	if (len > READ_MOST)
		len = READ_MOST;
	part = before + len + d->align - 1;
	part -= part % d->align;
	err = posix_memalign((void **)&buf, d->buffer_align > sizeof(void *) ?
			     d->buffer_align : sizeof(void *), part);
	if (err) {
		errno = err;
		return -1;
	}
	n = pread(d->fd, buf, part, off - (off_t)before);
	if (n > 0) {
		n = n > (ssize_t)before ? n - (ssize_t)before : 0;
		n = n > (ssize_t)len ? (ssize_t)len : n;
	}
	for (i = 0; n > 0 && done < (size_t)n; i++) {
		part = (size_t)n - done < iov[i].iov_len ? (size_t)n - done :
							    iov[i].iov_len;
		memcpy(iov[i].iov_base, buf + before + done, part);
		done += part;
	}
	free(buf);
	return n;
}

size_t direct_share(const struct direct *d, uint64_t off, const void *p,
		    size_t len, bool *yes)
{
	size_t head = d->fd < 0 ? 0 : -off % d->align;

	*yes = false;
	if (d->fd < 0 || len < head + LEAST ||
	    ((uintptr_t)p + head) % d->buffer_align)
		return len;
	if (head)
		return head;
	*yes = true;
	return len - len % d->align;
}
