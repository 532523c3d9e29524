// SPDX-License-Identifier: GPL-2.0-or-later
/* Holes of image files, below what was written or patched over them. */
#include "dev/devfile.h"
#include "dev/overlay.h"
#include "dev/patched.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/testdev/memory.h"
#include "tap.h"

#define SIZE (1u << 20)
#define DATA (512u << 10)
#define BLOCK 4096u

static struct context cx;
static char block[BLOCK];

static struct dev *open_image(void)
{
	char path[] = "/tmp/t_dev_holes.XXXXXX";
	struct dev *dev;
	int fd = mkstemp(path);

	block[0] = 1;
	if (fd < 0 || ftruncate(fd, SIZE) ||
	    pwrite(fd, block, BLOCK, DATA) != BLOCK || close(fd) ||
	    devfile_open(&dev, &cx, path, DEVFILE_READ))
		exit(99);
	unlink(path);
	return dev;
}

static void test_file(struct dev *dev)
{
	ok(dev_is_hole(dev, 0, DATA), "before the data");
	ok(!dev_is_hole(dev, 0, DATA + 1), "not with a byte of it");
	ok(!dev_is_hole(dev, DATA, BLOCK), "not the data");
	ok(dev_is_hole(dev, SIZE - BLOCK, BLOCK), "after it");
}

static void test_patched(struct dev *file)
{
	struct dev *dev;

	if (patched_open(&dev, &cx, file))
		exit(99);
	ok(dev_is_hole(dev, 0, DATA), "below no patch");
	patched_set(dev, &cx, 2 * BLOCK, block, BLOCK);
	ok(!dev_is_hole(dev, 0, DATA), "not with a patch");
	ok(!dev_is_hole(dev, 3 * BLOCK - 1, 1), "nor with its last byte");
	ok(dev_is_hole(dev, 3 * BLOCK, BLOCK), "after it");
	ok(dev_is_hole(dev, 0, 2 * BLOCK), "before it");
	dev_close(dev);
}

static void test_overlay(struct dev *file)
{
	struct dev *dev;
	unsigned int i;

	if (overlay_open(&dev, &cx, file, false))
		exit(99);
	ok(dev_is_hole(dev, 0, DATA), "below nothing written");
	dev_write(dev, &cx, 2 * BLOCK, block, BLOCK);
	ok(!dev_is_hole(dev, 0, DATA), "not with what was written");
	ok(!dev_is_hole(dev, 2 * BLOCK, 1), "nor its first byte");
	ok(dev_is_hole(dev, 0, 2 * BLOCK), "before it");
	ok(dev_is_hole(dev, 3 * BLOCK, DATA - 3 * BLOCK), "after it");
	ok(!dev_is_hole(dev, DATA, BLOCK), "not the data");
	for (i = 0; i < 16; i++)
		dev_write(dev, &cx, SIZE / 2 + 16 * BLOCK + i * BLOCK, block,
			  BLOCK);
	ok(dev_is_hole(dev, 0, BLOCK), "a short range beside much");
	ok(!dev_is_hole(dev, 2 * BLOCK, BLOCK), "and one in it");
	dev_close(dev);
}

int main(void)
{
	static char bytes[BLOCK];
	struct dev *dev;

	context_init(&cx);
	dev = open_image();
	test_file(dev);
	test_patched(dev);
	test_overlay(dev);
	dev_close(dev);
	if (memory_open(&dev, &cx, bytes, sizeof(bytes)))
		exit(99);
	ok(!dev_is_hole(dev, 0, BLOCK), "none known of memory");
	dev_close(dev);
	return tap_done();
}
