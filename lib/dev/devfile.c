// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Image files and block devices.
 *
 * Both are a descriptor that is read and written at offsets; they differ in how
 * the size is determined, how space is deallocated and how other users are
 * excluded.  A writer claims a block device (O_EXCL), which the kernel refuses
 * while the device is mounted; an image file, also the backing file of a loop
 * device, is locked (lock.h), by readers, too.  Requests go through the page
 * cache; long writes bypass it if the caller requests that, and so do reads of a
 * device that is mounted, as the kernel's writes do.
 */
#include "config.h"

#include "dev/devfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dev/direct.h"
#include "dev/guard.h"
#include "dev/lock.h"
#include "dev/probe.h"

#define READAHEAD_MAX (256u << 10)

struct devfile {
	struct dev dev;
	int fd;
	int backing;	/* the file behind a loop device, locked, or -1 */
	struct direct direct;
	struct direct uncached;	/* reads what is mounted */
	struct guard guard;
	char path[];
};

static struct devfile *to_devfile(struct dev *dev)
{
	return (struct devfile *)dev;
}

static int io_failure(struct dev *dev, struct context *cx, const char *what,
		      uint64_t off, int err)
{
	return fail(cx, -err, "%s: %s at byte %" PRIu64, dev->name, what, off);
}

/* Takes N bytes off the front of *IOV; what remains starts at *IOV. */
static void advance_iov(struct iovec **iov, int *count, size_t n)
{
	while (*count && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		++*iov;
		--*count;
	}
	if (*count) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

static int devfile_readv(struct dev *dev, struct context *cx, uint64_t off,
			 struct iovec *iov, int count)
{
	const struct devfile *file = to_devfile(dev);

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
		advance_iov(&iov, &count, (size_t)n);
	}
	return 0;
}

static int devfile_read(struct dev *dev, struct context *cx, uint64_t off,
			void *buf, size_t len)
{
	struct iovec iov = { buf, len };

	return devfile_readv(dev, cx, off, &iov, len != 0);
}

/* A request is cut at what the disk is thought to read at once. */
static void devfile_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	uint64_t n;

	if (to_devfile(dev)->uncached.fd >= 0)
		return;
	for (; len; off += n, len -= n) {
		n = len < READAHEAD_MAX ? len : READAHEAD_MAX;
		posix_fadvise(to_devfile(dev)->fd, (off_t)off, (off_t)n,
			      POSIX_FADV_WILLNEED);
	}
}

/* Writes some of LEN bytes; directly what can be. */
static ssize_t write_some(const struct devfile *file, uint64_t off,
			  const void *buf, size_t len)
{
	bool direct;
	size_t share = direct_share(&file->direct, off, buf, len, &direct);
	ssize_t n;

	if (direct) {
		n = pwrite(file->direct.fd, buf, share, (off_t)off);
		/* The guess about alignment may have been wrong. */
		if (n >= 0 || errno != EINVAL)
			return n;
	}
	return pwrite(file->fd, buf, share, (off_t)off);
}

static int write_all(struct dev *dev, struct context *cx, uint64_t off,
		     const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write_some(to_devfile(dev), off, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return io_failure(dev, cx, "write", off,
					  n ? errno : EIO);
		p += n;
		off += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int devfile_write(struct dev *dev, struct context *cx, uint64_t off,
			 const void *buf, size_t len)
{
	struct guard *guard = &to_devfile(dev)->guard;
	int ret = guard_check(guard, cx);

	if (!ret)
		ret = write_all(dev, cx, off, buf, len);
	if (!ret)
		guard_note(guard, off, buf, len);
	return ret;
}

static int devfile_flush(struct dev *dev, struct context *cx)
{
	struct devfile *file = to_devfile(dev);

	guard_renew(&file->guard);
	if (dev->is_block_device ? fsync(file->fd) : fdatasync(file->fd))
		return fail(cx, -errno, "%s: flush", dev->name);
	return 0;
}

/* A block device frees whole sectors only: the ones inside the range. */
static int discard_sectors(struct dev *dev, uint64_t off, uint64_t len)
{
	uint64_t mask = dev->sector_size - 1;
	uint64_t first = (off + mask) & ~mask, end = (off + len) & ~mask;
	uint64_t range[2] = {first, end - first};

	if (end <= first)
		return 0;
	return ioctl(to_devfile(dev)->fd, BLKDISCARD, range);
}

/* Devices and file systems say "cannot" in several ways. */
static bool cannot(int err)
{
	return err == EOPNOTSUPP || err == ENOTTY || err == ENOSYS;
}

static int devfile_discard(struct dev *dev, struct context *cx, uint64_t off,
			   uint64_t len)
{
	int ret = guard_check(&to_devfile(dev)->guard, cx);

	if (ret)
		return ret;
	if (dev->is_block_device)
		ret = discard_sectors(dev, off, len);
	else
		ret = fallocate(to_devfile(dev)->fd,
				FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)off, (off_t)len);
	if (!ret) {
		guard_forget(&to_devfile(dev)->guard, off, off + len);
		return 0;
	}
	if (cannot(errno))
		return -EOPNOTSUPP;
	return io_failure(dev, cx, "discard", off, errno);
}

/* A hole reads as zeros, and so does what BLKZEROOUT was asked for. */
static int devfile_zero(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len)
{
	uint64_t range[2] = {off, len};
	int fd = to_devfile(dev)->fd;
	int ret = guard_check(&to_devfile(dev)->guard, cx);

	if (ret)
		return ret;
	if (dev->is_block_device)
		ret = ioctl(fd, BLKZEROOUT, range);
	else
		ret = fallocate(fd,
				FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)off, (off_t)len);
	if (!ret) {
		guard_forget(&to_devfile(dev)->guard, off, off + len);
		return 0;
	}
	if (cannot(errno) || errno == EINVAL)
		return -EOPNOTSUPP;
	return io_failure(dev, cx, "zeroing", off, errno);
}

static int devfile_allocate(struct dev *dev, struct context *cx, uint64_t off,
			    uint64_t len)
{
	if (dev->is_block_device)
		return -EOPNOTSUPP;
	if (!fallocate(to_devfile(dev)->fd, FALLOC_FL_KEEP_SIZE, (off_t)off,
		       (off_t)len))
		return 0;
	if (cannot(errno))
		return -EOPNOTSUPP;
	return io_failure(dev, cx, "allocation", off, errno);
}

static int set_size(struct dev *dev, struct context *cx, uint64_t size)
{
	int ret = dev->is_block_device ? -EOPNOTSUPP :
					 devfile_resize(dev, cx, size);

	return ret ? ret : devfile_flush(dev, cx);
}

static void devfile_close(struct dev *dev)
{
	struct devfile *file = to_devfile(dev);

	direct_close(&file->direct);
	direct_close(&file->uncached);
	if (file->backing >= 0)
		close(file->backing);
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

/* A file system that knows no holes has data everywhere. */
static bool devfile_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	off_t data;

	if (dev->is_block_device)
		return false;
	data = lseek(to_devfile(dev)->fd, (off_t)off, SEEK_DATA);
	return data < 0 ? errno == ENXIO : (uint64_t)data >= off + len;
}

static const struct dev_ops devfile_ops = {
	.read = devfile_read,
	.readv = devfile_readv,
	.is_hole = devfile_is_hole,
	.readahead = devfile_readahead,
	.write = devfile_write,
	.flush = devfile_flush,
	.discard = devfile_discard,
	.zero = devfile_zero,
	.allocate = devfile_allocate,
	.resize = set_size,
	.close = devfile_close,
};

static int open_flags(unsigned int flags, bool is_block_device)
{
	/* Without O_NONBLOCK the open of a FIFO would wait for a writer. */
	int oflags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

	oflags |= flags & DEVFILE_WRITE ? O_RDWR : O_RDONLY;
	return oflags | (is_block_device && flags & DEVFILE_WRITE ? O_EXCL : 0);
}

static int open_descriptor(struct devfile *file, struct context *cx,
			   unsigned int flags)
{
	const char *purpose = flags & DEVFILE_WRITE ? "open for writing" :
						      "open";
	struct stat st;
	bool is_block_device = !stat(file->path, &st) && S_ISBLK(st.st_mode);

	file->fd = open(file->path, open_flags(flags, is_block_device));
	if (file->fd < 0 && errno == EBUSY)
		return fail(cx, -EBUSY, "%s: in use by the system or another "
			    "process", file->path);
	if (file->fd < 0)
		return fail(cx, -errno, "%s: %s", file->path, purpose);
	return 0;
}

static int block_device_facts(struct devfile *file, struct context *cx,
			      dev_t rdev)
{
	int sector_size;

	if (ioctl(file->fd, BLKGETSIZE64, &file->dev.size))
		return fail(cx, -errno, "%s: size of block device", file->path);
	if (ioctl(file->fd, BLKSSZGET, &sector_size) || sector_size < 512)
		return fail(cx, -EIO, "%s: sector size of block device",
			    file->path);
	file->dev.sector_size = (uint32_t)sector_size;
	file->dev.is_block_device = true;
	if (!file->dev.writable && probe_is_claimed(file->path))
		direct_open(&file->uncached, file->fd, O_RDONLY);
	return lock_backing_file(cx, file->path, rdev, file->dev.writable,
				 &file->backing);
}

static int file_facts(struct devfile *file, struct context *cx,
		      unsigned int flags)
{
	struct stat st;

	if (fstat(file->fd, &st))
		return fail(cx, -errno, "%s: status", file->path);
	if (S_ISBLK(st.st_mode))
		return block_device_facts(file, cx, st.st_rdev);
	if (S_ISDIR(st.st_mode))
		return fail(cx, -EISDIR, "%s: open", file->path);
	if (!S_ISREG(st.st_mode))
		return fail_said(cx, -ENOTBLK,
				 "%s: neither an image file nor a block device",
				 file->path);
	if (!st.st_size && !(flags & DEVFILE_EMPTY))
		return fail_said(cx, -ENODATA, "%s: the file is empty",
				 file->path);
	file->dev.size = (uint64_t)st.st_size;
	file->dev.sector_size = 512;
	return lock_file(cx, file->path, file->fd, file->dev.writable);
}

static struct devfile *allocate(struct context *cx, const char *path)
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
	return file;
}

int devfile_open(struct dev **devp, struct context *cx, const char *path,
		 unsigned int flags)
{
	struct devfile *file = allocate(cx, path);
	int ret;

	if (!file)
		return -ENOMEM;
	file->dev.writable = flags & DEVFILE_WRITE;
	ret = open_descriptor(file, cx, flags);
	guard_init(&file->guard, file->fd, file->path);
	if (!ret)
		ret = file_facts(file, cx, flags);
	if (ret) {
		devfile_close(&file->dev);
		return ret;
	}
	*devp = &file->dev;
	return 0;
}

int devfile_create(struct dev **devp, struct context *cx,
		   const struct output *o)
{
	struct devfile *file = allocate(cx, output_path(o));
	int ret = 0;

	if (!file)
		return -ENOMEM;
	file->dev.writable = true;
	file->dev.sector_size = 512;
	file->fd = fcntl(output_fd(o), F_DUPFD_CLOEXEC, 0);
	guard_init(&file->guard, file->fd, file->path);
	if (file->fd < 0)
		ret = fail(cx, -errno, "%s: open", file->path);
	else
		ret = lock_file(cx, file->path, file->fd, true);
	/* Without locks, too, no other program knows it yet. */
	if (ret == -ENOLCK) {
		fail_clear(cx);
		ret = 0;
	}
	if (ret) {
		devfile_close(&file->dev);
		return ret;
	}
	*devp = &file->dev;
	return 0;
}

int devfile_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	struct devfile *file = to_devfile(dev);
	int ret;

	if (dev->is_block_device && size <= dev->size)
		return 0;
	if (dev->is_block_device || size > INT64_MAX)
		return fail(cx, -EINVAL, "%s: resize to %" PRIu64 " bytes",
			    dev->name, size);
	ret = guard_check(&file->guard, cx);
	if (ret)
		return ret;
	if (ftruncate(file->fd, (off_t)size))
		return fail(cx, -errno, "%s: resize to %" PRIu64 " bytes",
			    dev->name, size);
	guard_forget(&file->guard, size, UINT64_MAX);
	dev->size = size;
	return 0;
}

void devfile_guard(struct dev *dev, const uint64_t offsets[GUARD_RANGES])
{
	guard_set(&to_devfile(dev)->guard, offsets);
}

bool devfile_direct(struct dev *dev)
{
	struct devfile *file = to_devfile(dev);

	return file->direct.fd >= 0 ||
	       direct_open(&file->direct, file->fd, O_WRONLY);
}

void devfile_random(struct dev *dev)
{
	posix_fadvise(to_devfile(dev)->fd, 0, 0, POSIX_FADV_RANDOM);
}

int devfile_fd(const struct dev *dev)
{
	return ((const struct devfile *)dev)->fd;
}
