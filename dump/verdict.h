/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is a block of the payload still in use, and why. */
#ifndef NILFS2_DUMP_VERDICT_H
#define NILFS2_DUMP_VERDICT_H

#include "base/context.h"
#include "disk/segsum.h"
#include "dump/datentry.h"

struct volume;

enum verdict {
	VERDICT_CURRENT,	/* part of the latest state */
	VERDICT_SNAPSHOT,	/* kept by a snapshot */
	VERDICT_CHECKPOINT,	/* only in checkpoints */
	VERDICT_DEAD,		/* ended, and no checkpoint has it */
	VERDICT_MOVED,		/* its virtual block lies elsewhere now */
	VERDICT_REUSED,		/* its virtual block is another one's now */
	VERDICT_FREED,		/* its virtual block is not in use */
	VERDICT_REPLACED,	/* of the DAT: the DAT has another block there */
};

struct verdict_facts {
	enum verdict verdict;
	struct datentry entry;	/* of a virtual block */
	uint64_t elsewhere;	/* where the block is now, 0: nowhere */
};

/* Judges block BLOCKNR, which its log lists as B.  -EUCLEAN, -EIO, -ENOMEM. */
int verdict_find(struct verdict_facts *v, struct context *cx,
		 struct volume *vol, const struct held *held,
		 uint64_t blocknr, const struct segsum_block *b);

/* One word, for scripts, and one phrase. */
const char *verdict_name(enum verdict verdict);
const char *verdict_text(enum verdict verdict);

/* Some checkpoint that still exists has the block. */
static inline bool verdict_is_held(enum verdict verdict)
{
	return verdict <= VERDICT_CHECKPOINT;
}

static inline bool verdict_is_live(enum verdict verdict)
{
	return verdict == VERDICT_CURRENT || verdict == VERDICT_SNAPSHOT;
}

#endif
