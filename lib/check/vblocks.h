/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking up many virtual blocks, that is, entries of the DAT.
 *
 * The pointers of a map mostly have consecutive numbers.  So the block of
 * entries of the last lookup is kept, and the next lookup takes a comparison
 * and an index.  For one thread.
 *
 * The pass over the DAT also collects entries as runs (struct datruns) if memory
 * allows it.  A lookup in a run reads no block of the DAT.
 */
#ifndef NILFS2_CHECK_VBLOCKS_H
#define NILFS2_CHECK_VBLOCKS_H

#include "base/context.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "vol/datscan.h"
#include "vol/volume.h"

/* Checkpoints to which a block belongs: from START up to, not including, END. */
struct lifetime {
	uint64_t start, end;
};

/* Whether A lives as long as B. */
static inline bool lifetime_contains(const struct lifetime *a,
				     const struct lifetime *b)
{
	return a->start <= b->start && a->end >= b->end;
}

/* Whether checkpoint CNO has a block that lives so long. */
static inline bool lifetime_has(const struct lifetime *a, uint64_t cno)
{
	return a->start <= cno && a->end > cno;
}

/* COUNT entries from NUMBER on; with STEP, each block is the successor of the
   last. */
struct datrun {
	uint64_t number : 48, count : 16;
	uint64_t blocknr : 48, life : 15, step : 1;
};

/* Runs of one worker.  A group of the allocator is in one part only. */
struct datruns_part {
	struct datrun *list;		/* ascending by number once finished */
	struct lifetime *lives;	/* lifetimes, which runs refer to by index */
	size_t n, room, nlives, lives_room;
};

struct datruns {
	struct datruns_part *parts;
	unsigned int nparts;
	uint64_t bytes;			/* limit for the list of a part */
};

/*
 * Starts with no runs, for WORKERS that add some.  All of them together use
 * slightly more than BYTES at most.  -ENOMEM.
 */
int vblocks_runs_begin(struct datruns *r, struct context *cx,
		       unsigned int workers, uint64_t bytes);

/* Adds the runs of BLOCK if they are few and there is room for them. */
void vblocks_runs_add(struct datruns *r, unsigned int worker,
		      const struct datscan_block *block);

/* Call after the last vblocks_runs_add().  Then many threads can read R. */
void vblocks_runs_finish(struct datruns *r);

void vblocks_runs_fini(struct datruns *r);

/*
 * Writes the entries of block WHAT of the DAT, whose allocator is PALLOC, to
 * BUF as they are in the block: false if not all are known.
 */
bool vblocks_runs_expand(const struct datruns *r, const struct palloc *palloc,
			 const struct palloc_block *what, char *buf);

enum vblocks_state {
	VBLOCKS_USED,
	VBLOCKS_FREE,		/* by the bitmap of its group */
	VBLOCKS_MISSING,	/* the DAT has no block for the entry */
	VBLOCKS_UNKNOWN,	/* the DAT cannot be read there */
};

struct vblocks {
	struct volume *vol;
	uint64_t first, count;		/* entries of the current block */
	enum vblocks_state state;	/* MISSING or UNKNOWN apply to all of them */
	const char *block;		/* borrowed from the cache, OWN, or NULL */
	const struct datruns *runs;	/* searched first; NULL: none */
	char *own;			/* a block expanded from runs */
	uint64_t group;			/* group of BITMAP */
	bool have_group;
	bool group_known;		/* its bitmap could be read */
	const uint8_t *bitmap;		/* borrowed, NULL: all free */
};

struct vblock {
	uint64_t blocknr;
	struct lifetime life;
};

/* Nothing is read or allocated before the first lookup.  RUNS, borrowed, belong
   to the DAT of VOL; NULL: all entries are read. */
void vblocks_init(struct vblocks *v, struct volume *vol,
		  const struct datruns *runs);
/* Returns borrowed blocks to the cache. */
void vblocks_fini(struct vblocks *v);

/* Moves to the block of entry NUMBER.  0, -ENOMEM, -ENOBUFS, -EINTR. */
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
	vb->life.start = le64_get(de->de_start);
	vb->life.end = le64_get(de->de_end);
	if (!v->group_known || (v->bitmap && palloc_bit(v->bitmap, bit)))
		return VBLOCKS_USED;
	return VBLOCKS_FREE;
}

/* The state of virtual block NUMBER.  *VB is its entry if it is used or free,
   else zeros.  Fails as vblocks_seek(). */
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
		/* Block numbers wrap around after the maximum file size. */
		if (number - v->first >= v->count)
			return VBLOCKS_MISSING;
	}
	return v->block ? (int)vblocks_at(v, number, vb) : (int)v->state;
}

/*
 * One past the largest number for which the DAT has a block, or 0: the size of
 * sets of numbers.  The map may be damaged, so the result is limited to what
 * the memory budget allows for such a set.
 */
uint64_t vblocks_end(struct volume *vol, struct context *cx);

#endif
