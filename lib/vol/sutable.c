// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The segments of a volume.
 *
 * A hole of the SUFILE contains clean segments.  The cursor can yield or skip them,
 * since the SUFILE of a large volume with few data is mostly holes.
 */
#include "vol/sutable.h"

#include <errno.h>

#include "vol/volume.h"

#define READAHEAD_BLOCKS 32

int sutable_header(struct volume *vol, struct context *cx,
		   struct nilfs_sufile_header *header)
{
	int ret = file_copy(&vol->sufile, cx, 0, 0, header, sizeof(*header));

	if (!ret)
		return fail(cx, -EUCLEAN, "sufile: has no header block");
	return ret < 0 ? ret : 0;
}

int sutable_is_exact(struct volume *vol, struct context *cx)
{
	struct nilfs_sufile_header_ext header;
	int ret;

	if (!vol->geo.has_live_blks)
		return 0;
	ret = file_copy(&vol->sufile, cx, 0, 0, &header, sizeof(header));
	if (ret <= 0)
		return ret;
	return le64_get(header.sh_exact_cno) == vol->latest.cno;
}

/* Entries have the size given by the superblock; known members are read. */
static uint32_t known_bytes(const struct nilfs_geometry *geo)
{
	uint32_t known = sizeof(struct nilfs_segment_usage_ext);

	return geo->segment_usage_size < known ? geo->segment_usage_size : known;
}

int sutable_read(struct volume *vol, struct context *cx, uint64_t segnum,
		 struct nilfs_segment_usage_ext *su)
{
	const struct nilfs_geometry *geo = &vol->geo;
	int ret;

	if (segnum >= geo->nsegments)
		return fail(cx, -EINVAL, "segment %llu: the volume has only %llu segments",
			    (unsigned long long)segnum,
			    (unsigned long long)geo->nsegments);
	memset(su, 0, sizeof(*su));
	ret = file_copy(&vol->sufile, cx, segusage_blkoff(geo, segnum),
			segusage_offset(geo, segnum), su, known_bytes(geo));
	return ret < 0 ? ret : 0;
}

int sutable_cursor_open(struct sutable_cursor *cur, struct context *cx,
			struct volume *vol, bool holes)
{
	memset(cur, 0, sizeof(*cur));
	cur->vol = vol;
	cur->holes = holes;
	return extent_cursor_open(&cur->extents, cx, &vol->sufile, 0);
}

int sutable_cursor_next(struct sutable_cursor *cur, struct context *cx,
			uint64_t *segnum, struct nilfs_segment_usage_ext *su)
{
	const struct nilfs_geometry *geo = &cur->vol->geo;
	struct extent *e = &cur->extent;
	uint64_t blkoff;
	int ret;

	if (cur->segnum >= geo->nsegments)
		return 0;
	if (cur->segnum >= cur->end) {
		cache_put(cur->vol->cache, cur->block);
		cur->block = NULL;
		blkoff = segusage_blkoff(geo, cur->segnum);
		/* The first extent that ends after the place. */
		while (!cur->ended && e->blkoff + e->count <= blkoff) {
			ret = extent_cursor_next(&cur->extents, cx,
						 READAHEAD_BLOCKS, e);
			if (ret < 0)
				return ret;
			cur->ended = !ret;
			if (ret)
				cache_readahead(cur->vol->cache, cx, e->blocknr,
						(unsigned int)e->count);
		}
		if (!cur->holes && cur->ended)
			return 0;
		if (!cur->holes && e->blkoff > blkoff) {
			blkoff = e->blkoff;
			cur->segnum = segusage_first(geo, blkoff);
			if (cur->segnum >= geo->nsegments)
				return 0;
		}
		if (!cur->ended && e->blkoff <= blkoff) {
			ret = cache_get(cur->vol->cache, cx,
					e->blocknr + (blkoff - e->blkoff),
					&cur->block);
			if (ret)
				return ret;
			cur->entry = (const char *)cur->block +
				     segusage_offset(geo, cur->segnum);
		}
		cur->end = segusage_first(geo, blkoff + 1);
	}
	memset(su, 0, sizeof(*su));
	if (cur->block) {
		memcpy(su, cur->entry, known_bytes(geo));
		cur->entry += geo->segment_usage_size;
	}
	*segnum = cur->segnum++;
	return 1;
}

void sutable_cursor_close(struct sutable_cursor *cur)
{
	if (!cur->vol)
		return;
	cache_put(cur->vol->cache, cur->block);
	cur->block = NULL;
	extent_cursor_close(&cur->extents);
	cur->vol = NULL;
}

int sutable_walk(struct volume *vol, struct context *cx, bool holes,
		 sutable_visitor *visit, void *arg)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, vol, holes);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = visit(arg, cx, segnum, &su.su);
	}
	sutable_cursor_close(&cur);
	return ret;
}
