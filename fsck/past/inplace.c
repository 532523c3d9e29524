// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing into old logs: the exception to the rule that every change is one
 * more log.
 *
 * A block that several checkpoints share can be replaced for all of them, but
 * only with all that leads to it, and the log that has it stays wrong.  Where
 * an undo file has what was there it is set right where it is instead, and is
 * what it was, byte for byte.  Nobody loses anything if that is cut short: the
 * block was of no use.
 *
 * The checksum over the log is set right as well, unless it is already: damage
 * that came after the log was written has left it as it was.
 */
#include "fsck/past/inplace.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "disk/segsum.h"
#include "vol/logscan.h"

#define CHUNK_BLOCKS 64u

bool inplace_is_possible(const struct fixer_job *job)
{
	return job->undo && !job->dev->zones;
}

/* The log that has BLOCKNR: 1, 0 where none can be found. */
static int find_log(struct fixer_job *job, struct context *cx,
		    uint64_t blocknr, struct log *log)
{
	const struct nilfs_geometry *g = &job->vol->geo;
	struct logscan scan;
	int ret;

	if (!geometry_has_block(g, blocknr))
		return 0;
	ret = logscan_open(&scan, cx, job->vol, geometry_segment_of(g, blocknr),
			   0);
	while (!ret && (ret = logscan_next(&scan, cx, log)) > 0) {
		if (blocknr < log->pseg + log->nblocks)
			return blocknr >= log->pseg;
		ret = 0;
	}
	return ret;
}

static int sum_up(struct fixer_job *job, struct context *cx,
		  const struct log *log, struct segsum_crc *crc)
{
	uint32_t bits = job->vol->geo.block_bits, done, n;
	char *buf = malloc((size_t)CHUNK_BLOCKS << bits);
	int err = 0;

	if (!buf)
		return fail(cx, -ENOMEM, "blocks of a log");
	for (done = 0; done < log->nblocks && !err; done += n) {
		n = log->nblocks - done;
		if (n > CHUNK_BLOCKS)
			n = CHUNK_BLOCKS;
		err = dev_read(job->dev, cx, (log->pseg + done) << bits, buf,
			       (size_t)n << bits);
		if (!err)
			segsum_crc_update(crc, buf, (size_t)n << bits);
	}
	free(buf);
	return err ? err : context_cancelled(cx);
}

static int seal(struct fixer_job *job, struct context *cx,
		const struct log *log)
{
	uint64_t at = log->pseg << job->vol->geo.block_bits;
	struct nilfs_segment_summary ss;
	struct segsum_crc crc;
	le32 sum;
	int err = dev_read(job->dev, cx, at, &ss, sizeof(ss));

	if (err)
		return err;
	segsum_crc_init_datasum(&crc, &job->vol->geo, &ss);
	err = sum_up(job, cx, log, &crc);
	if (err || segsum_crc_check_datasum(&crc, &ss) == RULE_OK)
		return err;
	sum = le32_make(crc.sum);
	at += offsetof(struct nilfs_segment_summary, ss_datasum);
	return dev_write(job->dev, cx, at, &sum, sizeof(sum));
}

int inplace_write(struct fixer_job *job, struct context *cx, uint64_t blocknr,
		  const void *content)
{
	const struct nilfs_geometry *g = &job->vol->geo;
	struct log log;
	int ret = dev_write(job->dev, cx, blocknr << g->block_bits, content,
			    g->block_size);

	if (ret)
		return ret;
	ret = find_log(job, cx, blocknr, &log);
	if (ret > 0)
		ret = seal(job, cx, &log);
	/* A log that cannot be read as a whole has no right checksum anyway. */
	if (ret != -EIO && ret != -EUCLEAN)
		return ret;
	fail_clear(cx);
	return 0;
}
