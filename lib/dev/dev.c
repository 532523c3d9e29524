// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Devices: common code of all kinds.
 *
 * Ranges, read-only devices and empty requests are checked here, so operations only get
 * valid requests.  Requests are counted here too.  There is no alignment rule: a caller
 * that needs whole sectors requests whole sectors.
 */
#include "dev/dev.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "dev/zone.h"

#define ZEROS_BYTES (1u << 20)

static void count_request(uint64_t *requests, uint64_t *bytes, uint64_t len)
{
	__atomic_fetch_add(requests, 1, __ATOMIC_RELAXED);
	if (bytes)
		__atomic_fetch_add(bytes, len, __ATOMIC_RELAXED);
}

void dev_init_over(struct dev *dev, const struct dev_ops *ops,
		   struct dev *under)
{
	*dev = *under;
	memset(&dev->stats, 0, sizeof(dev->stats));
	dev->ops = ops;
	dev->under = under;
}

/* Whether a range may be read or, with CHANGE, written to. */
static int check_range(struct dev *dev, struct context *cx, const char *what,
		       uint64_t off, uint64_t len, bool change)
{
	if (change && !dev->writable)
		return fail(cx, -EROFS, "%s: %s at byte %" PRIu64, dev->name,
			    what, off);
	if (off <= dev->size && len <= dev->size - off)
		return 0;
	return fail(cx, -EIO,
		    "%s: %s of %" PRIu64 " bytes at byte %" PRIu64
		    " is past the end (%" PRIu64 " bytes)",
		    dev->name, what, len, off, dev->size);
}

/* A failed read goes to the failed range that it overlaps, or is one more. */
static int note_read(struct dev *dev, uint64_t off, uint64_t len, int ret)
{
	struct dev_stats *s = &dev->stats;
	uint64_t end = off + len;
	unsigned int i;

	if (!ret)
		return 0;
	__atomic_fetch_add(&s->failed_reads, 1, __ATOMIC_RELAXED);
	while (__atomic_test_and_set(&s->failed_busy, __ATOMIC_ACQUIRE))
		sched_yield();
	for (i = 0; i < s->nfailed; i++)
		if (off < s->failed[i].end && s->failed[i].off < end)
			break;
	if (i == s->nfailed && i < DEV_FAILED)
		s->failed[s->nfailed++] = (struct dev_failed){ off, end };
	if (i < DEV_FAILED && off < s->failed[i].off)
		s->failed[i].off = off;
	if (i < DEV_FAILED && end > s->failed[i].end)
		s->failed[i].end = end;
	__atomic_clear(&s->failed_busy, __ATOMIC_RELEASE);
	return ret;
}

int dev_read(struct dev *dev, struct context *cx, uint64_t off, void *buf,
	     size_t len)
{
	struct iovec iov = { buf, len };
	int ret = check_range(dev, cx, "read", off, len, false);

	if (ret || !len)
		return ret;
	count_request(&dev->stats.reads, &dev->stats.read_bytes, len);
	if (dev->ops->read)
		ret = dev->ops->read(dev, cx, off, buf, len);
	else if (dev->ops->readv)
		ret = dev->ops->readv(dev, cx, off, &iov, 1);
	else
		ret = dev_read(dev->under, cx, off, buf, len);
	return note_read(dev, off, len, ret);
}

int dev_readv(struct dev *dev, struct context *cx, uint64_t off,
	      struct iovec *iov, int n)
{
	uint64_t len = 0, at = off;
	int i, ret;

	if (n < 0 || n > DEV_IOV_MAX)
		return fail(cx, -EINVAL, "%s: read into %d buffers", dev->name,
			    n);
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	ret = check_range(dev, cx, "read", off, len, false);
	if (ret || !len)
		return ret;
	count_request(&dev->stats.reads, &dev->stats.read_bytes, len);
	if (dev->ops->readv)
		ret = dev->ops->readv(dev, cx, off, iov, n);
	else if (!dev->ops->read)
		ret = dev_readv(dev->under, cx, off, iov, n);
	else
		for (i = 0; i < n && !ret; at += iov[i++].iov_len)
			ret = dev->ops->read(dev, cx, at, iov[i].iov_base,
					     iov[i].iov_len);
	return note_read(dev, off, len, ret);
}

void dev_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	if (off >= dev->size)
		return;
	if (len > dev->size - off)
		len = dev->size - off;
	if (dev->ops->readahead)
		dev->ops->readahead(dev, off, len);
	else if (dev->under && !dev->ops->stops)
		dev_readahead(dev->under, off, len);
}

int dev_write(struct dev *dev, struct context *cx, uint64_t off,
	      const void *buf, size_t len)
{
	int ret = check_range(dev, cx, "write", off, len, true);

	if (ret || !len)
		return ret;
	count_request(&dev->stats.writes, &dev->stats.write_bytes, len);
	return dev->ops->write ? dev->ops->write(dev, cx, off, buf, len) :
				 dev_write(dev->under, cx, off, buf, len);
}

bool dev_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	while (!dev->ops->is_hole && !dev->ops->read && !dev->ops->readv &&
	       dev->under)
		dev = dev->under;
	return dev->ops->is_hole && dev->ops->is_hole(dev, off, len);
}

int dev_flush(struct dev *dev, struct context *cx)
{
	if (!dev->writable)
		return 0;
	count_request(&dev->stats.flushes, NULL, 0);
	if (dev->ops->flush)
		return dev->ops->flush(dev, cx);
	return dev->ops->stops ? 0 : dev_flush(dev->under, cx);
}

int dev_discard(struct dev *dev, struct context *cx, uint64_t off, uint64_t len)
{
	int ret = check_range(dev, cx, "discard", off, len, true);
	const struct zones *zones = dev->zones;

	if (ret || !len)
		return ret;
	count_request(&dev->stats.discards, NULL, 0);
	/* Data of sequential zones can be removed by a reset only. */
	if (zones && (!zone_is_in_place(zones, off) ||
		      zone_of(zones, off + len - 1) >=
			      zone_run_end(zones, zone_of(zones, off))))
		return 0;
	if (!dev->ops->clear)
		return dev->ops->stops ? 0 :
		       dev_discard(dev->under, cx, off, len);
	ret = dev->ops->clear(dev, cx, off, len, false);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

int dev_zero(struct dev *dev, struct context *cx, uint64_t off, uint64_t len)
{
	int ret = check_range(dev, cx, "zeroing", off, len, true);
	void *zeros;
	size_t n;

	if (ret || !len)
		return ret;
	ret = dev->ops->clear ? dev->ops->clear(dev, cx, off, len, true) :
				-EOPNOTSUPP;
	if (ret != -EOPNOTSUPP)
		return ret;
	/* Write large requests from one buffer of zeros. */
	zeros = calloc(1, len < ZEROS_BYTES ? (size_t)len : ZEROS_BYTES);
	if (!zeros)
		return fail(cx, -ENOMEM, "zeros");
	for (ret = 0; len && !ret; off += n, len -= n) {
		n = len < ZEROS_BYTES ? (size_t)len : ZEROS_BYTES;
		ret = context_cancelled(cx);
		if (!ret)
			ret = dev_write(dev, cx, off, zeros, n);
	}
	free(zeros);
	return ret;
}

int dev_zone_report(struct dev *dev, struct context *cx, uint64_t first,
		    struct zone *zones, size_t n)
{
	uint64_t count = dev->zones ? dev->zones->count : 0;

	if (first > count || n > count - first)
		return fail(cx, -EINVAL, "%s: report of zone %" PRIu64 " of %"
			    PRIu64, dev->name, first, count);
	if (!n)
		return 0;
	return dev->ops->zone_report ?
		       dev->ops->zone_report(dev, cx, first, zones, n) :
		       dev_zone_report(dev->under, cx, first, zones, n);
}

int dev_zone_change(struct dev *dev, struct context *cx, uint64_t off,
		    uint64_t len, bool finish)
{
	const char *what = finish ? "finish" : "reset";
	int ret = check_range(dev, cx, what, off, len, true);

	if (ret)
		return ret;
	if (!dev->zones || off % dev->zones->size ||
	    (len % dev->zones->size && off + len != dev->size))
		return fail(cx, -EINVAL, "%s: %s of %" PRIu64 " bytes at "
			    "byte %" PRIu64 ", which are no whole zones",
			    dev->name, what, len, off);
	if (!len)
		return 0;
	return dev->ops->zone_change ?
		       dev->ops->zone_change(dev, cx, off, len, finish) :
		       dev_zone_change(dev->under, cx, off, len, finish);
}

int dev_allocate(struct dev *dev, struct context *cx, uint64_t off,
		 uint64_t len)
{
	int ret = check_range(dev, cx, "allocation", off, len, true);

	if (!ret && dev->ops->passes)
		return dev_allocate(dev->under, cx, off, len);
	if (ret || !len || !dev->ops->allocate)
		return ret;
	ret = dev->ops->allocate(dev, cx, off, len);
	return ret == -EOPNOTSUPP ? 0 : ret;
}

int dev_resize(struct dev *dev, struct context *cx, uint64_t size)
{
	int ret = check_range(dev, cx, "resize", 0, 0, true);

	if (ret || size == dev->size)
		return ret;
	if (dev->ops->passes)
		ret = dev_resize(dev->under, cx, size);
	else
		ret = dev->ops->resize && !dev->is_block_device ?
			      dev->ops->resize(dev, cx, size) : -EOPNOTSUPP;
	if (!ret)
		dev->size = size;
	return ret;
}

void dev_close(struct dev *dev)
{
	if (dev && dev->ops->close)
		dev->ops->close(dev);
	else
		free(dev);
}
