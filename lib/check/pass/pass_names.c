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

#define PLAIN_WORK 1000000u /* inodes of plain checkpoints, at least */
#define DIFF_WORK 256u /* to compare two checkpoints, in inodes */

struct walk {
	struct namediff_base last;	/* the one checked last */
	/* What was read, in inodes: of the latest checkpoint and the snapshots,
	   which are kept, and of others. */
	uint64_t kept, plain;
};

/* Checkpoint CNO, as far as it differs from the last one; adds up inodes. */
static int check_checkpoint(struct names *n, struct context *cx,
			    struct walk *w, uint64_t cno, uint64_t *inodes)
{
	bool whole;
	int ret = root_open(&n->root, cx, n->c->vol, cno);

	*inodes += DIFF_WORK;
	if (ret) {
		if (damage_is_fatal(ret))
			return ret;
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
		fail_clear(cx);
		return 0;
	}
	ret = namediff_run(n, cx, &w->last, inodes);
	if (ret)
		goto out;
	/* It is read whole: its ifile, and if that has a root all names. */
	n->doubts = n->lost = 0;
	inodelist_clear(&n->list);
	ret = inodelist_fill(&n->root, cx, &n->list, &whole);
	if (ret)
		return ret;
	if (!whole) {
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
	} else if (!inodelist_has_dir(&n->list, NILFS_ROOT_INO)) {
		names_unjudged(n, NILFS_ROOT_INO, NULL);
	} else {
		ret = names_read(n, cx, NULL, NULL);
		if (!ret)
			ret = dupnames_settle(n, cx);
		if (!ret)
			ret = names_compare(n, cx, false);
	}
	if (!ret)
		fail_clear(cx);
	w->last.sound = !n->doubts;
	inodelist_settle(&n->list);
	*inodes += (uint64_t)n->list.nchunks * INODELIST_CHUNK;
out:
	w->last.root = n->root;
	return ret < 0 ? ret : 0;
}

int pass_names(struct check *c, struct context *cx)
{
	const uint64_t latest = c->vol->latest.cno;
	struct walk w = { .kept = 0 };
	struct names n = { .c = c };
	int err, kept;
	size_t i;

	if (c->dat_broken)
		return 0;
	err = check_checkpoint(&n, cx, &w, latest, &w.kept);
	/* Those but the latest that are kept, and the others, until it is enough. */
	for (kept = 1; kept >= 0; kept--) {
		findings_snapshots(c->findings, kept);
		findings_history(c->findings, !kept);
		for (i = c->ncps; i-- > 0 && !err;) {
			if (!kept && !c->data && w.plain >= PLAIN_WORK &&
			    w.plain >= w.kept)
				break;
			if (c->cps[i].kept == kept && c->cps[i].cno != latest)
				err = check_checkpoint(&n, cx, &w,
						       c->cps[i].cno, kept ?
						       &w.kept : &w.plain);
			if (kept)
				check_progress(c, c->ncps - i);
		}
	}
	findings_history(c->findings, false);
	inodelist_fini(&n.list);
	dupnames_fini(&n.dups);
	pairtable_fini(&n.reported);
	return err;
}
