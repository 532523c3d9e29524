// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device with injected faults.
 *
 * Every operation is first counted and then succeeds, fails, is torn or finds
 * the power off.  Writes that are held back for reordering are a list of
 * copies; reads merge them with the device underneath.  The list is searched
 * linearly: tests of writers are short between two flushes.
 *
 * The state after a power cut depends on the plan alone, so a failing test can
 * be repeated; with several threads also on the order of their operations.
 */
#include "tests/testdev/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct kept {
	uint64_t off;
	size_t len;
	unsigned char *data;
};

struct fault {
	struct dev dev;
	struct fault_plan plan;
	pthread_mutex_t lock;	/* held through each operation */
	uint64_t counted;
	bool happened, power_off, healed;
	uint64_t bad_reads;
	uint64_t random;
	struct kept *kept;
	size_t kept_count, kept_room;
	uint64_t kept_bytes, kept_bytes_max;
};

static struct fault *to_fault(struct dev *dev)
{
	return (struct fault *)dev;
}

/* splitmix64: every seed, 0 too, gives a good sequence. */
static uint64_t draw(struct fault *fault)
{
	uint64_t z = fault->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Lays kept writes over LEN bytes at OFF, oldest first. */
static void lay_over(const struct fault *fault, uint64_t off,
		     unsigned char *buf, size_t len)
{
	size_t i;

	for (i = 0; i < fault->kept_count; i++) {
		const struct kept *k = &fault->kept[i];
		uint64_t from = k->off > off ? k->off : off;
		uint64_t to = k->off + k->len < off + len ? k->off + k->len
							  : off + len;

		if (from < to)
			memcpy(buf + (from - off), k->data + (from - k->off),
			       to - from);
	}
}

static void drop_kept(struct fault *fault)
{
	size_t i;

	for (i = 0; i < fault->kept_count; i++)
		free(fault->kept[i].data);
	fault->kept_count = 0;
	fault->kept_bytes = 0;
}

static int keep(struct fault *fault, struct context *cx, uint64_t off,
		const void *buf, size_t len)
{
	struct kept *grown, *k;

	if (len > fault->kept_bytes_max - fault->kept_bytes)
		return fail(cx, -ENOMEM, "fault: writes without a flush");
	grown = array_grow(cx, fault->kept, &fault->kept_room,
			   fault->kept_count + 1, sizeof(*fault->kept));
	if (!grown)
		return -ENOMEM;
	fault->kept = grown;
	k = &fault->kept[fault->kept_count];
	k->off = off;
	k->len = len;
	k->data = malloc(len ? len : 1);
	if (!k->data)
		return fail(cx, -ENOMEM, "fault: copy of a write");
	memcpy(k->data, buf, len);
	fault->kept_count++;
	fault->kept_bytes += len;
	return 0;
}

static int write_kept(struct fault *fault, struct context *cx)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < fault->kept_count && !ret; i++)
		ret = dev_write(fault->dev.under, cx, fault->kept[i].off,
				fault->kept[i].data, fault->kept[i].len);
	if (!ret)
		drop_kept(fault);
	return ret;
}

static void shuffle_kept(struct fault *fault)
{
	size_t i;

	for (i = fault->kept_count; i > 1; i--) {
		size_t j = draw(fault) % i;
		struct kept k = fault->kept[i - 1];

		fault->kept[i - 1] = fault->kept[j];
		fault->kept[j] = k;
	}
}

/* Some sectors of one write, each by the toss of a coin. */
static void write_some(struct fault *fault, struct context *cx,
		       const struct kept *k)
{
	uint64_t sector = fault->dev.under->sector_size, pos = 0;

	while (pos < k->len) {
		uint64_t n = sector - (k->off + pos) % sector;

		if (n > k->len - pos)
			n = k->len - pos;
		if (draw(fault) & 1)
			(void)dev_write(fault->dev.under, cx, k->off + pos,
					k->data + pos, n);
		pos += n;
	}
}

/* The device underneath then holds what a disk would after the cut. */
static void lose_power(struct fault *fault)
{
	struct context cx;
	size_t i;

	context_init(&cx);
	shuffle_kept(fault);
	for (i = 0; i < fault->kept_count; i++) {
		const struct kept *k = &fault->kept[i];
		uint64_t fate = draw(fault) % 3;

		if (fate == 1)
			(void)dev_write(fault->dev.under, &cx, k->off, k->data,
					k->len);
		else if (fate == 2)
			write_some(fault, &cx, k);
	}
	drop_kept(fault);
	fault->power_off = true;
}

static bool is_lasting(const struct fault *fault)
{
	return fault->plan.kind == FAULT_FULL || fault->plan.kind == FAULT_LOSE;
}

/*
 * Counts an operation.  FAULT_NONE lets it through; FAULT_FAIL and FAULT_CUT
 * make it fail; the others are for the caller to carry out.
 */
static enum fault_kind gate(struct fault *fault, enum fault_count what)
{
	uint64_t number;

	if (fault->power_off)
		return FAULT_CUT;
	if (!(fault->plan.counted & what))
		return FAULT_NONE;
	number = ++fault->counted;
	if (fault->happened && is_lasting(fault) && what == FAULT_WRITES)
		return fault->plan.kind;
	if (number != fault->plan.at || fault->plan.kind == FAULT_NONE)
		return FAULT_NONE;
	fault->happened = true;
	if (fault->plan.kind == FAULT_TEAR && what == FAULT_WRITES)
		return FAULT_TEAR;
	if (fault->plan.kind == FAULT_FAIL || is_lasting(fault))
		return fault->plan.kind;
	lose_power(fault);
	return FAULT_CUT;
}

static int refuse(struct fault *fault, struct context *cx, const char *what)
{
	return fail(cx, -EIO, "%s: %s number %" PRIu64 ": %s", fault->dev.name,
		    what, fault->counted,
		    fault->power_off ? "power is off" : "planned fault");
}

/* Counts reads that touch the bad place. */
static bool is_bad(struct fault *fault, uint64_t off, size_t len)
{
	const struct fault_plan *p = &fault->plan;

	if (fault->healed || off >= p->bad_off + p->bad_bytes ||
	    off + len <= p->bad_off)
		return false;
	fault->bad_reads++;
	return true;
}

static void heal(struct fault *fault, uint64_t off, size_t len)
{
	const struct fault_plan *p = &fault->plan;

	fault->healed |= off <= p->bad_off &&
			 off + len >= p->bad_off + p->bad_bytes;
}

static void note_read(struct fault *fault, uint64_t off, size_t len)
{
	uint64_t size = fault->dev.sector_size;
	uint64_t first = off / size, end = (off + len + size - 1) / size;

	if (fault->plan.sectors_read)
		memset(fault->plan.sectors_read + first, 1, end - first);
}

static int gated_read(struct fault *fault, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	int ret;

	if (gate(fault, FAULT_READS) != FAULT_NONE)
		return refuse(fault, cx, "read");
	if (is_bad(fault, off, len))
		return fail(cx, -EIO, "%s: read of %zu bytes at byte %" PRIu64,
			    fault->dev.name, len, off);
	note_read(fault, off, len);
	ret = dev_read(fault->dev.under, cx, off, buf, len);
	if (!ret)
		lay_over(fault, off, buf, len);
	return ret;
}

static int fault_read(struct dev *dev, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	struct fault *fault = to_fault(dev);
	int ret;

	pthread_mutex_lock(&fault->lock);
	ret = gated_read(fault, cx, off, buf, len);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

/* Whole if nothing is counted and nothing would be laid over it. */
static int gated_readv(struct fault *fault, struct context *cx, uint64_t off,
		       struct iovec *iov, int n)
{
	int i, ret = 0;

	if (!fault->power_off && !fault->kept_count && !fault->plan.bad_bytes &&
	    !fault->plan.sectors_read && !(fault->plan.counted & FAULT_READS))
		return dev_readv(fault->dev.under, cx, off, iov, n);
	for (i = 0; i < n && !ret; i++) {
		ret = gated_read(fault, cx, off, iov[i].iov_base,
				 iov[i].iov_len);
		off += iov[i].iov_len;
	}
	return ret;
}

static int fault_readv(struct dev *dev, struct context *cx, uint64_t off,
		       struct iovec *iov, int n)
{
	struct fault *fault = to_fault(dev);
	int ret;

	pthread_mutex_lock(&fault->lock);
	ret = gated_readv(fault, cx, off, iov, n);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

static int pass_write(struct fault *fault, struct context *cx, uint64_t off,
		      const void *buf, size_t len)
{
	heal(fault, off, len);
	if (fault->plan.reorder)
		return keep(fault, cx, off, buf, len);
	return dev_write(fault->dev.under, cx, off, buf, len);
}

static int gated_write(struct fault *fault, struct context *cx, uint64_t off,
		       const void *buf, size_t len)
{
	enum fault_kind kind = gate(fault, FAULT_WRITES);
	size_t torn = len / 2;

	if (kind == FAULT_NONE)
		return pass_write(fault, cx, off, buf, len);
	if (kind == FAULT_LOSE)
		return 0;
	if (kind == FAULT_FULL)
		return fail(cx, -ENOSPC, "%s: write number %" PRIu64,
			    fault->dev.name, fault->counted);
	if (kind == FAULT_TEAR) {
		if (fault->plan.tear_bytes)
			torn = fault->plan.tear_bytes < len
				       ? (size_t)fault->plan.tear_bytes
				       : len;
		(void)pass_write(fault, cx, off, buf, torn);
		lose_power(fault);
	}
	return refuse(fault, cx, "write");
}

static int fault_write(struct dev *dev, struct context *cx, uint64_t off,
		       const void *buf, size_t len)
{
	struct fault *fault = to_fault(dev);
	int ret;

	pthread_mutex_lock(&fault->lock);
	ret = gated_write(fault, cx, off, buf, len);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

static int gated_flush(struct fault *fault, struct context *cx)
{
	int ret;

	if (gate(fault, FAULT_FLUSHES) != FAULT_NONE)
		return refuse(fault, cx, "flush");
	ret = write_kept(fault, cx);
	return ret ? ret : dev_flush(fault->dev.under, cx);
}

static int fault_flush(struct dev *dev, struct context *cx)
{
	struct fault *fault = to_fault(dev);
	int ret;

	pthread_mutex_lock(&fault->lock);
	ret = gated_flush(fault, cx);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

/* Passed on at once unless writes are kept back: it must not overtake them. */
static int gated_discard(struct fault *fault, struct context *cx, uint64_t off,
			 uint64_t len)
{
	enum fault_kind kind = gate(fault, FAULT_WRITES);

	if (kind == FAULT_TEAR)
		lose_power(fault);
	if (kind != FAULT_NONE)
		return refuse(fault, cx, "discard");
	if (fault->plan.reorder)
		return -EOPNOTSUPP;
	return dev_discard(fault->dev.under, cx, off, len);
}

static int fault_clear(struct dev *dev, struct context *cx, uint64_t off,
		       uint64_t len, bool zeros)
{
	struct fault *fault = to_fault(dev);
	int ret;

	if (zeros)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&fault->lock);
	ret = gated_discard(fault, cx, off, len);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

/* A reset or finish; nothing is kept back on a device with zones. */
static int fault_zone_change(struct dev *dev, struct context *cx, uint64_t off,
			uint64_t len, bool finish)
{
	struct fault *fault = to_fault(dev);
	enum fault_kind kind;
	int ret;

	pthread_mutex_lock(&fault->lock);
	kind = gate(fault, FAULT_WRITES);
	if (kind == FAULT_TEAR)
		lose_power(fault);
	if (kind != FAULT_NONE)
		ret = refuse(fault, cx, "change of zones");
	else if (finish)
		ret = dev_zone_change(fault->dev.under, cx, off, len, true);
	else
		ret = dev_zone_change(fault->dev.under, cx, off, len, false);
	pthread_mutex_unlock(&fault->lock);
	return ret;
}

static void fault_close(struct dev *dev)
{
	struct fault *fault = to_fault(dev);
	struct context cx;

	context_init(&cx);
	if (!fault->power_off)
		(void)write_kept(fault, &cx);
	drop_kept(fault);
	pthread_mutex_destroy(&fault->lock);
	free(fault->kept);
	free(fault);
}

static const struct dev_ops fault_ops = {
	.read = fault_read,
	.readv = fault_readv,
	.write = fault_write,
	.flush = fault_flush,
	.clear = fault_clear,
	.zone_change = fault_zone_change,
	.close = fault_close,
};

int fault_open(struct dev **devp, struct context *cx, struct dev *under,
	       const struct fault_plan *plan)
{
	struct fault *fault = calloc(1, sizeof(*fault));

	if (!fault)
		return fail(cx, -ENOMEM, "%s: fault device", under->name);
	pthread_mutex_init(&fault->lock, NULL);
	dev_init_over(&fault->dev, &fault_ops, under);
	fault->plan = *plan;
	fault->plan.reorder &= !under->zones;
	fault->random = plan->seed;
	fault->kept_bytes_max = cx->max_memory;
	*devp = &fault->dev;
	return 0;
}

void fault_power_off(struct dev *dev)
{
	struct fault *fault = to_fault(dev);

	if (!fault->power_off)
		lose_power(fault);
}

uint64_t fault_counted(const struct dev *dev)
{
	return ((const struct fault *)dev)->counted;
}

bool fault_happened(const struct dev *dev)
{
	return ((const struct fault *)dev)->happened;
}

uint64_t fault_bad_reads(const struct dev *dev)
{
	return ((const struct fault *)dev)->bad_reads;
}
