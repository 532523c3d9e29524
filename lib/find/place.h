/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The place of something on a volume.
 *
 * A place is a kind and a few numbers, so it can be stored, compared and printed for
 * people and for scripts without the volume.
 */
#ifndef NILFS2_FIND_PLACE_H
#define NILFS2_FIND_PLACE_H

#include <stddef.h>
#include <stdint.h>

enum place_kind {
	PLACE_VOLUME,		/* no place in particular */
	PLACE_SUPER,		/* number: 0 the first copy, 1 the second */
	PLACE_BLOCK,		/* number: the block of the device */
	PLACE_SEGMENT,		/* number */
	PLACE_LOG,		/* number: its first block */
	PLACE_CHECKPOINT,	/* number */
	PLACE_VBLOCK,		/* number: virtual block, its entry in the DAT */
	/* In a file: */
	PLACE_GROUP,		/* cno, ino, number: of a persistent allocator */
	PLACE_INODE,		/* cno, ino */
	PLACE_MAP,		/* cno, ino, blkoff, level: a pointer of its map */
	PLACE_NAME,		/* cno, ino, blkoff, offset: directory entry */
	PLACE_IN_FILE = PLACE_GROUP,
};

struct place {
	enum place_kind kind;
	unsigned int level;	/* 0: data, else of the B-tree node */
	uint32_t offset;	/* bytes in the block */
	uint64_t number;
	uint64_t cno;		/* checkpoint; 0: as of the super root */
	uint64_t ino;
	uint64_t blkoff;	/* block of the file, first one below a node */
};

static inline struct place place_number(enum place_kind kind, uint64_t number)
{
	return (struct place){ .kind = kind, .number = number };
}

static inline struct place place_inode(uint64_t cno, uint64_t ino)
{
	return (struct place){ .kind = PLACE_INODE, .cno = cno, .ino = ino };
}

static inline struct place place_map(uint64_t cno, uint64_t ino,
				     uint64_t blkoff, unsigned int level)
{
	return (struct place){ .kind = PLACE_MAP, .cno = cno, .ino = ino,
			       .blkoff = blkoff, .level = level };
}

#define PLACE_TEXT_MAX 160

#endif
