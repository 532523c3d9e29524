// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of live blocks, where they can be counted.
 */
#include "fsck/segments/livecounts.h"

#include <errno.h>

#include "log/exactcounts.h"
#include "vol/liveness.h"

int livecounts_enter(struct writer *w, struct context *cx, struct volume *vol,
		     uint64_t time, uint64_t *changed)
{
	struct liveness *live = NULL;
	int err;

	*changed = 0;
	if (!vol->geo.has_live_blks)
		return 0;
	err = liveness_count(vol, cx, UINT64_MAX, &live);
	if (err == -EUCLEAN || err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (!err)
		err = exactcounts_enter(w, cx, live, time, changed);
	liveness_free(live);
	return err;
}
