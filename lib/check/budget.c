// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The memory budget of a check.
 *
 * Each block takes a bit in each of three sets: claimed by the DAT, referred to
 * by a file, met in this checkpoint.  Inodes, which are fewer, take a few bytes
 * each.  That is little for most volumes, but much for a full one of many
 * terabytes, so the default follows the volume.  The sets are only as large as
 * their content, so a budget that is too high costs nothing.
 */
#include "check/budget.h"

#include <unistd.h>

#include "vol/sutable.h"

uint64_t budget_bytes(uint64_t usual, uint64_t blocks, uint64_t memory)
{
	uint64_t more = blocks / 2;

	if (more > memory / 2)
		more = memory / 2;
	return more > UINT64_MAX - usual ? UINT64_MAX : usual + more;
}

/* At most; all of them where the SUFILE does not say. */
static uint64_t used_blocks(struct context *cx, struct volume *vol)
{
	uint64_t segments = vol->geo.nsegments, clean = 0;
	struct nilfs_sufile_header header;

	if (sutable_header(vol, cx, &header))
		fail_clear(cx);
	else
		clean = le64_get(header.sh_ncleansegs);
	return (segments - (clean < segments ? clean : 0)) *
	       vol->geo.blocks_per_segment;
}

void budget_raise(struct context *cx, struct volume *vol, uint64_t usual)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (cx->max_memory != usual || pages <= 0 ||
	    size <= 0)
		return;
	cx->max_memory = budget_bytes(usual, used_blocks(cx, vol),
				      (uint64_t)pages * (uint64_t)size);
}
