/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of an inode for computing its map: those that the logs list, and that
 * the DAT has at the same place. For files, ifiles and the checkpoint file.
 */
#ifndef NILFS2_FSCK_FILEBLOCKS_H
#define NILFS2_FSCK_FILEBLOCKS_H

#include "check/check.h"
#include "check/mapcheck.h"

/* The level of a block that is listed as a node but is not one. */
#define FILEBLOCKS_NOT_A_NODE UINT8_MAX

struct listed_block {
	uint64_t ino;
	uint64_t key;		/* file block, for a node the first one */
	uint64_t ptr;		/* virtual block */
	struct lifetime life;
	uint8_t level;		/* level in the node, 0: data */
};

/* Ascending by inode, level and key. Empty if all zero. */
struct fileblocks {
	struct listed_block *list;
	size_t n, room;
	bool partial;		/* the DAT cannot be read for some blocks */
};

/*
 * Gathers the blocks of the N inodes INOS, in ascending order. C's volume has
 * the DAT. Memory is proportional to the number of blocks: -EFBIG if it exceeds
 * the budget, -ENOMEM, -EINTR. fileblocks_fini() in any case.
 */
int fileblocks_gather(struct fileblocks *p, struct context *cx, const struct check *c,
		  const uint64_t *inos, size_t n);
void fileblocks_fini(struct fileblocks *p);

/* The index of the first block of INO and LEVEL from KEY on, or of the next
   block. */
size_t fileblocks_from(const struct fileblocks *p, uint64_t ino, unsigned int level,
		   uint64_t key);

/* Whether virtual block PTR is listed at KEY and LEVEL of INO. */
bool fileblocks_has(const struct fileblocks *p, uint64_t ino, unsigned int level,
		uint64_t key, uint64_t ptr);

/* Whether a block other than SELF is at [KEY, END) of LEVEL in its inode during
   its lifetime. */
bool fileblocks_has_other(const struct fileblocks *p, const struct listed_block *self,
		      unsigned int level, uint64_t key, uint64_t end);

/* Sorts the list again after a change. */
void fileblocks_settle(struct fileblocks *p);

/* Makes BLOCK the content of SELF, a node with keys below END: the blocks that
   live during its whole lifetime. False if they do not make one node. */
bool fileblocks_node(const struct fileblocks *p, const struct listed_block *self,
		 uint64_t end, uint32_t block_size, void *block);

/* A map of the blocks that live during a whole lifetime. */
struct fileblocks_root {
	le64 map[NILFS_INODE_BMAP_SIZE];	/* points to the highest level */
	uint64_t blocks;	/* number of blocks, with nodes */
	uint64_t end;		/* one past the last data block */
	bool any_data;		/* a data block of any lifetime exists */
	bool twice;		/* two blocks have the same place: the later one is
				   used */
};

/* Makes ROOT the map of INO for the lifetime LIFE, empty if it has no block;
   false if the blocks do not make one map. */
bool fileblocks_root(const struct fileblocks *p, uint64_t ino,
		 const struct lifetime *life, struct fileblocks_root *root);

/* Reads the pointers of MAP as a node, those of a direct map in BUF; false if
   MAP is invalid. */
bool fileblocks_read_map(const le64 *map, struct bmap_node *node,
		     le64 buf[2 * NILFS_DIRECT_NBLOCKS]);

/*
 * Derives the map of inode INO in checkpoint CNO of C's volume, whose DAT must
 * be sound: 1, with the map and the count of blocks in *INODE and one past the
 * last data block in *END; 0 if the blocks do not make one map. P has the
 * blocks of INO, or is NULL: the logs are read. -ENOMEM, -EINTR.
 */
int fileblocks_map(const struct check *c, struct context *cx,
	       const struct fileblocks *p, uint64_t ino, uint64_t cno,
	       struct nilfs_inode *inode, uint64_t *end);

/*
 * Derives the entry of checkpoint CNO as a plain checkpoint: with the map of
 * its ifile, and counts of 0 that a check corrects. If its log is lost, it gets
 * the latest time that a log before it proves, or EARLIER, the time of an
 * earlier checkpoint (0: not known), if that is later. As fileblocks_map().
 */
int fileblocks_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      uint64_t earlier, struct nilfs_checkpoint *cp);

#endif
