// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The directory block.
 *
 * Entries as in ext2 follow each other and fill the block exactly; the last one
 * extends to the end.  A bad length ends the walk, since it determines the place of
 * the next entry; a bad name, type or inode number does not, and is checked
 * separately.
 *
 * The kernel allows an entry for the sketch file (NILFS_PRIVATE_INODE()), which was
 * meant for notes about a checkpoint, under the name ".sketch".  No tool has made
 * that entry since 2008, but mkfs.nilfs2 still makes the inode, so an entry with
 * another name belongs to another file.  If it is written to, it is flushed as a
 * metadata file (NILFS_MDT_INODE()).
 */
#include "disk/dirent.h"

#include <string.h>

#include "disk/inode.h"

#define REC_LEN_64K 65536u

uint32_t dirent_rec_len(uint32_t name_len)
{
	return NILFS_DIR_REC_LEN(name_len);
}

le16 dirent_rec_len_encode(uint32_t rec_len)
{
	return le16_make(rec_len == REC_LEN_64K ? NILFS_MAX_REC_LEN : rec_len);
}

uint32_t dirent_rec_len_decode(le16 rec_len)
{
	uint32_t len = le16_get(rec_len);

	return len == NILFS_MAX_REC_LEN ? REC_LEN_64K : len;
}

void dirent_iter_init(struct dirent_iter *it, const void *block,
		      uint32_t block_size)
{
	it->verdict = RULE_OK;
	it->block = block;
	it->block_size = block_size;
	it->offset = 0;
}

int dirent_iter_next(struct dirent_iter *it, struct dirent_entry *entry)
{
	const struct nilfs_dir_entry *de;
	uint32_t room = it->block_size - it->offset;
	uint32_t rec_len;

	if (it->verdict || !room)
		return 0;
	if (room < dirent_rec_len(1)) {
		it->verdict = RULE_DIR_END;
		return 0;
	}
	de = (const struct nilfs_dir_entry *)(it->block + it->offset);
	rec_len = dirent_rec_len_decode(de->rec_len);
	if (rec_len < dirent_rec_len(1))
		it->verdict = RULE_DIR_REC_LEN_SHORT;
	else if (rec_len & 3)
		it->verdict = RULE_DIR_REC_LEN_ALIGN;
	else if (rec_len < dirent_rec_len(de->name_len))
		it->verdict = RULE_DIR_NAME_LEN;
	else if (rec_len > room)
		it->verdict = RULE_DIR_SPAN;
	if (it->verdict)
		return 0;
	entry->ino = le64_get(de->inode);
	entry->offset = it->offset;
	entry->rec_len = rec_len;
	entry->name_len = de->name_len;
	entry->type = de->file_type;
	entry->name = de->name;
	it->offset += rec_len;
	return 1;
}

enum rule dirent_check(const struct dirent_entry *entry)
{
	static const char sketch[] = ".sketch";
	bool is_sketch = entry->name_len == sizeof(sketch) - 1 &&
			 !memcmp(entry->name, sketch, sizeof(sketch) - 1);

	if (!entry->ino)
		return RULE_OK;
	if (inode_is_private(entry->ino) ||
	    (entry->ino == NILFS_SKETCH_INO && !is_sketch))
		return RULE_DIR_PRIVATE_INO;
	if (!entry->name_len || memchr(entry->name, '/', entry->name_len) ||
	    memchr(entry->name, '\0', entry->name_len))
		return RULE_DIR_NAME;
	if (entry->type == NILFS_FT_UNKNOWN || entry->type >= NILFS_FT_MAX)
		return RULE_DIR_TYPE;
	return RULE_OK;
}

enum rule dirent_check_block(const void *block, uint32_t block_size)
{
	struct dirent_entry entry;
	struct dirent_iter it;
	enum rule rule;

	dirent_iter_init(&it, block, block_size);
	while (dirent_iter_next(&it, &entry)) {
		rule = dirent_check(&entry);
		if (rule)
			return rule;
	}
	return it.verdict;
}
