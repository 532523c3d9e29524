// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What deleting checkpoints would free.
 *
 * An entry of the DAT has the range of checkpoints to which its block belongs.
 * Of the checkpoints in that range some are to be deleted; if all of them are,
 * the block is freed.  A cleaner keeps blocks for snapshots only, so the same
 * is counted among the snapshots.
 */
#include "dump/past/freed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/search.h"
#include "disk/dat.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/volume.h"

/* All checkpoints, or all snapshots, and those of them that stay. */
struct keepers {
	uint64_t *all, *left;
	size_t nall, nleft;
};

struct count {
	struct keepers checkpoints, snapshots;
	struct freed *freed;
};

/* Whether a number from START to below END is in the list. */
static bool has_holder(const uint64_t *list, size_t count, uint64_t start,
		       uint64_t end)
{
	size_t i = search_lower_bound(list, count, start);

	return i < count && list[i] < end;
}

/* Whether there are keepers in the range now, and none later. */
static bool would_lose(const struct keepers *k, uint64_t start, uint64_t end)
{
	return has_holder(k->all, k->nall, start, end) &&
	       !has_holder(k->left, k->nleft, start, end);
}

static int count_entry(void *arg, struct context *cx, unsigned int worker,
		       uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	struct count *c = arg;

	(void)cx;
	(void)worker;
	(void)vblocknr;
	if (dat_is_unwritten(de) || dat_is_current(de))
		return 0;
	if (would_lose(&c->checkpoints, start, end))
		__atomic_fetch_add(&c->freed->unique, 1, __ATOMIC_RELAXED);
	if (would_lose(&c->snapshots, start, end))
		__atomic_fetch_add(&c->freed->held, 1, __ATOMIC_RELAXED);
	return 0;
}

static int list_keepers(struct keepers *k, struct context *cx,
			struct volume *vol, bool snapshots,
			struct range_set *ranges)
{
	size_t i;
	int err = cptable_list(vol, cx, snapshots, &k->all, &k->nall);

	if (err)
		return err;
	k->left = calloc(k->nall ? k->nall : 1, sizeof(*k->left));
	if (!k->left)
		return fail(cx, -ENOMEM, "list of checkpoints");
	for (i = 0; i < k->nall; i++)
		if (!range_has(ranges, k->all[i]) ||
		    k->all[i] == vol->latest.cno)
			k->left[k->nleft++] = k->all[i];
	return 0;
}

static void free_keepers(struct keepers *k)
{
	free(k->all);
	free(k->left);
}

int freed_count(struct volume *vol, struct context *cx,
		struct range_set *ranges, struct freed *freed)
{
	struct count c = { .freed = freed };
	const struct datscan_visitor visitor = {
		.used = count_entry,
		.arg = &c,
	};
	int err = list_keepers(&c.checkpoints, cx, vol, false, ranges);

	*freed = (struct freed){ .unique = 0 };
	if (!err)
		err = range_check_met(cx, "checkpoint", ranges);
	if (!err)
		err = list_keepers(&c.snapshots, cx, vol, true, ranges);
	if (!err)
		err = datscan_run(vol, cx, &visitor);
	freed->checkpoints = c.checkpoints.nall - c.checkpoints.nleft;
	freed->snapshots = c.snapshots.nall - c.snapshots.nleft;
	free_keepers(&c.checkpoints);
	free_keepers(&c.snapshots);
	return err;
}
