// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Superblocks that name a new log.
 *
 * The superblock on the volume is the template: fields that only mkfs.nilfs2
 * and mounts set are kept.  Both copies get the same content; the kernel, which
 * writes them alternately, continues from there.
 */
#include "log/newsupers.h"

#include "dev/zone.h"
#include "disk/super.h"

void newsupers_fill(struct nilfs_super_block *sb,
		    const struct nilfs_geometry *g,
		    const struct writer_end *end, uint64_t time,
		    uint16_t state)
{
	sb->s_last_cno = le64_make(end->cno);
	sb->s_last_pseg = le64_make(end->pseg);
	sb->s_last_seq = le64_make(end->seq);
	sb->s_free_blocks_count =
		le64_make(end->clean_segments * g->blocks_per_segment);
	sb->s_wtime = le64_make(time);
	sb->s_state = le16_make(state);
	sb->s_sum = le32_make(super_checksum(sb));
}

int newsupers_write_copy(struct context *cx, struct dev *dev,
			 const struct nilfs_super_block *sb, uint64_t offset)
{
	int ret = dev_write(dev, cx, offset, sb, sizeof(*sb));

	return ret ? ret : dev_flush(dev, cx);
}

int newsupers_write(struct context *cx, struct dev *dev,
		    const struct nilfs_super_block *sb, uint64_t offset2)
{
	int ret = dev_flush(dev, cx);

	if (!ret)
		ret = newsupers_write_copy(cx, dev, sb, NILFS_SB_OFFSET_BYTES);
	if (!ret && offset2)
		ret = newsupers_write_copy(cx, dev, sb, offset2);
	return ret;
}

uint64_t newsupers_offset2(const struct volume *vol)
{
	uint64_t offset = vol->super_offset[1];

	if (super_bad_offset2(volume_super(vol), offset) ||
	    !zone_is_in_place(vol->dev->zones, offset))
		return 0;
	return offset;
}

int newsupers_name(struct context *cx, struct dev *dev,
		   const struct volume *vol, const struct writer_end *end,
		   uint64_t time, uint16_t state)
{
	struct nilfs_super_block sb = *volume_super(vol);

	newsupers_fill(&sb, &vol->geo, end, time, state);
	return newsupers_write(cx, dev, &sb, newsupers_offset2(vol));
}

int newsupers_begin(struct context *cx, struct dev *dev, const struct volume *vol)
{
	struct nilfs_super_block sb = *volume_super(vol);
	unsigned int state = le16_get(sb.s_state);

	if (!(state & NILFS_VALID_FS))
		return 0;
	sb.s_state = le16_make((uint16_t)(state & ~(unsigned int)NILFS_VALID_FS));
	sb.s_sum = le32_make(super_checksum(&sb));
	return newsupers_write(cx, dev, &sb, newsupers_offset2(vol));
}
