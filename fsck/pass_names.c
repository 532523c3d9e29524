// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pass: names and links.
 *
 * It checks the directories of all checkpoints, newest first: blocks, entries,
 * what the entries name, and whether names and links agree.  A checkpoint with
 * the same ifile as the one before it has the same names.
 *
 * It needs a DAT that leads to blocks.  Inodes and the maps of directories
 * were checked by the pass over trees: what is broken there is not told again,
 * it is only not relied upon.
 *
 * Per checkpoint: a list of the inodes, five bytes each, from one reading of
 * the ifile; all directories, in the order of the ifile; then the sums.
 *
 * That is work for each checkpoint, of which a volume in use has hundreds.
 * The latest one and the snapshots are what somebody keeps, and are all looked
 * at; the others will go by themselves, and of them, newest first, as many are
 * as take a tenth of a second, or as the former took.
 */
#include <stdlib.h>
#include <string.h>

#include "disk/checkpoint.h"
#include "fsck/check.h"
#include "fsck/dirnames.h"
#include "fsck/ifilelist.h"
#include "fsck/linkcount.h"
#include "fsck/names.h"
#include "fsck/passes.h"
#include "vol/cptable.h"

#define PLAIN_WORK 1000000u /* inodes of plain checkpoints, at least */

/* What was read, in inodes. */
struct work {
	uint64_t kept;	/* of the latest checkpoint and the snapshots */
	uint64_t plain;
};

/* The tree of the ifile in N's list, if that is whole and has a root. */
static int check_tree(struct names *n, struct context *cx)
{
	struct inodelist_row row = inodelist_find(&n->list, NILFS_ROOT_INO);
	int err;

	if (!row.chunk || !row.chunk->links[row.at] ||
	    (row.chunk->kind[row.at] & INODELIST_TYPE) != NILFS_FT_DIR) {
		names_unjudged(n, NILFS_ROOT_INO, NULL);
		return 0;
	}
	err = dirnames_run(n, cx);
	if (!err)
		err = dupnames_settle(n, cx);
	return err ? err : linkcount_run(n, cx);
}

static int check_names(struct names *n, struct context *cx)
{
	bool whole;
	int err;

	n->lost = 0;
	inodelist_clear(&n->list);
	err = ifilelist_fill(&n->root, cx, &n->list, &whole);
	if (err)
		return err;
	if (whole)
		err = check_tree(n, cx);
	else
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
	fail_clear(cx);
	return err;
}

/* Whether the checkpoint is to be looked at, and if so where to count that. */
static uint64_t *count_in(const struct names *n, struct work *work)
{
	if (n->root.cno == n->root.vol->latest.cno ||
	    checkpoint_is_snapshot(&n->root.cp))
		return &work->kept;
	if (n->c->data || work->plain < PLAIN_WORK ||
	    work->plain < work->kept)
		return &work->plain;
	return NULL;
}

/* Checkpoint CNO, unless its ifile is that of the last one, LAST. */
static int check_checkpoint(struct names *n, struct context *cx, uint64_t cno,
			    struct nilfs_inode *last, struct work *work)
{
	const struct nilfs_inode *ifile = &n->root.cp.cp_ifile_inode;
	uint64_t *count;
	int err;

	err = root_open(&n->root, cx, n->c->vol, cno);
	if (err) {
		if (names_is_fatal(err))
			return err;
		names_unjudged(n, NILFS_IFILE_INO, cx->failure);
		fail_clear(cx);
		return 0;
	}
	if (!memcmp(ifile->i_bmap, last->i_bmap, sizeof(last->i_bmap)))
		return 0;
	count = count_in(n, work);
	if (!count)
		return 0;
	*last = *ifile;
	err = check_names(n, cx);
	*count += (uint64_t)n->list.nchunks * INODELIST_CHUNK;
	return err;
}

static int check_all(struct names *n, struct context *cx)
{
	struct nilfs_inode last = { .i_mode = { { 0 } } };
	struct work work = { 0 };
	uint64_t *cnos = NULL, latest = n->c->vol->latest.cno;
	size_t count = 0, i;
	int err;

	err = cptable_list(n->c->vol, cx, false, &cnos, &count);
	if (err && names_is_fatal(err))
		return err;
	if (err) {
		fail_clear(cx);
		count = 0;
		err = 0;
	}
	if (!count || cnos[count - 1] != latest)
		err = check_checkpoint(n, cx, latest, &last, &work);
	for (i = count; i-- > 0 && !err;) {
		err = check_checkpoint(n, cx, cnos[i], &last, &work);
		check_progress(n->c, count - i);
	}
	free(cnos);
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
	told_fini(&n.told);
	return err;
}
