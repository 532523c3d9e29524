/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A writer whose caller changes metadata directly: repairs, which do not believe
 * what they find, a cleaner, changes of a volume's size and features.
 *
 * writer_open() trusts the volume; here the caller's knowledge replaces what
 * the volume says.  Then the metadata files of the new checkpoint are changed
 * block by block, and at the end the writer reads them again.
 *
 * Opening changes nothing: segments are allocated when the first log begins,
 * and the first change of a block allocates a number from the DAT.  So an
 * allocator is repaired before it is used: bitmaps of the DAT before blocks of
 * other files, the SUFILE before blocks of data.
 */
#ifndef NILFS2_LOG_DIRECTWRITER_H
#define NILFS2_LOG_DIRECTWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "log/meta/metafile.h"
#include "log/writer.h"

/*
 * Bits of directwriter_known.rebuilt: the file begins without blocks.  After a
 * DAT that does, nothing can be read before it is filled: directwriter_changed()
 * then looks for what directwriter_open() did not find.
 */
#define DIRECTWRITER_FILE(ino) (1u << (ino))

struct directwriter_known {
	/*
	 * True for a segment that must not be allocated whatever the SUFILE
	 * says: it has live blocks, or logs after the latest super root.  NULL:
	 * trust the SUFILE.  Borrowed during the writer's life, called by one
	 * thread.
	 */
	bool (*unusable)(void *arg, uint64_t segnum);
	void *arg;
	/*
	 * Metadata files whose map or content is lost.  Their old blocks are
	 * not ended, since they are not known.
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
	 * Logs after the latest one are dropped: the next segment may be used
	 * although it may contain some of them.
	 */
	bool orphans_go;
	/*
	 * The segment after the first log is not the one that the latest log
	 * names but one to be taken, and what is named is left to the caller.
	 */
	bool next_taken;
	/*
	 * Writes go to another device than reads: no segment has to be kept,
	 * and live-block counts are not exact then.
	 */
	bool elsewhere;
	/*
	 * Of that fresh segment; 0: the latest's plus 1, or, where there are
	 * logs without a super root, that of the last of them plus 2
	 * (nilfs_prepare_segment_for_recovery()).
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
 * rolls them forward.  Counts of segments are those of their entries, whatever
 * the header says.
 *
 * -EUCLEAN, -EIO if the root of a map is broken or the latest checkpoint cannot
 * be read, unless the files are rebuilt, or for the latter there is a FROM.
 * The SUFILE and the list of snapshots need not be readable yet; if the DAT is
 * rebuilt nothing need be, until its entries exist and directwriter_changed()
 * was called.  Live-block counts are not marked as exact then.
 */
int directwriter_open(struct writer **wp, struct context *cx,
		      struct volume *vol, const struct writer_options *options,
		      const struct directwriter_known *known);

/*
 * The metadata file INO (DAT, cpfile, SUFILE, ifile) of the new checkpoint,
 * to be changed; the writer's, not to be closed.  NULL for other numbers.
 */
struct metafile *directwriter_file(struct writer *w, uint64_t ino);

/*
 * Metadata file INO had NBLOCKS, nodes included, when W was opened, whatever
 * its inode says.  Nothing for one that began without blocks.
 */
void directwriter_recount(struct writer *w, uint64_t ino, uint64_t nblocks);

/*
 * Makes the fields of a metadata file's inode right that can be the same in
 * all of them: type, links, a size and times that make sense.  A log has them
 * so whatever they were.
 */
void directwriter_plain(struct nilfs_inode *inode);

/* Whether INO is one of those that began without blocks. */
bool directwriter_is_rebuilt(const struct writer *w, uint64_t ino);

/*
 * To be called after blocks of the DAT, the SUFILE, the cpfile or the ifile
 * were changed directly, before any other use of W: rereads free numbers,
 * counts of segments and snapshots from the changed files.  If the list of
 * snapshots in the cpfile is broken, W keeps the ones it knew.  If other
 * checkpoints are snapshots than before, live-block counts are no longer exact;
 * W does not notice that they are not if entries of the DAT were changed
 * directly.  -EUCLEAN, -EIO for the SUFILE.
 */
int directwriter_changed(struct writer *w, struct context *cx);

/*
 * Declares that live-block counts in the SUFILE are exact for the volume on
 * which W was opened, and that only W has ended or moved blocks since: those of
 * the new checkpoint will be marked as exact.  Not needed if the volume's were
 * marked as exact.
 */
void directwriter_exact(struct writer *w);

/*
 * cp_inodes_count and cp_blocks_count that the new checkpoint continues: the
 * latter with the blocks of the ifile when W was opened (none if it is
 * rebuilt).
 */
void directwriter_counts(struct writer *w, uint64_t inodes, uint64_t blocks);

/* MORE inodes than before, or fewer. */
void directwriter_count_inodes(struct writer *w, int64_t more);

/*
 * Ends virtual block VBLOCKNR, of a file of KIND.  -EUCLEAN, and nothing is
 * changed, if the DAT has no live entry in use for it.
 */
int directwriter_end(struct writer *w, struct context *cx, uint64_t vblocknr,
		     enum metafile_kind kind);

/* As dattable_set_end(), for an entry that is in use and has a block. */
int directwriter_set_end(struct writer *w, struct context *cx,
			 uint64_t vblocknr, uint64_t end);

/* Whether a checkpoint in [START, END) is a snapshot known to W. */
bool directwriter_has_snapshot(const struct writer *w, uint64_t start,
			       uint64_t end);

/* A block of a file that the latest checkpoint does not have any more. */
struct directwriter_block {
	uint64_t ino;
	uint64_t blkoff;	/* of a data block */
	bool is_node;
	uint64_t vblocknr;
};

/*
 * Writes DATA, a block, as the replacement of B in every checkpoint that has
 * it: *NUMBER is its virtual block, in the same checkpoints as B, which then is
 * in none.  The caller replaces the number of B everywhere: in nodes and inodes,
 * which are in replaced blocks themselves, and in the cpfile.
 *
 * -EUCLEAN if B is live now or not in use, -ENOSPC, -ENOMEM, -EIO.
 */
int directwriter_replace(struct writer *w, struct context *cx,
			 const struct directwriter_block *b, const void *data,
			 uint64_t *number);

#endif
