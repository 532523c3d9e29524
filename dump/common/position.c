// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From an entry of a metadata file to its bytes on the disk.
 *
 * All structures except superblocks, logs and super roots are in a file, so a
 * position is a block of that file and an offset in it.  The commands for one
 * structure print it; "set" changes the bytes there (target_file.c).
 */
#include "dump/common/position.h"

#include <errno.h>

#include "disk/checkpoint.h"
#include "vol/volume.h"

static const char *const file_names[] = {
	[NILFS_DAT_INO] = "dat",
	[NILFS_CPFILE_INO] = "cpfile",
	[NILFS_SUFILE_INO] = "sufile",
	[NILFS_IFILE_INO] = "ifile",
};

const char *position_file_name(uint64_t ino)
{
	return ino < sizeof(file_names) / sizeof(file_names[0]) ?
		file_names[ino] : NULL;
}

int position_in_file(struct position *p, struct context *cx, struct file *file,
		  uint64_t blkoff, uint32_t offset)
{
	uint64_t ptr;
	int ret;

	ret = blockmap_lookup(&file->map, cx, blkoff, &ptr);
	if (ret < 0)
		return ret;
	if (!ret)
		return fail_said(cx, -ENOENT,
				 "inode %llu: block %llu is a hole",
				 (unsigned long long)file->ino,
				 (unsigned long long)blkoff);
	*p = (struct position){
		.ino = file->ino,
		.blkoff = blkoff,
		.vblocknr = file->map.physical ? 0 : ptr,
		.offset = offset,
	};
	return blockmap_resolve(&file->map, cx, ptr, &p->blocknr);
}

int position_of_inode(struct position *p, struct context *cx, struct root *root,
		   uint64_t ino)
{
	struct volume *vol = root->vol;
	const struct nilfs_geometry *geo = &vol->geo;

	if (ino >= NILFS_DAT_INO && ino <= NILFS_SUFILE_INO) {
		*p = (struct position){ .blocknr = vol->latest.super_root };
		p->offset = offsetof(struct nilfs_super_root, sr_dat) +
			    (uint32_t)((ino - NILFS_DAT_INO) * geo->inode_size);
		return 0;
	}
	if (ino == NILFS_IFILE_INO)
		return position_in_file(p, cx, &vol->cpfile,
				     checkpoint_blkoff(geo, root->cno),
				     checkpoint_offset(geo, root->cno) +
				     offsetof(struct nilfs_checkpoint,
					      cp_ifile_inode));
	return position_in_file(p, cx, &root->ifile,
			     palloc_entry_blkoff(&vol->ifile_palloc, ino),
			     palloc_entry_offset(&vol->ifile_palloc, ino));
}

int position_of_dat_entry(struct position *p, struct context *cx,
		       struct volume *vol, uint64_t vblocknr)
{
	return position_in_file(p, cx, &vol->dat,
			     palloc_entry_blkoff(&vol->dat_palloc, vblocknr),
			     palloc_entry_offset(&vol->dat_palloc, vblocknr));
}

void position_report(struct report *r, const struct position *p)
{
	const char *name = position_file_name(p->ino);

	report_begin(r, "place", "Location");
	if (!p->ino) {
		report_string(r, "file", "File", "super root");
	} else {
		report_string(r, "file", "File", name);
		report_u64(r, "file_block", "File block", p->blkoff);
	}
	if (p->vblocknr)
		report_u64(r, "vblocknr", "Virtual block", p->vblocknr);
	report_u64(r, "blocknr", "Disk block", p->blocknr);
	report_u64(r, "offset", "Byte in the block", p->offset);
	report_end(r);
}
