// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices: ranges, counters, memory, image files and what is not one. */
#include "config.h"

#include "dev/dev.h"
#include "dev/devfile.h"
#include "dev/overlay.h"
#include "tests/testdev/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static void test_ranges(void)
{
	unsigned char bytes[1000], buf[1000];
	struct context cx;
	struct dev *dev = NULL;
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	context_init(&cx);
	is_int(memory_open(&dev, &cx, bytes, sizeof(bytes)), 0, "memory opens");
	is_int(dev->size, 1000, "and has the buffer's size");
	is_int(dev_read(dev, &cx, 990, buf, 10), 0, "the last 10 bytes");
	ok(!memcmp(buf, bytes + 990, 10), "are read as they are");
	is_int(dev_read(dev, &cx, 1000, buf, 0), 0, "nothing, at the end");
	is_int(dev_read(dev, &cx, 991, buf, 10), -EIO, "one byte too far");
	ok(strstr(cx.failure, "991") && strstr(cx.failure, "1000"),
	   "the text says where and how large the device is");
	is_int(dev_read(dev, &cx, UINT64_MAX - 3, buf, 10), -EIO,
	       "an offset that wraps");
	is_int(dev_write(dev, &cx, 1000, buf, 1), -EIO, "a write past the end");
	is_int(dev_discard(dev, &cx, 0, UINT64_MAX), -EIO,
	       "a discard past the end");
	is_int(dev_write(dev, &cx, 3, "abc", 3), 0, "a write inside");
	ok(!memcmp(bytes + 3, "abc", 3), "reaches the buffer");
	is_int(dev->stats.reads, 1, "refused and empty reads do not count");
	is_int(dev->stats.read_bytes, 10, "read bytes are counted");
	is_int(dev->stats.write_bytes, 3, "written bytes are counted");
	dev_close(dev);

	is_int(memory_open_const(&dev, &cx, bytes, 10), 0, "constant memory");
	is_int(dev_write(dev, &cx, 0, "x", 1), -EROFS, "refuses writes");
	is_int(dev_discard(dev, &cx, 0, 1), -EROFS, "and discards");
	is_int(dev_flush(dev, &cx), 0, "and has nothing to flush");
	dev_close(dev);
	dev_close(NULL);
}

static void test_vectored(struct dev *dev, const unsigned char *want)
{
	unsigned char a[7], b[1], c[100];
	struct iovec iov[3] = {{a, 7}, {b, 1}, {c, 100}};
	struct context cx;
	uint64_t reads = dev->stats.reads;

	context_init(&cx);
	is_int(dev_readv(dev, &cx, 11, iov, 3), 0, "a vectored read");
	ok(!memcmp(a, want + 11, 7) && b[0] == want[18] &&
		   !memcmp(c, want + 19, 100),
	   "fills the buffers in order");
	is_int(dev->stats.reads - reads, 1, "as one read");
	iov[0] = (struct iovec){c, 1};
	is_int(dev_readv(dev, &cx, dev->size, iov, 1), -EIO,
	       "a vectored read past the end");
}

static void test_file(const char *dir)
{
	unsigned char want[8192], got[8192];
	const struct output_how how = { .there = OUTPUT_KEEP };
	char path[256];
	struct context cx;
	struct dev *dev = NULL;
	struct output *output;
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(want); i++)
		want[i] = (unsigned char)(i * i >> 3);
	snprintf(path, sizeof(path), "%s/image", dir);
	context_init(&cx);
	is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), -ENOENT,
	       "a missing image");
	ok(strstr(cx.failure, path), "is named");
	is_int(output_open(&output, &cx, path, &how), 0, "a file is created");
	is_int(devfile_create(&dev, &cx, output), 0, "and is an image");
	ok(!strcmp(dev->name, path), "of the name it will have");
	is_int(dev->size, 0, "empty");
	is_int(devfile_resize(dev, &cx, 1 << 20), 0, "and grown");
	is_int(dev_write(dev, &cx, 4096, want, sizeof(want)), 0, "written");
	is_int(dev_flush(dev, &cx), 0, "flushed");
	is_int(dev_discard(dev, &cx, 8192, 4096), 0, "partly discarded");
	is_int(dev_zero(dev, &cx, 5000, 8), 0, "zeros");
	is_int(dev_read(dev, &cx, 4096, got, 4096), 0, "are read");
	ok(!memcmp(got, want, 904) && !memcmp(got + 904, "\0\0\0\0\0\0\0", 8) &&
	   !memcmp(got + 912, want + 912, 4096 - 912), "there and only there");
	is_int(dev_write(dev, &cx, 4096, want, sizeof(want)), 0, "rewritten");
	is_int(access(path, F_OK), -1, "it has no name before it is complete");
	is_int(output_commit(output, &cx), 0, "then it gets its name");
	is_int(dev_write(dev, &cx, 4096, want, 1), 0, "and can still be written");
	output_close(output);
	dev_close(dev);
	is_int(stat(path, &st) ? -1 : st.st_size, 1 << 20,
	       "the file has the size asked for");
	is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), 0, "it opens");
	is_int(dev->size, 1 << 20, "with its size");
	is_int(dev_write(dev, &cx, 0, want, 1), -EROFS, "read-only");
	is_int(dev_read(dev, &cx, 4096, got, 4096), 0, "reads");
	ok(!memcmp(got, want, 4096), "what was written");
	is_int(truncate(path, 6000), 0, "the file shrinks meanwhile");
	is_int(dev_read(dev, &cx, 5000, got, 4096), -EIO, "a short read");
	ok(strstr(cx.failure, "6000"), "is reported where it ends");
	dev->size = 6000;
	memset(got, 0, 4096);
	memcpy(got + 4096, want, 6000 - 4096);
	test_vectored(dev, got);
	dev_close(dev);
}

/* A file becomes longer and shorter; an overlay over it only seems to. */
static void test_resize(const char *dir)
{
	char path[256], byte = 'x', got = 0;
	struct dev *dev = NULL, *overlay = NULL;
	struct context cx;
	struct stat st;

	snprintf(path, sizeof(path), "%s/resized", dir);
	context_init(&cx);
	close(open(path, O_CREAT | O_WRONLY | O_EXCL, 0600));
	is_int(devfile_open(&dev, &cx, path, DEVFILE_WRITE | DEVFILE_EMPTY),
	       0, "an image");
	is_int(dev_resize(dev, &cx, 10000), 0, "becomes longer");
	is_int(dev_write(dev, &cx, 9999, &byte, 1), 0, "up to its last byte");
	is_int(overlay_open(&overlay, &cx, dev, false), 0, "an overlay");
	is_int(dev_resize(overlay, &cx, 20000), 0, "longer still");
	is_int(dev_read(overlay, &cx, 9999, &got, 1), 0, "reads what is there");
	is_int(got, 'x', "as it is");
	is_int(dev_read(overlay, &cx, 10000, &got, 1), 0, "and after it");
	is_int(got, 0, "zeroes");
	is_int(dev_write(overlay, &cx, 10001, &byte, 1), 0, "can be written");
	is_int(dev_read(overlay, &cx, 10001, &got, 1), 0, "there, too");
	is_int(got, 'x', "and shows it");
	is_int(overlay_commit_last(overlay, &cx, NULL, 0), -EOPNOTSUPP, "not committed");
	is_int(dev_resize(overlay, &cx, 5000), 0, "made short");
	is_int(dev_read(overlay, &cx, 5000, &got, 1), -EIO, "it ends there");
	dev_close(overlay);
	is_int(dev->size, 10000, "the image is as long as it was");
	is_int(dev_resize(dev, &cx, 5000), 0, "then it becomes shorter");
	dev_close(dev);
	is_int(stat(path, &st) ? -1 : st.st_size, 5000, "on the disk");
	is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), 0, "read-only");
	is_int(dev_resize(dev, &cx, 6000), -EROFS, "it keeps its size");
	dev_close(dev);
}

static void test_unsuitable(const char *dir)
{
	char path[256];
	struct context cx;
	struct dev *dev = NULL;

	context_init(&cx);
	is_int(devfile_open(&dev, &cx, dir, DEVFILE_READ), -EISDIR,
	       "a directory, reading");
	is_int(devfile_open(&dev, &cx, dir, DEVFILE_WRITE), -EISDIR,
	       "a directory, writing");
	is_int(devfile_open(&dev, &cx, "/dev/null", DEVFILE_READ), -ENOTBLK,
	       "a character device");
	snprintf(path, sizeof(path), "%s/fifo", dir);
	is_int(mkfifo(path, 0600), 0, "a FIFO is made");
	is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), -ENOTBLK,
	       "and refused without waiting");
	snprintf(path, sizeof(path), "%s/empty", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), -ENODATA,
	       "an empty file");
	is_int(chmod(path, 0), 0, "a file without permissions");
	if (geteuid())
		is_int(devfile_open(&dev, &cx, path, DEVFILE_READ), -EACCES,
		       "is refused as such");
	ok(!dev, "a refusal leaves the handle alone");
}

int main(void)
{
	char dir[] = "t_dev.XXXXXX", command[64];

	test_ranges();
	if (!ok(mkdtemp(dir) != NULL, "a directory for files"))
		return tap_done();
	test_file(dir);
	test_resize(dir);
	test_unsuitable(dir);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	is_int(system(command), 0, "cleaned up");
	return tap_done();
}
