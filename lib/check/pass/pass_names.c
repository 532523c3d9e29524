// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over names and links.
 *
 * It checks the directories of all checkpoints: blocks, entries, their inodes,
 * and whether names and links agree.  The latest checkpoint is first, then the
 * snapshots, then the others, each from the newest to the oldest.  Of a
 * checkpoint after the first, only the difference from the one before is read,
 * unless either has errors (namediff.c).  Otherwise a list of the inodes is
 * read from the ifile, five bytes per inode; then all directories, in the order
 * of the ifile; then the counts are compared.
 *
 * It needs a DAT that leads to blocks.  The pass over trees has checked inodes
 * and maps of directories: damage there is not reported again.
 *
 * A volume in use has hundreds of checkpoints, and each takes time if many
 * names change.  The latest one and the snapshots are all checked.  The others
 * are deleted automatically; they are checked, newest first, for as long as
 * those took, or for a tenth of a second.
 */
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/names.h"
#include "check/pass/passes.h"

#define PLAIN_WORK 1000000u /* minimum of work for plain checkpoints, in inodes */
#define DIFF_WORK 256u /* cost of comparing two checkpoints, in inodes */

struct walk {
	struct namediff_base last;	/* the last checkpoint checked */
	/* Inodes read: for the latest checkpoint and snapshots, and for others. */
	uint64_t kept, plain;
};

/* Checks the difference of checkpoint CNO from the last one.  Adds up inodes. */
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
	/* Reads it as a whole: its ifile, and all names if there is a root. */
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
		ret = names_read(n, cx, NULL, NULL) ?:
		      dupnames_settle(n, cx) ?:
		      names_compare(n, cx, false);
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
	/* Snapshots first, then the others up to the limit. */
	for (kept = 1; kept >= 0; kept--) {
		c->findings->mark = kept ? FINDINGS_SNAPSHOTS :
					    FINDINGS_HISTORY;
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
	c->findings->mark = FINDINGS_NEWEST;
	inodelist_fini(&n.list);
	dupnames_fini(&n.dups);
	pairtable_fini(&n.reported);
	return err;
}
