// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files by block and by extent.
 *
 * A file owns no memory: it has a raw inode, its map, and the positions of a few recent
 * blocks, since the same block of the DAT or the ifile is often needed again.  The
 * preview of a roll-forward is merged with the map here, so callers see one file.
 */
#include "vol/file.h"

#include "base/search.h"
#include "disk/inode.h"
#include "vol/extent.h"
#include "vol/rollforward.h"
#include "vol/volume.h"

int file_init(struct file *file, struct context *cx, struct volume *vol,
	      uint64_t ino, const struct nilfs_inode *inode)
{
	static const struct nilfs_inode no_map;

	file->vol = vol;
	file->ino = ino;
	file->inode = *inode;
	file->memo_filled = 0;
	file->extents = NULL;
	file->nextents = 0;
	if (!inode_has_bmap(inode) && !inode_is_metadata(ino))
		inode = &no_map;
	return blockmap_init(&file->map, cx, vol, ino, inode);
}

static bool ends_before(const void *item, const void *key)
{
	const struct extent *extent = item;

	return extent->blkoff + extent->count <= *(const uint64_t *)key;
}

int file_lookup(struct file *file, struct context *cx, uint64_t blkoff,
		uint64_t *blocknr)
{
	unsigned int slot = blkoff % FILE_MEMO_SLOTS;
	uint32_t bit = UINT32_C(1) << slot;
	const struct salvaged_block *s;
	const struct extent *extent;
	uint64_t ptr = 0;
	size_t i;
	int ret, err;

	if (file->memo_filled & bit && file->memo[slot].blkoff == blkoff) {
		*blocknr = file->memo[slot].blocknr;
		return *blocknr != 0;
	}
	*blocknr = 0;
	s = rollforward_find(file->vol->rollforward, file->ino, blkoff);
	if (file->extents) {
		i = search_first(file->extents, file->nextents,
				 sizeof(*file->extents), ends_before, &blkoff);
		extent = &file->extents[i];
		ret = i < file->nextents && extent->blkoff <= blkoff;
		if (ret)
			*blocknr = extent->blocknr + (blkoff - extent->blkoff);
	} else if (s && s->blkoff == blkoff) {
		*blocknr = s->blocknr;
		ret = 1;
	} else {
		ret = blockmap_lookup(&file->map, cx, blkoff, &ptr);
		err = ret <= 0 ? ret : blockmap_resolve(&file->map, cx, ptr,
							blocknr);
		if (err)
			return err;
	}
	file->memo_filled |= bit;
	file->memo[slot].blkoff = blkoff;
	file->memo[slot].blocknr = *blocknr;
	return ret;
}

int file_block(struct file *file, struct context *cx, uint64_t blkoff,
	       const void **data)
{
	uint64_t blocknr;
	int ret;

	ret = file_lookup(file, cx, blkoff, &blocknr);
	if (ret <= 0)
		return ret;
	ret = cache_get(file->vol->cache, cx, blocknr, data);
	return ret ? ret : 1;
}

void file_put(struct file *file, const void *data)
{
	cache_put(file->vol->cache, data);
}

int file_copy(struct file *file, struct context *cx, uint64_t blkoff,
	      uint64_t offset, void *to, size_t len)
{
	const void *data;
	int ret = file_block(file, cx, blkoff, &data);

	if (ret <= 0)
		return ret;
	memcpy(to, (const char *)data + offset, len);
	file_put(file, data);
	return 1;
}

int file_bit(struct file *file, struct context *cx, const struct palloc *p,
	     uint64_t number, bool *used)
{
	const void *bitmap;
	int ret = file_block(file, cx, palloc_bitmap_blkoff(
				     p, palloc_group(p, number)), &bitmap);

	if (ret <= 0)
		return ret;
	*used = palloc_bit(bitmap, palloc_group_offset(p, number));
	file_put(file, bitmap);
	return 1;
}

bool file_is_counted(struct file *file, struct context *cx,
		     const struct palloc *p, uint64_t group)
{
	struct nilfs_palloc_group_desc desc = { 0 };
	uint32_t used = 0;
	const void *data;

	file_copy(file, cx, palloc_desc_blkoff(p, group),
		  palloc_desc_offset(p, group), &desc, sizeof(desc));
	if (file_block(file, cx, palloc_bitmap_blkoff(p, group), &data) > 0) {
		used = palloc_count(p, data);
		file_put(file, data);
	}
	fail_clear(cx);
	return le32_get(desc.pg_nfrees) == p->entries_per_group - used;
}

void file_readahead(struct file *file, struct context *cx, uint64_t blkoff,
		    unsigned int count)
{
	uint64_t places[FILE_READAHEAD_MAX], blocknr;
	unsigned int i, at, row, n = 0;
	struct context quiet;

	context_child(cx, &quiet);
	/* Insertion sort by block number. */
	for (i = 0; i < count && i < FILE_READAHEAD_MAX; i++) {
		if (file_lookup(file, &quiet, blkoff + i, &blocknr) <= 0)
			continue;
		for (at = n++; at && places[at - 1] > blocknr; at--)
			places[at] = places[at - 1];
		places[at] = blocknr;
	}
	for (i = 0; i < n; i += row) {
		row = 1;
		while (i + row < n && places[i + row] == places[i] + row)
			row++;
		cache_readahead(file->vol->cache, &quiet, places[i], row);
	}
}
