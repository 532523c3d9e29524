/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checkpoints that have a block. */
#ifndef NILFS2_DUMP_HELD_H
#define NILFS2_DUMP_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "out/report.h"

struct volume;

enum held_state {
	HELD_FREE,		/* the virtual block is not in use */
	HELD_UNWRITTEN,		/* in use, never written */
	HELD_CURRENT,		/* in the latest state */
	HELD_SNAPSHOT,		/* not in the latest state, but in a snapshot */
	HELD_CHECKPOINT,	/* in no snapshot; a cleaner may free it */
	HELD_DEAD,		/* in no existing checkpoint */
};

/* The numbers of the checkpoints that exist, ascending. */
struct held {
	uint64_t *cnos, *snapshots;
	size_t count, nsnapshots;
};

/* Reads the lists; freed with held_free(), after a failure too. */
int held_load(struct held *h, struct context *cx, struct volume *vol);
void held_free(struct held *h);

/* The state of an entry in use. */
enum held_state held_state(const struct held *h,
			   const struct nilfs_dat_entry *de);

/* The number of checkpoints that have the block, and the newest of them (0: none)
   in *NEWEST, if that is not NULL. */
size_t held_count(const struct held *h, const struct nilfs_dat_entry *de,
		  uint64_t *newest);

/* Names of states, as commands print them. */
extern const char *const held_names[];

/* Reports the number of snapshots and of checkpoints that have the block, and the
   first and last of each. */
void held_report(struct report *r, const struct held *h,
		 const struct nilfs_dat_entry *de);

struct held_entry {
	bool exists;		/* the DAT has a block for it */
	bool used;		/* marked in the bitmap */
	uint64_t group;		/* of the allocator */
	struct nilfs_dat_entry de;	/* zeros if it does not exist */
	enum held_state state;
};

/* Reads the entry of VBLOCKNR.  -EUCLEAN, -EIO. */
int held_read(struct held_entry *e, struct context *cx, struct volume *vol,
		  const struct held *h, uint64_t vblocknr);

#endif
