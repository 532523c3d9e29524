/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device of a session, the check of its volume, and its repair. */
#ifndef NILFS2_FSCK_SESSION_H
#define NILFS2_FSCK_SESSION_H

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/output.h"
#include "find/decision.h"
#include "fsck/plan/options.h"
#include "live/cleanerlock.h"
#include "live/live.h"
#include "out/report.h"

struct target {
	struct dev *dev;	/* the device, with its zones if any */
	struct dev *under;	/* the device below DEV, or NULL */
	struct dev *file;	/* the lowest device, may be the same as DEV */
	struct dev *source;	/* the device that FILE is a copy of; or NULL */
	struct dev *container;	/* the image file that contains SOURCE, or NULL */
	struct output *copy;	/* the output file, to be committed, or NULL */
	bool unread;		/* some areas are known to be unreadable */
	struct live *live;	/* the volume mounted on a directory, or NULL */
	struct cleanerlock *lock;	/* holds its cleaner off; or NULL */
	uint64_t synced;	/* a checkpoint of it that was written; or 0 */
};

/*
 * Opens the device PATH for reading, or for writing if O requires and the
 * device permits it. A mounted device is only read, and refused (-EBUSY) with
 * -y; if it is mounted for writing, it is refused unless O excludes changes.
 * Zones are those of a host-managed device, or of the file beside an image; if
 * they cannot be listed, the device is only read. With an output file, a copy
 * of the device is opened. If PATH is a directory, the device of the volume
 * mounted there is opened, after what is in memory was written; -EBUSY if O
 * allows changes. -EOPNOTSUPP for undo files on zones, or as
 * devfile_open(). T is closed with target_close(), also after a failure.
 */
int target_open(struct target *t, struct tool *tool, const char *path,
		const struct options *o);
void target_close(struct target *t);

/*
 * Makes the new file FILE a sparse copy of SOURCE, open for writing as *COPY,
 * with *BAD over it. Bytes that SOURCE cannot read, and bad areas of MAP (NULL:
 * none), are unreadable in *BAD. Prints their number. -ENOSPC, -EINTR, as
 * devfile_create().
 */
int target_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map);

/* Exit status of fsck(8). */
#define SESSION_REPAIRED 1
#define SESSION_UNCORRECTED 4

/*
 * Checks the volume on DEV with the options O, repairs it, or rolls back to a
 * checkpoint, and prints findings, repairs and a summary on the tool's report.
 * 0 if there was no error, SESSION_REPAIRED if none is left,
 * SESSION_UNCORRECTED, or a failure. After a failure nothing was changed,
 * unless it is a failure of DEV.
 *
 * For OPTIONS_COUNTERS it sets the SUFILE from the DAT and the logs, with
 * live-block counts: 0 if nothing changed, SESSION_REPAIRED,
 * SESSION_UNCORRECTED if the volume has errors that would make the counts
 * wrong, and -EBUSY if logs must be replayed first.
 */
int session_run(struct tool *tool, const struct options *o, struct dev *dev);

/* The repairs that O permits; questions need a terminal. */
enum decision_mode session_mode(const struct tool *tool,
				const struct options *o);

/* The summary of a check: one line of text, as other checkers print it, or one
   object for scripts. */
struct session_summary {
	const char *device;	/* as the user named it */
	bool complete;		/* all passes were run */
	bool repaired;		/* the summary is that of the repaired volume */
	uint64_t losses;	/* losses of the repair, listed or not */
	bool losses_known;	/* all of them are listed */
	uint64_t fatal, errors, warnings;	/* findings */
	uint64_t history;	/* further findings, of checkpoints not kept */
	bool open;		/* the volume could be opened; for the next members */
	bool unmounted;		/* cleanly */
	bool has_errors;	/* the error flag of the kernel is set */
	uint64_t cno;		/* the latest checkpoint */
	bool counted;		/* its counts could be read; for the next members */
	uint64_t files, snapshots, segments, used_segments;
};

/* Prints one line of text, or the section "summary". */
void session_report(const struct session_summary *s, struct report *r);

#endif
