// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of the chain of logs.
 *
 * A mount follows logs by their position and sequence number
 * (nilfs_search_super_root()).  If a job is interrupted after its logs, but
 * before the superblocks that name them, and is started again, the new logs get
 * the same sequence numbers.  If they are fewer or shorter, a log of the first
 * run may directly follow the last one with the expected number, for a
 * checkpoint whose blocks are partly overwritten.  The same happens to a volume
 * formatted again with the same checksum seed.
 *
 * A sequential zone has no content after the write pointer.
 */
#include "log/lineend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/zone.h"

int lineend_make(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *g, const struct writer_end *end)
{
	/* The first block and the sequence number of possible old logs. */
	const uint64_t places[2][2] = {
		{ geometry_segment_start(g, end->segnum) + end->offset,
		  end->seq },
		{ geometry_segment_start(g, end->nextnum), end->seq + 1 },
	};
	bool full = places[0][0] >= geometry_segment_end(g, end->segnum);
	struct nilfs_segment_summary *ss = malloc(g->block_size);
	unsigned int i;
	int ret = ss ? 0 : fail(cx, -ENOMEM, "end of the chain of logs");

	for (i = full; i < 2 && !ret; i++) {
		uint64_t off = places[i][0] << g->block_bits;

		if (off >= dev->size || g->block_size > dev->size - off ||
		    !zone_is_in_place(dev->zones, off))
			continue;
		ret = dev_read(dev, cx, off, ss, g->block_size);
		if (!ret && (le32_get(ss->ss_magic) != NILFS_SEGSUM_MAGIC ||
			     le64_get(ss->ss_seq) != places[i][1]))
			continue;
		/*
		 * An unreadable block would fail a mount; writing to it may
		 * make it readable.
		 */
		if (ret && ret != -EIO)
			break;
		fail_clear(cx);
		memset(ss, 0, g->block_size);
		ret = dev_write(dev, cx, off, ss, g->block_size);
	}
	free(ss);
	return ret;
}
