/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of fsck.nilfs2. */
#ifndef NILFS2_FSCK_OPTIONS_H
#define NILFS2_FSCK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"

struct live;

enum options_mode {
	OPTIONS_PLAIN,		/* no mode given */
	OPTIONS_NO,		/* -n: change nothing */
	OPTIONS_AUTO,		/* -a, -p: at boot, no questions */
	OPTIONS_YES,		/* -y */
	OPTIONS_COUNTERS,	/* --rebuild-counters: no other repair */
};

#define OPTIONS_GIVE_UP_MAX 64u

struct options {
	int mode;		/* enum options_mode */
	bool always;		/* check even if clean */
	bool force;		/* override the signature of another owner */
	bool quick;		/* check only superblocks and super root */
	bool data;		/* verify the checksums of all logs */
	bool everything;	/* show all findings */
	bool rebuild;		/* metadata files may be rebuilt */
	const char *output;	/* the copy that is repaired instead, or NULL */
	const char *ddrescue_map;	/* map file of unreadable areas, or NULL */
	const char *undo_file;	/* undo file to write before a repair, or NULL */
	const char *undo;	/* undo file to restore, or NULL */
	struct options_rollback {
		bool wanted;
		/* As of moment_parse(); 0: the checkpoint before the latest. */
		uint64_t moment;
	} rollback;
	struct options_give_up {
		uint64_t cno[OPTIONS_GIVE_UP_MAX];	/* snapshots */
		unsigned int n;
	} give_up;
	uint64_t superblock;	/* 1 or 2: use only this one; 0: both */
	uint64_t state;		/* the checkpoint to repair, as of moment_parse(); 0: the
				   latest */
	bool list_rules;
	bool share;		/* a cleaner may run during the check */
	uint64_t speed;		/* bytes read in a second; 0: any */
	/* Not an option: the volume is mounted, and this checkpoint has been
	   written; 0: not mounted. */
	uint64_t mounted;
	const struct live *live;	/* with SHARE: that volume */
};

extern const struct cli_option options_rows[];

#endif
