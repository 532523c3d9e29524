/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of the losses of a repair: file content, names, files, checkpoints.
 */
#ifndef NILFS2_FSCK_LOSSLIST_H
#define NILFS2_FSCK_LOSSLIST_H

#include "base/context.h"
#include "out/report.h"
#include "vol/volume.h"

enum loss_kind {
	LOSS_ZERO,	 /* bytes replaced by zeros */
	LOSS_STALE,	 /* bytes replaced by an older version */
	LOSS_TRUNCATED,	 /* bytes past the new end of the file */
	LOSS_UNKNOWN,	 /* bytes that could not be read */
	LOSS_SUSPECT,	 /* bytes of a log whose checksum did not match */
	LOSS_ATTRIBUTES, /* inodes with the attributes of an older checkpoint */
	LOSS_LINKS,	 /* a link count that changed with lost names */
	LOSS_PERHAPS,	 /* inodes that may have been files, or not */
	LOSS_REMOVED,	 /* a file that no longer exists */
	LOSS_NAME,	 /* a name that no longer exists */
	LOSS_RENAMED,	 /* a name that no longer exists; only the new name is known */
	LOSS_CHECKPOINT, /* checkpoints that no longer exist */
	LOSS_TIME,	 /* a checkpoint whose time, now TIME, may have changed */
	LOSS_MARK,	 /* a checkpoint that is no longer a snapshot */
	LOSS_MARKS,	 /* snapshot flags that were set last */
	LOSS_NEWER,	 /* all data written after CNO */
	LOSS_SUPER,	 /* properties that only superblocks have */
	LOSS_SYNCED,	 /* data of fdatasync() in a log that cannot be read */
};

struct loss {
	enum loss_kind kind;
	bool latest;		 /* of the latest state, whose checkpoint was CNO */
	bool snapshot;		 /* CNO was a snapshot */
	bool is_open;		 /* dropped if the state has all its names */
	bool is_unsure;		 /* of LOSS_ATTRIBUTES: may be unchanged; of
				    LOSS_CHECKPOINT: may have been deleted before */
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

/* The maximum number of losses in the list; further ones are only counted. */
#define LOSSLIST_MAX 65536u

/* An empty list is all zero. */
struct losslist {
	struct loss *items;
	size_t n, room;
	uint64_t more;	 /* losses that are only counted */
	bool incomplete; /* the comparison is incomplete */
};

/* Adds LOSS, or extends the last loss if LOSS continues it. NAME (LEN bytes, or
   NULL) is copied. A loss that does not fit in memory is counted. */
void losslist_add(struct losslist *l, struct context *cx,
		  const struct loss *loss, const char *name, size_t len);

/* Removes the losses from number FIRST on if all of them are open. */
void losslist_drop(struct losslist *l, size_t first);
void losslist_fini(struct losslist *l);

/* The number of losses, listed or not. */
uint64_t losslist_count(const struct losslist *l);

/* Prints the lines "lost: ...", only the first ones unless ALL, or the list
   "losses" of sections. */
void losslist_report(const struct losslist *l, struct report *r, bool all);

/* Sets the paths of files after the repair, or before it if they have no path
   then. If memory is exhausted, a path stays NULL. 0, or -EINTR. */
int losslist_find_paths(struct losslist *l, struct context *cx,
			struct volume *before, struct volume *after);

#endif
