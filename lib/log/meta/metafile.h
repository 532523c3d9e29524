/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A metadata file that is being changed: its dirty blocks and its block map.
 *
 * Blocks are changed in memory.  A block that becomes dirty gets a new virtual
 * block number and its old one ends (copy on write up to the root:
 * nilfs_btree_propagate_v()).  It keeps the number until it is written.  If it
 * is changed again after that, in the same checkpoint or a later one, the
 * number ends too, because no number may be in two logs: a cleaner would free
 * or move it for each copy.  Blocks of the DAT have no such number: their
 * parents record their positions, so its nodes are written after its data,
 * level by level (nilfs_btree_assign_p()).
 *
 * Dirty blocks are collected.  The writer collects the least recently changed
 * ones once there are many; they are then clean and are read again on demand.
 */
#ifndef NILFS2_LOG_METAFILE_H
#define NILFS2_LOG_METAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

enum metafile_kind {
	METAFILE_DAT,		/* pointers are device blocks */
	METAFILE_SINGLE,	/* virtual, no snapshot sees old ones: cpfile,
				   sufile */
	METAFILE_MULTI,		/* virtual, with a history: ifile, directories,
				   files */
};

/*
 * Callbacks to the writer; the DAT needs read() and superseded().  None of them
 * may change the metadata file that it is called for: superseded() in
 * particular only records the block, since the SUFILE has blocks of its own.
 */
struct metafile_env {
	void *arg;
	/* Allocates a number for a new block: nilfs_dat_prepare_alloc(). */
	int (*alloc)(void *arg, struct context *cx, uint64_t *vblocknr);
	/* The block no longer belongs to the file: nilfs_dat_commit_end(). */
	int (*end)(void *arg, struct context *cx, uint64_t vblocknr,
		   enum metafile_kind kind);
	/*
	 * For the DAT: the content of this device block is superseded, whether
	 * it is older than this checkpoint or not.
	 */
	int (*superseded)(void *arg, struct context *cx, uint64_t blocknr);
	/* Reads the block with pointer PTR (virtual except for the DAT). */
	int (*read)(void *arg, struct context *cx, enum metafile_kind kind,
		    uint64_t ptr, void *buf);
};

struct metafile;

/*
 * Opens the file INO with the map and size of INODE; NULL: a new file without
 * blocks.  ENV is borrowed.  -EUCLEAN for an invalid map, -ENOMEM.
 */
int metafile_open(struct metafile **mp, struct context *cx,
		  const struct metafile_env *env, uint32_t block_size,
		  uint64_t ino, enum metafile_kind kind,
		  const struct nilfs_inode *inode);
void metafile_close(struct metafile *m);	/* NULL is accepted */

/*
 * The content of block BLKOFF for writing; zeros and *FRESH (may be NULL) if it
 * was a hole.  Valid until the next call with M.  -EUCLEAN for a broken node of
 * the map, -ENOMEM, or a failure of ENV; after a failure the file can only be
 * closed.
 */
int metafile_change(struct metafile *m, struct context *cx, uint64_t blkoff,
		    void **data, bool *fresh);

/*
 * As metafile_change(), if the old content is not needed or cannot be read: the
 * block is zeroed, to be filled in.
 */
int metafile_replace(struct metafile *m, struct context *cx, uint64_t blkoff,
		     void **data);

/*
 * Marks the block of LEVEL (0: data) at KEY, the offset of the first block
 * below it, to be written again unchanged at a new position.  -EUCLEAN if there
 * is none, -ENOMEM, or a failure of ENV.  Follows
 * nilfs_ioctl_mark_blocks_dirty().
 */
int metafile_touch(struct metafile *m, struct context *cx, unsigned int level,
		   uint64_t key);

/*
 * Puts the existing block with pointer PTR at BLKOFF, which is a hole, without
 * writing it: for a map that is rebuilt.  PTR is the position of a DAT block,
 * or the number of a live virtual block of another metadata file.  It is not
 * allocated here, and ends like any other when the block is changed.  -EINVAL
 * if there is no hole, -ENOMEM, or as metafile_change().
 */
int metafile_adopt(struct metafile *m, struct context *cx, uint64_t blkoff,
		   uint64_t ptr);

/*
 * Truncates the file at BLKOFF.  None of the deleted blocks may be collected.
 * Fails as metafile_change().
 */
int metafile_truncate(struct metafile *m, struct context *cx, uint64_t blkoff);

/*
 * Makes a hole at BLKOFF, whose block must not be collected:
 * nilfs_mdt_delete_block().  Fails as metafile_change().
 */
int metafile_delete(struct metafile *m, struct context *cx, uint64_t blkoff);

/* The content of block BLKOFF for reading: 1, 0 for a hole, or a failure. */
int metafile_look(struct metafile *m, struct context *cx, uint64_t blkoff,
		  const void **data);

/* The pointer of block BLKOFF: 1, 0 for a hole (or a DAT block not placed). */
int metafile_lookup(struct metafile *m, struct context *cx, uint64_t blkoff,
		    uint64_t *ptr);

/*
 * The number of dirty blocks, data and nodes; collected ones are included until
 * they are written.
 */
size_t metafile_dirty(const struct metafile *m);

/* A dirty block, to be placed in a log. */
struct metafile_block {
	unsigned int level;	/* 0: data */
	uint64_t key;		/* offset in the file; of a node: the lowest */
	uint64_t ptr;		/* virtual block number; 0 in the DAT */
	const void *data;
	void *handle;
};

/*
 * The dirty blocks to be written now, in the order of a log: data ascending,
 * then nodes from level 1 up, ascending.  Without ALL only those not among the
 * last KEEP changed blocks, and no nodes.  *BLOCKS is malloc()ed, NULL if there
 * are none.
 *
 * Blocks stay dirty until they are written: they may be changed again, which
 * allocates nothing from ENV and does not fail, and the changes are written.
 */
int metafile_collect(struct metafile *m, struct context *cx, bool all,
		     size_t keep, struct metafile_block **blocks, size_t *n);

/*
 * BLOCK will be written at block BLOCKNR of the device: the DAT enters that in
 * the parent node or the root.  In the DAT all blocks of a level are placed
 * before the content of the level above is used.  May be called again for
 * another position.  Other kinds need no call.  Follows nilfs_bmap_assign().
 */
int metafile_place(struct metafile *m, struct context *cx,
		   const struct metafile_block *block, uint64_t blocknr);

/*
 * Takes the present content of BLOCK, a collected one, for a log; the block is
 * clean then.  The content is at *DATA, within *OWN, which the caller free()s.
 * -ENOMEM.
 */
int metafile_take(struct metafile *m, struct context *cx,
		  const struct metafile_block *block, void **own,
		  const void **data);

struct metafile_facts {
	uint64_t nblocks;	/* known to exist, nodes included */
	unsigned int levels;	/* of its map, with the root; 0: a direct one */
	bool empty;		/* has no blocks at all */
	bool changed;		/* differs from the file as opened */
};

struct metafile_facts metafile_facts(const struct metafile *m);

/*
 * Sets the number of blocks, including nodes, that the file had when it was
 * opened, as counted by the caller, regardless of its inode.
 */
void metafile_recount(struct metafile *m, uint64_t nblocks);

/*
 * Copies the root of the map to INODE's i_bmap, and sets i_blocks (in sectors)
 * to the old value plus the change since.  For the DAT, call it after all its
 * dirty blocks are placed.
 */
void metafile_inode(const struct metafile *m, struct nilfs_inode *inode);

#endif
