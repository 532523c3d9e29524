// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fixer: directories, names and links of the newest checkpoint and of
 * snapshots.
 *
 * Names are decided first.  Directories are read as far as possible, each gets
 * one parent, names of unnamed inodes are searched in other places, and inodes
 * that stay without a name go into lost+found.  Then wrong directories are
 * rewritten, and links are set to the number of names.  A file without links
 * but with a name lost them to damage, because the name is removed before the
 * last link.  A file without both was deleted while in use and not freed later
 * (nilfs_evict_inode()).
 *
 * An inode that has a name but is not in the ifile is restored first, if logs
 * and checkpoints have it.  An entry without an inode shows a user that there
 * was a file, so it is removed only if losing names was accepted.  Otherwise,
 * with such damage, links are unknown, and only types, "." and ".." are
 * repaired.
 *
 * Names of snapshots are decided in the same way and written in their existing
 * blocks; fsck/tree repairs the rest of their inodes.  If checkpoints share
 * a block, only one of them has the finding, so unknown names are searched in
 * all snapshots.  Older plain checkpoints are not changed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "fsck/names/namefix.h"
#include "fsck/snapshots/snapblocks.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/inodeedit.h"
#include "log/inodes.h"
#include "log/newfile.h"
#include "vol/cptable.h"

/*
 * Sets the links of INO to the number of its names, or frees it.  Blocks of a
 * broken map are left to the repair of leaked blocks.  DIR is its index as a
 * directory.
 */
static int settle_inode(struct namefix *f, struct context *cx, uint64_t ino,
			const struct inodelist_row *row, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];
	uint8_t kind = row->chunk->kind[row->at];
	uint16_t names = row->chunk->names[row->at];
	uint16_t links = row->chunk->links[row->at];
	struct writer *w = f->job->writer;
	struct nilfs_inode inode;
	uint64_t want = links;
	bool goes = false;
	int ret;

	if (kind & INODELIST_REFUSED)
		return 0;
	if (inodelist_is_dir(kind)) {
		goes = f->flags[dir] & NAMEFIX_TO_DELETE;
		if (d->parent || ino == NILFS_ROOT_INO)
			want = 2 + (uint64_t)d->subdirs;
	} else if (ino >= NILFS_USER_INO && kind & INODELIST_ALLOCATED) {
		goes = !names && !links;
		want = names ? names : links;
	}
	if (!goes && (want == links || want > UINT16_MAX))
		return 0;
	ret = inodes_read(w, cx, ino, &inode);
	if (ret)
		return ret == -ENOENT ? damage_forgive(cx, ret) : ret;
	if (!goes) {
		namefix_note(f, NAMEFIX_NOTE_LINKS,
			     "inode %" PRIu64 ": link count set to %" PRIu64
			     ", was %u",
			     ino, want, le16_get(inode.i_links_count));
		inode.i_links_count = le16_make((uint16_t)want);
		return inodes_write(w, cx, ino, &inode);
	}
	if (inode_is_empty(&inode))
		return 0;
	ret = inodefields_map_is_whole(f->n.root.vol, cx, ino, &inode);
	if (ret > 0)
		ret = newfile_drop(w, cx, ino, &inode);
	if (ret)
		return ret;
	namefix_note(f, NAMEFIX_NOTE_FREED,
		     "inode %" PRIu64 ": freed, it has no links and no names",
		     ino);
	return inodes_free(w, cx, ino);
}

/* Lists the inodes of checkpoint CNO, and marks those, and directories, of
   findings that the user refused: 1, 0 if not all can be read. */
static int list_named_inodes(struct namefix *f, struct context *cx,
			     uint64_t cno)
{
	const struct plan_kind *k = &f->job->plan->kinds[RULE_FIX_NAMES];
	struct inodelist *list = &f->n.list;
	struct inodelist_row row;
	bool whole = false;
	size_t i, dir;
	int err = root_open(&f->n.root, cx, f->job->vol, cno);

	if (!err)
		err = inodelist_fill(&f->n.root, cx, list, &whole);
	if (err && damage_is_fatal(err))
		return err;
	fail_clear(cx);
	whole &= !err;
	row = inodelist_find(list, NILFS_ROOT_INO);
	if (!whole || !row.chunk ||
	    !inodelist_is_dir(row.chunk->kind[row.at])) {
		namefix_note(f, NAMEFIX_NOTE_DIR,
			     "directories and links: not repaired, %s",
			     whole ? "there is no root directory"
				   : "not all inodes can be read");
		return 0;
	}
	f->flags = calloc(list->ndirs, sizeof(*f->flags));
	if (!f->flags)
		return fail(cx, -ENOMEM, "directories");
	for (i = k->n; i < k->n + k->nrefused; i++) {
		const struct finding *fix = &k->fixes[i];

		if (rule_info(fix->rule)->danger > RULE_DANGER_SAFE ||
		    fix->place.cno != f->n.root.cno)
			continue;
		dir = inodelist_find_dir(list, fix->place.ino);
		row = inodelist_find(list, fix->place.ino);
		if (rule_info(fix->rule)->area == RULE_AREA_DIRECTORY &&
		    dir < list->ndirs)
			f->flags[dir] |= NAMEFIX_REPAIR_REFUSED;
		else if (row.chunk)
			row.chunk->kind[row.at] |= INODELIST_REFUSED;
	}
	return 1;
}

static int compare_item(const void *a, const void *b)
{
	const struct namefix_add *x = a, *y = b;

	return sort_order(x->dir, y->dir) ?: sort_order(x->at, y->at);
}

/* Determines the new content of every directory. */
static int settle_names(struct namefix *f, struct context *cx)
{
	struct inodelist_dir *dirs = f->n.list.dirs;
	struct inodelist_row row;
	size_t i;
	int err = namescan_run(f, cx);

	if (!err)
		err = parents_break_loops(f, cx);
	if (err || (!f->lossy && f->n.lost))
		return err;
	if (namefix_has_missed(f)) {
		err = othernames_redirect_entries(f, cx);
		if (!err)
			err = namescan_search(f, cx);
		if (!err)
			err = othernames_add_missing(f, cx);
		if (!err)
			err = parents_break_loops(f, cx);
	}
	if (!err)
		err = parents_settle_lost(f, cx);
	if (err)
		return err;
	/* Count subdirectories, and find directories to be freed. */
	for (i = 0; i < f->n.list.ndirs; i++)
		dirs[i].subdirs = 0;
	for (i = 0; i < f->n.list.ndirs; i++) {
		if (dirs[i].dotdot != namefix_parent(f, i))
			f->flags[i] |= NAMEFIX_FIX_ENTRIES;
		if (dirs[i].parent && dirs[i].parent != NAMEFIX_NEW_LOST_FOUND + 1)
			dirs[dirs[i].parent - 1].subdirs++;
		row = inodelist_find(&f->n.list, dirs[i].ino);
		if (!dirs[i].parent && !row.chunk->links[row.at] &&
		    !(row.chunk->kind[row.at] & INODELIST_REFUSED) &&
		    dirs[i].ino >= NILFS_USER_INO &&
		    !(f->flags[i] & (NAMEFIX_TO_LOST_FOUND | NAMEFIX_HAS_NAMES)))
			f->flags[i] |= NAMEFIX_TO_DELETE;
	}
	if (f->lost_dir == NAMEFIX_NEW_LOST_FOUND)
		dirs[inodelist_find_dir(&f->n.list, NILFS_ROOT_INO)].subdirs++;
	sort_in_place(f->adds, f->nadds, sizeof(*f->adds), compare_item);
	return 0;
}

/*
 * Repairs the names of checkpoint CNO (0: the latest) by FIXES.  For a
 * snapshot, adds the changes to SNAP.  *NUMBERED: some inodes got numbers for
 * names.
 */
static int repair_names(struct fixer_job *job, struct context *cx,
			const struct finding *fixes, size_t n, uint64_t cno,
			struct snapblocks *snap, bool *numbered)
{
	struct namefix f = {
		.job = job,
		.snap = snap,
		.n.c = job->check,
	};
	const unsigned int loses =
		NAMEFIX_LOSES_NAMES | NAMEFIX_UNREADABLE | NAMEFIX_BAD_NAME;
	struct inodelist_row row;
	size_t i, dir = 0;
	int ret;

	if (snap)
		snprintf(f.prefix, sizeof(f.prefix), "checkpoint %" PRIu64 ": ",
			 cno);
	for (i = 0; i < n; i++)
		f.lossy |= rule_info(fixes[i].rule)->danger > RULE_DANGER_SAFE;
	ret = list_named_inodes(&f, cx, cno);
	if (ret <= 0)
		goto out;
	ret = nearcps_open(&f.nearby, cx, f.n.root.vol);
	if (!ret)
		ret = namecopies_find(&f, cx, fixes, n);
	if (!ret)
		ret = settle_names(&f, cx);
	for (i = 0; i < f.n.list.ndirs && !ret; i++) {
		unsigned int flags = f.flags[i];

		/* In a snapshot, lost+found may be a file of that name. */
		if (flags & NAMEFIX_TO_DELETE ||
		    (f.lost_needed && i == f.lost_dir) ||
		    (snap && !(flags & NAMEFIX_IS_DIRECTORY) &&
		     f.n.list.dirs[i].ino != NILFS_ROOT_INO))
			continue;
		if (f.lossy ? flags & (NAMEFIX_FIX_ENTRIES | loses)
			    : flags & NAMEFIX_FIX_ENTRIES && !(flags & loses))
			ret = dirwrite_run(&f, cx, i);
	}
	if (!ret && f.lost_needed)
		ret = dirwrite_run(&f, cx, f.lost_dir);
	for (i = 0; !ret && !snap && (f.lossy || !f.n.lost) &&
		    inodelist_next(&f.n.list, &i, &row);) {
		ret = settle_inode(&f, cx, row.chunk->first + row.at, &row,
				   dir);
		dir += inodelist_is_dir(row.chunk->kind[row.at]);
	}
	*numbered |= f.noted[NAMEFIX_NOTE_LOST] > 0;
out:
	namefix_note_rest(&f);
	nearcps_close(&f.nearby);
	for (i = 0; i < f.ncopies; i++)
		free(f.copies[i].content);
	free(f.copies);
	free(f.flags);
	free(f.targets);
	inodelist_fini(&f.n.list);
	dupnames_fini(&f.n.dups);
	free(f.others);
	dupnames_free_set(&f.found_tags);
	free(f.adds);
	free(f.add_text);
	return ret;
}

static bool has_fix(const struct finding *fixes, size_t n, uint64_t cno)
{
	size_t i;

	for (i = 0; i < n && fixes[i].place.cno != cno; i++)
		;
	return i < n;
}

/* Repairs snapshots: first the inodes that names lead to, which may be the only
   damage. */
static int repair_snapshot_names(struct fixer_job *job, struct context *cx,
				 const struct finding *fixes, size_t n)
{
	struct snapblocks snap = {.job = job};
	bool numbered = false;
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int round, err = fix_inodes_snapshots(&snap, cx, fixes, n, FIX_INODES_LOST);

	if (!err && !snap.n)
		err = damage_forgive(
			cx, cptable_list(job->vol, cx, true, &cnos, &count));
	/* First names of snapshots with findings; then, if some of their files
	   are named by their numbers, of the others, from the newest on. */
	for (round = 0; round < 1 + numbered && !err; round++)
		for (i = count; i-- && !err;)
			if (cnos[i] != job->vol->latest.cno &&
			    has_fix(fixes, n, cnos[i]) == !round)
				err = repair_names(job, cx, fixes, n, cnos[i],
						   &snap, &numbered);
	free(cnos);
	if (!err && !snap.n)
		err = fix_inodes_snapshots(&snap, cx, fixes, n, FIX_INODES_ALL);
	if (!err && !snap.n)
		err = fix_inodes_snapshots(&snap, cx, fixes, n, FIX_INODES_COUNTS);
	if (!err)
		err = snapblocks_write(&snap, cx);
	snapblocks_fini(&snap);
	return err;
}

int fix_names(struct fixer_job *job, struct context *cx,
	      const struct finding *fixes, size_t n)
{
	int found = fix_inodes_named(job, cx, fixes, n);
	int err = found < 0 ? found : 0;
	bool numbered = false;

	/* If inodes were restored, the next round repairs the names. */
	if (!found &&
	    (has_fix(fixes, n, 0) || has_fix(fixes, n, job->vol->latest.cno)))
		err = repair_names(job, cx, fixes, n, 0, NULL, &numbered);
	return err ? err : repair_snapshot_names(job, cx, fixes, n);
}
