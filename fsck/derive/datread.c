// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of the DAT at their newest listings.
 *
 * The map of the DAT may be damaged.  The newest listing of a block has its
 * position, unless the map leads to a segment with unreadable logs: then that
 * listing is older, and its content is the fallback if the newest one is
 * invalid.
 */
#include "fsck/derive/datread.h"

#include <string.h>

#include "check/damage.h"
#include "check/logs/listings.h"
#include "fsck/dat/datlife.h"

int datread_init(struct datread *o, struct context *cx, const struct check *c,
		 struct dev *dev)
{
	int err;

	*o = (struct datread){ .dev = dev, .vol = c->vol };
	err = bitmap_init(&o->listings.partial_segments, cx,
			  c->vol->geo.nsegments);
	return err ? err :
		     listings_of_file(&o->listings, cx, c, NILFS_DAT_INO);
}

void datread_fini(struct datread *o)
{
	listings_fini(&o->listings);
}

bool datread_is_unread(const struct datread *o, uint64_t blocknr)
{
	return bitmap_test(&o->listings.partial_segments,
			   geometry_segment_of(&o->vol->geo, blocknr));
}

/* The position: 1, 0 for a hole.  Only the map shows that it was deleted. */
static int find_block(struct datread *o, struct context *cx, uint64_t blkoff,
		      uint64_t *blocknr)
{
	const struct listing *l = listings_find(&o->listings, blkoff);
	int ret = file_lookup(&o->vol->dat, cx, blkoff, blocknr);

	if (ret < 0 && !damage_is(ret))
		return ret;
	if (ret < 0)
		fail_clear(cx);
	if (ret && l && !(ret > 0 && datread_is_unread(o, *blocknr))) {
		o->stale |= ret > 0 && *blocknr != l->blocknr;
		*blocknr = l->blocknr;
	}
	return ret > 0 || (ret && l);
}

static int read_at(const struct datread *o, struct context *cx,
		   uint64_t blocknr, char *buf)
{
	uint32_t size = o->vol->geo.block_size;

	return dev_read(o->dev, cx, blocknr * size, buf, size);
}

int datread_read(struct datread *o, struct context *cx, uint64_t blkoff,
		 uint64_t *blocknr, char *buf)
{
	int ret = find_block(o, cx, blkoff, blocknr), err;

	memset(buf, 0, o->vol->geo.block_size);
	if (ret <= 0)
		return ret;
	err = read_at(o, cx, *blocknr, buf);
	if (err && !damage_is(err))
		return err;
	if (err) {
		fail_clear(cx);
		memset(buf, 0, o->vol->geo.block_size);
	}
	return 1;
}

void datread_lacks(struct datread *o, uint64_t blkoff)
{
	o->stale |= listings_find(&o->listings, blkoff) != NULL;
}

int datread_read_older(const struct datread *o, struct context *cx,
		       uint64_t blkoff, uint64_t blocknr, char *buf)
{
	const struct listing *l = listings_find(&o->listings, blkoff);
	int err;

	if (!l || l->blocknr == blocknr)
		return 0;
	err = read_at(o, cx, l->blocknr, buf);
	return err ? damage_forgive(cx, err) : 1;
}

/* An older version looks sound, and has other segments in use.  A DAT that is
   wrong may lead to one. */
int datread_doubt_sufile(struct check *c, struct context *cx)
{
	int ret;

	c->sufile_doubted = true;
	ret = datlife_is_newest(c, cx, &c->vol->sufile);
	c->sufile_doubted = ret <= 0;
	return ret < 0 ? ret : 0;
}
