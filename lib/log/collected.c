// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Complete blocks that are not listed yet.
 *
 * They are copied into payloads of a few blocks each, so that listing them
 * needs no other copy and memory is freed piece by piece as they are written.
 */
#include "log/collected.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAYLOAD_MIN 4u
#define PAYLOAD_MAX 64u

/* Makes room for one more block. */
static int next_payload(struct collected *c, struct context *cx,
			uint32_t block_size)
{
	void *data;

	if (c->used < c->size)
		return 0;
	c->size = c->size ? 4 * c->size : PAYLOAD_MIN;
	if (c->size > PAYLOAD_MAX)
		c->size = PAYLOAD_MAX;
	payload_put(c->payload);
	c->payload = payload_memory(NULL, c->size, block_size, &data);
	if (!c->payload) {
		c->size = c->used = 0;
		return fail(cx, -ENOMEM, "blocks of metadata");
	}
	c->data = data;
	c->used = 0;
	return 0;
}

/* Whether block AT of the payload, listed as RUN, continues LAST. */
static bool goes_on(const struct collected_run *last,
		    const struct loglayout_run *run,
		    const struct payload *payload, uint32_t at)
{
	const struct loglayout_run *l = &last->run;

	return l->ino == run->ino && l->cno == run->cno &&
	       l->kind == run->kind &&
	       l->vblocknr + l->count == run->vblocknr &&
	       (l->kind == LOGLAYOUT_NODE ||
		l->blkoff + l->count == run->blkoff) &&
	       last->payload == payload && last->at + l->count == at;
}

int collected_add(struct collected *c, struct context *cx,
		  const struct loglayout_run *run, const void *block,
		  uint32_t block_size)
{
	int ret = next_payload(c, cx, block_size);

	if (ret)
		return ret;
	memcpy(c->data + (size_t)c->used * block_size, block, block_size);
	c->nblocks++;
	if (c->nruns > c->first && goes_on(&c->runs[c->nruns - 1], run,
					   c->payload, c->used)) {
		c->runs[c->nruns - 1].run.count++;
		c->used++;
		return 0;
	}
	if (array_reserve(cx, &c->runs, &c->room, c->nruns + 1))
		return -ENOMEM;
	c->runs[c->nruns].run = *run;
	c->runs[c->nruns].payload = payload_hold(c->payload);
	c->runs[c->nruns++].at = c->used++;
	return 0;
}

/* DONE blocks of R are listed. */
static void advance_run(struct collected *c, struct collected_run *r,
			uint32_t done)
{
	r->run.vblocknr += done;
	r->run.blkoff += done;
	r->run.count -= done;
	r->at += done;
	c->nblocks -= done;
	if (r->run.count)
		return;
	payload_put(r->payload);
	r->payload = NULL;
	c->first++;
}

int collected_list(struct collected *c, struct context *cx,
		   struct appender *a, bool here)
{
	uint32_t done;
	int ret = 0;

	while (c->first < c->nruns && !ret) {
		struct collected_run *r = &c->runs[c->first];

		if (here && !a->log)
			return 0;
		ret = appender_list(a, cx, &r->run, r->payload, r->at, &done);
		if (!ret)
			advance_run(c, r, done);
		if (!ret && !done && here)
			return 0;
		if (!ret && !done)
			ret = appender_end_log(a, cx);
	}
	if (c->first == c->nruns)
		c->first = c->nruns = 0;
	return ret;
}

void collected_fini(struct collected *c)
{
	size_t i;

	for (i = c->first; i < c->nruns; i++)
		payload_put(c->runs[i].payload);
	payload_put(c->payload);
	free(c->runs);
	memset(c, 0, sizeof(*c));
}
