// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Locks on image files: who excludes whom, what is done where there are none,
 * files behind loop devices, and the guard against those who take no locks.
 */
#include "config.h"

#include "dev/devfile.h"
#include "dev/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tap.h"

static const char image[] = "t_dev_lock.img";

/* What fcntl() fails with on a file system without locks; 0: as it is. */
static int lock_error;

int __real_fcntl(int fd, int cmd, ...);
int __real_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...);

int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (cmd == F_OFD_SETLK && lock_error) {
		errno = lock_error;
		return -1;
	}
	return __real_fcntl(fd, cmd, arg);
}

int __wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return __wrap_fcntl(fd, cmd, arg);
}

static int open_image(struct dev **dev, unsigned int flags)
{
	struct context cx;

	context_init(&cx);
	*dev = NULL;
	return devfile_open(dev, &cx, image, flags);
}

static void test_who(void)
{
	struct dev *a, *b;

	is_int(open_image(&a, DEVFILE_READ), 0, "a reader");
	is_int(open_image(&b, DEVFILE_READ), 0, "beside another");
	dev_close(b);
	is_int(open_image(&b, DEVFILE_WRITE), -EBUSY, "no writer beside it");
	dev_close(a);
	is_int(open_image(&a, DEVFILE_WRITE), 0, "a writer");
	is_int(open_image(&b, DEVFILE_WRITE), -EBUSY, "no other beside it");
	is_int(open_image(&b, DEVFILE_READ), -EBUSY, "and no reader");
	dev_close(a);
	is_int(open_image(&a, DEVFILE_READ), 0, "a reader after it");
	dev_close(a);
}

/* As on NFS without a lock daemon, or where an old kernel refuses them. */
static void test_without(void)
{
	static const int errors[] = { ENOLCK, EBADF, EINVAL, EOPNOTSUPP };
	struct context cx;
	struct dev *dev;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		lock_error = errors[i];
		is_int(open_image(&dev, DEVFILE_READ), 0, "read without locks");
		dev_close(dev);
		context_init(&cx);
		is_int(devfile_open(&dev, &cx, image, DEVFILE_WRITE), -ENOLCK,
		       "not written");
		ok(!strncmp(cx.failure, image, strlen(image)) &&
		   strstr(cx.failure, strerror(errors[i])) &&
		   strstr(cx.failure, "copy it to"), "as it says: %s",
		   cx.failure);
		is_int(cx.said, -ENOLCK, "with its reason");
	}
	lock_error = 0;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		ok(false, "write of %s", path);
}

/* As if a loop device, of which 7:1 is a partition, were over the image. */
static void test_backing(void)
{
	char real[PATH_MAX];
	struct context cx;
	struct dev *dev;
	int fd, other;

	context_init(&cx);
	is_int(system("rm -rf t_sys && mkdir -p t_sys/dev/block/7:0/loop"), 0,
	       "a directory like /sys");
	write_text("t_sys/dev/block/7:0/loop/backing_file",
		   realpath(image, real) ? real : image);
	is_int(symlink("7:0/part", "t_sys/dev/block/7:1"), 0, "a partition");
	is_int(mkdir("t_sys/dev/block/7:0/part", 0777), 0, "of it");

	lock_error = ENOLCK;
	is_int(lock_backing_file(&cx, "t_sys", "loop0", makedev(7, 0), true,
				 &fd), 0, "without locks it is used");
	close(fd);
	lock_error = 0;
	is_int(lock_backing_file(&cx, "t_sys", "loop0", makedev(7, 0), true,
				 &fd), 0, "the file after it is locked");
	ok(fd >= 0, "and stays open for that");
	is_int(open_image(&dev, DEVFILE_READ), -EBUSY, "so it is not read");
	is_int(lock_backing_file(&cx, "t_sys", "loop0p1", makedev(7, 1),
				 false, &other), -EBUSY,
	       "nor by way of a partition");
	is_str(cx.failure, "loop0p1: in use by another process", "the message");
	is_int(other, -1, "nothing stays open");
	close(fd);
	is_int(lock_backing_file(&cx, "t_sys", "sda", makedev(8, 0), true,
				 &fd), 0, "another device");
	is_int(fd, -1, "has no such file");
}

static void test_guard(void)
{
	static const uint64_t places[GUARD_RANGES] = { 1024, 61440 };
	char buf[1024] = "ours";
	struct dev *dev;
	struct context cx;
	int fd = open(image, O_WRONLY | O_CLOEXEC);

	context_init(&cx);
	is_int(open_image(&dev, DEVFILE_WRITE), 0, "a writer with a guard");
	devfile_guard(dev, places);
	is_int(dev_write(dev, &cx, 1000, buf, sizeof(buf)), 0, "writes there");
	is_int(dev_flush(dev, &cx), 0, "flushes");
	is_int(dev_write(dev, &cx, 4096, buf, sizeof(buf)), 0,
	       "and knows what it wrote itself");
	is_int((int)pwrite(fd, "theirs", 6, 61440), 6, "another one writes");
	is_int(dev_write(dev, &cx, 8192, buf, 1), 0,
	       "which a commit that has begun does not see");
	is_int(dev_flush(dev, &cx), 0, "up to its end");
	is_int(dev_write(dev, &cx, 1024, buf, 1), -ESTALE, "the next one does");
	is_int(dev_discard(dev, &cx, 8192, 4096), -ESTALE, "nor discards");
	is_int(dev_zero(dev, &cx, 8192, 4096), -ESTALE, "nor zeroes");
	is_int(dev_resize(dev, &cx, 4096), -ESTALE, "nor makes it shorter");
	dev_close(dev);

	is_int(open_image(&dev, DEVFILE_WRITE), 0, "a writer, later");
	devfile_guard(dev, places);
	is_int(dev_resize(dev, &cx, 32768), 0, "makes it shorter");
	is_int(dev_flush(dev, &cx), 0, "flushes");
	is_int(dev_write(dev, &cx, 0, buf, 1), 0, "and goes on");
	is_int(dev_zero(dev, &cx, 0, 4096), 0, "zeroes the other");
	is_int(dev_flush(dev, &cx), 0, "flushes");
	is_int(dev_write(dev, &cx, 0, buf, 1), 0, "and goes on");
	dev_close(dev);
	close(fd);
}

int main(void)
{
	FILE *file = fopen(image, "w");

	if (!file || fclose(file) || truncate(image, 65536))
		ok(false, "an image");
	test_who();
	test_without();
	test_backing();
	test_guard();
	unlink(image);
	is_int(system("rm -rf t_sys"), 0, "cleaned up");
	return tap_done();
}
