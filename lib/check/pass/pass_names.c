// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pass: names and links.
 *
 * It checks the directories of all checkpoints: blocks, entries, what the
 * entries name, and whether names and links agree.  The latest comes first,
 * then the snapshots, then the others, each from the newer to the older.  Of a
 * checkpoint after the first only what differs from the one before is read,
 * unless something is wrong in either (namediff.c).
 *
 * It needs a DAT that leads to blocks.  Inodes and the maps of directories
 * were checked by the pass over trees: what is broken there is not reported
 * again, it is only not relied upon.
 *
 * Per checkpoint that is read whole: a list of the inodes, five bytes each,
 * from one reading of the ifile; all directories, in the order of the ifile;
 * then the sums.
 *
 * Where many names change that is work for each checkpoint, of which a volume
 * in use has hundreds. The latest one and the snapshots are kept, and are all
 * checked; the others will be deleted without a user, and of them, newest
 * first, as many are as take a tenth of a second, or as the former took.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/names.h"
#include "check/pass/passes.h"
#include "disk/checkpoint.h"
#include "vol/cptable.h"

#define PLAIN_WORK 1000000u /* inodes of plain checkpoints, at least */
#define DIFF_WORK 256u /* to compare two checkpoints, in inodes */

struct walk {
	uint64_t *cnos;		/* all checkpoints, ascending */
	size_t count;
	struct namediff_base last;	/* the one checked last */
	/* What was read, in inodes. */
	uint64_t kept;	/* of the latest checkpoint and the snapshots */
	uint64_t plain;
};

/* Reads the checkpoint whole: its ifile, and if that has a root all names. */
static int check_names(struct names *n, struct context *cx)
{
	bool whole;
	int err;

	n->lost = 0;
	inodelist_clear(&n->list);
	err = inodelist_fill(&n->root, cx, &n->list, &whole);
	if (err)
		return err;
	if (!whole) {
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
	} else if (!inodelist_has_dir(&n->list, NILFS_ROOT_INO)) {
		names_unjudged(n, NILFS_ROOT_INO, NULL);
	} else {
		err = dirnames_read(n, cx, NULL, NULL);
		if (!err)
			err = dupnames_settle(n, cx);
		if (!err)
			err = linkcount_run(n, cx, false);
	}
	fail_clear(cx);
	return err;
}

/* Whether CNO is a snapshot; also if its entry cannot be read. */
static bool is_kept(const struct names *n, struct context *cx, uint64_t cno)
{
	struct nilfs_checkpoint cp;

	if (cno == n->c->vol->latest.cno)
		return true;
	if (!cptable_read(n->c->vol, cx, cno, &cp))
		return checkpoint_is_snapshot(&cp);
	fail_clear(cx);
	return true;
}

static bool is_enough(const struct names *n, const struct walk *w)
{
	return !n->c->data && w->plain >= PLAIN_WORK && w->plain >= w->kept;
}

/* Checkpoint CNO, as far as it differs from the last one; adds up inodes. */
static int check_checkpoint(struct names *n, struct context *cx,
			    struct walk *w, uint64_t cno, uint64_t *inodes)
{
	struct namediff_base *last = &w->last;
	int ret = root_open(&n->root, cx, n->c->vol, cno);

	*inodes += DIFF_WORK;
	if (ret) {
		if (damage_is_fatal(ret))
			return ret;
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
		fail_clear(cx);
		return 0;
	}
	ret = namediff_run(n, cx, last, inodes);
	if (!ret) {
		n->doubts = 0;
		ret = check_names(n, cx);
		last->sound = !n->doubts;
		inodelist_settle(&n->list);
		*inodes += (uint64_t)n->list.nchunks * INODELIST_CHUNK;
	}
	last->root = n->root;
	return ret < 0 ? ret : 0;
}

/* The latest checkpoint and the snapshots. */
static int check_kept(struct names *n, struct context *cx, struct walk *w)
{
	uint64_t latest = n->c->vol->latest.cno;
	size_t i;
	int err = check_checkpoint(n, cx, w, latest, &w->kept);

	findings_snapshots(n->c->findings, true);
	for (i = w->count; i-- > 0 && !err;) {
		if (w->cnos[i] != latest && is_kept(n, cx, w->cnos[i]))
			err = check_checkpoint(n, cx, w, w->cnos[i], &w->kept);
		check_progress(n->c, w->count - i);
	}
	findings_snapshots(n->c->findings, false);
	return err;
}

static int check_others(struct names *n, struct context *cx, struct walk *w)
{
	size_t i;
	int err = 0;

	for (i = w->count; i-- > 0 && !err && !is_enough(n, w);) {
		if (!is_kept(n, cx, w->cnos[i]))
			err = check_checkpoint(n, cx, w, w->cnos[i],
					       &w->plain);
	}
	return err;
}

static int check_all(struct names *n, struct context *cx)
{
	struct walk w = { .cnos = NULL };
	int err = cptable_list(n->c->vol, cx, false, &w.cnos, &w.count);

	if (err && damage_is_fatal(err))
		return err;
	if (err) {
		fail_clear(cx);
		w.count = 0;
	}
	err = check_kept(n, cx, &w);
	findings_history(n->c->findings, true);
	if (!err)
		err = check_others(n, cx, &w);
	findings_history(n->c->findings, false);
	free(w.cnos);
	return err;
}

int pass_names(struct check *c, struct context *cx)
{
	struct names n = { .c = c };
	int err;

	if (c->dat_broken)
		return 0;
	err = check_all(&n, cx);
	inodelist_fini(&n.list);
	dupnames_fini(&n.dups);
	pairtable_fini(&n.reported);
	return err;
}
