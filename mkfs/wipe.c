// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wiping.
 *
 * A range is read in large pieces, and its non-zero pages are overwritten,
 * since a page is the smallest allocation of an image file.
 */
#include "mkfs/wipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 4096u
#define BUFFER (64u << 10)

static bool is_zero(const uint8_t *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

/* Writes zeros over the pieces of [OFF, OFF + LEN) that are not zero. */
static int wipe_buffer(struct context *cx, struct dev *dev, uint64_t off,
		       size_t len, uint8_t *buf)
{
	size_t at, n;
	int ret = dev_read(dev, cx, off, buf, len);

	for (at = 0; at < len && !ret; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		if (is_zero(buf + at, n))
			continue;
		memset(buf + at, 0, n);
		ret = dev_write(dev, cx, off + at, buf + at, n);
	}
	return ret;
}

int wipe_range(struct context *cx, struct dev *dev, uint64_t off,
	       uint64_t end)
{
	uint8_t *buf = malloc(BUFFER);
	int ret = 0;

	if (!buf)
		return fail(cx, -ENOMEM, "%s: wipe", dev->name);
	while (off < end && !ret) {
		size_t len = end - off < BUFFER ? end - off : BUFFER;

		ret = wipe_buffer(cx, dev, off, len, buf);
		off += len;
	}
	free(buf);
	return ret;
}
