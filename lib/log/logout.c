// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The output of logs.
 *
 * A log becomes one job or several.  One that fits a buffer, or that must be
 * written in one piece, is filled, summed and written together with its
 * summary.  A larger one is cut into chunks; whoever is done with the last of
 * them joins the sums and writes the summary.
 *
 * In sequence, jobs fill their buffers side by side and then wait for their
 * turn to write.  Jobs begin in the order they were given, so whoever waits
 * waits for somebody at work.
 *
 * Memory is a buffer per worker; the logs that wait are few, for the crew's
 * queue is short.  Nothing here knows what a block means or where a log has to
 * be.
 */
#include "config.h"

#include "log/logout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "log/logjob.h"

#define CHUNK_MIN (1u << 20)
#define CHUNK_MAX (4u << 20)
#define DEPTH_PER_WORKER 2

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
	out->space = (struct logspace){ dev, options->allocate, 0 };
	out->chunk_blocks = bytes > g->block_size ? bytes >> g->block_bits : 1;
	ticket_init(&out->turn);
	ret = jobqueue_open(&out->crew, cx, depth);
	if (ret)
		goto out;
	out->buffers =
		calloc(jobqueue_workers(out->crew), sizeof(*out->buffers));
	if (!out->buffers)
		ret = fail(cx, -ENOMEM, "output of logs");
	/* Those that wait, those that are worked on, and the next one. */
	if (!ret)
		ret = inflight_init(&out->inflight, cx,
				    depth + jobqueue_workers(out->crew) + 1);
out:
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
	*job = (struct logjob){
		.out = out,
		.log = *log,
		.number = out->given++,
	};
	*jobp = job;
	return 0;
}

/* For small logs that is not worth the while. */
static void ask_for_space(struct logout *out, struct context *cx,
			  const struct logout_log *log)
{
	uint64_t start = log->blocknr << out->g->block_bits;
	uint64_t bytes = log->nsumblk + (uint64_t)log->npayload;

	bytes <<= out->g->block_bits;
	if (bytes >= CHUNK_MIN || !fits_buffer(out, log))
		logspace_ask(&out->space, cx, start, start + bytes);
}

/* Gives JOB, which is gone when its last chunk is done. */
static int give(struct logout *out, struct context *cx, struct logjob *job)
{
	uint32_t i, n;
	int ret = 0;

	ask_for_space(out, cx, &job->log);
	if (out->sequential || fits_buffer(out, &job->log)) {
		do_not_cut(job);
		return jobqueue_give(out->crew, cx, logjob_do_log, job);
	}
	cut(job);
	for (i = 0, n = job->nchunks; i < n; i++)
		ret = jobqueue_give(out->crew, cx, logjob_do_chunk,
				    &job->chunks[i]);
	return ret;
}

/* Notes where JOB writes. */
static int note_blocks(struct logout *out, struct context *cx,
		       struct logjob *job)
{
	uint64_t n = job->log.nsumblk + (uint64_t)job->log.npayload;
	int ret;

	job->blocks = inflight_enter(&out->inflight, job->log.blocknr, n);
	if (job->blocks)
		return 0;
	ret = jobqueue_wait(out->crew, cx);
	if (!ret)
		job->blocks = inflight_enter(&out->inflight,
					     job->log.blocknr, n);
	return ret;
}

int logout_submit(struct logout *out, struct context *cx,
		  struct logout_log *log)
{
	struct logjob *job = NULL;
	int ret = new_job(out, cx, log, &job);

	if (!job) {
		logjob_drop_log(log);
		return ret;
	}
	ret = note_blocks(out, cx, job);
	if (ret) {
		logjob_drop(job, true);
		return ret;
	}
	ret = give(out, cx, job);
	/* What is still at work may fail too, and have come before. */
	return ret ? jobqueue_wait(out->crew, cx) : 0;
}

int logout_wait(struct logout *out, struct context *cx)
{
	return jobqueue_wait(out->crew, cx);
}

int logout_wait_for(struct logout *out, struct context *cx, uint64_t blocknr)
{
	return inflight_has(&out->inflight, blocknr) ?
		       jobqueue_wait(out->crew, cx) : 0;
}

struct logsum_digest logout_digest(const struct logout *out)
{
	return out->digest;
}

void logout_close(struct logout *out)
{
	unsigned int i, workers;

	if (!out)
		return;
	workers = out->crew ? jobqueue_workers(out->crew) : 0;
	jobqueue_close(out->crew);
	for (i = 0; out->buffers && i < workers; i++)
		logbuf_fini(&out->buffers[i]);
	free(out->buffers);
	ticket_fini(&out->turn);
	inflight_fini(&out->inflight);
	free(out);
}
