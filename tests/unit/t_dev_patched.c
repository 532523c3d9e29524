// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Patches over a device: reads of any range see them in the place of what is
 * there, also where the device cannot be read; writes take their place.
 */
#include "dev/patched.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "tests/testdev/fault.h"
#include "tests/testdev/memory.h"
#include "tap.h"

#define SIZE 16384u
#define BLOCK 1024u

struct rig {
	struct context cx;
	unsigned char bytes[SIZE], model[SIZE];
	struct dev *disk, *dev;
};

static void init(struct rig *r)
{
	unsigned int i;

	context_init(&r->cx);
	for (i = 0; i < SIZE; i++)
		r->bytes[i] = r->model[i] = (unsigned char)(i * 7 >> 3);
	memory_open(&r->disk, &r->cx, r->bytes, SIZE);
	is_int(patched_open(&r->dev, &r->cx, r->disk), 0, "a device");
}

static void fini(struct rig *r)
{
	dev_close(r->dev);
	dev_close(r->disk);
}

static void patch(struct rig *r, unsigned int block, int byte, int want)
{
	unsigned char buf[BLOCK];

	memset(buf, byte, BLOCK);
	memset(r->model + block * BLOCK, byte, BLOCK);
	is_int(patched_set(r->dev, &r->cx, (uint64_t)block * BLOCK, buf, BLOCK),
	       want, want ? "a new patch" : "a patch again");
}

/* Reads of all kinds of ranges, against the model. */
static void compare(struct rig *r, const char *what)
{
	unsigned char got[3 * BLOCK], more[BLOCK];
	struct iovec iov[2] = { { got, 700 }, { more, 900 } };
	unsigned int off, wrong = 0;

	for (off = 0; off + sizeof(got) <= SIZE; off += 331) {
		wrong += dev_read(r->dev, &r->cx, off, got, sizeof(got)) != 0;
		wrong += memcmp(got, r->model + off, sizeof(got)) != 0;
		wrong += dev_readv(r->dev, &r->cx, off, iov, 2) != 0;
		wrong += memcmp(got, r->model + off, 700) != 0;
		wrong += memcmp(more, r->model + off + 700, 900) != 0;
	}
	is_int(wrong, 0, what);
}

static void test_reads(void)
{
	struct rig r;

	init(&r);
	compare(&r, "without patches it is the device");
	patch(&r, 5, 0x55, 1);
	patch(&r, 3, 0x33, 1);
	patch(&r, 4, 0x44, 1);
	patch(&r, 15, 0xff, 1);
	compare(&r, "reads see patches");
	patch(&r, 4, 0x66, 0);
	compare(&r, "and the last of several in one place");
	ok(r.bytes[4 * BLOCK] != 0x66, "the device is as it was");
	patched_remove(r.dev, 0, UINT64_MAX);
	memcpy(r.model, r.bytes, SIZE);
	compare(&r, "nothing is left of them once they are dropped");
	fini(&r);
}

static void test_writes(void)
{
	struct rig r;

	init(&r);
	patch(&r, 2, 0x22, 1);
	patch(&r, 3, 0x33, 1);
	memset(r.model + 2 * BLOCK, 0x77, BLOCK);
	is_int(dev_write(r.dev, &r.cx, 2 * BLOCK, r.model + 2 * BLOCK, BLOCK),
	       0, "a write over a patch");
	is_int(r.bytes[2 * BLOCK], 0x77, "is on the device");
	compare(&r, "and takes its place, but not that of others");
	fini(&r);
}

static void test_changes(void)
{
	struct rig r;

	init(&r);
	patch(&r, 2, 0x22, 1);
	patch(&r, 3, 0x33, 1);
	patched_remove(r.dev, 2 * BLOCK - 1, BLOCK);
	compare(&r, "a patch that sticks out of a range stays");
	patched_remove(r.dev, 2 * BLOCK, BLOCK);
	memcpy(r.model + 2 * BLOCK, r.bytes + 2 * BLOCK, BLOCK);
	compare(&r, "one inside of it is gone");
	memset(r.model + 3 * BLOCK, 0, BLOCK);
	is_int(dev_zero(r.dev, &r.cx, 3 * BLOCK, BLOCK), 0, "zeros");
	compare(&r, "take the place of a patch as well");
	fini(&r);
}

static void test_unreadable(void)
{
	const struct fault_plan plan = {
		.bad_off = 6 * BLOCK, .bad_bytes = BLOCK,
	};
	struct rig r;
	struct dev *bad;
	unsigned char got[BLOCK];

	init(&r);
	dev_close(r.dev);
	fault_open(&bad, &r.cx, r.disk, &plan);
	patched_open(&r.dev, &r.cx, bad);
	is_int(dev_read(r.dev, &r.cx, 6 * BLOCK, got, BLOCK), -EIO,
	       "a block that cannot be read");
	patch(&r, 6, 0x66, 1);
	compare(&r, "can be read where it is patched");
	dev_close(r.dev);
	dev_close(bad);
	dev_close(r.disk);
}

static void test_budget(void)
{
	struct rig r;
	unsigned char buf[BLOCK] = { 0 };

	init(&r);
	r.cx.max_memory = 2 * BLOCK;
	patch(&r, 1, 1, 1);
	patch(&r, 2, 2, 1);
	is_int(patched_set(r.dev, &r.cx, 0, buf, BLOCK), -ENOMEM,
	       "patches keep within the memory budget");
	compare(&r, "and stay what they were");
	fini(&r);
}

int main(void)
{
	test_reads();
	test_writes();
	test_changes();
	test_unreadable();
	test_budget();
	return tap_done();
}
