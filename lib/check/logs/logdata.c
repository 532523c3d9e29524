// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checksum over a log.
 *
 * The blocks are read through one buffer that stays in the cache of a processor,
 * which is small, and bypassing the block cache, since nothing is read again.  So
 * that a disk gets large requests the whole log is announced before.
 */
#include "check/logs/logdata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vol/volume.h"

#define PIECE_BYTES (128u << 10)
#define PIECE_ALIGN 4096
#define FILES_NAMED 8

void logdata_free(struct logdata *d)
{
	free(d->buf);
	d->buf = NULL;
}

int logdata_is_right(struct logdata *d, struct context *cx, struct dev *dev,
		     const struct nilfs_geometry *geo, uint64_t pseg,
		     const struct nilfs_segment_summary *ss)
{
	uint32_t nblocks = le32_get(ss->ss_nblocks), done, n;
	uint32_t piece = PIECE_BYTES >> geo->block_bits;
	struct segsum_crc crc;
	int err = 0;

	if (!d->buf)
		d->buf = aligned_alloc(PIECE_ALIGN, PIECE_BYTES);
	if (!d->buf)
		return fail(cx, -ENOMEM, "buffer for logs");
	segsum_crc_init_datasum(&crc, geo, ss);
	dev_readahead(dev, pseg << geo->block_bits,
		      (uint64_t)nblocks << geo->block_bits);
	for (done = 0; done < nblocks && !err; done += n) {
		n = nblocks - done < piece ? nblocks - done : piece;
		err = dev_read(dev, cx, (pseg + done) << geo->block_bits, d->buf,
			       (size_t)n << geo->block_bits);
		if (!err)
			segsum_crc_update(&crc, d->buf,
					  (size_t)n << geo->block_bits);
	}
	if (err)
		return err;
	return segsum_crc_check_datasum(&crc, ss) == RULE_OK;
}

int logdata_can_read(struct logdata *d, struct context *cx, struct volume *vol,
		     uint64_t blocknr)
{
	int err = volume_read_blocks(vol, cx, blocknr, 1, d->buf);

	if (err != -EIO)
		return err ? err : 1;
	fail_clear(cx);
	return 0;
}

void logdata_files(const struct summary *summary,
		   char text[LOGDATA_FILES_MAX])
{
	const struct segsum_iter *done = &summary->iter;
	uint32_t nsumblk = segsum_nsumblk(&summary->vol->geo,
					  (const void *)summary->buf);
	struct segsum_iter it;
	struct segsum_block b;
	size_t len = 0;
	unsigned int named = 0;

	text[0] = '\0';
	segsum_iter_init(&it, &summary->vol->geo, summary->buf,
			 (size_t)nsumblk * done->block_size);
	while (named <= FILES_NAMED && segsum_iter_next(&it, &b)) {
		if (b.file_block)
			continue;
		if (named++ == FILES_NAMED)
			snprintf(text + len, LOGDATA_FILES_MAX - len,
				 " and more");
		else
			len += (size_t)snprintf(text + len,
						LOGDATA_FILES_MAX - len,
						"%s%llu",
						len ? ", " : "inodes ",
						(unsigned long long)b.ino);
		if (len > LOGDATA_FILES_MAX - sizeof(" and more"))
			return;
	}
}
