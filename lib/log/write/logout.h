/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Output of closed logs: fill, checksum, write.
 *
 * A log is split into chunks of a few MiB that workers fill and write
 * independently, so that several read their sources at once and a buffer stays
 * in the processor's cache from the read to the write.  The checksum of a log
 * covers its chunks in order; since it is linear, the sums of the chunks are
 * combined at the end (crc32_le_zeros()), and the summary, which contains it,
 * is written last.
 *
 * On a zone every write must begin where the last one ended: there a log is one
 * chunk with its summary, and logs are written in the order of submission.
 */
#ifndef NILFS2_LOG_LOGOUT_H
#define NILFS2_LOG_LOGOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/geometry.h"
#include "log/write/payload.h"

struct logout;

/* A run of a log's payload. */
struct logout_run {
	struct payload *payload;	/* one reference, passed on */
	uint64_t at;			/* its first block in the payload */
	uint32_t count;			/* blocks */
};

/* A log, complete but for ss_sumsum and ss_datasum. */
struct logout_log {
	uint64_t blocknr;		/* its first block on the device */
	void *summary;			/* malloc()ed whole blocks */
	uint32_t nsumblk;
	struct logout_run *runs;	/* malloc()ed, in the payload's order */
	uint32_t nruns;
	uint32_t npayload;		/* blocks of all runs */
	/*
	 * Write blocks without content as zeros: a mount verifies the checksum
	 * of this log.
	 */
	bool whole;
};

/*
 * A digest of 128 bits over many blocks in any order: equal for equal content
 * at the same positions, regardless of the writer.  Different blocks or
 * positions have another digest with a probability of 1 - 2^-120, but it is not
 * safe against deliberate collisions.
 */
struct logout_digest {
	uint64_t words[2];	/* atomic; valid after logout_wait() */
};

struct logout_options {
	uint32_t chunk_bytes;	/* 0: 1 to 4 MiB, as CX's memory allows */
	bool sequential;	/* zones: whole logs, in order */
	struct logout_digest *digest;	/* adds all written blocks; or NULL */
	/*
	 * Preallocate the space of logs (except small ones) by so many bytes at
	 * once, from the start of a log; 0: do not.  Logs must then be
	 * submitted in ascending order, and space after the last one stays
	 * allocated.
	 */
	uint64_t allocate;
};

/*
 * Starts CX->threads workers (no thread for 1) that write to DEV (borrowed),
 * which must accept concurrent writes to different places, but not in
 * sequential mode.  Each has a buffer of up to two chunks, in sequential mode
 * of a whole log.  -ENOMEM.
 */
int logout_open(struct logout **outp, struct context *cx, struct dev *dev,
		const struct nilfs_geometry *g,
		const struct logout_options *options);

/*
 * Takes ownership of LOG, also on failure.  Returns as soon as the queue has
 * room, and does some of the work itself until then.  A failure is that of this
 * or an earlier log, the first one in the order of submission, with its text in
 * CX: the same in every run.  -EINTR once the user asked to stop.
 */
int logout_submit(struct logout *out, struct context *cx,
		  struct logout_log *log);

/* Returns once every log is written (not flushed); fails as logout_submit(). */
int logout_wait(struct logout *out, struct context *cx);

/*
 * Returns once block BLOCKNR of the device can be read: it is in no log, or in
 * a written one.  Waits for that log only: a cleaner reads a block of the DAT
 * for nearly each log.  Fails as logout_submit(), but may miss failures of
 * unfinished logs.
 */
int logout_wait_for(struct logout *out, struct context *cx, uint64_t blocknr);

/* Waits for running jobs, drops the others, and frees OUT; NULL is accepted. */
void logout_close(struct logout *out);

#endif
