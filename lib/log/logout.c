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
#include <string.h>

#include "base/crc.h"
#include "base/crew.h"
#include "base/turn.h"
#include "disk/ondisk.h"
#include "log/logbuf.h"
#include "log/logcut.h"
#include "log/logfill.h"
#include "log/logspace.h"
#include "log/logsum.h"

#define CHUNK_MIN (1u << 20)
#define CHUNK_MAX (4u << 20)
#define CACHED (128u << 10)	/* bytes that a processor has at hand */
#define DEPTH_PER_WORKER 2

struct logout {
	struct dev *dev;
	const struct nilfs_geometry *g;
	struct crew *crew;
	struct logbuf *buffers;	/* one per worker */
	uint32_t chunk_blocks;
	bool sequential;
	struct logspace space;
	uint64_t given;		/* logs submitted */
	uint64_t done;		/* bytes; atomic */
	bool with_digest;
	struct logsum_digest digest;
	struct turn turn;	/* of logs, for sequential output */
};

struct chunk {
	struct job *job;
	struct logcut part;
	uint32_t sum;		/* of its bytes alone */
};

/* A log on its way. */
struct job {
	struct logout *out;
	struct logout_log log;
	uint64_t number;
	uint32_t left;		/* chunks not yet done; atomic */
	uint32_t failed;	/* a chunk is missing; atomic */
	uint32_t nchunks;
	struct chunk chunks[];
};

static void drop_log(struct logout_log *log)
{
	uint32_t i;

	for (i = 0; i < log->npieces; i++)
		payload_put(log->pieces[i].payload);
	free(log->pieces);
	free(log->summary);
}

static void drop_job(struct job *job)
{
	drop_log(&job->log);
	free(job);
}

/* The worker's buffer, of at least SIZE bytes. */
static uint8_t *buffer_of(struct logout *out, struct context *cx,
			  unsigned int worker, size_t size)
{
	size_t usual = 2 * (size_t)out->chunk_blocks << out->g->block_bits;

	return logbuf_get(&out->buffers[worker], cx,
			  size < usual ? usual : size);
}

/* Takes the blocks of BUF up to TO into the sum, *SUMMED are already in it. */
static void add_to_sum(struct chunk *chunk, const uint8_t *buf, uint32_t to,
		       uint32_t *summed)
{
	struct logout *out = chunk->job->out;
	size_t bytes = (size_t)(to - *summed) << out->g->block_bits;

	chunk->sum = crc32_le(chunk->sum,
			      buf + ((size_t)*summed << out->g->block_bits),
			      bytes);
	__atomic_fetch_add(&out->done, bytes, __ATOMIC_RELAXED);
	*summed = to;
}

/* Fills BUF, and sums what was read while it is in the processor's cache. */
static int fill_chunk(struct chunk *chunk, struct context *cx, uint8_t *buf)
{
	uint32_t bits = chunk->job->out->g->block_bits;
	uint32_t i, n, skip = chunk->part.skip, summed = 0;
	const struct logout_piece *piece;
	int ret;

	piece = &chunk->job->log.pieces[chunk->part.piece];
	for (i = 0; i < chunk->part.count; i += n, piece++, skip = 0) {
		n = piece->count - skip;
		if (n > chunk->part.count - i)
			n = chunk->part.count - i;
		if (!n)
			continue;
		ret = logfill_piece(piece, cx, skip, n,
				    buf + ((size_t)i << bits), bits);
		if (ret)
			return ret;
		if (i + n - summed >= CACHED >> bits)
			add_to_sum(chunk, buf, i + n, &summed);
	}
	add_to_sum(chunk, buf, i, &summed);
	return 0;
}

static int write_blocks(struct logout *out, struct context *cx,
			uint64_t blocknr, const void *buf, uint32_t count)
{
	if (out->with_digest)
		logsum_digest(&out->digest, blocknr, buf, count,
			      out->g->block_bits);
	return dev_write(out->dev, cx, blocknr << out->g->block_bits, buf,
			 (size_t)count << out->g->block_bits);
}

/* Writes what BUF has of the chunk to BLOCKNR and behind. */
static int write_filled(struct chunk *chunk, struct context *cx,
			uint64_t blocknr, const uint8_t *buf)
{
	struct logout *out = chunk->job->out;
	uint32_t from = 0, count;
	int ret = 0;

	while (!ret && logfill_next(&chunk->job->log, &chunk->part, &from,
				    &count)) {
		ret = write_blocks(out, cx, blocknr + from,
				   buf + ((size_t)from << out->g->block_bits),
				   count);
		from += count;
	}
	return ret;
}

/* Enters the sums into the summary. */
static void complete(struct job *job)
{
	const struct nilfs_geometry *g = job->out->g;
	struct nilfs_segment_summary *ss = job->log.summary;
	const struct chunk *chunk = job->chunks;
	uint32_t i, sum = logsum_summary(g, ss, job->log.nsumblk);

	for (i = 0; i < job->nchunks; i++, chunk++)
		sum = logsum_join(sum, chunk->sum,
				  (size_t)chunk->part.count << g->block_bits);
	ss->ss_datasum = le32_make(sum);
}

static int write_summary(struct job *job, struct context *cx,
			 unsigned int worker)
{
	size_t bytes = (size_t)job->log.nsumblk << job->out->g->block_bits;
	uint8_t *buf = buffer_of(job->out, cx, worker, bytes);

	if (!buf)
		return -ENOMEM;
	complete(job);
	/* By way of the buffer, which is aligned. */
	memcpy(buf, job->log.summary, bytes);
	return write_blocks(job->out, cx, job->log.blocknr, buf,
			    job->log.nsumblk);
}

static int write_chunk(struct chunk *chunk, struct context *cx,
		       unsigned int worker)
{
	struct logout *out = chunk->job->out;
	const struct logout_log *log = &chunk->job->log;
	const struct logcut *part = &chunk->part;
	size_t bytes = (size_t)part->count << out->g->block_bits;
	uint8_t *buf = buffer_of(out, cx, worker, bytes);
	int ret = buf ? fill_chunk(chunk, cx, buf) : -ENOMEM;

	if (ret)
		return ret;
	return write_filled(chunk, cx, log->blocknr + log->nsumblk + part->at,
			    buf);
}

/* One chunk of several. */
static int do_chunk(struct context *cx, void *arg, unsigned int worker,
		    bool skip)
{
	struct chunk *chunk = arg;
	struct job *job = chunk->job;
	int ret = skip ? -ECANCELED : write_chunk(chunk, cx, worker);

	if (ret)
		__atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
	/* Whoever is last sees what the others have left. */
	if (__atomic_sub_fetch(&job->left, 1, __ATOMIC_ACQ_REL))
		return ret;
	if (!job->failed)
		ret = write_summary(job, cx, worker);
	drop_job(job);
	return ret;
}

/* Fills the worker's buffer with the whole log. */
static int fill_log(struct job *job, struct context *cx, unsigned int worker,
		    uint8_t **bufp)
{
	struct logout *out = job->out;
	const struct logout_log *log = &job->log;
	size_t head = (size_t)log->nsumblk << out->g->block_bits;
	size_t bytes = (size_t)log->npayload << out->g->block_bits;
	uint8_t *buf = buffer_of(out, cx, worker, head + bytes);
	int ret = buf ? fill_chunk(job->chunks, cx, buf + head) : -ENOMEM;

	if (ret)
		return ret;
	complete(job);
	memcpy(buf, log->summary, head);
	*bufp = buf;
	return 0;
}

/* BUF has the whole log. */
static int write_log(struct job *job, struct context *cx, const uint8_t *buf)
{
	const struct logout_log *log = &job->log;
	size_t head = (size_t)log->nsumblk << job->out->g->block_bits;
	uint32_t from = 0, count = 0;
	int ret;

	logfill_next(log, &job->chunks[0].part, &from, &count);
	if (count == log->npayload)
		return write_blocks(job->out, cx, log->blocknr, buf,
				    log->nsumblk + log->npayload);
	ret = write_blocks(job->out, cx, log->blocknr, buf, log->nsumblk);
	return ret ? ret : write_filled(job->chunks, cx,
					log->blocknr + log->nsumblk,
					buf + head);
}

/* A log that is written in one piece. */
static int do_log(struct context *cx, void *arg, unsigned int worker, bool skip)
{
	struct job *job = arg;
	struct logout *out = job->out;
	uint8_t *buf = NULL;
	int ret = skip ? -ECANCELED : fill_log(job, cx, worker, &buf);
	bool mine = !out->sequential || turn_begin(&out->turn, job->number);

	if (!ret && mine)
		ret = write_log(job, cx, buf);
	if (out->sequential)
		turn_end(&out->turn, !ret);
	drop_job(job);
	return ret;
}

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
	int ret;

	if (!out)
		return fail(cx, -ENOMEM, "output of logs");
	out->dev = dev;
	out->g = g;
	out->sequential = options->sequential;
	out->with_digest = options->digest;
	out->space = (struct logspace){ dev, options->allocate, 0 };
	out->chunk_blocks = bytes > g->block_size ? bytes >> g->block_bits : 1;
	turn_init(&out->turn);
	ret = crew_open(&out->crew, cx, cx->threads * DEPTH_PER_WORKER + 1);
	if (ret)
		goto out;
	out->buffers = calloc(crew_workers(out->crew), sizeof(*out->buffers));
	if (!out->buffers)
		ret = fail(cx, -ENOMEM, "output of logs");
out:
	if (ret)
		logout_close(out);
	else
		*outp = out;
	return ret;
}

static void cut(struct job *job)
{
	struct chunk *chunk = job->chunks;
	struct logcut part = {0};

	for (; logcut_next(&part, &job->log, job->out->chunk_blocks); chunk++)
		*chunk = (struct chunk){.job = job, .part = part};
	job->nchunks = (uint32_t)(chunk - job->chunks);
	job->left = job->nchunks;
}

/* The whole log as one chunk. */
static void do_not_cut(struct job *job)
{
	job->chunks[0] = (struct chunk){
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
		   const struct logout_log *log, struct job **jobp)
{
	uint32_t nchunks = logcut_most(log->npayload, out->chunk_blocks);
	struct job *job;

	if (!pieces_match(log))
		return fail(cx, -EINVAL,
			    "log at block %" PRIu64 ": its pieces are not "
			    "%" PRIu32 " blocks",
			    log->blocknr, log->npayload);
	job = malloc(sizeof(*job) + nchunks * sizeof(*job->chunks));
	if (!job)
		return fail(cx, -ENOMEM, "output of logs");
	*job = (struct job){
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
static int give(struct logout *out, struct context *cx, struct job *job)
{
	uint32_t i, n;
	int ret = 0;

	ask_for_space(out, cx, &job->log);
	if (out->sequential || fits_buffer(out, &job->log)) {
		do_not_cut(job);
		return crew_give(out->crew, cx, do_log, job);
	}
	cut(job);
	for (i = 0, n = job->nchunks; i < n; i++)
		ret = crew_give(out->crew, cx, do_chunk, &job->chunks[i]);
	return ret;
}

int logout_submit(struct logout *out, struct context *cx,
		  struct logout_log *log)
{
	struct job *job = NULL;
	int ret = new_job(out, cx, log, &job);

	if (!job) {
		drop_log(log);
		return ret;
	}
	ret = give(out, cx, job);
	/* What is still at work may fail too, and have come before. */
	return ret ? crew_wait(out->crew, cx) : 0;
}

int logout_wait(struct logout *out, struct context *cx)
{
	return crew_wait(out->crew, cx);
}

uint64_t logout_done(const struct logout *out)
{
	return __atomic_load_n(&out->done, __ATOMIC_RELAXED);
}

struct logsum_digest logout_digest(const struct logout *out)
{
	return out->digest;
}

void logout_close(struct logout *out)
{
	unsigned int i, workers = out && out->crew ? crew_workers(out->crew) : 0;

	if (!out)
		return;
	crew_close(out->crew);
	for (i = 0; out->buffers && i < workers; i++)
		logbuf_fini(&out->buffers[i]);
	free(out->buffers);
	turn_fini(&out->turn);
	free(out);
}
