// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of the system and of the C library that fail on purpose.
 *
 * A tool is linked a second time with this and with --wrap for each of the
 * calls below, so that its own code passes here, and no library that it uses.
 * The test says in shared memory which call is to fail, and reads there how
 * many there were.  On demand all changes of files are written down, from which
 * the test makes what a power cut would have left.
 *
 * Messages on the standard streams are not counted, and a flush takes no time:
 * nothing here outlives the machine.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dev/dev.h"
#include "inject.h"

static struct inject *inject;
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;

static void __attribute__((constructor)) attach(void)
{
	const char *text = getenv(INJECT_ENV);
	void *shared;

	if (!text)
		return;
	shared = mmap(NULL, sizeof(*inject), PROT_READ | PROT_WRITE, MAP_SHARED,
		      atoi(text), 0);
	if (shared == MAP_FAILED)
		abort();
	inject = shared;
}

/* Counts a call; whether it is to fail. */
static bool is_due(enum inject_kind kind)
{
	uint64_t n;

	if (!inject)
		return false;
	n = __atomic_add_fetch(&inject->counted[kind], 1, __ATOMIC_RELAXED);
	if (kind != inject->kind || !inject->at || n < inject->at)
		return false;
	if (n > inject->at && inject->way != INJECT_ALWAYS &&
	    inject->way != INJECT_FULL)
		return false;
	inject->happened = true;
	return true;
}

static int error_of(enum inject_kind kind)
{
	if (inject->way == INJECT_FULL)
		return ENOSPC;
	if (inject->way == INJECT_SIGNAL)
		return EINTR;
	switch (kind) {
	case INJECT_OPEN: return EMFILE;
	case INJECT_MALLOC: return ENOMEM;
	case INJECT_THREAD: return EAGAIN;
	default: return EIO;
	}
}

static bool fails(enum inject_kind kind)
{
	if (!is_due(kind))
		return false;
	errno = error_of(kind);
	return true;
}

/* As fails(), of a transfer of *LEN bytes, which may become less instead. */
static bool transfer_fails(enum inject_kind kind, int fd, size_t *len)
{
	if (fd <= STDERR_FILENO || !is_due(kind))
		return false;
	if (inject->way == INJECT_SHORT) {
		*len = (*len + 1) / 2;
		return false;
	}
	errno = error_of(kind);
	return true;
}

/* The lock keeps the order of the trace that of the calls. */
static void begin_change(void)
{
	if (inject && inject->trace >= 0)
		pthread_mutex_lock(&trace_lock);
}

static void end_change(bool done, int fd, enum trace_what what, uint64_t off,
		       const void *bytes, uint64_t len)
{
	struct trace t = { .off = off, .len = len, .what = what };
	struct stat st;

	if (!inject || inject->trace < 0)
		return;
	if (done && fd > STDERR_FILENO && !fstat(fd, &st)) {
		struct iovec parts[] = {
			{ &t, sizeof(t) },
			{ (void *)(uintptr_t)bytes, bytes ? len : 0 },
		};

		t.inode = st.st_ino;
		if (writev(inject->trace, parts, 2) < 0)
			abort();
	}
	pthread_mutex_unlock(&trace_lock);
}

/* What the library calls a function where offsets have 64 bits. */
#if defined(__GLIBC__) && _FILE_OFFSET_BITS == 64
#define LARGE(name) name##64
#else
#define LARGE(name) name
#endif

#define JOIN_NAMES(a, b) a##b
#define JOIN(a, b) JOIN_NAMES(a, b)
#define REAL(name) JOIN(__real_, name)
#define WRAPPED(name) JOIN(__wrap_, name)
#define WRAP(type, name, ...)						\
	type REAL(name)(__VA_ARGS__);					\
	type WRAPPED(name)(__VA_ARGS__);				\
	type WRAPPED(name)(__VA_ARGS__)

/* Only the counts of a build for gcov are written by these. */
#if defined(__GLIBC__) && _FILE_OFFSET_BITS == 64
WRAP(int, open, const char *path, int flags, mode_t mode)
{
	return __real_open(path, flags, mode);
}

WRAP(void *, mmap, void *at, size_t len, int prot, int flags, int fd, long off)
{
	return __real_mmap(at, len, prot, flags, fd, off);
}
#endif

WRAP(ssize_t, LARGE(pread), int fd, void *buf, size_t len, off_t off)
{
	return transfer_fails(INJECT_READ, fd, &len) ? -1 :
	       REAL(LARGE(pread))(fd, buf, len, off);
}

WRAP(ssize_t, read, int fd, void *buf, size_t len)
{
	return transfer_fails(INJECT_READ, fd, &len) ? -1 :
	       __real_read(fd, buf, len);
}

WRAP(ssize_t, LARGE(preadv), int fd, const struct iovec *iov, int n, off_t off)
{
	size_t len = iov->iov_len, asked = len;

	if (transfer_fails(INJECT_READ, fd, &len))
		return -1;
	return len == asked ? REAL(LARGE(preadv))(fd, iov, n, off) :
			      REAL(LARGE(pread))(fd, iov->iov_base, len, off);
}

WRAP(ssize_t, LARGE(pwrite), int fd, const void *buf, size_t len, off_t off)
{
	ssize_t n;

	if (transfer_fails(INJECT_WRITE, fd, &len))
		return -1;
	begin_change();
	n = REAL(LARGE(pwrite))(fd, buf, len, off);
	end_change(n > 0, fd, TRACE_WRITE, (uint64_t)off, buf, (uint64_t)n);
	return n;
}

WRAP(ssize_t, write, int fd, const void *buf, size_t len)
{
	return transfer_fails(INJECT_WRITE, fd, &len) ? -1 :
	       __real_write(fd, buf, len);
}

WRAP(int, fsync, int fd)
{
	int ret;

	if (fails(INJECT_FLUSH))
		return -1;
	begin_change();
	ret = inject ? 0 : __real_fsync(fd);
	end_change(!ret, fd, TRACE_FLUSH, 0, NULL, 0);
	return ret;
}

WRAP(int, fdatasync, int fd)
{
	int ret;

	if (fails(INJECT_FLUSH))
		return -1;
	begin_change();
	ret = inject ? 0 : __real_fdatasync(fd);
	end_change(!ret, fd, TRACE_FLUSH, 0, NULL, 0);
	return ret;
}

WRAP(int, LARGE(fallocate), int fd, int mode, off_t off, off_t len)
{
	int ret;

	if (fails(INJECT_DISCARD))
		return -1;
	begin_change();
	ret = REAL(LARGE(fallocate))(fd, mode, off, len);
	end_change(!ret && mode & FALLOC_FL_PUNCH_HOLE, fd, TRACE_ZERO,
		   (uint64_t)off, NULL, (uint64_t)len);
	return ret;
}

WRAP(int, LARGE(ftruncate), int fd, off_t size)
{
	int ret;

	if (fails(INJECT_RESIZE))
		return -1;
	begin_change();
	ret = REAL(LARGE(ftruncate))(fd, size);
	end_change(!ret, fd, TRACE_RESIZE, (uint64_t)size, NULL, 0);
	return ret;
}

WRAP(int, ioctl, int fd, unsigned long request, ...)
{
	va_list list;
	void *arg;

	va_start(list, request);
	arg = va_arg(list, void *);
	va_end(list);
	if ((request == BLKDISCARD || request == BLKZEROOUT) &&
	    fails(INJECT_DISCARD))
		return -1;
	return __real_ioctl(fd, request, arg);
}

WRAP(int, LARGE(open), const char *path, int flags, ...)
{
	va_list list;
	mode_t mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	va_end(list);
	return fails(INJECT_OPEN) ? -1 : REAL(LARGE(open))(path, flags, mode);
}

WRAP(int, LARGE(openat), int dir, const char *path, int flags, ...)
{
	va_list list;
	mode_t mode;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
	va_end(list);
	return fails(INJECT_OPEN) ? -1 :
	       REAL(LARGE(openat))(dir, path, flags, mode);
}

WRAP(int, renameat, int from, const char *old, int to, const char *new)
{
	return fails(INJECT_OPEN) ? -1 : __real_renameat(from, old, to, new);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* No other call is made by its number than the rename that replaces nothing. */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long args[5];
	int i;

	va_start(list, number);
	for (i = 0; i < 5; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	return fails(INJECT_OPEN) ? -1 :
	       __real_syscall(number, args[0], args[1], args[2], args[3],
			      args[4]);
}

WRAP(int, LARGE(mkostemp), char *path, int flags)
{
	return fails(INJECT_OPEN) ? -1 : REAL(LARGE(mkostemp))(path, flags);
}

WRAP(void *, malloc, size_t size)
{
	return fails(INJECT_MALLOC) ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t n, size_t size)
{
	return fails(INJECT_MALLOC) ? NULL : __real_calloc(n, size);
}

WRAP(void *, realloc, void *p, size_t size)
{
	return fails(INJECT_MALLOC) ? NULL : __real_realloc(p, size);
}

WRAP(void *, reallocarray, void *p, size_t n, size_t size)
{
	return fails(INJECT_MALLOC) ? NULL : __real_reallocarray(p, n, size);
}

WRAP(void *, aligned_alloc, size_t alignment, size_t size)
{
	return fails(INJECT_MALLOC) ? NULL :
				      __real_aligned_alloc(alignment, size);
}

WRAP(char *, strdup, const char *text)
{
	return fails(INJECT_MALLOC) ? NULL : __real_strdup(text);
}

WRAP(char *, strndup, const char *text, size_t n)
{
	return fails(INJECT_MALLOC) ? NULL : __real_strndup(text, n);
}

WRAP(void *, LARGE(mmap), void *at, size_t len, int prot, int flags, int fd,
     off_t off)
{
	return fails(INJECT_MALLOC) ? MAP_FAILED :
	       REAL(LARGE(mmap))(at, len, prot, flags, fd, off);
}

WRAP(int, vasprintf, char **textp, const char *format, va_list list)
{
	return fails(INJECT_MALLOC) ? -1 :
	       __real_vasprintf(textp, format, list);
}

int __wrap_asprintf(char **textp, const char *format, ...);
int __wrap_asprintf(char **textp, const char *format, ...)
{
	va_list list;
	int ret;

	va_start(list, format);
	ret = __wrap_vasprintf(textp, format, list);
	va_end(list);
	return ret;
}

/* What the calls above become where the compiler checks buffers and modes. */
#define CHECKED(name) JOIN(__, JOIN(name, _chk))
#define SHORT(name) JOIN(__, JOIN(name, _2))

WRAP(ssize_t, CHECKED(LARGE(pread)), int fd, void *buf, size_t len, off_t off,
     size_t room)
{
	return transfer_fails(INJECT_READ, fd, &len) ? -1 :
	       REAL(CHECKED(LARGE(pread)))(fd, buf, len, off, room);
}

WRAP(int, SHORT(LARGE(open)), const char *path, int flags)
{
	return fails(INJECT_OPEN) ? -1 : REAL(SHORT(LARGE(open)))(path, flags);
}

WRAP(int, SHORT(LARGE(openat)), int dir, const char *path, int flags)
{
	return fails(INJECT_OPEN) ? -1 :
	       REAL(SHORT(LARGE(openat)))(dir, path, flags);
}

WRAP(ssize_t, __read_chk, int fd, void *buf, size_t len, size_t room)
{
	return transfer_fails(INJECT_READ, fd, &len) ? -1 :
	       __real___read_chk(fd, buf, len, room);
}

WRAP(int, __vasprintf_chk, char **textp, int flag, const char *format,
     va_list list)
{
	return fails(INJECT_MALLOC) ? -1 :
	       __real___vasprintf_chk(textp, flag, format, list);
}

int __wrap___asprintf_chk(char **textp, int flag, const char *format, ...);
int __wrap___asprintf_chk(char **textp, int flag, const char *format, ...)
{
	va_list list;
	int ret;

	va_start(list, format);
	ret = __wrap___vasprintf_chk(textp, flag, format, list);
	va_end(list);
	return ret;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr,
     void *(*start)(void *), void *arg)
{
	if (fails(INJECT_THREAD))
		return errno;
	return __real_pthread_create(thread, attr, start, arg);
}

/* A device of zones fails with a text, as every one does. */
static bool zone_fails(struct dev *dev, struct context *cx)
{
	if (!dev->zones || !is_due(INJECT_ZONE))
		return false;
	(void)fail(cx, -EIO, "%s: zone", dev->name);
	return true;
}

WRAP(int, dev_zone_report, struct dev *dev, struct context *cx, uint64_t first,
     struct zone *zones, size_t n)
{
	return zone_fails(dev, cx) ? -EIO :
	       __real_dev_zone_report(dev, cx, first, zones, n);
}

WRAP(int, dev_zone_change, struct dev *dev, struct context *cx, uint64_t off,
     uint64_t len, bool finish)
{
	return zone_fails(dev, cx) ? -EIO :
	       __real_dev_zone_change(dev, cx, off, len, finish);
}
