// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fixer: directories, names and links of the newest checkpoint and of
 * snapshots.
 *
 * Names decide and all else follows from them: directories are read whole as
 * far as that goes, each gets one parent, what is missed is looked for where it
 * may still have a name, what nothing names goes into lost+found.  Then the
 * directories that are wrong are written again, and links are set to what was
 * written.
 *
 * An inode that a name has and the ifile has not comes back first, where logs
 * and checkpoints show it.  An entry that leads to nothing is of no use, but it
 * shows a user that something was there, so it is removed only where losing
 * names was accepted.  Without that, and with such damage, links are not known,
 * and only types, "." and ".." are repaired.
 *
 * Names of snapshots are decided in the same way, and written in the blocks
 * that they have; the rest of their inodes is up to fix_inodes.h.  Where
 * checkpoints share a block there is a finding for one of them, so a name that
 * nothing is known of is looked for in all snapshots.  Older plain checkpoints
 * stay as they are.
 *
 * Links of the newest checkpoint come after all names have their place.  A file
 * has as many as names; one that had no links but has a name lost them to
 * damage, since the name is removed before the last link.  Without either it
 * was deleted while in use, and was not freed later (nilfs_evict_inode()).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "fsck/names/namefix.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/fix_inodes.h"
#include "fsck/tree/inodeedit.h"
#include "log/inodes.h"
#include "log/newfile.h"
#include "vol/cptable.h"

static int set_links(struct namefix *f, struct context *cx, uint64_t ino,
		     uint64_t links)
{
	struct writer *w = f->job->writer;
	struct nilfs_inode inode;
	int err = inodes_read(w, cx, ino, &inode);

	if (err == -ENOENT)
		return damage_forgive(cx, err);
	if (err)
		return err;
	namefix_note(f, NAMEFIX_NOTE_LINKS,
		     "inode %llu: links are %llu, not "
		     "%u",
		     (unsigned long long)ino, (unsigned long long)links,
		     le16_get(inode.i_links_count));
	inode.i_links_count = le16_make((uint16_t)links);
	return inodes_write(w, cx, ino, &inode);
}

/* Frees INO; blocks of a broken map are left to who looks for such. */
static int free_inode(struct namefix *f, struct context *cx, uint64_t ino)
{
	struct writer *w = f->job->writer;
	struct nilfs_inode inode;
	int ret = inodes_read(w, cx, ino, &inode);

	if (ret == -ENOENT || (!ret && inode_is_empty(&inode))) {
		fail_clear(cx);
		return 0;
	}
	if (!ret)
		ret = inodeedit_map_is_whole(f->n.root.vol, cx, ino, &inode);
	if (ret > 0)
		ret = newfile_drop(w, cx, ino, &inode);
	if (ret)
		return ret;
	namefix_note(f, NAMEFIX_NOTE_FREED,
		     "inode %llu: freed, it has "
		     "neither links nor names",
		     (unsigned long long)ino);
	return inodes_free(w, cx, ino);
}

/* Sets the links of INO to what its names are by now, or frees it: DIR is its
   number as a directory. */
static int settle_inode(struct namefix *f, struct context *cx, uint64_t ino,
			const struct inodelist_row *row, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];
	uint8_t kind = row->chunk->kind[row->at];
	uint16_t names = row->chunk->names[row->at];
	uint16_t links = row->chunk->links[row->at];
	uint64_t want;

	if (kind & INODELIST_REFUSED)
		return 0;
	if (inodelist_is_dir(kind)) {
		if (f->flags[dir] & NAMEFIX_FREED)
			return free_inode(f, cx, ino);
		want = 2 + (uint64_t)d->subdirs;
		return links == want || want > UINT16_MAX ||
				       (!d->parent && ino != NILFS_ROOT_INO)
			       ? 0
			       : set_links(f, cx, ino, want);
	}
	if (ino < NILFS_USER_INO || !(kind & INODELIST_ALLOCATED))
		return 0;
	if (!names && !links)
		return free_inode(f, cx, ino);
	return names && names != links ? set_links(f, cx, ino, names) : 0;
}

/* The inodes of checkpoint CNO: 1, 0 where they cannot be had. */
static int list_inodes(struct namefix *f, struct context *cx, uint64_t cno)
{
	struct inodelist_row row;
	bool whole = false;
	int err = root_open(&f->n.root, cx, f->job->vol, cno);

	if (!err)
		err = inodelist_fill(&f->n.root, cx, &f->n.list, &whole);
	if (err && damage_is_fatal(err))
		return err;
	fail_clear(cx);
	row = inodelist_find(&f->n.list, NILFS_ROOT_INO);
	if (!err && whole && row.chunk &&
	    inodelist_is_dir(row.chunk->kind[row.at])) {
		f->flags = calloc(f->n.list.ndirs, sizeof(*f->flags));
		return f->flags ? 1 : fail(cx, -ENOMEM, "directories");
	}
	namefix_note(f, NAMEFIX_NOTE_DIR,
		     "directories and links: not repaired, %s",
		     err || !whole ? "not all inodes can be read"
				   : "there is no root directory");
	return 0;
}

/* Marks the inodes and directories of the findings that the user refused. */
static void mark_refused(struct namefix *f)
{
	const struct plan_kind *k = &f->job->plan->kinds[RULE_FIX_NAMES];
	struct inodelist_row row;
	size_t i, dir;

	for (i = k->n; i < k->n + k->nrefused; i++) {
		const struct fix *fix = &k->fixes[i];

		if (rule_info(fix->rule)->danger > RULE_DANGER_SAFE ||
		    fix->place.cno != f->n.root.cno)
			continue;
		dir = inodelist_find_dir(&f->n.list, fix->place.ino);
		row = inodelist_find(&f->n.list, fix->place.ino);
		if (rule_info(fix->rule)->area == RULE_AREA_DIRECTORY &&
		    dir < f->n.list.ndirs)
			f->flags[dir] |= NAMEFIX_REFUSED;
		else if (row.chunk)
			row.chunk->kind[row.at] |= INODELIST_REFUSED;
	}
}

/* Finds out what every directory shall have. */
static int settle_names(struct namefix *f, struct context *cx)
{
	struct inodelist_dir *dirs = f->n.list.dirs;
	struct inodelist_row row;
	size_t i;
	int err = namescan_run(f, cx);

	if (!err)
		err = parents_break_loops(f, cx);
	if (err || namefix_is_partial(f))
		return err;
	if (namefix_has_missed(f)) {
		err = othernames_turn(f, cx);
		if (!err)
			err = namescan_search(f, cx);
		if (!err)
			err = othernames_gather(f, cx);
		if (!err)
			err = parents_break_loops(f, cx);
	}
	if (!err)
		err = lostfound_settle(f, cx);
	if (err)
		return err;
	/* How many are in each, and which are to be freed. */
	for (i = 0; i < f->n.list.ndirs; i++)
		dirs[i].subdirs = 0;
	for (i = 0; i < f->n.list.ndirs; i++) {
		if (dirs[i].dotdot != namefix_parent(f, i))
			f->flags[i] |= NAMEFIX_ENTRIES;
		if (dirs[i].parent && dirs[i].parent != NAMEFIX_MADE + 1)
			dirs[dirs[i].parent - 1].subdirs++;
		row = inodelist_find(&f->n.list, dirs[i].ino);
		if (!dirs[i].parent && !row.chunk->links[row.at] &&
		    !(row.chunk->kind[row.at] & INODELIST_REFUSED) &&
		    dirs[i].ino >= NILFS_USER_INO &&
		    !(f->flags[i] & (NAMEFIX_LOST | NAMEFIX_PARENT)))
			f->flags[i] |= NAMEFIX_FREED;
	}
	if (f->lost.made)
		dirs[inodelist_find_dir(&f->n.list, NILFS_ROOT_INO)].subdirs++;
	namefix_sort_adds(&f->adds);
	return 0;
}

/* Whether directory number DIR is to be written again. */
static bool is_due(const struct namefix *f, size_t dir)
{
	const unsigned int loses =
		NAMEFIX_LOSES | NAMEFIX_GONE | NAMEFIX_BAD_NAME;
	unsigned int flags = f->flags[dir];

	/* Of a snapshot it may be a file that is taken for one. */
	if (flags & NAMEFIX_FREED || (f->lost.needed && dir == f->lost.dir) ||
	    (f->past && !(flags & NAMEFIX_KNOWN) &&
	     f->n.list.dirs[dir].ino != NILFS_ROOT_INO))
		return false;
	if (!f->lossy)
		return flags & NAMEFIX_ENTRIES && !(flags & loses);
	return flags & (NAMEFIX_ENTRIES | loses);
}

/*
 * Repairs the names of checkpoint CNO (0: the latest) by FIXES, and of a
 * snapshot puts in PAST what is to be written.  *NUMBERED: some got numbers for
 * names.
 */
static int repair_names(struct fixer_job *job, struct context *cx,
			const struct fix *fixes, size_t n, uint64_t cno,
			struct pastblocks *past, bool *numbered)
{
	struct namefix f = {
		.job = job,
		.past = past,
		.n.c = job->check,
	};
	struct inodelist_row row;
	size_t i, dir = 0;
	int ret;

	if (past)
		snprintf(f.prefix, sizeof(f.prefix),
			 "checkpoint %llu: ", (unsigned long long)cno);
	for (i = 0; i < n; i++)
		f.lossy |= rule_info(fixes[i].rule)->danger > RULE_DANGER_SAFE;
	ret = list_inodes(&f, cx, cno);
	if (ret <= 0)
		goto out;
	mark_refused(&f);
	ret = around_open(&f.around, cx, f.n.root.vol);
	if (!ret)
		ret = settle_names(&f, cx);
	for (i = 0; i < f.n.list.ndirs && !ret; i++) {
		if (is_due(&f, i))
			ret = dirwrite_run(&f, cx, i);
	}
	if (!ret && f.lost.needed)
		ret = dirwrite_run(&f, cx, f.lost.dir);
	for (i = 0; !ret && !past && !namefix_is_partial(&f) &&
		    inodelist_next(&f.n.list, &i, &row);) {
		ret = settle_inode(&f, cx, row.chunk->first + row.at, &row,
				   dir);
		dir += inodelist_is_dir(row.chunk->kind[row.at]);
	}
	*numbered |= f.noted[NAMEFIX_NOTE_LOST] > 0;
out:
	namefix_note_rest(&f);
	around_close(&f.around);
	free(f.flags);
	free(f.targets);
	inodelist_fini(&f.n.list);
	dupnames_fini(&f.n.dups);
	free(f.parents.others);
	nameset_fini(&f.found_tags);
	free(f.adds.items);
	free(f.adds.text);
	return ret;
}

static bool has_fix(const struct fix *fixes, size_t n, uint64_t cno)
{
	size_t i;

	for (i = 0; i < n && fixes[i].place.cno != cno; i++)
		;
	return i < n;
}

/* Names of snapshots that have findings, then, if some of their files are
   called by their numbers, of the others, from the newest on. */
static int repair_snapshots(struct pastblocks *past, struct context *cx,
			    const struct fix *fixes, size_t n)
{
	struct fixer_job *job = past->job;
	bool numbered = false;
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int round, err = damage_forgive(
			   cx, cptable_list(job->vol, cx, true, &cnos, &count));

	for (round = 0; round < 1 + numbered && !err; round++)
		for (i = count; i-- && !err;)
			if (cnos[i] != job->vol->latest.cno &&
			    has_fix(fixes, n, cnos[i]) == !round)
				err = repair_names(job, cx, fixes, n, cnos[i],
						   past, &numbered);
	free(cnos);
	return err;
}

/* Snapshots: what names lead to first, which may be all that is wrong. */
static int repair_past(struct fixer_job *job, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	struct pastblocks past = {.job = job};
	int err = fix_inodes_past(&past, cx, fixes, n, FIX_INODES_LOST);

	if (!err && !past.n)
		err = repair_snapshots(&past, cx, fixes, n);
	if (!err && !past.n)
		err = fix_inodes_past(&past, cx, fixes, n, FIX_INODES_ALL);
	if (!err && !past.n)
		err = fix_inodes_past(&past, cx, fixes, n, FIX_INODES_COUNTS);
	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	return err;
}

int fix_names(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	int found = fix_inodes_named(job, cx, fixes, n);
	int err = found < 0 ? found : 0;
	bool numbered = false;

	/* With more inodes the next round judges the names. */
	if (!found &&
	    (has_fix(fixes, n, 0) || has_fix(fixes, n, job->vol->latest.cno)))
		err = repair_names(job, cx, fixes, n, 0, NULL, &numbered);
	return err ? err : repair_past(job, cx, fixes, n);
}
