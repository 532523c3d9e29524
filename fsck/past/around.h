/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other checkpoints, from the nearest on. */
#ifndef NILFS2_FSCK_AROUND_H
#define NILFS2_FSCK_AROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "check/mapcheck.h"
#include "vol/volume.h"

/* All zero at first. */
struct around {
	uint64_t *cnos;		/* of all checkpoints, ascending */
	size_t n;
	size_t below, above;	/* those before and after that were not asked */
	bool after;		/* the next one is of the latter */
	unsigned int asked;	/* for an inode */
};

/*
 * Lists the checkpoints of VOL; none where they cannot be read.  -ENOMEM,
 * -EINTR.
 */
int around_open(struct around *a, struct context *cx, struct volume *vol);

/*
 * Begins with those nearest to LIFE, of something that all in it share.  Of
 * what the newest checkpoint has it has no end, and all others are before.
 */
void around_begin(struct around *a, struct lifetime life);

/* The next one, in *CNO, after and before in turn: 1, 0 at the end, -EINTR. */
int around_next(struct around *a, struct context *cx, uint64_t *cno);

/*
 * Inode INO in the next of a few checkpoints in which it has the map of INODE:
 * 1 and *OTHER, 0 at the end, -ENOMEM, -EINTR.
 */
int around_twin(struct around *a, struct context *cx, struct volume *vol,
		uint64_t ino, const struct nilfs_inode *inode,
		struct nilfs_inode *other);

/* Of those on the side of CNO, the last one, there are no more. */
void around_end_side(struct around *a, uint64_t cno);

void around_close(struct around *a);

#endif
