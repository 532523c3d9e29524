// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd IMAGE SPARE [LIVING]: says of all segments of a volume but SPARE at its
 * end that they are in use, and in one of LIVING that a block lives there, as
 * if the volume had been filled.  None has a log: what keeps something for each
 * segment in use can be measured on a sparse file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/devfile.h"
#include "disk/dat.h"
#include "disk/palloc.h"
#include "disk/segusage.h"
#include "gc/move/onelog.h"
#include "log/directwriter.h"

#define TIME 1000000000
#define FIRST_ENTRY 20000	/* of the DAT, after those in use */

struct crowd {
	struct context cx;
	struct dev *dev;
	struct volume *vol;
	struct writer *w;
	uint64_t living;	/* 0: none */
};

static int occupy(struct crowd *c, uint64_t segnum)
{
	const struct nilfs_geometry *g = &c->vol->geo;
	struct nilfs_segment_usage *su;
	void *data;
	int ret = metafile_change(directwriter_file(c->w, NILFS_SUFILE_INO),
				  &c->cx, segusage_blkoff(g, segnum), &data,
				  NULL);

	if (ret)
		return ret;
	su = (void *)((char *)data + segusage_offset(g, segnum));
	if (!segusage_is_clean(su))
		return 0;
	su->su_lastmod = le64_make(TIME);
	su->su_nblocks = le32_make(g->blocks_per_segment);
	su->su_flags = le32_make(1u << NILFS_SEGMENT_USAGE_DIRTY);
	return 0;
}

/* Block BLKOFF of the DAT, to be changed; NULL after a failure. */
static uint8_t *dat_block(struct crowd *c, uint64_t blkoff)
{
	void *data;

	return metafile_change(directwriter_file(c->w, NILFS_DAT_INO), &c->cx,
			       blkoff, &data, NULL)
		       ? NULL
		       : data;
}

static int settle(struct crowd *c, uint64_t segnum)
{
	const struct palloc *p = &c->vol->dat_palloc;
	uint64_t nr = FIRST_ENTRY + segnum / c->living;
	uint32_t bit = palloc_group_offset(p, nr);
	struct nilfs_dat_entry de = {
		.de_blocknr = le64_make(geometry_segment_end(&c->vol->geo,
							     segnum) - 1),
		.de_start = le64_make(1),
		.de_end = le64_make(NILFS_CNO_MAX),
	};
	uint8_t *bits, *entries;

	bits = dat_block(c, palloc_bitmap_blkoff(p, palloc_group(p, nr)));
	if (!bits)
		return -1;
	bits[bit / 8] |= (uint8_t)(1u << bit % 8);
	entries = dat_block(c, palloc_entry_blkoff(p, nr));
	if (!entries)
		return -1;
	memcpy(entries + palloc_entry_offset(p, nr), &de, sizeof(de));
	return 0;
}

static int fill(struct crowd *c, uint64_t end)
{
	uint64_t segnum;
	int ret = 0;

	for (segnum = 0; segnum < end && !ret; segnum++)
		ret = occupy(c, segnum);
	for (segnum = c->living; segnum && segnum < end && !ret;
	     segnum += c->living)
		ret = settle(c, segnum);
	return ret ? ret : directwriter_changed(c->w, &c->cx);
}

static int run(struct crowd *c, const char *path, uint64_t spare)
{
	const struct directwriter_known known = { 0 };
	struct writer_options options;
	struct writer_end end;
	int ret = devfile_open(&c->dev, &c->cx, path, DEVFILE_WRITE);

	if (!ret)
		ret = volume_open(&c->vol, &c->cx, c->dev, NULL);
	if (ret)
		return ret;
	options = writer_options_on(c->vol, TIME);
	ret = directwriter_open(&c->w, &c->cx, c->vol, &options, &known);
	if (!ret)
		ret = fill(c, c->vol->geo.nsegments - spare);
	return ret ? ret : onelog_commit(c->w, &c->cx, c->vol, TIME, &end);
}

int main(int argc, char **argv)
{
	struct crowd c = { 0 };
	int ret;

	if (argc != 3 && argc != 4)
		return 2;
	if (argc == 4)
		c.living = strtoull(argv[3], NULL, 10);
	context_init(&c.cx);
	c.cx.max_memory = UINT64_C(1) << 30;
	ret = run(&c, argv[1], strtoull(argv[2], NULL, 10));
	if (ret)
		fprintf(stderr, "crowd: %s\n", c.cx.failure);
	writer_close(c.w);
	volume_close(c.vol);
	dev_close(c.dev);
	return ret != 0;
}
