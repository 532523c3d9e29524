// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ifiles of snapshots.
 *
 * Which blocks an ifile had in a checkpoint is known to the logs and the DAT,
 * as it is of any file.  Without its ifile nothing of a snapshot can be
 * reached, so what else is wrong with it is found once this is mended.
 */
#include "fsck/maps/snapifiles.h"

#include <errno.h>
#include <stdlib.h>

#include "fsck/index/loglist.h"
#include "fsck/maps/mapsearch.h"
#include "fsck/maps/snapbuild.h"
#include "fsck/maps/snapmaps.h"

/* Whether the map of an ifile can be what is wrong. */
static bool is_of_map(const struct fix *fix)
{
	switch (fix->rule) {
	case RULE_PALLOC_DESC_MISSING:
	case RULE_PALLOC_BITMAP_MISSING:
		return fix->place.ino == NILFS_IFILE_INO;
	case RULE_DIR_NO_INODE:
		return true;
	default:
		return fix->place.ino == NILFS_IFILE_INO &&
		       (fix->place.kind == PLACE_MAP ||
			rule_info(fix->rule)->fix == RULE_FIX_MAPS);
	}
}

static bool is_ours(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.cno && fix->place.cno != job->vol->latest.cno &&
	       is_of_map(fix);
}

/* Lists the blocks that two pointers lead to, and whose they are. */
static int find_owners(struct mapfiles *m, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (fixes[i].rule == RULE_BMAP_TWICE &&
		    is_ours(m->job, &fixes[i]))
			err = contested_add(&m->contested, cx, fixes[i].got);
	contested_settle(&m->contested);
	return err ? err : mapsearch_owners(m, cx);
}

/* The snapshots that are found wrong, each once; findings come by them. */
static uint64_t *list_doubted(struct context *cx, const struct fixer_job *job,
			      const struct fix *fixes, size_t n, size_t *count)
{
	uint64_t *cnos = calloc(n, sizeof(*cnos));
	size_t i;

	*count = 0;
	if (!cnos)
		fail(cx, -ENOMEM, "%zu snapshots", n);
	for (i = 0; cnos && i < n; i++)
		if (is_ours(job, &fixes[i]) &&
		    (!*count || cnos[*count - 1] != fixes[i].place.cno))
			cnos[(*count)++] = fixes[i].place.cno;
	return cnos;
}

static int mend(struct fixer_job *job, struct context *cx,
		const struct fix *fixes, size_t n)
{
	struct mapfiles m = { .job = job };
	struct snapmaps s = {
		.job = job,
		.contested = &m.contested,
		.logs_whole = loglist_is_whole(job->check),
	};
	uint64_t *doubted = list_doubted(cx, job, fixes, n, &s.ndoubted);
	int err = doubted ? find_owners(&m, cx, fixes, n) : -ENOMEM;

	s.doubted = doubted;
	if (!err)
		err = snapmaps_list(&s, cx, NULL, 0);
	if (!err && s.n)
		err = snapbuild_run(&s, cx);
	snapmaps_fini(&s);
	mapfile_fini(&m);
	free(doubted);
	return err;
}

int snapifiles_mend(struct fixer_job *job, struct context *cx,
		    const struct fix *fixes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_ours(job, &fixes[i]))
			return mend(job, cx, fixes, n);
	return 0;
}
