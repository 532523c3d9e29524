/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking up many entries of the DAT.
 *
 * The pointers of a map mostly have consecutive numbers, so the block of
 * entries of the last lookup is kept, and the next one is a comparison and an
 * index.  Used by one thread.
 */
#ifndef NILFS2_CHECK_VBLOCKS_H
#define NILFS2_CHECK_VBLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "vol/datscan.h"
#include "vol/volume.h"

/* COUNT entries from NUMBER on; with STEP each has the block after the last. */
struct datrun {
	uint64_t number : 48, count : 16;
	uint64_t blocknr : 48, life : 15, step : 1;
};

struct datrun_life {
	uint64_t start, end;
};

/* What one worker found: all of a group of the allocator, or nothing. */
struct datruns_part {
	struct datrun *list;		/* by number, in the end */
	struct datrun_life *lives;	/* of runs; an index */
	size_t n, room, nlives, lives_room;
};

struct datruns {
	struct datruns_part *parts;
	unsigned int nparts;
	uint64_t bytes;			/* that the list of a part may take */
};

/*
 * Begins with no runs, for WORKERS that add some; all of them take at most BYTES
 * and a little.  -ENOMEM.
 */
int vblocks_runs_begin(struct datruns *r, struct context *cx,
		       unsigned int workers, uint64_t bytes);

/* Adds the runs of BLOCK that are worth it, as far as there is room for them. */
void vblocks_runs_add(struct datruns *r, unsigned int worker,
		      const struct datscan_block *block);

/* After the last vblocks_runs_add(): R can be asked, by many threads. */
void vblocks_runs_finish(struct datruns *r);

void vblocks_runs_fini(struct datruns *r);

/*
 * Writes the entries of block WHAT of the DAT, whose allocator is PALLOC, to BUF,
 * as the block has them: false where not all are known.
 */
bool vblocks_runs_expand(const struct datruns *r, const struct palloc *palloc,
			 const struct palloc_block *what, char *buf);

enum vblocks_state {
	VBLOCKS_USED,
	VBLOCKS_FREE,		/* the bitmap of its group says so */
	VBLOCKS_MISSING,	/* the DAT has no block for the entry */
	VBLOCKS_UNKNOWN,	/* the DAT cannot be read there */
};

struct vblocks {
	struct volume *vol;
	uint64_t first, count;		/* entries of the current block */
	enum vblocks_state state;	/* MISSING, UNKNOWN: of all of them */
	const char *block;		/* borrowed from the cache, OWN, or NULL */
	const struct datruns *runs;	/* asked first; NULL: none */
	char *own;			/* a block expanded from them */
	uint64_t group;			/* of BITMAP */
	bool have_group;
	bool group_known;		/* its bitmap could be read */
	const uint8_t *bitmap;		/* borrowed, NULL: all free */
};

struct vblock {
	uint64_t blocknr, start, end;
};

/* Nothing is read or owned before the first question.  RUNS, borrowed, are of
   the DAT of VOL; NULL: all is read. */
void vblocks_init(struct vblocks *v, struct volume *vol,
		  const struct datruns *runs);
/* Gives back what is borrowed. */
void vblocks_fini(struct vblocks *v);

/* Goes to the block of entry NUMBER.  0, -ENOMEM, -ENOBUFS, -EINTR. */
int vblocks_seek(struct vblocks *v, struct context *cx, uint64_t number);

/* Whether entry NUMBER is in the current block. */
static inline bool vblocks_has(const struct vblocks *v, uint64_t number)
{
	return v->block && number - v->first < v->count;
}

/* The state and the entry of NUMBER, which is in the current block. */
static inline enum vblocks_state
vblocks_at(const struct vblocks *v, uint64_t number, struct vblock *vb)
{
	const struct palloc *palloc = &v->vol->dat_palloc;
	const struct nilfs_dat_entry *de =
		(const void *)(v->block +
			       (number - v->first) * palloc->entry_size);
	uint32_t bit = palloc_group_offset(palloc, number);

	vb->blocknr = le64_get(de->de_blocknr);
	vb->start = le64_get(de->de_start);
	vb->end = le64_get(de->de_end);
	if (!v->group_known || (v->bitmap && palloc_bit(v->bitmap, bit)))
		return VBLOCKS_USED;
	return VBLOCKS_FREE;
}

/* The state of virtual block NUMBER, with the entry in *VB if it is used or
   free, else zeros.  A failure as vblocks_seek(). */
static inline int vblocks_find(struct vblocks *v, struct context *cx,
			       uint64_t number, struct vblock *vb)
{
	int state;

	if (vblocks_has(v, number))
		return vblocks_at(v, number, vb);
	*vb = (struct vblock){ 0 };
	if (number - v->first >= v->count) {
		state = vblocks_seek(v, cx, number);
		if (state)
			return state;
		/* Past what a file can hold, places wrap around. */
		if (number - v->first >= v->count)
			return VBLOCKS_MISSING;
	}
	return v->block ? (int)vblocks_at(v, number, vb) : (int)v->state;
}

/* One past the largest number for which the DAT has a block, or 0: the end of
   sets of numbers.  The map may be damaged, so it is at most what the memory
   budget allows for such a set. */
uint64_t vblocks_end(struct volume *vol, struct context *cx);

#endif
