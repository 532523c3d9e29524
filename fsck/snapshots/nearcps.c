// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checkpoints nearest to one with a wrong block, for all repairs that take an
 * inode, a map or names from another checkpoint.
 *
 * The content of a checkpoint usually exists in earlier and later ones too,
 * most likely in the nearest ones. Checkpoints that share the wrong block are
 * skipped by the lifetime of the block.
 */
#include "fsck/snapshots/snapblocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "check/damage.h"
#include "vol/cptable.h"
#include "vol/root.h"

int nearcps_open(struct nearcps *a, struct context *cx, struct volume *vol)
{
	return damage_forgive(cx,
			      cptable_list(vol, cx, false, &a->cnos, &a->n));
}

void nearcps_begin(struct nearcps *a, struct lifetime life)
{
	a->below = search_lower_bound(a->cnos, a->n, life.start);
	a->above = search_lower_bound(a->cnos, a->n, life.end);
	a->after = true;
	a->asked = 0;
}

int nearcps_next(struct nearcps *a, struct context *cx, uint64_t *cno)
{
	bool after = a->above < a->n && (a->after || !a->below);
	int err = context_cancelled(cx);

	if (err || (!after && !a->below))
		return err;
	*cno = a->cnos[after ? a->above++ : --a->below];
	a->after = !after;
	return 1;
}

int nearcps_find_same_map(struct nearcps *a, struct context *cx, struct volume *vol,
		uint64_t ino, const struct nilfs_inode *inode,
		struct nilfs_inode *other)
{
	struct root root;
	uint64_t cno;
	int ret = 1;

	while (a->asked++ < NEARCPS_SEARCH_MAX &&
	       (ret = nearcps_next(a, cx, &cno)) > 0) {
		ret = root_open(&root, cx, vol, cno);
		if (!ret)
			ret = root_inode(&root, cx, ino, other);
		if (!ret && !memcmp(other->i_bmap, inode->i_bmap,
				    sizeof(other->i_bmap)))
			return 1;
		if (damage_forgive(cx, ret))
			return ret;
	}
	return ret < 0 ? ret : 0;
}

void nearcps_end_side(struct nearcps *a, uint64_t cno)
{
	if (a->above && cno == a->cnos[a->above - 1])
		a->above = a->n;
	else
		a->below = 0;
}

void nearcps_close(struct nearcps *a)
{
	free(a->cnos);
	*a = (struct nearcps){.cnos = NULL};
}
