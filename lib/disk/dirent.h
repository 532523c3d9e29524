/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The entries of a directory block. */
#ifndef NILFS2_DISK_DIRENT_H
#define NILFS2_DISK_DIRENT_H

#include <stdbool.h>
#include <stdint.h>

#include "disk/ondisk.h"
#include "disk/rule.h"

/* One entry; the name is in the block and not terminated. */
struct dirent_entry {
	uint64_t ino;		/* 0: the entry is unused */
	uint32_t offset;	/* bytes from the beginning of the block */
	uint32_t rec_len;	/* bytes to the next entry */
	uint8_t name_len;
	uint8_t type;		/* NILFS_FT_..., unchecked */
	const char *name;
};

/* Whether the entry is "." or "..". */
static inline bool dirent_is_dots(const struct dirent_entry *de)
{
	return de->name[0] == '.' &&
	       (de->name_len == 1 || (de->name_len == 2 && de->name[1] == '.'));
}

/* A walk through the entries of one block. */
struct dirent_iter {
	enum rule verdict;	/* why the walk ended; RULE_OK: at the end */
	const uint8_t *block;
	uint32_t block_size;
	uint32_t offset;	/* of the next entry */
};

/* Begins a walk through BLOCK, BLOCK_SIZE bytes. */
void dirent_iter_init(struct dirent_iter *it, const void *block,
		      uint32_t block_size);

/*
 * Gets the next entry, including unused ones: 1, or 0 at the end with a verdict in
 * IT.  Never leaves the block.  Lengths are checked as by nilfs_check_page(), which
 * accepts multiples of 4 although only multiples of 8 are written; 65535 means
 * 65536.
 */
int dirent_iter_next(struct dirent_iter *it, struct dirent_entry *entry);

/*
 * Checks an entry for a reserved inode (NILFS_PRIVATE_INODE(), and the sketch file
 * under another name than ".sketch"), an unknown type and an impossible name.
 */
enum rule dirent_check(const struct dirent_entry *entry);

/* The first rule that BLOCK breaks, in the walk or by its entries. */
enum rule dirent_check_block(const void *block, uint32_t block_size);

/* Minimum length of an entry with a name of NAME_LEN bytes. */
uint32_t dirent_rec_len(uint32_t name_len);

/* Encodes and decodes a length in bytes. */
le16 dirent_rec_len_encode(uint32_t rec_len);
uint32_t dirent_rec_len_decode(le16 rec_len);

#endif
