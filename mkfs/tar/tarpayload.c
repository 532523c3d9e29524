// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Content of members.
 *
 * Workers request chunks in about the order of the archive, but not exactly.  A worker
 * that comes too early does not wait, since the earlier request may have failed: it
 * reads the blocks before its own into memory and leaves them there for the others.  So
 * threads only wait for the lock, and memory is bounded by the chunks in progress, or
 * by the rest of a log when the next member is requested.
 */
#include "mkfs/tar/tarpayload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tempfile.h"
#include "base/zeros.h"
#include "mkfs/source/datarun.h"

#define PART_BYTES (256u << 10)

/* Blocks of the payload that were read before they were requested. */
struct part {
	struct part *next;
	uint64_t at;
	uint32_t count;
	uint32_t left;		/* blocks not requested yet */
	char data[];
};

struct tarpayload {
	struct payload payload;
	pthread_mutex_t lock;
	struct tarreader *r;	/* NULL: finished or dropped */
	uint64_t nblocks;
	uint64_t next;		/* the next block to be read */
	size_t run;		/* its position */
	uint64_t in_run;
	struct part *first, *last;
	uint32_t block_size;
	size_t nruns;
	struct newfile_run runs[];
};

/* Reads the next COUNT blocks; the lock is held. */
static int tarpayload_read_blocks(struct tarpayload *t, struct context *cx,
				  uint64_t count, char *buf)
{
	if (!t->r)
		return fail(cx, -ECANCELED, "archive: reading was aborted");
	while (count) {
		const struct newfile_run *run = &t->runs[t->run];
		uint64_t n = run->count - t->in_run;
		size_t bytes;
		int ret;

		if (n > count)
			n = count;
		bytes = (size_t)n * t->block_size;
		ret = tarreader_read(t->r, cx, (run->blkoff + t->in_run) *
				     t->block_size, bytes, buf);
		if (ret)
			return ret;
		buf += bytes;
		count -= n;
		t->next += n;
		t->in_run += n;
		if (t->in_run == run->count) {
			t->run++;
			t->in_run = 0;
		}
	}
	return 0;
}

/* Reads up to block END into memory, at least one part. */
static int read_part(struct tarpayload *t, struct context *cx, uint64_t end)
{
	uint64_t most = PART_BYTES > t->block_size ?
			PART_BYTES / t->block_size : 1;
	uint64_t count = end - t->next < most ? end - t->next : most;
	struct part *part = malloc(sizeof(*part) +
				   (size_t)count * t->block_size);
	int ret;

	if (!part)
		return fail(cx, -ENOMEM, "%llu blocks of an archive",
			    (unsigned long long)count);
	*part = (struct part){
		.at = t->next,
		.count = (uint32_t)count,
		.left = (uint32_t)count,
	};
	ret = tarpayload_read_blocks(t, cx, count, part->data);
	if (ret) {
		free(part);
		return ret;
	}
	if (t->last)
		t->last->next = part;
	else
		t->first = part;
	t->last = part;
	return 0;
}

/* Copies up to COUNT read blocks from AT on; returns how many. */
static uint32_t copy_part(struct tarpayload *t, uint64_t at, uint32_t count,
			  char *buf)
{
	struct part *part = t->first;
	uint64_t skip, n;

	while (part->at + part->count <= at)
		part = part->next;
	skip = at - part->at;
	n = part->count - skip;
	if (n > count)
		n = count;
	memcpy(buf, part->data + skip * t->block_size, n * t->block_size);
	part->left -= (uint32_t)n;
	/* Earlier parts will not be requested again. */
	while (t->first && !t->first->left) {
		part = t->first;
		t->first = part->next;
		free(part);
	}
	if (!t->first)
		t->last = NULL;
	return (uint32_t)n;
}

static int tarpayload_fill(struct payload *p, struct context *cx, uint64_t at,
			   uint32_t count, void *buf)
{
	struct tarpayload *t = (struct tarpayload *)p;
	char *to = buf;
	uint32_t n;
	int ret = 0;

	pthread_mutex_lock(&t->lock);
	while (count && !ret) {
		if (at > t->next) {
			ret = read_part(t, cx, at);
			continue;
		}
		n = count;
		if (at < t->next)
			n = copy_part(t, at, n, to);
		else
			ret = tarpayload_read_blocks(t, cx, n, to);
		at += n;
		count -= n;
		to += (size_t)n * t->block_size;
	}
	pthread_mutex_unlock(&t->lock);
	return ret;
}

static void tarpayload_release(struct payload *p)
{
	struct tarpayload *t = (struct tarpayload *)p;
	struct part *part;

	while (t->first) {
		part = t->first;
		t->first = part->next;
		free(part);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static const struct payload_ops tarpayload_ops = {
	.fill = tarpayload_fill,
	.free = tarpayload_release,
};

struct payload *tarpayload_make(struct tarreader *r, const struct tarmember *m,
				uint32_t block_size)
{
	size_t bytes = m->nruns * sizeof(*m->runs);
	struct tarpayload *t = malloc(sizeof(*t) + bytes);

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	payload_init(&t->payload, &tarpayload_ops);
	pthread_mutex_init(&t->lock, NULL);
	t->r = r;
	t->nblocks = m->nblocks;
	t->block_size = block_size;
	t->nruns = m->nruns;
	if (bytes)
		memcpy(t->runs, m->runs, bytes);
	return &t->payload;
}

int tarpayload_finish(struct payload *p, struct context *cx)
{
	struct tarpayload *t = (struct tarpayload *)p;
	int ret = 0;

	pthread_mutex_lock(&t->lock);
	while (t->next < t->nblocks && !ret) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = read_part(t, cx, t->nblocks);
	}
	if (!ret)
		ret = tarreader_complete(t->r, cx);
	t->r = NULL;
	pthread_mutex_unlock(&t->lock);
	return ret;
}

void tarpayload_drop(struct payload *p)
{
	struct tarpayload *t = (struct tarpayload *)p;

	pthread_mutex_lock(&t->lock);
	t->r = NULL;
	pthread_mutex_unlock(&t->lock);
}

/*
 * Members with holes in place of zeros.
 *
 * The data of a file must be located before it is placed, and an archive is read
 * once.  So the content is stored: up to HELD bytes in memory, the rest in a temporary
 * file.
 */
#define HELD (1u << 20)		/* bytes in memory; whole blocks */

struct spool {
	struct payload payload;
	uint32_t block_size;
	int fd;			/* file with the bytes after HELD, or -1 */
	uint64_t bytes;		/* in memory and in the file */
	char *held;
};

static void release_spool(struct payload *payload)
{
	struct spool *s = (struct spool *)payload;

	if (s->fd >= 0)
		close(s->fd);
	free(s->held);
	free(s);
}

static int fill_spool(struct payload *payload, struct context *cx,
			uint64_t at, uint32_t count, void *buf)
{
	const struct spool *s = (struct spool *)payload;
	uint64_t from = at * s->block_size;
	size_t bytes = (size_t)count * s->block_size, first = 0;

	if (from < HELD) {
		first = HELD - from < bytes ? (size_t)(HELD - from) : bytes;
		memcpy(buf, s->held + from, first);
	}
	if (first == bytes)
		return 0;
	return tempfile_read(cx, s->fd, from + first - HELD,
			     (char *)buf + first, bytes - first);
}

static const struct payload_ops spool_ops = {
	.fill = fill_spool,
	.free = release_spool,
};

int tarpayload_spool(struct context *cx, struct tarreader *r,
		     const struct tarmember *m, uint32_t block_size,
		     struct tarpayload_runs *runs, struct payload **payload)
{
	struct spool *s = calloc(1, sizeof(*s));
	uint64_t size = m->nblocks * block_size, at, end;
	char *block = malloc(block_size);
	int ret = 0;
	size_t i;

	*payload = NULL;
	runs->n = 0;
	if (s) {
		payload_init(&s->payload, &spool_ops);
		s->fd = -1;
		s->block_size = block_size;
		s->held = malloc(size < HELD ? (size_t)size + block_size : HELD);
	}
	if (!s || !s->held || !block)
		ret = fail(cx, -ENOMEM, "member of an archive");
	for (i = 0; i < m->nruns && !ret; i++) {
		at = m->runs[i].blkoff;
		end = at + m->runs[i].count;
		for (; at < end && !ret; at++) {
			ret = context_cancelled(cx);
			if (!ret)
				ret = tarreader_read(r, cx, at * block_size,
						     block_size, block);
			if (ret || zeros_only(block, block_size))
				continue;
			ret = datarun_add(cx, at, &runs->runs, &runs->room,
					  &runs->n);
			if (!ret && s->bytes < HELD)
				memcpy(s->held + s->bytes, block, block_size);
			else if (!ret && s->fd < 0)
				ret = tempfile_open(cx, &s->fd);
			if (!ret && s->bytes >= HELD)
				ret = tempfile_write(cx, s->fd, s->bytes - HELD,
						     block, block_size);
			s->bytes += block_size;
		}
	}
	if (!ret)
		ret = tarreader_complete(r, cx);
	free(block);
	if (!ret && runs->n)
		*payload = &s->payload;
	else if (s)
		payload_put(&s->payload);
	return ret;
}
