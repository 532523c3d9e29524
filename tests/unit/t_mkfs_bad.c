// SPDX-License-Identifier: GPL-2.0-or-later
/* mkfs: the bad-block tests on a device with blocks that are bad. */
#include <errno.h>
#include <stdlib.h>

#include "mkfs/badblocks.h"

#include "tap.h"

#define SIZE (1u << 20)

enum badness {
	GOOD,
	UNREADABLE,
	UNWRITABLE,
	FORGETFUL,	/* takes a write, keeps the old bytes */
	STUCK,		/* its last bit is always set */
};

/* A device where the byte BAD_AT, and what holds it, is bad. */
struct baddev {
	struct dev dev;
	uint8_t bytes[SIZE];
	enum badness badness;
	uint64_t bad_at;
};

static bool hits(const struct baddev *b, uint64_t off, size_t len)
{
	return b->bad_at >= off && b->bad_at - off < len;
}

static int bad_read(struct dev *dev, struct context *cx, uint64_t off,
		    void *buf, size_t len)
{
	struct baddev *b = (struct baddev *)dev;

	if (b->badness == UNREADABLE && hits(b, off, len))
		return fail(cx, -EIO, "unreadable");
	memcpy(buf, b->bytes + off, len);
	if (b->badness == STUCK && hits(b, off, len))
		((uint8_t *)buf)[b->bad_at - off] |= 1;
	return 0;
}

static int bad_write(struct dev *dev, struct context *cx, uint64_t off,
		     const void *buf, size_t len)
{
	struct baddev *b = (struct baddev *)dev;
	uint8_t old = b->bytes[b->bad_at];

	if (b->badness == UNWRITABLE && hits(b, off, len))
		return fail(cx, -EIO, "unwritable");
	memcpy(b->bytes + off, buf, len);
	if (b->badness == FORGETFUL)
		b->bytes[b->bad_at] = old;
	return 0;
}

static int bad_flush(struct dev *dev, struct context *cx)
{
	(void)dev;
	(void)cx;
	return 0;
}

static const struct dev_ops bad_ops = {
	.read = bad_read,
	.write = bad_write,
	.flush = bad_flush,
};

static struct baddev *make(enum badness badness, uint64_t bad_at)
{
	struct baddev *b = calloc(1, sizeof(*b));

	b->dev.ops = &bad_ops;
	b->dev.name = "device";
	b->dev.size = SIZE;
	b->dev.sector_size = 512;
	b->dev.writable = true;
	b->badness = badness;
	b->bad_at = bad_at;
	return b;
}

/* Both tests; WANT is the failure's text, NULL for none. */
static void check(enum badness badness, uint64_t bad_at, bool write,
		  const char *want)
{
	struct baddev *b = make(badness, bad_at);
	struct progress progress;
	struct badblocks test = { .progress = &progress, .fd = -1 };
	struct context cx;
	int ret;

	context_init(&cx);
	progress_init(&progress, -1, true);
	ret = badblocks_test(&test, &cx, &b->dev, write);
	is_int(ret, want ? -EIO : 0, write ? "the write test" : "the read test");
	is_str(cx.failure, want ? want : "", "what it says");
	free(b);
}

static void test_cancelled(void)
{
	volatile sig_atomic_t cancel = 1;
	struct baddev *b = make(GOOD, 0);
	struct progress progress;
	struct badblocks test = { .progress = &progress, .fd = -1 };
	struct context cx;

	context_init(&cx);
	cx.cancel = &cancel;
	progress_init(&progress, -1, true);
	is_int(badblocks_test(&test, &cx, &b->dev, false), -EINTR, "cancelled");
	free(b);
}

int main(void)
{
	check(GOOD, 0, false, NULL);
	check(GOOD, 0, true, NULL);
	check(UNREADABLE, 0, false,
	      "device: bad blocks: 1, the first at byte 0");
	check(UNREADABLE, SIZE - 1, false,
	      "device: bad blocks: 1, the first at byte 1044480");
	check(UNWRITABLE, 700000, false, NULL);
	check(UNWRITABLE, 700000, true,
	      "device: bad blocks: 1, the first at byte 696320");
	check(FORGETFUL, 5000, true,
	      "device: bad blocks: 1, the first at byte 4096");
	check(STUCK, 5000, false, NULL);
	check(STUCK, 5000, true,
	      "device: bad blocks: 1, the first at byte 4096");
	test_cancelled();
	return tap_done();
}
