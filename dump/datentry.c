// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An entry of the DAT and whether it is in use.
 *
 * Translation uses the entry alone; to explain a block the bitmap is needed
 * too, because a freed number keeps its old entry.
 */
#include "dump/datentry.h"

#include <errno.h>
#include <string.h>

#include "vol/translate.h"
#include "vol/volume.h"

static int read_bit(struct datentry *e, struct context *cx,
		    struct volume *vol, uint64_t vblocknr)
{
	const struct palloc *palloc = &vol->dat_palloc;
	const void *bitmap;
	int ret;

	e->group = palloc_group(palloc, vblocknr);
	ret = file_block(&vol->dat, cx, palloc_bitmap_blkoff(palloc, e->group),
			 &bitmap);
	if (ret <= 0)
		return ret;
	e->used = palloc_bit(bitmap, palloc_group_offset(palloc, vblocknr));
	file_put(&vol->dat, bitmap);
	return 0;
}

int datentry_read(struct datentry *e, struct context *cx, struct volume *vol,
		  const struct held *h, uint64_t vblocknr)
{
	int err;

	memset(e, 0, sizeof(*e));
	err = read_bit(e, cx, vol, vblocknr);
	if (err)
		return err;
	err = translate_entry(vol, cx, vblocknr, &e->de);
	e->exists = !err;
	if (err == -ENOENT) {
		fail_clear(cx);
		err = 0;
	}
	e->state = e->exists && e->used ? held_state(h, &e->de) : HELD_FREE;
	return err;
}
