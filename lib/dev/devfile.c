// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Image files and block devices.
 *
 * Both are a descriptor that is read and written at offsets.  They differ in how the
 * size is determined, how space is deallocated and how other users are excluded.  A
 * writer claims a block device (O_EXCL), which the kernel refuses while the device
 * is mounted; an image file, also the backing file of a loop device, is locked
 * (lock.h), by readers, too.  Requests go through the page cache.  Long writes
 * bypass it if the caller requests that; reads of a mounted device bypass it, as the
 * kernel's writes do.
 *
 * A lock does not exclude programs that take none, such as a mount through a loop
 * device.  Any change of a volume changes its superblocks, so a guard saves their
 * bytes when the volume is opened, and compares them before a commit begins, and
 * after each flush in it.
 */
#include "config.h"

#include "dev/devfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/direct.h"
#include "dev/lock.h"
#include "dev/probe.h"

#define READAHEAD_MAX (256u << 10)

struct guard_range {
	uint64_t off;
	uint8_t bytes[GUARD_BYTES];
	bool known;
};

struct devfile {
	struct dev dev;
	int fd;
	int backing;	/* backing file of a loop device, locked, or -1 */
	struct direct direct;
	struct direct uncached;	/* for reads of a mounted device */
	struct guard {
		pthread_mutex_t lock;
		struct guard_range ranges[GUARD_RANGES];
		bool on, due, written;
	} guard;
	char path[];
};

static int io_failure(struct dev *dev, struct context *cx, const char *what,
		      uint64_t off, int err)
{
	return fail(cx, -err, "%s: %s at byte %" PRIu64, dev->name, what, off);
}

/* 1, 0 if the file ends before the end of the range, or a failure without a text. */
static int guard_read(const struct devfile *file, uint64_t off,
		      uint8_t bytes[GUARD_BYTES])
{
	size_t done = 0;

	while (done < GUARD_BYTES) {
		ssize_t n = pread(file->fd, bytes + done, GUARD_BYTES - done,
				  (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		done += (size_t)n;
	}
	return 1;
}

void devfile_guard(struct dev *dev, const uint64_t offsets[GUARD_RANGES])
{
	struct devfile *file = (struct devfile *)dev;
	struct guard_range *r = file->guard.ranges;
	unsigned int i;

	for (i = 0; i < GUARD_RANGES; i++) {
		r[i].off = offsets[i];
		r[i].known = offsets[i] != GUARD_NOTHING &&
			     guard_read(file, offsets[i], r[i].bytes) == 1;
	}
	file->guard.on = file->guard.due = true;
}

/*
 * Must be called before a change: the first one since a flush compares the saved bytes
 * with the file.  -ESTALE if another program changed or truncated them, -EIO if they
 * cannot be read.  May be called by several threads at once.
 */
static int check_guard(struct devfile *file, struct context *cx)
{
	struct guard *g = &file->guard;
	uint8_t bytes[GUARD_BYTES];
	unsigned int i;
	int n, err = 0;

	if (!g->on)
		return 0;
	pthread_mutex_lock(&g->lock);
	for (i = 0; i < GUARD_RANGES && g->due && !err; i++) {
		const struct guard_range *r = &g->ranges[i];

		if (!r->known)
			continue;
		n = guard_read(file, r->off, bytes);
		if (n < 0)
			err = io_failure(&file->dev, cx, "read", r->off, -n);
		else if (!n || memcmp(bytes, r->bytes, sizeof(bytes)))
			err = fail(cx, -ESTALE, "%s: another program changed the "
				   "volume; nothing%s was written", file->path,
				   g->written ? " more" : "");
	}
	if (!err) {
		g->due = false;
		g->written = true;
	}
	pthread_mutex_unlock(&g->lock);
	return err;
}

/* Drops saved bytes in [OFF, END), which were discarded or truncated. */
static void forget_guarded(struct devfile *file, uint64_t off, uint64_t end)
{
	struct guard_range *r = file->guard.ranges;

	pthread_mutex_lock(&file->guard.lock);
	for (; r < file->guard.ranges + GUARD_RANGES; r++)
		r->known &= end <= r->off || off >= r->off + GUARD_BYTES;
	pthread_mutex_unlock(&file->guard.lock);
}

static int devfile_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int count)
{
	const struct devfile *file = (const struct devfile *)dev;

	while (count) {
		ssize_t n = file->uncached.fd >= 0 ?
			    direct_preadv(&file->uncached, iov, count, (off_t)off) :
			    preadv(file->fd, iov, count, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return io_failure(dev, cx, "read", off, errno);
		if (!n)
			return io_failure(dev, cx, "unexpected end of file",
					  off, EIO);
		off += (size_t)n;
		while (count && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* A request is limited to the size that the disk is assumed to read at once. */
static void devfile_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	const struct devfile *file = (const struct devfile *)dev;
	uint64_t n;

	if (file->uncached.fd >= 0)
		return;
	for (; len; off += n, len -= n) {
		n = len < READAHEAD_MAX ? len : READAHEAD_MAX;
		posix_fadvise(file->fd, (off_t)off, (off_t)n,
			      POSIX_FADV_WILLNEED);
	}
}

/* Writes directly if possible. */
static int devfile_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct devfile *file = (struct devfile *)dev;
	struct guard *g = &file->guard;
	uint64_t at = off, end = off + len, from, to;
	struct guard_range *r;
	const char *p = buf;
	int err = check_guard(file, cx);

	while (!err && at < end) {
		bool direct;
		size_t share = direct_share(&file->direct, at, p,
					    (size_t)(end - at), &direct);
		ssize_t n = pwrite(direct ? file->direct.fd : file->fd, p,
				   share, (off_t)at);

		/* The assumed alignment may have been wrong. */
		if (direct && n < 0 && errno == EINVAL)
			n = pwrite(file->fd, p, share, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return io_failure(dev, cx, "write", at,
					  n ? errno : EIO);
		p += n;
		at += (size_t)n;
	}
	if (err || !g->on)
		return err;
	/* Update the saved bytes of the guard. */
	pthread_mutex_lock(&g->lock);
	for (r = g->ranges; r < g->ranges + GUARD_RANGES; r++) {
		from = off > r->off ? off : r->off;
		to = end < r->off + GUARD_BYTES ? end : r->off + GUARD_BYTES;
		if (from < to)
			memcpy(r->bytes + (from - r->off),
			       (const char *)buf + (from - off), to - from);
	}
	pthread_mutex_unlock(&g->lock);
	return 0;
}

/* A flush begins another step of a commit. */
static int devfile_flush(struct dev *dev, struct context *cx)
{
	struct devfile *file = (struct devfile *)dev;

	pthread_mutex_lock(&file->guard.lock);
	file->guard.due = true;
	pthread_mutex_unlock(&file->guard.lock);
	if (dev->is_block_device ? fsync(file->fd) : fdatasync(file->fd))
		return fail(cx, -errno, "%s: flush", dev->name);
	return 0;
}

/* Devices and file systems report "not supported" by several errors. */
static bool is_unsupported(int err)
{
	return err == EOPNOTSUPP || err == ENOTTY || err == ENOSYS;
}

/*
 * Discards the range or, with ZEROS, makes it read as zeros, by a hole or
 * BLKZEROOUT.  A block device discards only the whole sectors inside the range.
 */
static int devfile_clear(struct dev *dev, struct context *cx, uint64_t off,
			 uint64_t len, bool zeros)
{
	struct devfile *file = (struct devfile *)dev;
	uint64_t mask = zeros ? 0 : dev->sector_size - 1;
	uint64_t first = (off + mask) & ~mask, end = (off + len) & ~mask;
	uint64_t range[2] = { first, end - first };
	int ret = check_guard(file, cx);

	if (ret)
		return ret;
	if (!dev->is_block_device)
		ret = fallocate(file->fd,
				FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)off, (off_t)len);
	else if (first < end)
		ret = ioctl(file->fd, zeros ? BLKZEROOUT : BLKDISCARD, range);
	if (!ret) {
		forget_guarded(file, off, off + len);
		return 0;
	}
	if (is_unsupported(errno) || (zeros && errno == EINVAL))
		return -EOPNOTSUPP;
	return io_failure(dev, cx, zeros ? "zeroing" : "discard", off, errno);
}

static int devfile_allocate(struct dev *dev, struct context *cx, uint64_t off,
			    uint64_t len)
{
	const struct devfile *file = (const struct devfile *)dev;

	if (dev->is_block_device)
		return -EOPNOTSUPP;
	if (!fallocate(file->fd, FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len))
		return 0;
	if (is_unsupported(errno))
		return -EOPNOTSUPP;
	return io_failure(dev, cx, "allocation", off, errno);
}

int devfile_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	struct devfile *file = (struct devfile *)dev;
	int ret;

	if (dev->is_block_device && size <= dev->size)
		return 0;
	if (dev->is_block_device || size > INT64_MAX)
		return fail(cx, -EINVAL, "%s: resize to %" PRIu64 " bytes",
			    dev->name, size);
	ret = check_guard(file, cx);
	if (ret)
		return ret;
	if (ftruncate(file->fd, (off_t)size))
		return fail(cx, -errno, "%s: resize to %" PRIu64 " bytes",
			    dev->name, size);
	forget_guarded(file, size, UINT64_MAX);
	dev->size = size;
	return 0;
}

static void devfile_close(struct dev *dev)
{
	struct devfile *file = (struct devfile *)dev;
	const int fds[] = { file->direct.fd, file->uncached.fd, file->backing,
			    file->fd };
	unsigned int i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(file);
}

/* A file system without holes reports data everywhere. */
static bool devfile_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	off_t data;

	if (dev->is_block_device)
		return false;
	data = lseek(devfile_fd(dev), (off_t)off, SEEK_DATA);
	return data < 0 ? errno == ENXIO : (uint64_t)data >= off + len;
}

static const struct dev_ops devfile_ops = {
	.readv = devfile_readv,
	.is_hole = devfile_is_hole,
	.readahead = devfile_readahead,
	.write = devfile_write,
	.flush = devfile_flush,
	.clear = devfile_clear,
	.allocate = devfile_allocate,
	.resize = devfile_resize,
	.close = devfile_close,
};

static struct devfile *devfile_new(struct context *cx, const char *path,
				   bool writable)
{
	size_t path_size = strlen(path) + 1;
	struct devfile *file = calloc(1, sizeof(*file) + path_size);

	if (!file) {
		fail(cx, -ENOMEM, "%s: open", path);
		return NULL;
	}
	memcpy(file->path, path, path_size);
	file->fd = -1;
	file->backing = -1;
	file->direct.fd = -1;
	file->uncached.fd = -1;
	file->dev.ops = &devfile_ops;
	file->dev.name = file->path;
	file->dev.writable = writable;
	file->dev.sector_size = 512;
	pthread_mutex_init(&file->guard.lock, NULL);
	return file;
}

int devfile_open(struct dev **devp, struct context *cx, const char *path,
		 unsigned int flags)
{
	/* Without O_NONBLOCK the open of a FIFO would wait for a writer. */
	int oflags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY, sector_size, ret;
	bool writable = flags & DEVFILE_WRITE;
	struct devfile *file = devfile_new(cx, path, writable);
	struct stat st;
	struct dev *dev;

	if (!file)
		return -ENOMEM;
	dev = &file->dev;
	oflags |= writable ? O_RDWR : O_RDONLY;
	if (writable && !stat(path, &st) && S_ISBLK(st.st_mode))
		oflags |= O_EXCL;
	file->fd = open(path, oflags);
	/* The type and the size, and a lock. */
	if (file->fd < 0 && errno == EBUSY) {
		ret = fail(cx, -EBUSY, "%s: in use by the system or another "
			   "process", path);
	} else if (file->fd < 0) {
		ret = fail(cx, -errno, "%s: %s", path,
			   writable ? "open for writing" : "open");
	} else if (fstat(file->fd, &st)) {
		ret = fail(cx, -errno, "%s: status", path);
	} else if (S_ISDIR(st.st_mode)) {
		ret = fail(cx, -EISDIR, "%s: open", path);
	} else if (S_ISREG(st.st_mode) && !st.st_size &&
		   !(flags & DEVFILE_EMPTY)) {
		ret = fail_said(cx, -ENODATA, "%s: the file is empty", path);
	} else if (S_ISREG(st.st_mode)) {
		dev->size = (uint64_t)st.st_size;
		ret = lock_file(cx, path, file->fd, writable);
	} else if (!S_ISBLK(st.st_mode)) {
		ret = fail_said(cx, -ENOTBLK, "%s: neither an image file nor a "
				"block device", path);
	} else if (ioctl(file->fd, BLKGETSIZE64, &dev->size)) {
		ret = fail(cx, -errno, "%s: size of block device", path);
	} else if (ioctl(file->fd, BLKSSZGET, &sector_size) ||
		   sector_size < 512) {
		ret = fail(cx, -EIO, "%s: sector size of block device", path);
	} else {
		dev->sector_size = (uint32_t)sector_size;
		dev->is_block_device = true;
		if (!writable && probe_is_claimed(path))
			direct_open(&file->uncached, file->fd, O_RDONLY);
		ret = lock_backing_file(cx, "/sys", path, st.st_rdev, writable,
					&file->backing);
	}
	if (ret)
		devfile_close(dev);
	else
		*devp = dev;
	return ret;
}

int devfile_create(struct dev **devp, struct context *cx,
		   const struct output *o)
{
	struct devfile *file = devfile_new(cx, o->path, true);
	int ret = 0;

	if (!file)
		return -ENOMEM;
	file->fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0)
		ret = fail(cx, -errno, "%s: open", file->path);
	else
		ret = lock_file(cx, file->path, file->fd, true);
	/* Without locks this is safe, too: no other program knows the file yet. */
	if (ret == -ENOLCK) {
		fail_clear(cx);
		ret = 0;
	}
	if (ret)
		devfile_close(&file->dev);
	else
		*devp = &file->dev;
	return ret;
}

bool devfile_direct(struct dev *dev)
{
	struct devfile *file = (struct devfile *)dev;

	return file->direct.fd >= 0 ||
	       direct_open(&file->direct, file->fd, O_WRONLY);
}

int devfile_fd(const struct dev *dev)
{
	return ((const struct devfile *)dev)->fd;
}
