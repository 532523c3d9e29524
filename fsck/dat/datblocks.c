// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lost blocks of the DAT.
 *
 * Every block of the DAT was written to some log, and what was written last
 * counts, wherever the map has lost its way to it.  Where that copy is lost
 * too, entries can be told from the logs of the blocks themselves: where each
 * is, and with which checkpoint it began.
 */
#include "fsck/dat/datblocks.h"

#include <errno.h>
#include <string.h>

#include "disk/dat.h"

/* Bytes of the directory of a set, at most, a share of the budget. */
#define DIRECTORY_SHARE 16

int datblocks_set(struct sparse *s, struct context *cx, uint64_t end)
{
	uint64_t most = cx->max_memory / DIRECTORY_SHARE / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;

	return sparse_init(s, cx, end < most ? end : most);
}

bool datblocks_is_plausible(const struct fixer_job *job,
			    const struct nilfs_dat_entry *de)
{
	return !dat_is_unwritten(de) &&
	       dat_check(&job->vol->geo, de, job->vol->latest.cno) == RULE_OK;
}

/* Whether a block of entries has one that could be in use. */
static bool has_entries(struct fixer_job *job, const char *data,
			const struct palloc_block *what)
{
	uint32_t stride = job->vol->dat_palloc.entry_size;
	struct nilfs_dat_entry de;
	uint64_t i;

	for (i = 0; i < what->count; i++) {
		memcpy(&de, data + i * stride, sizeof(de));
		if (datblocks_is_plausible(job, &de))
			return true;
	}
	return false;
}

int datblocks_copy(struct fixer_job *job, struct context *cx,
		   struct metafile *m, uint64_t blkoff,
		   const struct listing *copy)
{
	struct volume *vol = job->vol;
	struct palloc_block what;
	const void *block;
	void *data;
	int err = cache_get(vol->cache, cx, copy->blocknr, &block);

	if (err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	palloc_locate(&vol->dat_palloc, blkoff, &what);
	if (what.kind != PALLOC_ENTRIES || has_entries(job, block, &what)) {
		err = metafile_replace(m, cx, blkoff, &data);
		if (!err)
			memcpy(data, block, vol->geo.block_size);
		err = err ? err : 1;
	}
	cache_put(vol->cache, block);
	return err;
}

int datblocks_remake(struct fixer_job *job, struct context *cx,
		     struct metafile *m, uint64_t blkoff,
		     const struct listings *l)
{
	const struct palloc *p = &job->vol->dat_palloc;
	struct nilfs_dat_entry de = { .de_end = le64_make(NILFS_CNO_MAX) };
	const struct listing *one;
	struct palloc_block what;
	size_t i;
	void *data;
	int err = metafile_replace(m, cx, blkoff, &data);

	if (err)
		return err;
	palloc_locate(p, blkoff, &what);
	for (i = listings_from(l, what.first); i < l->n; i++) {
		one = &l->items[i];
		if (one->number - what.first >= what.count)
			break;
		if (!one->is_used)
			continue;
		de.de_blocknr = le64_make(one->blocknr);
		de.de_start = le64_make(one->cno ? one->cno : NILFS_CNO_MIN);
		memcpy((char *)data + palloc_entry_offset(p, one->number), &de,
		       sizeof(de));
	}
	return 0;
}
