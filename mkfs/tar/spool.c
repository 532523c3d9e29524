// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members with holes in place of zeros.
 *
 * The data of a file must be located before it is placed, and an archive is
 * read once: so the content is stored, beyond a MiB in a temporary file.
 */
#include "mkfs/tar/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tempfile.h"
#include "base/zeros.h"
#include "mkfs/source/datarun.h"

#define HELD (1u << 20)		/* bytes in memory; whole blocks */

struct spool {
	struct payload payload;
	uint32_t block_size;
	int fd;			/* of what follows those in memory, or -1 */
	uint64_t bytes;		/* in both */
	char *held;
};

static void release_payload(struct payload *payload)
{
	struct spool *s = (struct spool *)payload;

	tempfile_close(s->fd);
	free(s->held);
	free(s);
}

static int fill_payload(struct payload *payload, struct context *cx,
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
	.fill = fill_payload,
	.free = release_payload,
};

static struct spool *make(uint64_t size, uint32_t block_size)
{
	struct spool *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	payload_init(&s->payload, &spool_ops);
	s->fd = -1;
	s->block_size = block_size;
	s->held = malloc(size < HELD ? (size_t)size + block_size : HELD);
	if (s->held)
		return s;
	free(s);
	return NULL;
}

static int keep(struct spool *s, struct context *cx, const void *block)
{
	int ret = 0;

	if (s->bytes < HELD) {
		memcpy(s->held + s->bytes, block, s->block_size);
	} else {
		if (s->fd < 0)
			ret = tempfile_open(cx, &s->fd);
		if (!ret)
			ret = tempfile_write(cx, s->fd, s->bytes - HELD, block,
					     s->block_size);
	}
	s->bytes += s->block_size;
	return ret;
}

static int read_run(struct spool *s, struct context *cx, struct tarreader *r,
		    const struct newfile_run *run, struct spool_runs *runs,
		    char *block)
{
	uint64_t i;
	int ret = 0;

	for (i = run->blkoff; i < run->blkoff + run->count && !ret; i++) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = tarreader_read(r, cx, i * s->block_size,
					     s->block_size, block);
		if (ret || zeros_only(block, s->block_size))
			continue;
		ret = datarun_add(cx, i, &runs->runs, &runs->room, &runs->n);
		if (!ret)
			ret = keep(s, cx, block);
	}
	return ret;
}

int spool_member(struct context *cx, struct tarreader *r,
		 const struct tarmember *m, uint32_t block_size,
		 struct spool_runs *runs, struct payload **payload)
{
	struct spool *s = make(m->nblocks * block_size, block_size);
	char *block = malloc(block_size);
	int ret = 0;
	size_t i;

	*payload = NULL;
	runs->n = 0;
	if (!s || !block)
		ret = fail(cx, -ENOMEM, "member of an archive");
	for (i = 0; i < m->nruns && !ret; i++)
		ret = read_run(s, cx, r, &m->runs[i], runs, block);
	if (!ret)
		ret = tarreader_complete(r, cx);
	free(block);
	if (!ret && runs->n)
		*payload = &s->payload;
	else if (s)
		payload_put(&s->payload);
	return ret;
}
