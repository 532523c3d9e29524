/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer whose caller changes metadata directly: repairs, which do not trust
 * the volume, a cleaner, changes of the size and features of a volume.
 *
 * writer_open() trusts the volume; here the knowledge of the caller overrides
 * it.  Then the caller changes the metadata files of the new checkpoint block
 * by block, and the writer rereads them at the end.
 *
 * Opening changes nothing: segments are allocated when the first log begins,
 * and the first change of a block allocates a number from the DAT.  So an
 * allocator is repaired before it is used: bitmaps of the DAT before blocks of
 * other files, the SUFILE before data blocks.
 */
#ifndef NILFS2_LOG_DIRECTWRITER_H
#define NILFS2_LOG_DIRECTWRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "log/meta/metafile.h"
#include "log/writer.h"

/*
 * Bits of directwriter_known.rebuilt: the file begins without blocks.  If the
 * DAT does, no other file can be read until its entries exist:
 * directwriter_changed() then reads the entries that directwriter_open() could
 * not.
 */
#define DIRECTWRITER_FILE(ino) (1u << (ino))

struct directwriter_known {
	/*
	 * True for a segment that must not be allocated, regardless of the
	 * SUFILE: it has live blocks, or logs after the latest super root.
	 * NULL: trust the SUFILE.  Borrowed during the lifetime of the writer,
	 * called by one thread.
	 */
	bool (*unusable)(void *arg, uint64_t segnum);
	void *arg;
	/*
	 * Metadata files whose map or content is lost.  Their old blocks are
	 * not known, and are therefore not ended.
	 */
	unsigned int rebuilt;
	/*
	 * Begin the log in a new segment, not after the latest one: for example
	 * if live blocks follow, or a zone was written further.  This is
	 * automatic if the next segment cannot be used, the latest one is
	 * marked as erroneous, or logs without a super root follow the latest
	 * log.
	 */
	bool fresh_segment;
	/*
	 * The same if clean segments are left: no mount comes to the logs before the
	 * superblocks name them, not even after a crash.
	 */
	bool off_chain;
	/*
	 * Logs after the latest one are dropped: the next segment may be used
	 * although it may contain some of them.
	 */
	bool orphans_go;
	/*
	 * The segment after the first log is newly allocated; the caller
	 * handles the one that the latest log names.
	 */
	bool next_taken;
	/*
	 * Writes go to another device than reads: no segment has to be kept,
	 * and live-block counts are then not exact.
	 */
	bool elsewhere;
	/*
	 * Sequence number of that fresh segment; 0: one that no chain of logs leads to.
	 */
	uint64_t seq;
	/*
	 * Allocate the lowest clean segments, not those after the last one: new
	 * logs are placed at the front.
	 */
	bool front;
	/*
	 * The inode of the ifile and the counts that the new checkpoint begins
	 * with; NULL: those of the latest one.
	 */
	const struct nilfs_checkpoint *from;
};

/*
 * As writer_open(), but with KNOWN (copied), which overrides the volume.  Logs
 * after the latest super root are accepted: they are dropped unless the caller
 * replays them.  Counts of segments are taken from their entries, not from the
 * header.
 *
 * -EUCLEAN, -EIO if the root of a map is broken, or if the latest checkpoint
 * cannot be read, unless the files are rebuilt; the latter is also accepted
 * with FROM.  The SUFILE and the list of snapshots need not be readable yet.
 * If the DAT is rebuilt no file need be readable until its entries exist and
 * directwriter_changed() was called.  Live-block counts are not marked as exact
 * then.
 */
int directwriter_open(struct writer **wp, struct context *cx,
		      struct volume *vol, const struct writer_options *options,
		      const struct directwriter_known *known);

/*
 * The metadata file INO (DAT, cpfile, SUFILE, ifile) of the new checkpoint, for
 * changes.  It belongs to the writer.  NULL for other numbers.
 */
struct metafile *directwriter_file(struct writer *w, uint64_t ino);

/*
 * Sets the number of blocks, including nodes, that metadata file INO had when W
 * was opened, regardless of its inode.  No effect if the file is rebuilt.
 */
void directwriter_recount(struct writer *w, uint64_t ino, uint64_t nblocks);

/*
 * Corrects the fields of the inode of a metadata file that are the same in all
 * of them: type, links, a plausible size and plausible times.
 */
void directwriter_plain(struct nilfs_inode *inode);

/* Whether the metadata file INO began without blocks. */
bool directwriter_is_rebuilt(const struct writer *w, uint64_t ino);

/*
 * To be called after blocks of the DAT, the SUFILE, the cpfile or the ifile
 * were changed directly, before any other use of W: rereads free numbers,
 * counts of segments and snapshots from the changed files.  If the list of
 * snapshots in the cpfile is broken, W keeps the previous one.  If the set of
 * snapshots changed, live-block counts are no longer exact; W does not detect
 * that they are wrong if entries of the DAT were changed directly.  -EUCLEAN,
 * -EIO for the SUFILE.
 */
int directwriter_changed(struct writer *w, struct context *cx);

/*
 * Declares that live-block counts in the SUFILE are exact for the volume on
 * which W was opened, and that only W has ended or moved blocks since: those of
 * the new checkpoint will be marked as exact.  Not needed if those of the
 * volume were marked as exact.
 */
void directwriter_exact(struct writer *w);

/*
 * Sets cp_inodes_count and cp_blocks_count that the new checkpoint continues.
 * BLOCKS includes the blocks that the ifile had when W was opened (none if it
 * is rebuilt).
 */
void directwriter_counts(struct writer *w, uint64_t inodes, uint64_t blocks);

/* Adds MORE, which may be negative, to the number of inodes. */
void directwriter_count_inodes(struct writer *w, int64_t more);

/*
 * Ends the lifetime of virtual block VBLOCKNR of a file of KIND.  -EUCLEAN, and
 * nothing is changed, if the DAT has no live entry in use for it.
 */
int directwriter_end(struct writer *w, struct context *cx, uint64_t vblocknr,
		     enum metafile_kind kind);

/* As dattable_set_end(), for an entry that is in use and has a block. */
int directwriter_set_end(struct writer *w, struct context *cx,
			 uint64_t vblocknr, uint64_t end);

/* Whether a checkpoint in [START, END) is a snapshot known to W. */
bool directwriter_has_snapshot(const struct writer *w, uint64_t start,
			       uint64_t end);

/* A block of a file that the latest checkpoint no longer contains. */
struct directwriter_block {
	uint64_t ino;
	uint64_t blkoff;	/* of a data block */
	bool is_node;
	uint64_t vblocknr;
};

/*
 * Writes DATA, a block, as the replacement of B in every checkpoint that
 * contains it.  *NUMBER is its virtual block number, valid in the same
 * checkpoints as B, which then belongs to none.  The caller replaces the number
 * of B everywhere: in nodes and inodes, which are in replaced blocks
 * themselves, and in the cpfile.
 *
 * -EUCLEAN if B is live now or not in use, -ENOSPC, -ENOMEM, -EIO.
 */
int directwriter_replace(struct writer *w, struct context *cx,
			 const struct directwriter_block *b, const void *data,
			 uint64_t *number);

/*
 * Writes DATA as a node of file INO for the checkpoints in [START, END), which are
 * older than the new one.  *NUMBER is its virtual block number, which the caller
 * puts into the map.  -ENOSPC, -ENOMEM, -EIO.
 */
int directwriter_add_node(struct writer *w, struct context *cx, uint64_t ino,
			  uint64_t start, uint64_t end, const void *data,
			  uint64_t *number);

#endif
