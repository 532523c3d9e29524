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
#include <stdint.h>

#include "base/context.h"
#include "check/datruns.h"
#include "disk/ondisk.h"
#include "disk/palloc.h"
#include "vol/volume.h"

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

/* One past the largest number for which the DAT has a block, or 0. */
uint64_t vblocks_end(struct volume *vol, struct context *cx);

#endif
