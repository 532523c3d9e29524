// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An ifile read whole.
 *
 * Blocks come in order: the bitmap of a group, then its inodes.  An inode
 * counts where its bit is set; one that has links and a type but no bit is
 * there as well: what is wrong is the bit, which is reported elsewhere, and the
 * names that lead to it are right.  What a block of inodes holds besides is
 * what deleted ones left.
 */
#include "check/ifilelist.h"

#include <stdlib.h>
#include <string.h>

#include "check/blockbatch.h"
#include "check/names.h"
#include "disk/inode.h"
#include "disk/palloc.h"

struct ifilelist {
	struct volume *vol;
	const struct palloc *palloc;
	struct inodelist *list;
	bool *whole;
	uint8_t *bitmap;
	uint64_t group; /* of the bitmap, UINT64_MAX: none yet */
	uint64_t next;	/* numbers only ascend, whatever the blocks say */
};

/*
 * mkfs.nilfs2 made an empty file, ".nilfs", until nilfs-utils 2.2.10; in 2010
 * it left its directory entry free, and nobody misses the name.
 */
static bool is_of_mkfs(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode)
{
	uint64_t time = le64_get(volume_super(vol)->s_ctime);

	return ino == NILFS_USER_INO &&
	       inode_dirent_type(le16_get(inode->i_mode)) ==
		       NILFS_FT_REG_FILE &&
	       !le64_get(inode->i_size) && !le64_get(inode->i_blocks) &&
	       le16_get(inode->i_links_count) == 1 &&
	       le64_get(inode->i_ctime) == time &&
	       le64_get(inode->i_mtime) == time;
}

uint8_t ifilelist_kind(const struct volume *vol, uint64_t ino,
		       const struct nilfs_inode *inode, bool allocated)
{
	uint8_t type = inode_dirent_type(le16_get(inode->i_mode));

	if (!allocated &&
	    (!le16_get(inode->i_links_count) || type == NILFS_FT_UNKNOWN))
		return 0;
	if (inode_is_private(ino))
		return 0;
	return type | INODELIST_THERE |
	       (allocated ? INODELIST_ALLOCATED : 0) |
	       (is_of_mkfs(vol, ino, inode) ? INODELIST_MKFS : 0);
}

static int take_inode(struct ifilelist *scan, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode, bool allocated)
{
	uint8_t kind = ifilelist_kind(scan->vol, ino, inode, allocated);

	if (!kind || ino < scan->next)
		return 0;
	scan->next = ino + 1;
	return inodelist_add(scan->list, cx, ino, kind, inode);
}

static int take_inodes(struct ifilelist *scan, struct context *cx,
		       const struct palloc_block *what, const char *data)
{
	uint32_t bit = palloc_group_offset(scan->palloc, what->first), i;
	bool have_bitmap = scan->group == what->group;
	int err = 0;

	for (i = 0; i < what->count && !err; i++)
		err = take_inode(scan, cx, what->first + i,
				 (const struct nilfs_inode *)(data +
				 (size_t)i * scan->palloc->entry_size),
				 have_bitmap &&
					 palloc_bit(scan->bitmap, bit + i));
	return err;
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct ifilelist *scan = arg;
	struct palloc_block what;

	if (!data) {
		*scan->whole = false;
		return names_is_fatal(err) ? err : 0;
	}
	palloc_locate(scan->palloc, item->blkoff, &what);
	if (what.kind == PALLOC_BITMAP) {
		memcpy(scan->bitmap, data, scan->palloc->block_size);
		scan->group = what.group;
	}
	if (what.kind != PALLOC_ENTRIES)
		return 0;
	return take_inodes(scan, cx, &what, data);
}

static int walk(struct ifilelist *scan, struct context *cx,
		const struct blockmap *map, struct blockbatch *batch)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret;

	ret = blockmap_cursor_open(&cur, cx, map, 0, false);
	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		struct blockbatch_item block = { .blkoff = item.key };

		ret = blockmap_resolve(map, cx, item.ptr, &block.blocknr);
		if (!ret) {
			ret = blockbatch_add(batch, cx, &block);
		} else if (!names_is_fatal(ret)) {
			*scan->whole = false;
			ret = 0;
		}
	}
	blockmap_cursor_close(&cur);
	if (ret && names_is_fatal(ret))
		return ret;
	if (ret)
		*scan->whole = false;
	return blockbatch_flush(batch, cx);
}

int ifilelist_fill(struct root *root, struct context *cx,
		  struct inodelist *list, bool *whole)
{
	struct ifilelist scan = {
		.vol = root->vol,
		.palloc = &root->vol->ifile_palloc,
		.list = list,
		.whole = whole,
		.group = UINT64_MAX,
	};
	struct blockbatch batch;
	int err;

	*whole = true;
	err = blockbatch_open(&batch, cx, root->vol, take_block, &scan);
	scan.bitmap = malloc(root->vol->geo.block_size);
	if (!err && !scan.bitmap)
		err = fail(cx, -ENOMEM, "bitmap of an ifile");
	if (!err)
		err = walk(&scan, cx, &root->ifile.map, &batch);
	free(scan.bitmap);
	blockbatch_close(&batch);
	return err;
}
