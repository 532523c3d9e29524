// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The end of the used part of a volume, by its SUFILE.
 */
#include "gc/compact/usedend.h"

#include "disk/segusage.h"
#include "vol/sutable.h"
#include "vol/volume.h"

static int add_segment_use(void *arg, struct context *cx, uint64_t segnum,
			   const struct nilfs_segment_usage *su)
{
	struct usedend *r = arg;

	(void)cx;
	if (!segusage_is_dirty(su) || !le32_get(su->su_nblocks))
		return 0;
	r->end = segnum + 1;
	r->used++;
	r->places += segnum;
	return 0;
}

static int measure_segments(struct usedend *r, struct context *cx,
			    struct volume *vol)
{
	struct nilfs_sufile_header header;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	r->clean = le64_get(header.sh_ncleansegs);
	r->next = vol->latest.nextnum;
	r->segment = vol->geo.blocks_per_segment;
	return sutable_walk(vol, cx, false, add_segment_use, r);
}

int usedend_measure(struct usedend *r, struct context *cx, struct dev *dev)
{
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	*r = (struct usedend){ 0 };
	if (!ret)
		ret = measure_segments(r, cx, vol);
	volume_close(vol);
	return ret;
}

bool usedend_is_better(const struct usedend *a, const struct usedend *b,
		       uint64_t written)
{
	if (a->end != b->end)
		return a->end < b->end;
	if (a->used != b->used)
		return a->used < b->used;
	if (written > a->segment)
		return false;
	if (a->places != b->places)
		return a->places < b->places;
	return a->next < b->next;
}
