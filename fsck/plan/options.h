/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user of fsck.nilfs2 can say. */
#ifndef NILFS2_FSCK_OPTIONS_H
#define NILFS2_FSCK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"

enum options_mode {
	OPTIONS_PLAIN,		/* nothing said */
	OPTIONS_NO,		/* -n: change nothing */
	OPTIONS_AUTO,		/* -a, -p: at boot, no questions */
	OPTIONS_YES,		/* -y */
	OPTIONS_COUNTERS,	/* --rebuild-counters: that and nothing else */
};

#define OPTIONS_GIVE_UP_MAX 64u

struct options {
	int mode;		/* enum options_mode */
	bool always;		/* check also what looks clean */
	bool force;		/* override the signature of another owner */
	bool quick;		/* look at superblocks and super root only */
	bool data;		/* verify the checksums of all logs */
	bool everything;	/* show all findings */
	bool rebuild;		/* metadata files may be rebuilt */
	const char *output;	/* the file that is repaired instead, or NULL */
	const char *ddrescue_map;	/* what could not be read, or NULL */
	const char *undo_file;	/* to be written before a repair, or NULL */
	const char *undo;	/* to be played back, or NULL */
	struct options_rollback {
		bool wanted;
		uint64_t cno;	/* 0: the one before the latest */
	} rollback;
	struct options_give_up {
		uint64_t cno[OPTIONS_GIVE_UP_MAX];	/* snapshots */
		unsigned int n;
	} give_up;
	uint64_t superblock;	/* 1 or 2: the other one is not read; 0 */
	uint64_t state;		/* the checkpoint to begin with; 0: latest */
	bool list_rules;
};

extern const struct cli_option options_rows[];

#endif
