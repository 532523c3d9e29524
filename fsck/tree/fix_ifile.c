// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bitmaps and counts of the latest ifile, and of those of snapshots
 * (pastgroups.h).
 */
#include "fsck/plan/fixers.h"

#include "fsck/dat/groupfix.h"
#include "fsck/tree/ifilegroups.h"
#include "fsck/tree/pastgroups.h"
#include "log/mend.h"

static bool is_of_latest(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_GROUP &&
	       (!fix->place.cno || fix->place.cno == job->vol->latest.cno);
}

int fix_ifile(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	struct groupfix g = {
		.m = mend_file(job->writer, NILFS_IFILE_INO),
		.p = &job->vol->ifile_palloc,
	};
	size_t i;
	int err = 0;

	/* It is filled with what it had, and counted then. */
	if (mend_is_anew(job->writer, NILFS_IFILE_INO))
		return 0;
	for (i = 0; i < n && !err; i++)
		if (is_of_latest(job, &fixes[i]))
			err = groupfix_add(&g, cx, fixes[i].place.number);
	if (!err)
		err = ifilegroups_mend(job, cx, &g);
	if (!err && g.n) {
		fixers_tell(job, "inode file: bitmaps and counts of %zu %s "
			    "recomputed", g.n, g.n == 1 ? "group" : "groups");
		err = mend_changed(job->writer, cx);
	}
	groupfix_fini(&g);
	return err ? err : pastgroups_mend(job, cx, fixes, n);
}
