// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Jobs that fill, checksum and write logs.
 *
 * The checksum of a piece is computed right after it was read, while it is in
 * the processor's cache.  Each worker writes the chunk that it filled; the one
 * that finishes last has all sums, and writes the summary.
 */
#include "config.h"

#include "log/write/logjob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/crc.h"
#include "disk/ondisk.h"

#define PAGE 4096u
#define HUGE_PAGE (2u << 20)
#define CACHED (128u << 10)	/* bytes that fit a processor's cache */

void logjob_drop_log(struct logout_log *log)
{
	uint32_t i;

	for (i = 0; i < log->npieces; i++)
		payload_put(log->pieces[i].payload);
	free(log->pieces);
	free(log->summary);
}

/* Frees JOB and its log. */
static void logjob_drop(struct logjob *job)
{
	logjob_drop_log(&job->log);
	free(job);
}

/*
 * A direct write pins each page of its buffer, which is a fifth of the work of
 * a stream of writes: hence huge pages, if the system has any, until the end.
 */
static uint8_t *grow_buffer(struct logjob_buffer *b, struct context *cx,
			    size_t size)
{
	size_t align = size < HUGE_PAGE ? PAGE : HUGE_PAGE;

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

void logjob_free_buffer(struct logjob_buffer *b)
{
	free(b->p);
}

/*
 * The worker's buffer, of at least SIZE bytes.  For an empty volume the cost of a
 * huge page would be a sixth of all.
 */
static uint8_t *buffer_of(struct logout *out, struct context *cx,
			  unsigned int worker, size_t size)
{
	size_t most = 2 * (size_t)out->chunk_blocks << out->g->block_bits;
	size_t usual = size <= CACHED ? CACHED : most;
	struct logjob_buffer *b = &out->buffers[worker];

	if (size <= b->size)
		return b->p;
	return grow_buffer(b, cx, size < usual ? usual : size);
}

/*
 * Takes the blocks of BUF up to TO into the sum, *SUMMED are already in it.
 * Those from FILLED on are blank: zeros that are not in BUF.
 */
static void add_to_sum(struct logjob_chunk *chunk, const uint8_t *buf,
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
 * Fills BUF, and sums what was read while it is in the processor's cache; what
 * is neither read nor written, as zeros, a row of pieces at once.
 */
static int fill_chunk(struct logjob_chunk *chunk, struct context *cx,
		      uint8_t *buf)
{
	const struct logout_log *log = &chunk->job->log;
	const struct logout_piece *piece = &log->pieces[chunk->part.piece];
	uint32_t bits = chunk->job->out->g->block_bits;
	uint32_t i, n, skip = chunk->part.skip, summed = 0, filled = 0;
	int ret;

	for (i = 0; i < chunk->part.count; i += n, piece++, skip = 0) {
		n = piece->count - skip;
		if (n > chunk->part.count - i)
			n = chunk->part.count - i;
		if (!n || logcut_is_left_out(log, piece))
			continue;
		if (i > filled || i - summed >= CACHED >> bits)
			add_to_sum(chunk, buf, filled, i, &summed);
		ret = logcut_fill(piece, cx, skip, n,
				    buf + ((size_t)i << bits), bits);
		if (ret)
			return ret;
		filled = i + n;
	}
	add_to_sum(chunk, buf, filled, i, &summed);
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

/* Writes the chunk in BUF to BLOCKNR and the following blocks. */
static int write_filled(struct logjob_chunk *chunk, struct context *cx,
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

/* Enters the sums into the summary. */
static void complete_log(struct logjob *job)
{
	const struct nilfs_geometry *g = job->out->g;
	struct nilfs_segment_summary *ss = job->log.summary;
	const struct logjob_chunk *chunk = job->chunks;
	uint32_t i, sum = logsum_summary(g, ss, job->log.nsumblk);

	for (i = 0; i < job->nchunks; i++, chunk++)
		sum = logsum_join(sum, chunk->sum,
				  (size_t)chunk->part.count << g->block_bits);
	ss->ss_datasum = le32_make(sum);
}

static int write_summary(struct logjob *job, struct context *cx,
			 unsigned int worker)
{
	size_t bytes = (size_t)job->log.nsumblk << job->out->g->block_bits;
	uint8_t *buf = buffer_of(job->out, cx, worker, bytes);

	if (!buf)
		return -ENOMEM;
	complete_log(job);
	/* By way of the buffer, which is aligned. */
	memcpy(buf, job->log.summary, bytes);
	return write_blocks(job->out, cx, job->log.blocknr, buf,
			    job->log.nsumblk);
}

static int write_chunk(struct logjob_chunk *chunk, struct context *cx,
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
int logjob_do_chunk(struct context *cx, void *arg, unsigned int worker,
		    bool skip)
{
	struct logjob_chunk *chunk = arg;
	struct logjob *job = chunk->job;
	int ret = skip ? -ECANCELED : write_chunk(chunk, cx, worker);

	if (ret)
		__atomic_store_n(&job->failed, 1, __ATOMIC_RELAXED);
	/* The last worker sees the results of all others. */
	if (__atomic_sub_fetch(&job->left, 1, __ATOMIC_ACQ_REL))
		return ret;
	if (!job->failed)
		ret = write_summary(job, cx, worker);
	logjob_drop(job);
	return ret;
}

/* Fills the worker's buffer with the whole log. */
static int fill_log(struct logjob *job, struct context *cx, unsigned int worker,
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
	complete_log(job);
	memcpy(buf, log->summary, head);
	*bufp = buf;
	return 0;
}

/* BUF has the whole log. */
static int write_log(struct logjob *job, struct context *cx, const uint8_t *buf)
{
	const struct logout_log *log = &job->log;
	size_t head = (size_t)log->nsumblk << job->out->g->block_bits;
	uint32_t from = 0, count = 0;
	int ret;

	logcut_filled(log, &job->chunks[0].part, &from, &count);
	if (count == log->npayload)
		return write_blocks(job->out, cx, log->blocknr, buf,
				    log->nsumblk + log->npayload);
	ret = write_blocks(job->out, cx, log->blocknr, buf, log->nsumblk);
	return ret ? ret : write_filled(job->chunks, cx,
					log->blocknr + log->nsumblk,
					buf + head);
}

/* A log that is written in one piece. */
int logjob_do_log(struct context *cx, void *arg, unsigned int worker,
		  bool skip)
{
	struct logjob *job = arg;
	struct logout *out = job->out;
	uint8_t *buf = NULL;
	int ret = skip ? -ECANCELED : fill_log(job, cx, worker, &buf);

	if (!ret && (!out->sequential || pool_turn(out->pool, worker)))
		ret = write_log(job, cx, buf);
	logjob_drop(job);
	return ret;
}
