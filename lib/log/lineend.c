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
 * A sequential zone has nothing after the write pointer.
 */
#include "log/lineend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/zone.h"

/* Whether BLOCK, of the size of G, begins a log of number SEQ. */
static bool is_log(const void *block, uint64_t seq)
{
	const struct nilfs_segment_summary *ss = block;

	return le32_get(ss->ss_magic) == NILFS_SEGSUM_MAGIC &&
	       le64_get(ss->ss_seq) == seq;
}

/*
 * No log of number SEQ begins at BLOCKNR.  What cannot be read would end a
 * mount, and may be healed by what is written there.
 */
static int end_at(struct dev *dev, struct context *cx,
		  const struct nilfs_geometry *g, void *block,
		  uint64_t blocknr, uint64_t seq)
{
	uint64_t off = blocknr << g->block_bits;
	int ret;

	if (off >= dev->size || g->block_size > dev->size - off ||
	    !zone_is_in_place(dev->zones, off))
		return 0;
	ret = dev_read(dev, cx, off, block, g->block_size);
	if (!ret && !is_log(block, seq))
		return 0;
	if (ret && ret != -EIO)
		return ret;
	fail_clear(cx);
	memset(block, 0, g->block_size);
	return dev_write(dev, cx, off, block, g->block_size);
}

int lineend_make(struct dev *dev, struct context *cx,
		 const struct nilfs_geometry *g, const struct writer_end *end)
{
	uint64_t behind = geometry_segment_start(g, end->segnum) + end->offset;
	void *block = malloc(g->block_size);
	int ret = block ? 0 : fail(cx, -ENOMEM, "end of the line of logs");

	if (!ret && behind < geometry_segment_end(g, end->segnum))
		ret = end_at(dev, cx, g, block, behind, end->seq);
	if (!ret)
		ret = end_at(dev, cx, g, block,
			     geometry_segment_start(g, end->nextnum),
			     end->seq + 1);
	free(block);
	return ret;
}
