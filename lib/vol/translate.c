// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From virtual block numbers to disk blocks.
 *
 * The DAT is a file of fixed-size entries at computed offsets, and its own map is
 * physical, so one lookup of the DAT's map and one block are sufficient.  Like the
 * kernel this does not read the allocation bitmap.
 */
#include "vol/translate.h"

#include <errno.h>

#include "vol/volume.h"

int translate_entry(struct volume *vol, struct context *cx, uint64_t vblocknr,
		    struct nilfs_dat_entry *entry)
{
	const struct palloc *palloc = &vol->dat_palloc;
	int ret;

	ret = file_copy(&vol->dat, cx, palloc_entry_blkoff(palloc, vblocknr),
			palloc_entry_offset(palloc, vblocknr), entry,
			sizeof(*entry));
	if (!ret)
		return fail_said(cx, -ENOENT,
				 "virtual block %llu: not in the DAT",
				 (unsigned long long)vblocknr);
	return ret < 0 ? ret : 0;
}

int translate_vblock(struct volume *vol, struct context *cx, uint64_t vblocknr,
		     uint64_t *blocknr)
{
	struct nilfs_dat_entry entry;
	uint64_t b;
	int err;

	err = translate_entry(vol, cx, vblocknr, &entry);
	if (err)
		return err == -ENOENT ? -EUCLEAN : err;
	b = le64_get(entry.de_blocknr);
	if (!geometry_has_block(&vol->geo, b))
		return fail(cx, -EUCLEAN, b ?
			    "virtual block %llu: block %llu is outside the segments" :
			    "virtual block %llu: has no block",
			    (unsigned long long)vblocknr,
			    (unsigned long long)b);
	*blocknr = b;
	return 0;
}
