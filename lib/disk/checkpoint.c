// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checkpoint file.
 *
 * An array of entries by checkpoint number; the header takes the first place or
 * places.  No entry crosses a block.  The first entry of each block except the first
 * block counts the valid entries of its block, even if it is invalid itself.
 */
#include "disk/checkpoint.h"

#include <string.h>

#include "base/checked.h"

#define KNOWN_FLAGS                                                            \
	(1u << NILFS_CHECKPOINT_SNAPSHOT | 1u << NILFS_CHECKPOINT_INVALID |    \
	 1u << NILFS_CHECKPOINT_SKETCH | 1u << NILFS_CHECKPOINT_MINOR)

/* The number of places that the header takes. */
static uint32_t cp_header_places(const struct nilfs_geometry *g)
{
	return div_round_up(sizeof(struct nilfs_cpfile_header),
			    g->checkpoint_size);
}

uint64_t checkpoint_blkoff(const struct nilfs_geometry *g, uint64_t cno)
{
	return (cno + cp_header_places(g) - 1) /
	       (g->block_size / g->checkpoint_size);
}

uint32_t checkpoint_offset(const struct nilfs_geometry *g, uint64_t cno)
{
	return (cno + cp_header_places(g) - 1) %
	       (g->block_size / g->checkpoint_size) * g->checkpoint_size;
}

uint64_t checkpoint_first(const struct nilfs_geometry *g, uint64_t blkoff)
{
	if (!blkoff)
		return 1;
	return blkoff * (g->block_size / g->checkpoint_size) + 1 -
	       cp_header_places(g);
}

uint32_t checkpoint_count(const struct nilfs_geometry *g, uint64_t blkoff)
{
	return g->block_size / g->checkpoint_size -
	       (blkoff ? 0 : cp_header_places(g));
}

bool checkpoint_was_made(const struct nilfs_checkpoint *cp, uint64_t cno)
{
	return le64_get(cp->cp_cno) == cno &&
	       (!checkpoint_is_invalid(cp) || le64_get(cp->cp_create));
}

uint64_t checkpoint_first_made(const struct nilfs_geometry *g, uint64_t blkoff,
			       const void *block)
{
	uint64_t first = checkpoint_first(g, blkoff), cno;
	const struct nilfs_checkpoint *cp;

	for (cno = first; blkoff && cno < first + checkpoint_count(g, blkoff);
	     cno++) {
		cp = (const void *)((const char *)block +
				    checkpoint_offset(g, cno));
		if (checkpoint_was_made(cp, cno))
			return cno;
		/* As nilfs_cpfile_block_init(). */
		if (le32_get(cp->cp_flags) != 1u << NILFS_CHECKPOINT_INVALID ||
		    le64_get(cp->cp_cno) || le64_get(cp->cp_create))
			break;
	}
	return first;
}

enum rule checkpoint_check(const struct nilfs_checkpoint *cp, uint64_t cno)
{
	uint64_t next = le64_get(cp->cp_snapshot_list.ssl_next);
	uint64_t prev = le64_get(cp->cp_snapshot_list.ssl_prev);

	if (le32_get(cp->cp_flags) & ~KNOWN_FLAGS)
		return RULE_CP_FLAGS;
	if (checkpoint_is_invalid(cp))
		return RULE_OK;
	if (le64_get(cp->cp_cno) != cno)
		return RULE_CP_CNO;
	if (checkpoint_is_snapshot(cp) &&
	    ((next && next <= cno) || prev >= cno))
		return RULE_CP_SNAPSHOT_LIST;
	return RULE_OK;
}

bool checkpoint_is_same(const struct nilfs_checkpoint *a,
			const struct nilfs_checkpoint *b)
{
	return le64_get(a->cp_create) == le64_get(b->cp_create) &&
	       !memcmp(&a->cp_ifile_inode, &b->cp_ifile_inode,
		       sizeof(a->cp_ifile_inode));
}
