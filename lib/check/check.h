/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by the passes of the checker.
 *
 * A pass reads and reports findings; it writes nothing.  Damage is a finding,
 * not a failure: a pass reports it and continues with what can be read.  It
 * fails (negative errno) only if the checker itself cannot continue: no memory,
 * or cancellation.
 */
#ifndef NILFS2_CHECK_CHECK_H
#define NILFS2_CHECK_CHECK_H

#include "base/bitmap.h"
#include "base/context.h"
#include "base/search.h"
#include "base/sparse.h"
#include "check/vblocks.h"
#include "dev/dev.h"
#include "find/finding.h"
#include "vol/recovery.h"
#include "vol/volume.h"

/* Metadata files whose blocks are addressed through the DAT. */
#define CHECK_LISTED 3

#define CHECK_RELEASES_MAX 65536

/* The checkpoints that findings are counted for. */
enum check_scope {
	CHECK_NEWEST,	/* the newest checkpoint, or no checkpoint */
	CHECK_SNAPSHOTS,
	CHECK_REVEALED,	/* snapshots unknown to the check before */
	CHECK_SCOPES
};

struct check_tally {
	/* Second row: findings of rules of the DAT that are about ifiles, and are
	   repaired in a later stage or are about pointers. */
	uint64_t n[2][CHECK_SCOPES];
};

struct logindex;
struct mapsums;

/* A super root that was chosen because no superblock leads to one. */
struct root_state {
	bool chosen;
	bool hurt;		/* the checksum of its log is wrong */
	bool newest;		/* no log on the device is newer */
	bool overwritten;	/* some of its blocks were overwritten */
	struct recovery at;
	uint64_t seq;		/* of the next log: greater than that of any
				   log on the device */
};

/* Whether log [PSEG, SEQ] is that of S and no log follows it. */
static inline bool state_is_at(const struct root_state *s, uint64_t pseg,
			       uint64_t seq)
{
	return s && s->chosen && s->at.pseg_start == pseg && s->at.seq == seq;
}

struct check_checkpoint {
	uint64_t cno;
	bool kept;		/* the latest, or a snapshot */
};

struct check {
	struct dev *dev;
	struct volume *vol;	/* used by the calling thread */
	struct findings *findings;
	/*
	 * How often each rule was broken, by its index in the registry; repairs
	 * are judged by it.  Borrowed from the caller, who counts.  NULL:
	 * nothing is judged.
	 */
	const struct check_tally *tally;
	bool data;		/* verify the checksums of all logs */
	/*
	 * The volume is mounted, and the kernel has written this checkpoint; 0:
	 * not mounted.  The state of the newest super root is checked.  The
	 * kernel is writing logs after it, and superblocks.
	 */
	uint64_t mounted;
	uint64_t failed_reads;	/* failed reads of DEV before this check */

	/*
	 * Bytes for structures that only save time: windows, caches and partial
	 * tables.  0 is replaced by a part of the budget that depends on the
	 * size of the DAT.
	 */
	uint64_t table_memory;

	/* Progress: DONE of TOTAL units (0: unknown).  The unit is that of the
	   pass, which sets WORK. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	uint64_t work;

	/* Receives notes, which are not findings; or NULL. */
	void (*note)(void *arg, const char *text);
	void *note_arg;

	/*
	 * A set is allocated by the pass that fills it; those of segments, all
	 * by the pass over segments.  A zeroed set is empty and can be freed.
	 */

	/*
	 * Segments in use by the SUFILE, and segments with unreadable logs,
	 * whose blocks are not reported one by one.  Set by the passes over
	 * segments and over logs.
	 */
	struct bitmap used_segments, broken_segments;

	/*
	 * Index of the listings of the logs, as far as they were read
	 * (listings.h).  Allocated by the pass over segments.  A pointer,
	 * because users have a const check.
	 */
	struct logindex *logindex;
	/*
	 * Index of the logs of the device below the overlay DEV, shared by all
	 * checks of a repair: created by the first check that has a volume,
	 * freed by the caller.  Borrowed; NULL: none.
	 */
	struct logindex **logs_under;

	/*
	 * Blocks of the device in the window from CLAIMED_FROM to CLAIMED_END
	 * (claims.h) that the DAT's own map or an entry in use refers to (pass
	 * dat).  The pass over logs removes those that the logs list, window by
	 * window; the rest is listed nowhere.  Blocks that two entries refer to
	 * are in the second set until they are reported.
	 */
	struct sparse claimed, claimed_twice;
	uint64_t claimed_from, claimed_end;

	/* Segments in use whose logs list virtual blocks that are free or at
	   another place by the DAT (pass logs). */
	struct bitmap unclaimed_segments;

	struct datruns datruns;	/* entries of the DAT as runs (pass dat) */

	/* Segments with a block in any window of CLAIMED (pass dat). */
	struct bitmap live_segments;

	/*
	 * Segments that the old state of the device needs until superblocks
	 * refer to the new one: segments of logs that are rolled forward.
	 * Borrowed from the repair; NULL: none.
	 */
	const struct bitmap *awaited;

	/* The super root that VOL was opened at, if it could not be opened
	   otherwise.  Borrowed; NULL: none. */
	const struct root_state *state;

	/*
	 * Virtual blocks that the logs list for cpfile, sufile and ifiles and
	 * that have the same place in the DAT, by inode number from
	 * NILFS_CPFILE_INO on (pass logs).
	 */
	struct sparse listed[CHECK_LISTED];

	struct mapsums *sums;	/* filled by passes logs and tree; NULL: none */

	/* Virtual blocks that any checkpoint refers to (pass tree). */
	struct sparse referenced;

	/* Those of REFERENCED that are live in the latest state although only
	   older checkpoints refer to them (pass tree). */
	struct sparse lingering;

	/*
	 * Entries of the DAT that are live but not part of the latest state;
	 * and entries of snapshots that nothing refers to (pass counts, if
	 * there are findings about them).
	 */
	struct sparse leaked, unmapped;

	/* Live entries of the DAT (pass dat), and how many of them the latest
	   state refers to (pass tree). */
	uint64_t live_entries, live_referenced;

	/*
	 * Snapshots (pass dat).  Entries that are live in the latest state or
	 * in a snapshot, and how many of them these states refer to (pass
	 * tree); each 0 if unknown.
	 */
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots;
	uint64_t kept_entries, kept_referenced;

	/* Valid checkpoints in the readable blocks of the cpfile, ascending
	   (pass tree). */
	struct check_checkpoint *cps;
	size_t ncps, cps_room;

	/* Inodes of the newest checkpoint, if they could be counted. */
	uint64_t files;
	bool files_known;

	/*
	 * Places of findings of RULE_RELEASES, for the search for flipped bits.
	 * If there are CHECK_RELEASES_MAX, the list is incomplete and must not
	 * be used.  Borrowed from the caller, who collects them.
	 */
	const struct place *releases;
	size_t nreleases;
	/* Inodes of RELEASES in logs with wrong checksums that no single bit
	   explains.  Borrowed; NULL: not wanted. */
	struct inoset *unverified;

	/* The highest sequence number of a log after the end of the chain that
	   may continue it; 0: none (pass super). */
	uint64_t later_seq;

	/* A segment with live blocks is marked as erroneous and has unreadable
	   logs (pass logs). */
	bool logs_shut;

	/* The SUFILE that the DAT leads to is not the newest one and is not
	   trusted.  Set while metadata is derived. */
	bool sufile_doubted;

	bool dat_broken;	/* the DAT cannot be trusted as a whole */
	bool dat_bitmaps_lost;	/* it has groups without a bitmap (pass dat) */
	/* Some pointers could not be followed: a block missing in REFERENCED
	   may be in use. */
	bool tree_broken;
	bool leaks_known;	/* other findings did not hide RULE_DAT_LEAKED */
};

/* Whether the live virtual block VBLOCKNR is not part of the latest state.
   Valid after the pass over trees. */
static inline bool check_is_leaked(const struct check *c, uint64_t vblocknr)
{
	return vblocknr && vblocknr < c->referenced.bits &&
	       (!sparse_test(&c->referenced, vblocknr) ||
		sparse_test(&c->lingering, vblocknr));
}

/* The first snapshot within the lifetime [START, END), or 0. */
static inline uint64_t check_snapshot_of(const struct check *c, uint64_t start,
					 uint64_t end)
{
	return search_within(c->snapshots, c->nsnapshots, start, end);
}

/* The set of LISTED for inode INO, or NULL. */
static inline struct sparse *check_listed(struct check *c, uint64_t ino)
{
	if (ino - NILFS_CPFILE_INO >= CHECK_LISTED)
		return NULL;
	return &c->listed[ino - NILFS_CPFILE_INO];
}

static inline void check_progress(const struct check *c, uint64_t done)
{
	if (c->progress)
		c->progress(c->progress_arg, done, c->work);
}

struct pass;

/* Options and callbacks of a check; all are optional. */
struct check_run {
	/* Run only the passes that are needed to count live blocks. */
	bool counters;
	/* An additional pass, run last, and also if the others were not run. */
	const struct pass *extra;
	/* Called after the superblocks, with an open volume.  1: end the check. */
	int (*opened)(void *arg, struct check *c, struct context *cx);
	/* Called before and after each pass. */
	void (*begin)(void *arg, const struct pass *pass);
	void (*end)(void *arg);
	void *arg;
};

/*
 * Checks the volume on c->dev: reports findings to c->findings, and progress to
 * the callbacks of C and RUN.  The caller zeroes C except for its own fields,
 * and frees it with check_fini(), also after a failure; volume and results are
 * valid until then.  1 if all passes were run, 0 if the volume could not be
 * opened or run->opened ended the check, or a failure of the checker.
 */
int check_volume(struct check *c, struct context *cx,
		 const struct check_run *run);

/*
 * Opens the volume of C once more, in *VOLP, for one of N workers, with its
 * share of the table memory.  Close it with volume_close().  Fails as
 * volume_open_at(), and does not change *VOLP then.
 */
int check_open_again(const struct check *c, struct context *cx, unsigned int n,
		     struct volume **volp);

/* Closes the volume and frees the sets. */
void check_fini(struct check *c);

/* Whether the SUFILE is trustworthy.  It is read through the DAT: if the DAT is
   broken, other blocks may have been read. */
bool check_knows_sufile(const struct check *c);

/* Sends a note, a phrase, to the user.  For one thread only. */
void check_note(const struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Converts a failure of a reader at PLACE: damage (-EUCLEAN, -ENOENT) becomes a
 * finding of RULE in F, a failed read (-EIO) one of RULE_DEV_UNREADABLE, and 0 is
 * returned.  Other failures are returned.
 */
int check_damage(struct findings *f, struct context *cx, int err, enum rule rule,
		 struct place place);

/* For scans of the DAT (datscan_visitor): skips an unreadable block, which the
   pass over the DAT reports. */
int check_skip_unreadable(void *arg, struct context *cx, uint64_t blkoff);

/*
 * Memory budget for a volume with BLOCKS blocks in use on a machine with MEMORY
 * bytes: the USUAL budget and half a byte for each block.  The part above the
 * usual budget is limited so that the total is at most half of the machine's
 * memory.
 */
uint64_t check_budget(uint64_t usual, uint64_t blocks, uint64_t memory);

/* If CX has the USUAL budget, raises it to that needed for VOL. */
void check_raise_budget(struct context *cx, struct volume *vol, uint64_t usual);

#endif
