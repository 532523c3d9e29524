/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer for a volume whose metadata is to be repaired.
 *
 * writer_open() believes the volume; a repair knows better.  What is known
 * replaces what the volume says; then the metadata files of the new checkpoint
 * are changed block by block, and in the end the writer is told to look at
 * them again.
 *
 * To open it changes nothing: segments are taken when the first log begins,
 * and a block that is changed is the first to take a number from the DAT.  So
 * whatever hands out is repaired before it hands out: bitmaps of the DAT before
 * blocks of other files, the SUFILE before blocks of data.
 */
#ifndef NILFS2_LOG_REPAIRWRITER_H
#define NILFS2_LOG_REPAIRWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/metafile.h"
#include "log/writer.h"

/*
 * Bits of repairwriter_known.anew: the file begins without blocks.  After a DAT
 * that does, nothing can be read before it is filled: repairwriter_changed()
 * then looks for what repairwriter_open() did not find.
 */
#define REPAIRWRITER_ANEW(ino) (1u << (ino))

struct repairwriter_known {
	/*
	 * True for a segment that may not be taken whatever the SUFILE says:
	 * something on the volume lives in it, or may be wanted there, as logs
	 * after the latest super root.  NULL: the SUFILE is believed.
	 * Borrowed during the writer's life, and asked by one thread.
	 */
	bool (*unusable)(void *arg, uint64_t segnum);
	void *arg;
	/*
	 * Metadata files whose map or content is of no use.  Their old blocks
	 * are not ended: nobody knows which they were.
	 */
	unsigned int anew;
	/*
	 * The log goes into a new segment, not after the latest one: where
	 * something lives after that, say, or a zone was written further.  It
	 * does so by itself where the segment that is next cannot be used, the
	 * latest one is marked as erroneous, or logs without a super root lie
	 * after the latest log.
	 */
	bool fresh_segment;
	/*
	 * Nothing is to be had from logs after the latest one: the segment
	 * that is next may be taken, though some of them may be in it.
	 */
	bool orphans_go;
	/*
	 * The segment after the first log is not the one that the latest log
	 * names but one to be taken, and what is named is left to the caller.
	 */
	bool next_anew;
	/*
	 * What is written goes to another device than what is read from: no
	 * segment has to be kept, and live-block counts are not exact then.
	 */
	bool elsewhere;
	/*
	 * Of that fresh segment; 0: the latest's plus 1, or, where there are
	 * logs without a super root, that of the last of them plus 2
	 * (nilfs_prepare_segment_for_recovery()).
	 */
	uint64_t seq;
	/*
	 * The inode of the ifile and the counts that the new checkpoint begins
	 * with; NULL: those of the latest one.
	 */
	const struct nilfs_checkpoint *from;
};

/*
 * As writer_open(), but by KNOWN (copied); what it does not say is believed.
 * Logs after the latest super root are no reason to refuse: they are given up
 * unless the caller rolls them forward.  Counts of segments are those of their
 * entries, whatever the header says.
 *
 * -EUCLEAN, -EIO where the root of a map is broken or the latest checkpoint
 * cannot be read, unless the files are again, or for the latter there is a
 * FROM. The SUFILE and which checkpoints are snapshots need not be readable
 * yet; with the DAT again nothing is, until its entries are there and
 * repairwriter_changed() was called.  Live-block counts are not marked as exact
 * then.
 */
int repairwriter_open(struct writer **wp, struct context *cx,
		      struct volume *vol, const struct writer_options *options,
		      const struct repairwriter_known *known);

/*
 * The metadata file INO (DAT, cpfile, SUFILE, ifile) of the new checkpoint,
 * to be changed; the writer's, not to be closed.  NULL for other numbers.
 */
struct metafile *repairwriter_file(struct writer *w, uint64_t ino);

/*
 * Metadata file INO had NBLOCKS, nodes included, when W was opened, whatever
 * its inode says.  Nothing for one that began without blocks.
 */
void repairwriter_recount(struct writer *w, uint64_t ino, uint64_t nblocks);

/*
 * Makes the fields of a metadata file's inode right that can be the same in
 * all of them: type, links, a size and times that make sense.  A log has them
 * so whatever they were.
 */
void repairwriter_plain(struct nilfs_inode *inode);

/* Whether INO is one of those that began without blocks. */
bool repairwriter_is_anew(const struct writer *w, uint64_t ino);

/*
 * To be called when blocks of the DAT, the SUFILE, the cpfile or the ifile
 * were changed by hand, before anything else is asked of W: forgets what W
 * knew of free numbers, counts of segments and snapshots, and reads it again
 * from the changed files.  Where the list of snapshots in the cpfile is
 * broken, W goes on with the ones it knew.  Where other checkpoints are
 * snapshots than before, live-block counts are not exact any more; that they
 * are not where entries of the DAT were changed by hand W does not see.
 * -EUCLEAN, -EIO for the SUFILE.
 */
int repairwriter_changed(struct writer *w, struct context *cx);

/*
 * Live-block counts in the SUFILE are exact for the volume as W was opened on
 * it, and nobody but W has ended or moved a block since: those of the new
 * checkpoint will be, and are marked so.  Where the volume's were marked as
 * exact that need not be said.
 */
void repairwriter_exact(struct writer *w);

/*
 * cp_inodes_count and cp_blocks_count that the new checkpoint goes on from:
 * the latter with the blocks of the ifile as it was when W was opened (none
 * where it is again).
 */
void repairwriter_counts(struct writer *w, uint64_t inodes, uint64_t blocks);

/* As many more of them, or fewer. */
void repairwriter_counts_by(struct writer *w, int64_t inodes, int64_t blocks);

/*
 * Virtual block VBLOCKNR, of a file of KIND, is part of it no longer.
 * -EUCLEAN, and nothing is changed, where the DAT has no such entry that is in
 * use and lives.
 */
int repairwriter_end(struct writer *w, struct context *cx, uint64_t vblocknr,
		     enum metafile_kind kind);

/* Whether some checkpoint in [START, END) is a snapshot, as W knows them. */
bool repairwriter_has_snapshot(const struct writer *w, uint64_t start,
			       uint64_t end);

/* For the commit: the segments of the last logs are known, and in use. */
int repairwriter_place(struct writer *w, struct context *cx);

#endif
