// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The output of logs.
 *
 * A log becomes one job or several.  A log that fits a buffer, or must be
 * written with one request, is filled, summed and written together with its
 * summary.  A larger one is split into chunks; the worker that finishes the
 * last of them combines the sums and writes the summary.
 *
 * In sequential mode jobs fill their buffers in parallel and then wait until
 * all earlier jobs have written.  Jobs begin in the order of submission, so
 * each waits for a running one.
 *
 * Memory is a buffer per worker; few logs wait, since the queue is short.  This
 * file does not depend on the meaning or position of blocks.
 */
#include "config.h"

#include "log/write/logout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/crc.h"
#include "base/pool.h"
#include "base/uuidtext.h"
#include "disk/ondisk.h"
#include "log/write/logcut.h"

#define CHUNK_MIN (1u << 20)
#define CHUNK_MAX (4u << 20)
#define DEPTH_PER_WORKER 2
#define RANGES_PER_JOB 4
#define PAGE 4096u
#define HUGE_PAGE (2u << 20)
#define CACHED (128u << 10)	/* bytes that fit a processor's cache */

/* A worker's buffer; all zero: not allocated. */
struct buffer {
	uint8_t *p;
	size_t size;
};

/* The blocks of a submitted log. */
struct range {
	uint64_t first, end;
	unsigned int left;	/* unfinished jobs; changed by the pool */
};

struct logout {
	struct dev *dev;
	const struct nilfs_geometry *g;
	struct pool *pool;
	struct buffer *buffers;	/* one per worker */
	unsigned int nworkers;
	uint32_t chunk_blocks;
	bool sequential;
	uint64_t space_at_once;	/* bytes per preallocation, 0: none */
	uint64_t space_to;	/* end of the preallocated bytes */
	uint64_t given;		/* logs submitted */
	struct logout_digest *digest;
	struct range *ranges;	/* of the last logs, a ring */
	unsigned int nranges;
};

struct chunk {
	struct job *job;
	struct logcut part;
	uint32_t sum;		/* of its bytes alone */
};

/* A submitted log. */
struct job {
	struct logout *out;
	struct logout_log log;
	uint32_t left;		/* chunks not yet done; atomic */
	uint32_t failed;	/* a chunk is missing; atomic */
	uint32_t nchunks;
	struct chunk chunks[];
};

int logout_open(struct logout **outp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g,
		const struct logout_options *options)
{
	/*
	 * Larger requests cost less.  A worker's buffer holds two chunks, and
	 * all buffers may have half of the memory.
	 */
	uint64_t share = cx->max_memory / 4 / (cx->threads ? cx->threads : 1);
	uint32_t bytes = options->chunk_bytes ? options->chunk_bytes : CHUNK_MAX;
	struct logout *out = calloc(1, sizeof(*out));
	unsigned int depth = cx->threads * DEPTH_PER_WORKER + 1;
	int ret;

	if (!out)
		return fail(cx, -ENOMEM, "output of logs");
	while (!options->chunk_bytes && bytes > CHUNK_MIN && bytes > share)
		bytes /= 2;
	out->dev = dev;
	out->g = g;
	out->sequential = options->sequential;
	out->digest = options->digest;
	out->space_at_once = options->allocate;
	out->chunk_blocks = bytes > g->block_size ? bytes >> g->block_bits : 1;
	out->nworkers = pool_workers(cx, UINT64_MAX);
	out->buffers = calloc(out->nworkers, sizeof(*out->buffers));
	/* So many that the oldest is done when its entry is reused. */
	out->nranges = depth * RANGES_PER_JOB;
	out->ranges = calloc(out->nranges, sizeof(*out->ranges));
	if (out->buffers && out->ranges)
		ret = pool_open(&out->pool, cx, out->nworkers, depth);
	else
		ret = fail(cx, -ENOMEM, "output of logs");
	if (ret)
		logout_close(out);
	else
		*outp = out;
	return ret;
}

static void drop_log(struct logout_log *log)
{
	uint32_t i;

	for (i = 0; i < log->nruns; i++)
		payload_put(log->runs[i].payload);
	free(log->runs);
	free(log->summary);
}

/*
 * The worker's buffer, of at least SIZE bytes.  A direct write pins each page
 * of its buffer, which costs a fifth of the time of a stream of writes.  So the
 * buffer is made of huge pages, if the system has any, and kept until the end.
 * For an empty volume a huge page would cost a sixth of the whole time.
 */
static uint8_t *buffer_of(struct logout *out, struct context *cx,
			  unsigned int worker, size_t size)
{
	size_t most = 2 * (size_t)out->chunk_blocks << out->g->block_bits;
	size_t usual = size <= CACHED ? CACHED : most;
	struct buffer *b = &out->buffers[worker];
	size_t align;

	if (size <= b->size)
		return b->p;
	if (size < usual)
		size = usual;
	align = size < HUGE_PAGE ? PAGE : HUGE_PAGE;
	size = (size + align - 1) & ~(align - 1);
	free(b->p);
	b->p = aligned_alloc(align, size);
	b->size = b->p ? size : 0;
	if (!b->p)
		fail(cx, -ENOMEM, "%zu bytes to write logs", size);
	else if (align == HUGE_PAGE)
		madvise(b->p, size, MADV_HUGEPAGE);
	return b->p;
}

/*
 * Adds the blocks of BUF up to TO to the sum; those before *SUMMED are already
 * in it.  Blocks from FILLED on are zeros that are not in BUF.
 */
static void add_to_sum(struct chunk *chunk, const uint8_t *buf,
		       uint32_t filled, uint32_t to, uint32_t *summed)
{
	uint32_t bits = chunk->job->out->g->block_bits;
	size_t from = (size_t)*summed << bits;

	chunk->sum = crc32_le(chunk->sum, buf + from,
			      ((size_t)filled << bits) - from);
	chunk->sum = crc32_le_zeros(chunk->sum, (size_t)(to - filled) << bits);
	*summed = to;
}

/*
 * Fills BUF, and sums blocks while they are in the processor's cache.  Blocks
 * that are neither read nor written are summed as zeros, consecutive runs at
 * once.
 */
static int fill_chunk(struct chunk *chunk, struct context *cx, uint8_t *buf)
{
	const struct logout_log *log = &chunk->job->log;
	const struct logout_run *run = &log->runs[chunk->part.run];
	uint32_t bits = chunk->job->out->g->block_bits;
	uint32_t i, n, skip = chunk->part.skip, summed = 0, filled = 0;
	struct payload *p;
	uint8_t *to;
	int ret = 0;

	for (i = 0; i < chunk->part.count; i += n, run++, skip = 0) {
		n = run->count - skip;
		if (n > chunk->part.count - i)
			n = chunk->part.count - i;
		p = run->payload;
		if (!n || (!p->ops->fill && !log->whole))
			continue;
		if (i > filled || i - summed >= CACHED >> bits)
			add_to_sum(chunk, buf, filled, i, &summed);
		to = buf + ((size_t)i << bits);
		if (p->ops->fill)
			ret = p->ops->fill(p, cx, run->at + skip, n, to);
		else
			memset(to, 0, (size_t)n << bits);
		if (ret)
			return ret;
		filled = i + n;
	}
	add_to_sum(chunk, buf, filled, i, &summed);
	return 0;
}

/*
 * The digest has arithmetic sums: with exclusive or, equal blocks cancel out.
 */
static int write_blocks(struct logout *out, struct context *cx,
			uint64_t blocknr, const uint8_t *buf, uint32_t count)
{
	size_t size = out->g->block_size;
	le64 place[2] = { le64_make(0), le64_make(0) }, hash[2];
	uint32_t i;

	for (i = 0; out->digest && i < count; i++) {
		place[0] = le64_make(blocknr + i);
		uuidtext_of((uint8_t *)place, buf + i * size, size,
			    (uint8_t *)hash);
		__atomic_fetch_add(&out->digest->words[0], le64_get(hash[0]),
				   __ATOMIC_RELAXED);
		__atomic_fetch_add(&out->digest->words[1], le64_get(hash[1]),
				   __ATOMIC_RELAXED);
	}
	return dev_write(out->dev, cx, blocknr << out->g->block_bits, buf,
			 count * size);
}

/* Writes the chunk in BUF to BLOCKNR and the following blocks. */
static int write_filled(struct chunk *chunk, struct context *cx,
			uint64_t blocknr, const uint8_t *buf)
{
	struct logout *out = chunk->job->out;
	uint32_t from = 0, count;
	int ret = 0;

	while (!ret && logcut_filled(&chunk->job->log, &chunk->part, &from,
				     &count)) {
		ret = write_blocks(out, cx, blocknr + from,
				   buf + ((size_t)from << out->g->block_bits),
				   count);
		from += count;
	}
	return ret;
}

/*
 * Enters both sums into the summary; the second covers the first and the
 * payload (nilfs_segbuf_fill_in_segsum_crc(), _data_crc()).  A checksum without
 * inversion is linear: that of two parts is that of the first followed by
 * zeros, combined by exclusive or with that of the second from seed 0.
 */
static void complete_log(struct job *job)
{
	const struct nilfs_geometry *g = job->out->g;
	struct nilfs_segment_summary *ss = job->log.summary;
	const uint8_t *p = job->log.summary;
	size_t bytes = (size_t)job->log.nsumblk << g->block_bits;
	size_t from = offsetof(struct nilfs_segment_summary, ss_magic);
	const struct chunk *chunk = job->chunks;
	uint32_t i, sum;

	ss->ss_sumsum = le32_make(crc32_le(g->crc_seed, p + from,
					   le32_get(ss->ss_sumbytes) - from));
	from = offsetof(struct nilfs_segment_summary, ss_sumsum);
	sum = crc32_le(g->crc_seed, p + from, bytes - from);
	for (i = 0; i < job->nchunks; i++, chunk++)
		sum = chunk->sum ^
		      crc32_le_zeros(sum, (size_t)chunk->part.count
						  << g->block_bits);
	ss->ss_datasum = le32_make(sum);
}

/* Processes one chunk of several; the last one of a log frees the job. */
static int do_chunk(struct context *cx, void *arg, unsigned int worker,
		    bool skip)
{
	struct chunk *chunk = arg;
	struct job *job = chunk->job;
	struct logout *out = job->out;
	struct logout_log *log = &job->log;
	size_t bytes = (size_t)chunk->part.count << out->g->block_bits;
	uint8_t *buf = NULL;
	int ret = -ECANCELED;

	if (!skip) {
		buf = buffer_of(out, cx, worker, bytes);
		ret = buf ? fill_chunk(chunk, cx, buf) : -ENOMEM;
	}
	if (!ret)
		ret = write_filled(chunk, cx, log->blocknr + log->nsumblk +
				   chunk->part.at, buf);
	if (ret)
		__atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
	/* The last worker sees the results of all others. */
	if (__atomic_sub_fetch(&job->left, 1, __ATOMIC_ACQ_REL))
		return ret;
	if (!job->failed) {
		bytes = (size_t)log->nsumblk << out->g->block_bits;
		buf = buffer_of(out, cx, worker, bytes);
		ret = buf ? 0 : -ENOMEM;
	}
	if (!job->failed && !ret) {
		complete_log(job);
		/* Copy it to the buffer, which is aligned. */
		memcpy(buf, log->summary, bytes);
		ret = write_blocks(out, cx, log->blocknr, buf, log->nsumblk);
	}
	drop_log(log);
	free(job);
	return ret;
}

/* Fills and writes a whole log as its only chunk. */
static int do_log(struct context *cx, void *arg, unsigned int worker, bool skip)
{
	struct job *job = arg;
	struct logout *out = job->out;
	struct logout_log *log = &job->log;
	size_t head = (size_t)log->nsumblk << out->g->block_bits;
	size_t bytes = (size_t)log->npayload << out->g->block_bits;
	uint32_t from = 0, count = 0;
	uint8_t *buf = NULL;
	int ret = -ECANCELED;

	if (!skip) {
		buf = buffer_of(out, cx, worker, head + bytes);
		ret = buf ? fill_chunk(job->chunks, cx, buf + head) : -ENOMEM;
	}
	if (!ret) {
		complete_log(job);
		memcpy(buf, log->summary, head);
	}
	if (!ret && (!out->sequential || pool_wait_earlier(out->pool, worker))) {
		logcut_filled(log, &job->chunks[0].part, &from, &count);
		count = count == log->npayload ? count : 0;
		ret = write_blocks(out, cx, log->blocknr, buf,
				   log->nsumblk + count);
		if (!ret && !count)
			ret = write_filled(job->chunks, cx,
					   log->blocknr + log->nsumblk,
					   buf + head);
	}
	drop_log(log);
	free(job);
	return ret;
}

int logout_submit(struct logout *out, struct context *cx,
		  struct logout_log *log)
{
	uint64_t blocks = log->nsumblk + (uint64_t)log->npayload, listed = 0;
	uint64_t start = log->blocknr << out->g->block_bits;
	uint64_t end = start + (blocks << out->g->block_bits);
	bool fits = blocks <= 2 * (uint64_t)out->chunk_blocks;
	bool whole = out->sequential || fits;
	struct logcut part = { 0 };
	struct job *job = NULL;
	struct range *range;
	uint32_t i, n = 1;
	int ret = 0;

	for (i = 0; i < log->nruns; i++)
		listed += log->runs[i].count;
	for (i = 0; !whole && logcut_next(&part, log, out->chunk_blocks);)
		n = ++i;
	if (listed != log->npayload)
		ret = fail(cx, -EINVAL,
			   "log at block %" PRIu64 ": its runs do not have "
			   "%" PRIu32 " blocks", log->blocknr, log->npayload);
	else
		job = malloc(sizeof(*job) + n * sizeof(*job->chunks));
	if (!job) {
		drop_log(log);
		return ret ? ret : fail(cx, -ENOMEM, "output of logs");
	}
	*job = (struct job){ .out = out, .log = *log, .nchunks = n, .left = n };
	/*
	 * In sequential mode blocks after blanks are reached by writing these.
	 */
	job->log.whole |= out->sequential;
	part = (struct logcut){ 0 };
	for (i = 0; i < n; i++) {
		if (whole)
			part.count = log->npayload;
		else
			logcut_next(&part, log, out->chunk_blocks);
		job->chunks[i] = (struct chunk){ .job = job, .part = part };
	}
	range = &out->ranges[out->given++ % out->nranges];
	pool_wait(out->pool, NULL, &range->left);
	range->first = log->blocknr;
	range->end = log->blocknr + blocks;
	/*
	 * Preallocate the bytes of the log and more after them, unless this was
	 * done before.  A file system allocates space for concurrent writes worse
	 * and more slowly than with one request; but a request waits for all writes
	 * to the file, so small logs do not justify one.  Lack of space is not an
	 * error here: a write will fail.
	 */
	if (out->space_at_once && end > out->space_to &&
	    (end - start >= CHUNK_MIN || !fits)) {
		if (start < out->space_to)
			start = out->space_to;
		if (end < start + out->space_at_once)
			end = start + out->space_at_once;
		if (end > out->dev->size)
			end = out->dev->size;
		out->space_to = end;
		if (dev_allocate(out->dev, cx, start, end - start))
			fail_clear(cx);
	}
	/* The job is freed when its last chunk is done. */
	if (whole)
		ret = pool_give(out->pool, cx, do_log, job, &range->left);
	for (i = 0; !whole && i < n; i++)
		ret = pool_give(out->pool, cx, do_chunk, &job->chunks[i],
				&range->left);
	/* Jobs that still run may have failed too, and come first. */
	return ret ? logout_wait(out, cx) : 0;
}

int logout_wait(struct logout *out, struct context *cx)
{
	return pool_wait(out->pool, cx, NULL);
}

int logout_wait_for(struct logout *out, struct context *cx, uint64_t blocknr)
{
	const unsigned int none = 0, *left = &none;
	unsigned int i;

	for (i = 0; i < out->nranges; i++)
		if (blocknr >= out->ranges[i].first &&
		    blocknr < out->ranges[i].end)
			left = &out->ranges[i].left;
	/* If it was lost, the reader gets the reason. */
	return pool_wait(out->pool, cx, left) ? logout_wait(out, cx) : 0;
}

void logout_close(struct logout *out)
{
	unsigned int i;

	if (!out)
		return;
	pool_close(out->pool);
	for (i = 0; out->buffers && i < out->nworkers; i++)
		free(out->buffers[i].p);
	free(out->buffers);
	free(out->ranges);
	free(out);
}
