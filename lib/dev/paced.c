// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A device that is read no faster than permitted.
 *
 * The bytes that were read are a debt, which decreases with time.  A read waits until
 * there is none.  So after a pause nothing is made up for.
 */
#include "dev/paced.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Longest wait until the next look for a signal, in milliseconds. */
#define WAIT_MS 200

struct paced {
	struct dev dev;
	pthread_mutex_t lock;	/* over the next two */
	uint64_t debt;		/* bytes, at the time LAST */
	uint64_t last;
	uint64_t speed;
	struct paced_clock clock;
};

/* Adds BYTES to the debt: the time until what was there before is paid. */
static uint64_t add_debt(struct paced *p, uint64_t bytes)
{
	uint64_t now, paid, ms;

	pthread_mutex_lock(&p->lock);
	now = p->clock.now();
	paid = (now - p->last) * p->speed / 1000;
	p->debt -= paid < p->debt ? paid : p->debt;
	p->last = now;
	ms = p->debt * 1000 / p->speed;
	p->debt += bytes;
	pthread_mutex_unlock(&p->lock);
	return ms;
}

static int paced_readv(struct dev *dev, struct context *cx, uint64_t off,
		       struct iovec *iov, int n)
{
	struct paced *p = (struct paced *)dev;
	uint64_t bytes = 0, ms, part;
	int i, err = 0;

	for (i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	for (ms = add_debt(p, bytes); ms && !err; ms -= part) {
		part = ms < WAIT_MS ? ms : WAIT_MS;
		p->clock.wait(part);
		err = context_cancelled(cx);
	}
	return err ? err : dev_readv(dev->under, cx, off, iov, n);
}

static bool paced_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	return dev_is_hole(dev->under, off, len);
}

static void paced_readahead(struct dev *dev, uint64_t off, uint64_t len)
{
	(void)dev, (void)off, (void)len;
}

static void paced_close(struct dev *dev)
{
	pthread_mutex_destroy(&((struct paced *)dev)->lock);
	free(dev);
}

static const struct dev_ops paced_ops = {
	.passes = true,
	.readv = paced_readv,
	.is_hole = paced_is_hole,
	.readahead = paced_readahead,
	.close = paced_close,
};

int paced_open(struct dev **devp, struct context *cx, struct dev *under,
	       uint64_t speed, const struct paced_clock *clock)
{
	struct paced *p = calloc(1, sizeof(*p));

	if (!p)
		return fail(cx, -ENOMEM, "%s: speed", under->name);
	dev_init_over(&p->dev, &paced_ops, under);
	pthread_mutex_init(&p->lock, NULL);
	p->speed = speed;
	p->clock = *clock;
	p->last = clock->now();
	*devp = &p->dev;
	return 0;
}
