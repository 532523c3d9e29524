/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One device, one check of its volume, and its repair, printed as it goes. */
#ifndef NILFS2_FSCK_SESSION_H
#define NILFS2_FSCK_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tool.h"
#include "dev/dev.h"
#include "dev/output.h"
#include "find/decision.h"
#include "fsck/plan/options.h"
#include "out/report.h"

struct target {
	struct dev *dev;	/* with its zones, where it has some */
	struct dev *under;	/* what that is over, or NULL */
	struct dev *file;	/* at the bottom, may be the same as DEV */
	struct dev *source;	/* where FILE is a copy of it; or NULL */
	struct dev *container;	/* the file that SOURCE is a disk in, or NULL */
	struct output *copy;	/* that file, to be committed, or NULL */
	bool unread;		/* some areas are known to be unreadable */
};

/*
 * Opens the device PATH for what O asks: to be read, or to be written to,
 * where that can be.  One that is mounted is only read, and refused (-EBUSY)
 * with -y; one that may be written to meanwhile is refused unless O says that
 * nothing is to be changed.  Zones are those of a host-managed device, or of
 * the file beside an image; where they cannot be listed it is only read.
 * With an output file that is what is opened, a copy of the device.
 * -EOPNOTSUPP for undo files on zones, or as devfile_open().  T is closed with
 * target_close(), also after a failure.
 */
int target_open(struct target *t, struct tool *tool, const char *path,
		const struct options *o);
void target_close(struct target *t);

/*
 * Makes the new file FILE a sparse copy of SOURCE, opened to be written as
 * *COPY, with *BAD over it: what SOURCE, or BAD areas of MAP (NULL: none),
 * cannot give is unreadable there.  Prints how much that is.  -ENOSPC, -EINTR,
 * as devfile_create().
 */
int target_copy(struct dev **copy, struct dev **bad, struct tool *tool,
		struct dev *source, const struct output *file,
		const char *map);

/* Exit status of fsck(8). */
#define SESSION_REPAIRED 1
#define SESSION_UNCORRECTED 4

/*
 * Checks the volume on DEV as O asks, repairs it, or goes back to a
 * checkpoint, and puts findings, repairs and a summary on the tool's report.
 * 0 where there was no error, SESSION_REPAIRED where there is none now,
 * SESSION_UNCORRECTED, or a failure: then nothing was changed, unless the
 * failure is DEV's.
 *
 * For OPTIONS_COUNTERS it makes what the SUFILE says of segments what the DAT
 * and the logs say, live-block counts included: 0 where it was so,
 * SESSION_UNCORRECTED where the volume has errors on which that would rest,
 * and -EBUSY where logs must be rolled forward first.
 */
int session_run(struct tool *tool, const struct options *o, struct dev *dev);

/* What O says may be repaired, as far as there is a user to ask. */
enum decision_mode session_mode(const struct tool *tool,
				const struct options *o);

/* The last word of a check: one line for people, as other checkers have it, and
   one object for scripts. */
struct session_summary {
	const char *device;	/* as the user named it */
	bool complete;		/* all passes were run */
	bool repaired;		/* what is said is what came of it */
	uint64_t losses;	/* of the repair, listed or not */
	bool losses_known;	/* all of them are listed */
	uint64_t fatal, errors, warnings;	/* findings */
	uint64_t history;	/* more findings, which are history */
	bool open;		/* the volume could be opened: what follows */
	bool unmounted;		/* cleanly */
	bool has_errors;	/* the kernel has said so */
	uint64_t cno;		/* the latest checkpoint */
	bool counted;		/* its counts could be read: what follows */
	uint64_t files, snapshots, segments, used_segments;
};

/* Puts one line of text, or the section "summary". */
void session_report(const struct session_summary *s, struct report *r);

#endif
