/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of the losses of a repair: file content, names, files, checkpoints.
 */
#ifndef NILFS2_FSCK_LOSSLIST_H
#define NILFS2_FSCK_LOSSLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "out/report.h"
#include "vol/volume.h"

enum loss_kind {
	LOSS_ZERO,	 /* bytes that are zero now */
	LOSS_STALE,	 /* bytes that are of an older version now */
	LOSS_TRUNCATED,	 /* bytes past the new end of the file */
	LOSS_UNKNOWN,	 /* bytes of which nothing could be read */
	LOSS_SUSPECT,	 /* bytes of a log whose checksum did not match */
	LOSS_ATTRIBUTES, /* inodes with the attributes of an older checkpoint */
	LOSS_LINKS,	 /* a link count that changed with lost names */
	LOSS_PERHAPS,	 /* inodes that may have been files, or not */
	LOSS_REMOVED,	 /* a file that does not exist any more */
	LOSS_NAME,	 /* a name that does not exist any more */
	LOSS_RENAMED,	 /* the same, of which only the new name is known */
	LOSS_CHECKPOINT, /* checkpoints that do not exist any more */
	LOSS_MARK,	 /* a checkpoint that is no snapshot any more */
	LOSS_MARKS,	 /* which of these had become snapshots last */
	LOSS_NEWER,	 /* whatever was written after CNO */
	LOSS_SUPER,	 /* properties that only superblocks have */
	LOSS_SYNCED,	 /* data of fdatasync() in a log that cannot be read */
};

struct loss {
	enum loss_kind kind;
	bool latest;		 /* of the latest state, which CNO was then */
	bool snapshot;		 /* CNO was a snapshot */
	bool is_open;		 /* none if no name of the state is missing */
	bool is_unsure;		 /* of LOSS_ATTRIBUTES: may be as they were; of
				    LOSS_CHECKPOINT: may have been deleted */
	uint64_t cno;		 /* the checkpoint; of several, the first */
	uint64_t last;		 /* of several checkpoints, the last */
	uint64_t ino;		 /* 0: a checkpoint; of several, the first */
	uint64_t last_ino;	 /* of LOSS_ATTRIBUTES, LOSS_PERHAPS: the last;
				    UINT64_MAX: all later ones */
	uint64_t dir;		 /* of a name: the directory */
	uint64_t offset, length; /* bytes; of LOSS_LINKS: before, after */
	uint64_t block;		 /* of LOSS_SYNCED: where the log begins */
	uint64_t from;		 /* checkpoint of what is stale; 0: not known */
	uint64_t time;		 /* of a checkpoint, seconds; 0: not known */
	char *name;		 /* of a name, or NULL; owned */
	char *path;		 /* or NULL; owned */
};

/* The most that are kept; those past it are counted. */
#define LOSSLIST_MAX 65536u

/* All zero is empty. */
struct losslist {
	struct loss *items;
	size_t n, room;
	uint64_t more;	 /* that were not kept */
	bool incomplete; /* not all could be compared */
};

/*
 * Adds LOSS, or extends the last one where it continues that.  NAME (LEN bytes,
 * or NULL) is copied.  What does not fit in memory is counted.
 */
void losslist_add(struct losslist *l, struct context *cx,
		  const struct loss *loss, const char *name, size_t len);

/* Removes the losses from number FIRST on if all of them are open. */
void losslist_drop(struct losslist *l, size_t first);
void losslist_fini(struct losslist *l);

/* How many there are, listed or not. */
uint64_t losslist_count(const struct losslist *l);

/*
 * Prints the lines "lost: ...", the first ones only unless ALL, or the list
 * "losses" of sections.
 */
void losslist_report(const struct losslist *l, struct report *r, bool all);

/*
 * Sets the paths of files after the repair, or if they have none, before it.
 * If memory is exhausted one stays NULL.  0, or -EINTR.
 */
int losslist_find_paths(struct losslist *l, struct context *cx,
			struct volume *before, struct volume *after);

#endif
