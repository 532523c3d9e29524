// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The output of logs.
 *
 * A log becomes one job or several.  One that fits a buffer, or must be written
 * in one piece, is filled, summed and written together with its summary.  A
 * larger one is split into chunks; the worker that finishes the last of them
 * combines the sums and writes the summary.
 *
 * In sequential mode jobs fill their buffers in parallel and then wait for
 * their turn to write.  Jobs begin in the order of submission, so each waits
 * for a running one.
 *
 * Memory is a buffer per worker; few logs wait, since the queue is short.  This
 * file does not depend on the meaning or position of blocks.
 */
#include "config.h"

#include "log/write/logout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "log/write/logjob.h"

#define CHUNK_MIN (1u << 20)
#define CHUNK_MAX (4u << 20)
#define DEPTH_PER_WORKER 2
#define RANGES_PER_JOB 4

/*
 * The larger the requests, the less work.  Two chunks are what a worker's
 * buffer holds, and half of the memory what all buffers may have.
 */
static uint32_t usual_chunk(const struct context *cx)
{
	uint64_t share = cx->max_memory / 4 / (cx->threads ? cx->threads : 1);
	uint32_t bytes = CHUNK_MAX;

	while (bytes > CHUNK_MIN && bytes > share)
		bytes /= 2;
	return bytes;
}

int logout_open(struct logout **outp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g,
		const struct logout_options *options)
{
	uint32_t bytes = options->chunk_bytes ? options->chunk_bytes :
						usual_chunk(cx);
	struct logout *out = calloc(1, sizeof(*out));
	unsigned int depth = cx->threads * DEPTH_PER_WORKER + 1;
	int ret;

	if (!out)
		return fail(cx, -ENOMEM, "output of logs");
	out->dev = dev;
	out->g = g;
	out->sequential = options->sequential;
	out->with_digest = options->digest;
	out->space_at_once = options->allocate;
	out->chunk_blocks = bytes > g->block_size ? bytes >> g->block_bits : 1;
	out->nworkers = pool_workers(cx, UINT64_MAX);
	out->buffers = calloc(out->nworkers, sizeof(*out->buffers));
	/* So many that the oldest is done when its place is needed. */
	out->nranges = depth * RANGES_PER_JOB;
	out->ranges = calloc(out->nranges, sizeof(*out->ranges));
	if (out->buffers && out->ranges)
		ret = pool_open(&out->pool, cx, depth);
	else
		ret = fail(cx, -ENOMEM, "output of logs");
	if (ret)
		logout_close(out);
	else
		*outp = out;
	return ret;
}

static void cut(struct logjob *job)
{
	struct logjob_chunk *chunk = job->chunks;
	struct logcut part = {0};

	for (; logcut_next(&part, &job->log, job->out->chunk_blocks); chunk++)
		*chunk = (struct logjob_chunk){.job = job, .part = part};
	job->nchunks = (uint32_t)(chunk - job->chunks);
	job->left = job->nchunks;
}

/* The whole log as one chunk. */
static void do_not_cut(struct logjob *job)
{
	job->chunks[0] = (struct logjob_chunk){
		.job = job,
		.part.count = job->log.npayload,
	};
	job->nchunks = 1;
}

static bool pieces_match(const struct logout_log *log)
{
	uint64_t blocks = 0;
	uint32_t i;

	for (i = 0; i < log->npieces; i++)
		blocks += log->pieces[i].count;
	return blocks == log->npayload;
}

static bool fits_buffer(const struct logout *out, const struct logout_log *log)
{
	return log->nsumblk + (uint64_t)log->npayload <=
	       2 * (uint64_t)out->chunk_blocks;
}

static int new_job(struct logout *out, struct context *cx,
		   const struct logout_log *log, struct logjob **jobp)
{
	uint32_t nchunks = logcut_most(log->npayload, out->chunk_blocks);
	struct logjob *job;

	if (!pieces_match(log))
		return fail(cx, -EINVAL,
			    "log at block %" PRIu64 ": its pieces are not "
			    "%" PRIu32 " blocks",
			    log->blocknr, log->npayload);
	job = malloc(sizeof(*job) + nchunks * sizeof(*job->chunks));
	if (!job)
		return fail(cx, -ENOMEM, "output of logs");
	*job = (struct logjob){ .out = out, .log = *log };
	/* What stands after blanks is to be reached by way of these. */
	job->log.whole |= out->sequential;
	*jobp = job;
	return 0;
}

/*
 * Preallocates bytes [START, END) and more after them, unless this was done
 * before.  A file system allocates space for concurrent writes worse and more
 * slowly than in one request; but a request waits for all writes to the file,
 * so there must not be too many.  Lack of space is not an error here: a write
 * will fail.
 */
static void preallocate(struct logout *out, struct context *cx, uint64_t start,
			uint64_t end)
{
	if (!out->space_at_once || end <= out->space_to)
		return;
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

/* For small logs that is not worth the while. */
static void ask_for_space(struct logout *out, struct context *cx,
			  const struct logout_log *log)
{
	uint64_t start = log->blocknr << out->g->block_bits;
	uint64_t bytes = log->nsumblk + (uint64_t)log->npayload;

	bytes <<= out->g->block_bits;
	if (bytes >= CHUNK_MIN || !fits_buffer(out, log))
		preallocate(out, cx, start, start + bytes);
}

/* Gives JOB, which is gone when its last chunk is done. */
static int give(struct logout *out, struct context *cx, struct logjob *job,
		unsigned int *left)
{
	uint32_t i, n;
	int ret = 0;

	ask_for_space(out, cx, &job->log);
	if (out->sequential || fits_buffer(out, &job->log)) {
		do_not_cut(job);
		return pool_give(out->pool, cx, logjob_do_log, job, left);
	}
	cut(job);
	for (i = 0, n = job->nchunks; i < n; i++)
		ret = pool_give(out->pool, cx, logjob_do_chunk,
				&job->chunks[i], left);
	return ret;
}

int logout_submit(struct logout *out, struct context *cx,
		  struct logout_log *log)
{
	struct logjob_range *range;
	struct logjob *job = NULL;
	int ret = new_job(out, cx, log, &job);

	if (!job) {
		logjob_drop_log(log);
		return ret;
	}
	range = &out->ranges[out->given++ % out->nranges];
	pool_wait(out->pool, NULL, &range->left);
	range->first = log->blocknr;
	range->end = log->blocknr + log->nsumblk + (uint64_t)log->npayload;
	ret = give(out, cx, job, &range->left);
	/* What is still at work may fail too, and have come before. */
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
	/* If it was lost, its reader gets the reason. */
	return pool_wait(out->pool, cx, left) ? logout_wait(out, cx) : 0;
}

struct logsum_digest logout_digest(const struct logout *out)
{
	return out->digest;
}

void logout_close(struct logout *out)
{
	unsigned int i;

	if (!out)
		return;
	pool_close(out->pool);
	for (i = 0; out->buffers && i < out->nworkers; i++)
		logjob_free_buffer(&out->buffers[i]);
	free(out->buffers);
	free(out->ranges);
	free(out);
}
