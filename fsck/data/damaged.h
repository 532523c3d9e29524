/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files whose data is damaged: by path and byte range in each checkpoint that
 * has the damaged blocks, and the newest checkpoint with a whole version.
 *
 * A check reports a log whose checksum does not match, a flipped bit, or a block that
 * cannot be read. The logs show the file of a block, and the DAT its checkpoints.
 */
#ifndef NILFS2_FSCK_DAMAGED_H
#define NILFS2_FSCK_DAMAGED_H

#include "check/check.h"
#include "check/names/filenames.h"
#include "cli/tool.h"

/* The damage that a check found, as block numbers. All zero: nothing is noted. */
struct damaged_places {
	struct sparse logs;	/* that do not match, by their first block */
	struct sparse blocks;	/* that are wrong or cannot be read */
	struct sparse flips;	/* of these, with a flipped bit that is proved */
	bool incomplete;	/* some could not be noted */
};

/* Notes findings about DEV from now on, or, after -ENOMEM, only that there are any.
   Freed with damaged_fini(). */
int damaged_init(struct damaged_places *p, struct context *cx, struct dev *dev);
void damaged_note(struct damaged_places *p, const struct finding *f);
void damaged_fini(struct damaged_places *p);

/* A run of blocks of a file, in consecutive checkpoints. */
struct damaged_run {
	uint64_t ino;
	uint64_t first, last;	/* blocks of the file */
	size_t from, end;	/* checkpoints [FROM, END) of the list */
	bool proven;		/* else it is in a log with a damaged block */
	bool flipped;		/* a bit, which a repair corrects */
	bool is_node;		/* of its map: any of its data may be damaged */
};

/* The name and the size of a file in the checkpoints [FROM, END). */
struct damaged_state {
	size_t from, end;
	uint64_t size;		/* the greatest */
	char *path;		/* NULL: not known; owned */
};

/* One file, of all that had the same inode number. */
struct damaged_file {
	uint64_t ino;		/* first: the sort key */
	size_t run, runs_end;	/* its runs, from the newest checkpoint on */
	size_t from, end;	/* the checkpoints in which it was looked for */
	bool known;		/* INODE is that of the file */
	struct nilfs_inode inode;
	struct damaged_state *states;	/* from the newest on */
	size_t nstates, states_room;
	/* The newest checkpoint with a whole version and its path there. */
	bool has_whole;
	size_t whole;
	char *whole_path;	/* NULL: not known; owned */
	/* During the search: */
	size_t next, least;	/* the next run; of those before, the least FROM */
	bool sought;		/* its names were searched once */
	struct filenames names;
};

struct damaged {
	const struct check *c;
	struct volume *vol;
	struct tool *tool;
	uint64_t *cnos, *snapshots;	/* that exist, ascending */
	size_t ncnos, nsnapshots;
	struct damaged_run *runs;
	size_t nruns, runs_room;
	struct damaged_file *files;	/* by inode number */
	size_t nfiles, files_room;
	struct damaged_file *former;	/* of a number that is in use again */
	size_t nformer, former_room;
	uint64_t more;			/* files that are only counted */
	bool any;			/* damage was noted */
	bool incomplete;
};

/* The number of files that are named. */
#define DAMAGED_FILES_MAX 10000u

/*
 * Finds and prints the damaged files of the check C of the volume of TOOL, a limited
 * number unless ALL. Without a volume or damage nothing is printed as text. What
 * cannot be read is left out, and the result is marked as incomplete. 0, -EINTR,
 * -ENOMEM.
 */
int damaged_report(const struct damaged_places *p, struct tool *tool,
		   const struct check *c, bool all);

/* Finds names and whole versions of the files of D. 0, -EINTR, -ENOMEM. */
int damagednames_find(struct damaged *d, struct context *cx);

/* Prints D, at most MOST lines of a kind. */
void damagedprint_report(const struct damaged *d, struct report *r, size_t most);

#endif
