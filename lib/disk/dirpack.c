// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A directory block, filled from front to back.
 *
 * Only the last entry is longer than necessary: it extends to the end of the block.
 *
 * Kernels differ in the encoding of a length of 65536, so a single entry in a block
 * of 64 KiB is followed by an unused entry.
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

static void set_entry(void *at, uint64_t ino, uint32_t rec_len, uint8_t type,
		      const char *name, uint8_t len)
{
	struct nilfs_dir_entry *de = at;

	de->inode = le64_make(ino);
	de->rec_len = dirent_rec_len_encode(rec_len);
	de->name_len = len;
	de->file_type = type;
	memcpy(de->name, name, len);
}

bool dirpack_add(struct dirpack *p, uint64_t ino, uint8_t type,
		 const char *name, uint8_t len)
{
	uint32_t rec_len = dirent_rec_len(len);

	if (rec_len > p->block_size - p->used)
		return false;
	set_entry(p->block + p->used, ino, rec_len, type, name, len);
	p->last = p->used;
	p->used += rec_len;
	return true;
}

void dirpack_skip(struct dirpack *p, uint32_t at)
{
	struct nilfs_dir_entry *de;

	if (at <= p->used)
		return;
	if (!p->used)
		dirpack_add(p, 0, NILFS_FT_UNKNOWN, "", 0);
	de = (struct nilfs_dir_entry *)(p->block + p->last);
	de->rec_len = dirent_rec_len_encode(at - p->last);
	p->used = at;
}

void dirpack_end(struct dirpack *p)
{
	if (!p->used)
		dirpack_add(p, 0, NILFS_FT_UNKNOWN, "", 0);
	if (!p->last && p->block_size > NILFS_MAX_REC_LEN)
		dirpack_add(p, 0, NILFS_FT_UNKNOWN, "", 0);
	dirpack_skip(p, p->block_size);
}

bool dirpack_insert(void *block, uint32_t block_size, uint64_t ino,
		    uint8_t type, const char *name, uint8_t len)
{
	uint32_t need = dirent_rec_len(len), taken;
	struct dirent_entry e;
	struct dirent_iter it;
	char *at;

	dirent_iter_init(&it, block, block_size);
	while (dirent_iter_next(&it, &e)) {
		taken = e.ino ? dirent_rec_len(e.name_len) : 0;
		if (e.rec_len < taken + need)
			continue;
		at = (char *)block + e.offset;
		if (taken)
			((struct nilfs_dir_entry *)at)->rec_len =
				dirent_rec_len_encode(taken);
		set_entry(at + taken, ino, e.rec_len - taken, type, name, len);
		return true;
	}
	return false;
}
