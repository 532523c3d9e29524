/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A metadata file that is being changed: its dirty blocks and its block map.
 *
 * Blocks are changed in memory.  A block that becomes dirty gets a new virtual
 * block number and its old one ends (copy on write up to the root:
 * nilfs_btree_propagate_v()).  It keeps the number until it is written; if it
 * is changed again after that, the number ends like any other, in the same
 * checkpoint or not, because no number may be in two logs: a cleaner would free
 * or move it for each copy.  Blocks of the DAT have no such number: their
 * parents get their positions, so its nodes are written after its data, level
 * by level (nilfs_btree_assign_p()).
 *
 * Dirty blocks are collected.  The writer takes the least recently changed ones
 * once there are many; they are clean after that and are read back on demand.
 */
#ifndef NILFS2_LOG_METAFILE_H
#define NILFS2_LOG_METAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"

enum metafile_kind {
	METAFILE_DAT,		/* pointers are blocks of the device */
	METAFILE_SINGLE,	/* virtual, no snapshot sees old ones: cpfile,
				   sufile */
	METAFILE_MULTI,		/* virtual, with a history: ifile, directories,
				   files */
};

/*
 * Callbacks to the writer; the DAT needs read() and superseded().  None of them
 * may change the metadata file that it is called for: superseded() in
 * particular only records the block, since segment usage has blocks of its own.
 */
struct metafile_env {
	void *arg;
	/* A number for a new block: nilfs_dat_prepare_alloc(). */
	int (*alloc)(void *arg, struct context *cx, uint64_t *vblocknr);
	/* The block belongs to the file no longer: nilfs_dat_commit_end(). */
	int (*end)(void *arg, struct context *cx, uint64_t vblocknr,
		   enum metafile_kind kind);
	/*
	 * For the DAT: what is at this block of the device is superseded, from
	 * before this checkpoint or not.
	 */
	int (*superseded)(void *arg, struct context *cx, uint64_t blocknr);
	/* Reads the block with pointer PTR (virtual unless the DAT's). */
	int (*read)(void *arg, struct context *cx, enum metafile_kind kind,
		    uint64_t ptr, void *buf);
};

struct metafile;

/*
 * The file INO as INODE has it, NULL: a new file without blocks.  ENV is
 * borrowed.  -EUCLEAN for a map that cannot be, -ENOMEM.
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
 * The same where the old content, if there is any, is of no use or cannot be
 * read: zeros, to be filled.
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

/* Whether there are nodes of LEVEL below the root of its map. */
bool metafile_has_nodes(const struct metafile *m, unsigned int level);

/*
 * Block BLKOFF, which is a hole, becomes a block that is on the device already
 * and stays there: for a map that is rebuilt.  PTR is its place in the DAT, the
 * number of a live virtual block in other files, which is not taken, and ends
 * like any other where the block is changed.  -EINVAL where there is no hole,
 * -ENOMEM, or as metafile_change().
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

/* The content for reading: 1, 0 for a hole, or a failure. */
int metafile_look(struct metafile *m, struct context *cx, uint64_t blkoff,
		  const void **data);

/* The pointer of block BLKOFF: 1, 0 for a hole (or a DAT block not placed). */
int metafile_lookup(struct metafile *m, struct context *cx, uint64_t blkoff,
		    uint64_t *ptr);

/* Dirty blocks, data and nodes; collected ones until they are written. */
size_t metafile_dirty(const struct metafile *m);

/* Whether the file is not what it was when it was opened. */
bool metafile_is_changed(const struct metafile *m);

/* A dirty block, to be placed in a log. */
struct metafile_block {
	unsigned int level;	/* 0: data */
	uint64_t key;		/* offset in the file, first one below a node */
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
 * Until they are written blocks stay dirty: they may be changed, which needs
 * nothing from ENV and does not fail, and their DATA shows it.
 */
int metafile_collect(struct metafile *m, struct context *cx, bool all,
		     size_t keep, struct metafile_block **blocks, size_t *n);

/*
 * BLOCK will be written at block BLOCKNR of the device: the DAT enters that in
 * the parent node or the root.  In the DAT all of a level are placed before
 * the content of the level above is used.  May be called again for another
 * place.  Other kinds need no call.  Follows nilfs_bmap_assign().
 */
int metafile_place(struct metafile *m, struct context *cx,
		   const struct metafile_block *block, uint64_t blocknr);

/*
 * BLOCK, a collected one, goes into a log as it is now, and is clean: its
 * content is at *DATA, within *OWN, which is the caller's to free().  -ENOMEM.
 */
int metafile_take(struct metafile *m, struct context *cx,
		  const struct metafile_block *block, void **own,
		  const void **data);

/* True where the file has no blocks at all. */
bool metafile_is_empty(const struct metafile *m);

/* Blocks of the file known to exist, nodes included. */
uint64_t metafile_nblocks(const struct metafile *m);

/*
 * Sets the number of blocks when the file was opened, nodes included, as
 * counted by the caller, regardless of its inode.
 */
void metafile_recount(struct metafile *m, uint64_t nblocks);

/*
 * Copies the root of the map to INODE's i_bmap, and i_blocks in sectors: what
 * it was, and what came and went since.  Of the DAT once all its dirty blocks
 * are placed.
 */
void metafile_inode(const struct metafile *m, struct nilfs_inode *inode);

#endif
