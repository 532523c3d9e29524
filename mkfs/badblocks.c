// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bad-block tests, with the patterns of badblocks(8).
 *
 * A bad block makes formatting fail; bad blocks are not recorded on the volume.
 * Large requests are made until one fails; that request is repeated block by
 * block.  The device's cache is flushed between writing and reading, since
 * otherwise only the memory of this machine would be tested.
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
	bool compare;		/* compare the read data with WANT */
	uint64_t bad, first;	/* blocks; byte */
};

static bool reads_well(struct scan *s, uint64_t off, size_t len)
{
	if (dev_read(s->dev, s->cx, off, s->buf, len))
		return false;
	return !s->compare || !memcmp(s->buf, s->want, len);
}

/* Writes the pattern to the whole device, or reads the whole device. */
static int for_all(struct scan *s, const char *name, bool write)
{
	uint64_t size = s->dev->size, off, len, at, n;

	progress_begin(s->b->progress, name, size, true);
	for (off = 0; off < size; off += len) {
		if (context_cancelled(s->cx))
			return -EINTR;
		len = size - off < REQUEST ? size - off : REQUEST;
		if (write ? dev_write(s->dev, s->cx, off, s->want, len) :
			    !reads_well(s, off, len)) {
			for (at = off; at < off + len; at += n) {
				n = off + len - at < BLOCK ? off + len - at :
							     BLOCK;
				/* A block that was not written is found by the read. */
				if (write)
					(void)dev_write(s->dev, s->cx, at,
							s->want, n);
				else if (!reads_well(s, at, n) && !s->bad++)
					s->first = at;
			}
		}
		progress_update(s->b->progress, off + len);
	}
	progress_end(s->b->progress);
	return 0;
}

int badblocks_test(const struct badblocks *b, struct context *cx,
		   struct dev *dev, bool write)
{
	static const int patterns[] = { 0xaa, 0x55, 0xff, 0x00 };
	struct scan s = { .b = b, .cx = cx, .dev = dev, .compare = write };
	size_t i;
	int ret = 0;

	s.buf = malloc(2ull * REQUEST);
	if (!s.buf)
		return fail(cx, -ENOMEM, "%s: bad-block test", dev->name);
	s.want = s.buf + REQUEST;
	if (!write)
		ret = for_all(&s, "reading", false);
	for (i = 0; write && i < 4 && !ret && !s.bad; i++) {
		memset(s.want, patterns[i], REQUEST);
		ret = for_all(&s, "writing a pattern", true);
		if (ret)
			break;
		/* A failed flush lost writes; reading shows which. */
		(void)dev_flush(dev, cx);
		if (b->fd >= 0)
			(void)posix_fadvise(b->fd, 0, 0, POSIX_FADV_DONTNEED);
		ret = for_all(&s, "comparing", false);
	}
	free(s.buf);
	if (ret)
		return ret;
	if (s.bad)
		return fail(cx, -EIO, "%s: bad blocks: %" PRIu64 ", the first at"
			    " byte %" PRIu64, dev->name, s.bad, s.first);
	fail_clear(cx);
	return 0;
}
