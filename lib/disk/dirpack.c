// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A directory block, filled front to back.
 *
 * Only the last entry is longer than it must be, up to the block's end.
 *
 * A length of 65536 has no form that every kernel reads alike, so an entry
 * alone in a block of 64 KiB is followed by free room: an entry without inode.
 */
#include "disk/dirpack.h"

#include <string.h>

#include "disk/dirent.h"

void dirpack_init(struct dirpack *p, void *block, uint32_t block_size)
{
	memset(block, 0, block_size);
	p->block = block;
	p->block_size = block_size;
	p->used = p->last = 0;
}

bool dirpack_add(struct dirpack *p, uint64_t ino, uint8_t type,
		 const char *name, uint8_t len)
{
	struct nilfs_dir_entry *de =
		(struct nilfs_dir_entry *)(p->block + p->used);
	uint32_t rec_len = dirent_rec_len(len);

	if (rec_len > p->block_size - p->used)
		return false;
	de->inode = le64_make(ino);
	de->rec_len = dirent_rec_len_encode(rec_len);
	de->name_len = len;
	de->file_type = type;
	memcpy(de->name, name, len);
	p->last = p->used;
	p->used += rec_len;
	return true;
}

void dirpack_end(struct dirpack *p)
{
	struct nilfs_dir_entry *de;

	if (!p->used)
		dirpack_add(p, 0, NILFS_FT_UNKNOWN, "", 0);
	if (!p->last && p->block_size > NILFS_MAX_REC_LEN)
		dirpack_add(p, 0, NILFS_FT_UNKNOWN, "", 0);
	de = (struct nilfs_dir_entry *)(p->block + p->last);
	de->rec_len = dirent_rec_len_encode(p->block_size - p->last);
	p->used = p->block_size;
}
