// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bad areas of a device: against a model with a flag for each byte, reads of any
 * range fail where a byte of it is bad, and writes make bytes good again.
 */
#include "dev/badareas.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "tests/testdev/memory.h"
#include "tap.h"

#define SIZE 4096u
#define STEP 64u
#define LONGEST 512u
#define ROUNDS 4000u

struct rig {
	struct context cx;
	unsigned char bytes[SIZE], bad[SIZE];
	struct dev *disk, *dev;
	uint32_t seed;
};

static uint32_t next(struct rig *r, uint32_t below)
{
	r->seed = r->seed * 1664525u + 1013904223u;
	return (r->seed >> 8) % below;
}

static bool is_bad(const struct rig *r, uint32_t off, uint32_t len)
{
	return memchr(r->bad + off, 1, len) != NULL;
}

/* Adds or writes a range, as the model does. */
static unsigned int change(struct rig *r)
{
	unsigned char buf[LONGEST] = { 0 };
	uint32_t off = next(r, SIZE / STEP) * STEP;
	uint32_t len = (1 + next(r, LONGEST / STEP)) * STEP;
	bool add = next(r, 2);

	if (len > SIZE - off)
		len = SIZE - off;
	memset(r->bad + off, add, len);
	return add ? badareas_add(r->dev, &r->cx, off, len) != 0 :
		     dev_write(r->dev, &r->cx, off, buf, len) != 0;
}

/* Reads a range in each way: how many were not as in the model. */
static unsigned int compare(struct rig *r)
{
	unsigned char buf[LONGEST];
	uint32_t off = next(r, SIZE - LONGEST), len = 2 + next(r, LONGEST - 2);
	struct iovec iov[2] = { { buf, 1 }, { buf, len - 1 } };
	int want = is_bad(r, off, len) ? -EIO : 0;
	unsigned int wrong;

	wrong = dev_read(r->dev, &r->cx, off, buf, len) != want;
	wrong += dev_readv(r->dev, &r->cx, off, iov, 2) != want;
	wrong += badareas_have(r->dev, off, len) != (want != 0);
	fail_clear(&r->cx);
	return wrong;
}

static unsigned int count_is_wrong(const struct rig *r)
{
	uint64_t bytes, want = 0;
	size_t areas = 0, i, n = badareas_count(r->dev, &bytes);

	for (i = 0; i < SIZE; i++) {
		want += r->bad[i];
		areas += r->bad[i] && (!i || !r->bad[i - 1]);
	}
	return n != areas || bytes != want;
}

int main(void)
{
	struct rig r = { .seed = 1 };
	unsigned int i, failed = 0, wrong = 0, counts = 0;

	context_init(&r.cx);
	memory_open(&r.disk, &r.cx, r.bytes, SIZE);
	is_int(badareas_open(&r.dev, &r.cx, r.disk), 0, "a device");
	for (i = 0; i < ROUNDS; i++) {
		failed += change(&r);
		wrong += compare(&r);
		counts += count_is_wrong(&r);
	}
	is_int(failed, 0, "areas are added and written to");
	is_int(wrong, 0, "reads fail where a byte is bad");
	is_int(counts, 0, "areas are as many and as large");
	dev_close(r.dev);
	dev_close(r.disk);
	return tap_done();
}
