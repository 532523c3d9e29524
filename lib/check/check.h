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

#include <stdbool.h>
#include <stdint.h>

#include "base/bitmap.h"
#include "base/context.h"
#include "base/search.h"
#include "base/sparse.h"
#include "check/vblocks.h"
#include "dev/dev.h"
#include "find/finding.h"
#include "vol/recovery.h"
#include "vol/volume.h"

/* Metadata files that have their blocks by way of the DAT. */
#define CHECK_LISTED 3

#define CHECK_RELEASES_MAX 65536

/* Whose the findings of a rule are. */
enum check_whose {
	CHECK_NEWEST,	/* of the newest checkpoint, or of none */
	CHECK_SNAPSHOTS,
	CHECK_REVEALED,	/* snapshots that the check before did not know */
	CHECK_WHOSE
};

struct check_tally {
	/* Apart: what is repaired with an ifile, whatever the rule is. */
	uint64_t n[2][CHECK_WHOSE];
};

struct logindex;
struct mapsums;

/* A super root that was chosen because the superblocks do not lead to one. */
struct root_state {
	bool chosen;
	bool hurt;		/* the checksum of its log is wrong */
	bool newest;		/* no log on the device is newer than its log */
	bool overwritten;	/* blocks of it have other content */
	struct recovery at;
	uint64_t seq;		/* of the next log: greater than that of any
				   log on the device */
};

/* Whether log [PSEG, SEQ] is that of S, which was not followed by another. */
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
	struct volume *vol;	/* of the calling thread */
	struct findings *findings;
	/*
	 * How often each rule was broken, by its place in the registry, as
	 * repairs are judged by it.  Borrowed from the caller, who counts; NULL:
	 * nothing is judged.
	 */
	const struct check_tally *tally;
	bool data;		/* verify the checksums of all logs */
	uint64_t failed_reads;	/* of DEV before this check */

	/*
	 * Bytes for what is only faster with more of it: windows, caches and
	 * tables that may be partial.  0 becomes a part of the budget, by the
	 * size of the DAT.
	 */
	uint64_t table_memory;

	/* How far the pass is, of its TOTAL work, 0: not known; in the unit of the
	   pass, which sets WORK. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	uint64_t work;

	/* Called with notes, which are not findings; or NULL. */
	void (*note)(void *arg, const char *text);
	void *note_arg;

	/*
	 * A set is made by the pass that fills it, of segments both by the pass
	 * over segments; one that is all zero has no members and can be freed.
	 */

	/*
	 * Segments in use by the SUFILE, and those whose logs cannot all be
	 * read: blocks in the latter are not reported one by one.  Set by the
	 * passes over segments and over logs.
	 */
	struct bitmap used_segments, broken_segments;

	/*
	 * What the logs list, as far as it was asked for (listings.h).  Made
	 * by the pass over segments; a pointer, because those who ask have a
	 * const check.
	 */
	struct logindex *logindex;
	/*
	 * Where the index of what is under the overlay DEV is, for all checks of
	 * a repair: made by the first one that has a volume, and freed by the
	 * caller.  Borrowed; NULL: none.
	 */
	struct logindex **logs_under;

	/*
	 * Blocks of the device that an entry of the DAT in use names, or the
	 * DAT's own map (pass dat), of those from CLAIMED_FROM to CLAIMED_END,
	 * a window (claims.h).  The pass over logs takes out what the logs
	 * list, window by window; what stays is listed nowhere.  Those that two
	 * entries name are in the second set, until they were reported.
	 */
	struct sparse claimed, claimed_twice;
	uint64_t claimed_from, claimed_end;

	/* Segments in use whose logs list virtual blocks that the DAT has free
	   or elsewhere (pass logs). */
	struct bitmap unclaimed_segments;

	struct datruns datruns;	/* entries, as they are (pass dat) */

	/* Segments in which any window of CLAIMED had a block (pass dat). */
	struct bitmap live_segments;

	/*
	 * Segments that the old state of the device needs until superblocks
	 * name the new one: those of logs that are rolled forward.  Borrowed
	 * from the repair; NULL: none.
	 */
	const struct bitmap *awaited;

	/* The super root that VOL is opened at, where superblocks name its log
	   and that could not be opened otherwise.  Borrowed too; NULL: none. */
	const struct root_state *state;

	/*
	 * Virtual blocks that the logs list for cpfile, sufile and ifiles, by
	 * inode number from NILFS_CPFILE_INO on, where the DAT has them (pass
	 * logs).
	 */
	struct sparse listed[CHECK_LISTED];

	struct mapsums *sums;	/* pass logs and pass tree; NULL: none */

	/* Virtual blocks that some checkpoint refers to (pass tree). */
	struct sparse referenced;

	/* Of these, the ones that live now although only older checkpoints
	   refer to them (pass tree). */
	struct sparse lingering;

	/* Entries of the DAT that live now and are not part of the latest state, and
	   those that lived in a snapshot and that nothing refers to (pass
	   counts, where findings are about them). */
	struct sparse leaked, unmapped;

	/* Entries of the DAT in use that live now (pass dat), and how many of
	   them the latest state refers to (pass tree). */
	uint64_t live_entries, live_referenced;

	/*
	 * Snapshots (pass dat).  Entries that live now or in one of them, and
	 * how many of them these states refer to (pass tree), each 0 where it
	 * is not known.
	 */
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots;
	uint64_t kept_entries, kept_referenced;

	/* Valid checkpoints, of those blocks of the cpfile that can be read,
	   ascending (pass tree). */
	struct check_checkpoint *cps;
	size_t ncps, cps_room;

	/* Inodes of the newest checkpoint, where they could be counted. */
	uint64_t files;
	bool files_known;

	/*
	 * The places of findings of RULE_RELEASES, for the search for flipped
	 * bits; with CHECK_RELEASES_MAX of them there are more, and RELEASES is
	 * not to be read.  Borrowed from the caller, who collects them.
	 */
	const struct place *releases;
	size_t nreleases;
	/* Those of their inodes that are in logs whose checksums do not match,
	   for no single bit.  Borrowed too; NULL: not wanted. */
	struct inoset *unverified;

	/* The highest sequence number of a log that looks like a continuation
	   of the chain after its end; 0: none (pass super). */
	uint64_t later_seq;

	/* A segment with live blocks is marked as erroneous, and some of its
	   logs cannot be read (pass logs). */
	bool logs_shut;

	/* The SUFILE that the DAT leads to is not the newest one: nothing in
	   it is believed.  Set while metadata is derived. */
	bool sufile_doubted;

	bool dat_broken;	/* the DAT cannot be trusted as a whole */
	bool dat_bitmaps_lost;	/* it has groups without a bitmap (pass dat) */
	/* Not all that is referred to could be followed: what is missing in
	   REFERENCED may be in use after all. */
	bool tree_broken;
};

/* Whether virtual block VBLOCKNR, which is live now, is not part of the latest
   state; after the pass over trees. */
static inline bool check_is_leaked(const struct check *c, uint64_t vblocknr)
{
	return vblocknr && vblocknr < c->referenced.bits &&
	       (!sparse_test(&c->referenced, vblocknr) ||
		sparse_test(&c->lingering, vblocknr));
}

/* The first snapshot in which an entry of the DAT with this life lives, or 0. */
static inline uint64_t check_snapshot_of(const struct check *c, uint64_t start,
					 uint64_t end)
{
	size_t i = search_lower_bound(c->snapshots, c->nsnapshots, start);

	return i < c->nsnapshots && c->snapshots[i] < end ? c->snapshots[i] : 0;
}

/* The set of LISTED for inode INO, or NULL if there is none. */
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

/* Options and callbacks of a check; all optional. */
struct check_run {
	/* Only the passes that are needed to count live blocks. */
	bool counters;
	/* One more pass, after the others, and also where they were not run. */
	const struct pass *extra;
	/* After the superblocks, with an open volume: 1 ends the check there. */
	int (*opened)(void *arg, struct check *c, struct context *cx);
	/* A pass begins, and has ended. */
	void (*begin)(void *arg, const struct pass *pass);
	void (*end)(void *arg);
	void *arg;
};

/*
 * Checks the volume on c->dev: reports findings to c->findings, and progress to
 * the callbacks of C and RUN.  C is all zero but for what its caller sets, and
 * freed with check_fini(), also after a failure; its volume and its facts stay
 * until then.  1 if all passes were run, 0 if the volume could not be opened or
 * run->opened ended the check, or a failure of the checker.
 */
int check_volume(struct check *c, struct context *cx,
		 const struct check_run *run);

/*
 * Opens the volume of C once more, in *VOLP, for one of N workers: with its part
 * of the table memory.  Closed with volume_close(); fails as volume_open_at(),
 * and leaves *VOLP as it is then.
 */
int check_open_again(const struct check *c, struct context *cx, unsigned int n,
		     struct volume **volp);

/* Closes the volume and frees the sets. */
void check_fini(struct check *c);

/* Whether the SUFILE is to be believed.  It was read by way of the DAT, and may
   be another block where that is broken. */
bool check_knows_sufile(const struct check *c);

/* A note to the user, a phrase; from one thread. */
void check_note(const struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Turns a failure of a reader at PLACE into a finding of RULE where it says
 * that the volume is broken (-EUCLEAN, -ENOENT) or cannot be read
 * (-EIO: RULE_DEV_UNREADABLE), and returns 0; other failures are returned.
 */
int check_damage(struct check *c, struct context *cx, int err, enum rule rule,
		 struct place place);

/* For scans of the DAT (datscan_visitor): continues after a block that cannot
   be read, which the pass over the DAT reports. */
int check_skip_unreadable(void *arg, struct context *cx, uint64_t blkoff);

/*
 * Bytes for a volume with BLOCKS blocks in use on a machine with MEMORY bytes:
 * the USUAL budget and half a byte for each block, but of what is above the
 * usual one no more than would take half of the machine.
 */
uint64_t check_budget(uint64_t usual, uint64_t blocks, uint64_t memory);

/* Raises the budget of CX, if it is the USUAL one, to what VOL needs. */
void check_raise_budget(struct context *cx, struct volume *vol, uint64_t usual);

#endif
