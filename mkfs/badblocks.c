// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bad-block tests, with the patterns of badblocks(8).
 *
 * A bad block makes formatting fail; bad blocks are not recorded on the volume.
 * Large requests are made until one fails, which is then repeated block by
 * block.  Between writing and reading the device's cache is flushed, as
 * otherwise only this machine's memory would be tested.
 */
#include "mkfs/badblocks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST (256u << 10)
#define BLOCK 4096u

struct scan {
	const struct badblocks *b;
	struct context *cx;
	struct dev *dev;
	uint8_t *buf, *want;	/* REQUEST bytes each; want: one pattern */
	bool compare;		/* what is read, with want */
	uint64_t bad, first;	/* blocks; byte */
};

static void count_bad(struct scan *s, uint64_t off)
{
	if (!s->bad++)
		s->first = off;
}

static bool reads_well(struct scan *s, uint64_t off, size_t len)
{
	if (dev_read(s->dev, s->cx, off, s->buf, len))
		return false;
	return !s->compare || !memcmp(s->buf, s->want, len);
}

static void read_request(struct scan *s, uint64_t off, size_t len)
{
	size_t at, n;

	if (reads_well(s, off, len))
		return;
	for (at = 0; at < len; at += n) {
		n = len - at < BLOCK ? len - at : BLOCK;
		if (!reads_well(s, off + at, n))
			count_bad(s, off + at);
	}
}

static void write_request(struct scan *s, uint64_t off, size_t len)
{
	size_t at, n;

	if (!dev_write(s->dev, s->cx, off, s->want, len))
		return;
	/* A block that is not written is found when it is read. */
	for (at = 0; at < len; at += n) {
		n = len - at < BLOCK ? len - at : BLOCK;
		(void)dev_write(s->dev, s->cx, off + at, s->want, n);
	}
}

static int for_all(struct scan *s, const char *name,
		   void (*request)(struct scan *, uint64_t, size_t))
{
	uint64_t size = s->dev->size, off, len;

	progress_begin(s->b->progress, name, size, true);
	for (off = 0; off < size; off += len) {
		if (context_cancelled(s->cx))
			return -EINTR;
		len = size - off < REQUEST ? size - off : REQUEST;
		request(s, off, len);
		progress_update(s->b->progress, off + len);
	}
	progress_end(s->b->progress);
	return 0;
}

static int write_pattern(struct scan *s, int pattern)
{
	int ret;

	memset(s->want, pattern, REQUEST);
	ret = for_all(s, "writing a pattern", write_request);
	if (ret)
		return ret;
	/* A failed flush lost writes; reading shows which. */
	(void)dev_flush(s->dev, s->cx);
	if (s->b->fd >= 0)
		(void)posix_fadvise(s->b->fd, 0, 0, POSIX_FADV_DONTNEED);
	return for_all(s, "comparing", read_request);
}

static int write_patterns(struct scan *s)
{
	static const int patterns[] = { 0xaa, 0x55, 0xff, 0x00 };
	size_t i;
	int ret = 0;

	s->compare = true;
	for (i = 0; i < 4 && !ret && !s->bad; i++)
		ret = write_pattern(s, patterns[i]);
	return ret;
}

static int run_scan(const struct badblocks *b, struct context *cx,
		    struct dev *dev, bool write)
{
	struct scan s = { .b = b, .cx = cx, .dev = dev };
	int ret;

	s.buf = malloc(2ull * REQUEST);
	if (!s.buf)
		return fail(cx, -ENOMEM, "%s: bad-block test", dev->name);
	s.want = s.buf + REQUEST;
	ret = write ? write_patterns(&s) :
		      for_all(&s, "reading", read_request);
	free(s.buf);
	if (ret)
		return ret;
	if (s.bad)
		return fail(cx, -EIO, "%s: bad blocks: %" PRIu64 ", the first at"
			    " byte %" PRIu64, dev->name, s.bad, s.first);
	fail_clear(cx);
	return 0;
}

int badblocks_read(const struct badblocks *b, struct context *cx,
		   struct dev *dev)
{
	return run_scan(b, cx, dev, false);
}

int badblocks_write(const struct badblocks *b, struct context *cx,
		    struct dev *dev)
{
	return run_scan(b, cx, dev, true);
}
