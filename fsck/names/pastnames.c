// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in snapshots.
 *
 * A changed inode number in an entry leaves one inode without a name, and gives
 * another one too many, or a name to inode 10, which mkfs.nilfs2 makes and
 * nothing names.  The same name in another checkpoint says which inode it was.
 *
 * A block of a directory that is wrong is repaired by itself (pastentry.c), as
 * far as that goes, then by the same block in the checkpoints before and
 * behind, from the nearest on.  Else the block is rebuilt with all names that
 * are known (pastsalvage.c).
 *
 * An older version of a block has names that were removed since.  Those of
 * files that still exist give these more names than links.
 */
#include "fsck/names/pastnames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "disk/inode.h"
#include "vol/cptable.h"

/* The inodes of snapshot CNO: 1, 0 where not all can be read. */
static int open_snapshot(struct pastnames *s, struct context *cx, uint64_t cno)
{
	bool whole = false;
	int err;

	if (s->root.vol && s->root.cno == cno)
		return s->listed;
	inodelist_clear(&s->list);
	s->listed = false;
	err = root_open(&s->root, cx, s->vol, cno);
	if (!err)
		err = inodelist_fill(&s->root, cx, &s->list, &whole);
	s->listed = !err && whole;
	s->root.cno = cno;
	s->root.vol = s->vol;
	err = damage_forgive(cx, err);
	fail_clear(cx);
	return err ? err : s->listed;
}

/* Finds the current block, to be changed: 1, 0; *IS_NEW: for the first time. */
static int open_block(struct pastnames *s, struct context *cx, bool *is_new)
{
	struct pastblocks_block *b;
	size_t n = s->p->n;
	struct file file;
	int ret = root_file(&s->root, cx, s->ino, &file);

	if (!ret)
		ret = pastblocks_change_in(s->p, cx, &file, s->blkoff, true, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	s->generation = file.inode.i_generation;
	s->where = *b;
	s->block = b->content;
	*is_new = s->p->n > n;
	return 1;
}

/* Whether FIX is of snapshot CNO, and of RULE. */
static bool is_of(const struct fix *fix, uint64_t cno, enum rule rule)
{
	return fix->place.cno == cno && fix->rule == rule;
}

/* Counts the inodes of snapshot CNO without names, and names without inodes. */
static void count_missed(struct pastnames *s, uint64_t cno)
{
	size_t i;

	s->nmissed = s->ndangling = 0;
	for (i = 0; i < s->n; i++) {
		s->ndangling += is_of(&s->fixes[i], cno, RULE_DIR_NO_INODE);
		if (!is_of(&s->fixes[i], cno, RULE_INODE_UNREACHABLE))
			continue;
		s->nmissed++;
		s->missed = s->fixes[i].place.ino;
	}
}

/*
 * In place of the number of names of an inode stands what its findings say: 0
 * is nothing; then MISSED or CROWDED where a name leads to another one; where
 * names are one too many, 1 and how many of these are still to be found.
 */
#define MISSED 1u	/* it has lost a name */
#define CROWDED 2u	/* it has one too many, or should have none */

static uint16_t *mark_of(struct pastnames *s, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(&s->list, ino);

	return row.chunk ? &row.chunk->names[row.at] : NULL;
}

/* How many names inode FIX->place.ino of CNO has too many, by FIX. */
static uint64_t surplus(const struct fix *fix, uint64_t cno)
{
	return is_of(fix, cno, RULE_INODE_LINKS_NAMES) && fix->want > fix->got ?
		       fix->want - fix->got : 0;
}

typedef int each_entry(struct pastnames *s, struct context *cx,
		       const void *data, const struct dirent_entry *e);

struct visit {
	struct pastnames *s;
	each_entry *each;
};

static int visit_block(void *arg, struct context *cx,
		       const struct blockbatch_item *item, const void *data,
		       int err)
{
	struct visit *v = arg;
	struct pastnames *s = v->s;
	struct dirent_entry e;
	struct dirent_iter it;
	int ret = 0;

	if (!data)
		return damage_forgive(cx, err);
	s->ino = s->list.dirs[item->owner].ino;
	s->blkoff = item->blkoff;
	dirent_iter_init(&it, data, s->block_size);
	while (!ret && dirent_iter_next(&it, &e))
		if (e.ino)
			ret = v->each(s, cx, data, &e);
	return ret;
}

static int visit_entries(struct pastnames *s, struct context *cx,
			 each_entry *each)
{
	struct visit v = { s, each };

	return dirread_run(&s->root, cx, &s->list, 0, s->list.ndirs,
			   visit_block, &v);
}

/* Entry E of the current block leads to INO now; 0: it goes. */
static void set_entry(struct pastnames *s, const struct dirent_entry *e,
		      uint64_t ino)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	((struct nilfs_dir_entry *)(s->block + e->offset))->inode =
		le64_make(ino);
	text_escape(text, sizeof(text), e->name, e->name_len);
	if (ino)
		fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %"
			    PRIu64 ": '%s' names inode %" PRIu64 " again, not %"
			    PRIu64, s->root.cno, s->ino, text, ino, e->ino);
	else
		fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %"
			    PRIu64 ": removed '%s' of inode %" PRIu64,
			    s->root.cno, s->ino, text, e->ino);
}

/* Whether INO lacks a name and has the type that entry E says. */
static bool could_be(void *arg, const struct dirent_entry *e, uint64_t ino)
{
	struct pastnames *s = arg;
	struct inodelist_row row = inodelist_find(&s->list, ino);

	return row.chunk && row.chunk->names[row.at] == MISSED &&
	       (row.chunk->kind[row.at] & INODELIST_TYPE) == e->type;
}

/* Lets E lead to what it must have named, if that can be found. */
static int turn_entry(struct pastnames *s, struct context *cx,
		      const void *data, const struct dirent_entry *e)
{
	bool reserved = dirent_check(e) == RULE_DIR_PRIVATE_INO, is_new;
	uint16_t *mark = mark_of(s, e->ino);
	uint64_t ino = 0;
	int ret;

	(void)data;
	if (!reserved && !(mark && *mark == CROWDED))
		return 0;
	ret = othernames_find(&s->o, cx, s->ino, e, could_be, s, &ino);
	if (!ret && reserved && s->nmissed == 1) {
		ino = s->missed;
		ret = could_be(s, e, ino);
	}
	if (ret > 0)
		ret = open_block(s, cx, &is_new);
	if (ret <= 0)
		return ret;
	set_entry(s, e, ino);
	mark = mark_of(s, ino);
	if (mark)
		*mark = 0;
	return 0;
}

/* Entries of snapshot CNO that lead to a wrong inode. */
static int turn_names(struct pastnames *s, struct context *cx, uint64_t cno)
{
	uint16_t *mark;
	size_t i;
	int ret = open_snapshot(s, cx, cno);

	if (ret <= 0)
		return ret;
	count_missed(s, cno);
	for (i = 0; i < s->n; i++) {
		const struct fix *fix = &s->fixes[i];
		bool missed = is_of(fix, cno, RULE_INODE_UNREACHABLE);

		mark = missed || surplus(fix, cno) ?
			       mark_of(s, fix->place.ino) : NULL;
		if (mark)
			*mark = missed ? MISSED : CROWDED;
	}
	return visit_entries(s, cx, turn_entry);
}

/*
 * Whether the current block, DATA, is one that an older checkpoint has in
 * another place: nothing is written again that has not changed.  1, 0.
 */
static int is_older(struct pastnames *s, struct context *cx, const void *data)
{
	bool is_new, older = false;
	int ret = open_block(s, cx, &is_new);

	if (ret <= 0)
		return ret;
	if (is_new)
		pastblocks_drop(s->p, s->where.vblocknr);
	pastentry_ask(s);
	while (!older && (ret = pastentry_next(s, cx)) > 0)
		older = s->o.then.cno < s->where.life.start &&
			!memcmp(s->other, data, s->block_size);
	return ret < 0 ? ret : older;
}

/* Counts entry E if it may be one too many.  With too many of them it is not
   known which. */
static int count_surplus(struct pastnames *s, struct context *cx,
			 const void *data, const struct dirent_entry *e)
{
	uint16_t *left = mark_of(s, e->ino);
	int ret = left && *left ? is_older(s, cx, data) : 0;

	if (ret > 0)
		--*left;
	return ret < 0 ? ret : 0;
}

/* Removes E if it is one of those, and all of them were found. */
static int remove_surplus(struct pastnames *s, struct context *cx,
			  const void *data, const struct dirent_entry *e)
{
	uint16_t *left = mark_of(s, e->ino);
	bool is_new;
	int ret = left && *left == 1 ? is_older(s, cx, data) : 0;

	if (ret > 0)
		ret = open_block(s, cx, &is_new);
	if (ret > 0)
		set_entry(s, e, 0);
	return ret < 0 ? ret : 0;
}

static int remove_names(struct pastnames *s, struct context *cx, uint64_t cno)
{
	struct inodelist_row row;
	size_t i;
	int ret = open_snapshot(s, cx, cno);

	if (ret <= 0)
		return ret;
	for (i = 0; i < s->n; i++) {
		row = inodelist_find(&s->list, s->fixes[i].place.ino);
		if (row.chunk && !inodelist_is_dir(row.chunk->kind[row.at]) &&
		    surplus(&s->fixes[i], cno))
			row.chunk->names[row.at] =
				(uint16_t)(1 + surplus(&s->fixes[i], cno));
	}
	ret = visit_entries(s, cx, count_surplus);
	return ret ? ret : visit_entries(s, cx, remove_surplus);
}

static void note_block(const struct pastnames *s, uint64_t cno,
		       const char *what)
{
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %" PRIu64
		    ": block %" PRIu64 ": %s", cno, s->ino, s->blkoff, what);
}

/*
 * Repairs the block by itself, since types and lengths follow from the snapshot
 * alone, then by other checkpoints, from the nearest on: 1, 0 where none is of
 * help, and it is as it was.
 */
static int try_all(struct pastnames *s, struct context *cx)
{
	char *before = malloc(s->block_size);
	int ret, more = 1;

	if (!before)
		return fail(cx, -ENOMEM, "block of a directory");
	memcpy(before, s->block, s->block_size);
	s->is_other = false;
	ret = pastentry_repair(s, cx);
	pastentry_ask(s);
	while (!ret) {
		memcpy(s->block, before, s->block_size);
		s->is_other = true;
		more = pastentry_next(s, cx);
		if (more <= 0)
			break;
		ret = pastentry_repair(s, cx);
	}
	free(before);
	return more < 0 ? more : ret;
}

static bool is_same_block(const struct fix *a, const struct fix *b)
{
	return a->place.kind == b->place.kind && a->place.cno == b->place.cno &&
	       a->place.ino == b->place.ino &&
	       a->place.blkoff == b->place.blkoff;
}

/* The block of finding number AT, and all others of it that follow. */
static int repair_block(struct pastnames *s, struct context *cx, size_t at)
{
	const struct fix *first = &s->fixes[at];
	const char *what = "repaired";
	bool is_name = true, is_new;
	size_t dir;
	int ret = open_snapshot(s, cx, first->place.cno);

	s->ino = first->place.ino;
	s->blkoff = first->place.blkoff;
	if (ret > 0)
		ret = open_block(s, cx, &is_new);
	if (ret <= 0)
		goto out;
	for (; at < s->n && is_same_block(&s->fixes[at], first); at++) {
		const struct fix *fix = &s->fixes[at];
		struct nilfs_dir_entry *de =
			(void *)(s->block + fix->place.offset);

		if (fix->rule != RULE_DIR_DOTDOT)
			continue;
		is_name = false;
		/* It is known to be in another directory. */
		if (fix->has_want && fix->want)
			de->inode = le64_make(fix->want);
	}
	/* The second entry is a name unless a finding says that it was "..". */
	dir = inodelist_find_dir(&s->list, s->ino);
	if (dir < s->list.ndirs)
		s->list.dirs[dir].second_is_name = is_name;
	ret = try_all(s, cx);
	if (!ret)
		what = "rebuilt with the names that are known";
	/* Another version may have had fewer. */
	if (!ret || (ret > 0 && s->is_other))
		ret = pastsalvage_run(s, cx, false);
	if (ret <= 0)
		pastblocks_drop(s->p, s->where.vblocknr);
out:
	if (ret >= 0)
		note_block(s, first->place.cno, ret ? what : "not repaired");
	return ret < 0 ? ret : 0;
}

static int repair_blocks(struct pastnames *s, struct context *cx)
{
	uint64_t counted = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < s->n && !err; i++) {
		const struct place *place = &s->fixes[i].place;

		if (place->kind != PLACE_NAME || !place->cno ||
		    place->cno == s->vol->latest.cno ||
		    (i && is_same_block(&s->fixes[i], &s->fixes[i - 1])))
			continue;
		if (place->cno != counted)
			count_missed(s, place->cno);
		counted = place->cno;
		err = repair_block(s, cx, i);
	}
	return err;
}

/* Names in the current block for what lacks them, if there is room for one of a
   few bytes: 1 where nothing lacks one then, 0. */
static int name_in_block(struct pastnames *s, struct context *cx)
{
	uint32_t used = dirent_rec_len(sizeof("#12"));
	struct dirent_entry e;
	struct dirent_iter it;
	bool is_new;
	char *before;
	int ret = open_block(s, cx, &is_new);

	if (ret <= 0)
		return ret;
	before = malloc(s->block_size);
	if (!before)
		return fail(cx, -ENOMEM, "block of a directory");
	memcpy(before, s->block, s->block_size);
	dirent_iter_init(&it, s->block, s->block_size);
	while (dirent_iter_next(&it, &e))
		used += e.ino ? dirent_rec_len(e.name_len) : 0;
	ret = used <= s->block_size ? pastsalvage_run(s, cx, true) : 0;
	if (memcmp(before, s->block, s->block_size))
		note_block(s, s->root.cno,
			   "files without names are named by numbers");
	else if (is_new)
		pastblocks_drop(s->p, s->where.vblocknr);
	free(before);
	return ret;
}

/* Names in the root of snapshot CNO for what lacks them. */
static int name_in_root(struct pastnames *s, struct context *cx, uint64_t cno)
{
	uint64_t blocknr;
	struct file file;
	int ret = open_snapshot(s, cx, cno), named = 0;

	s->ino = NILFS_ROOT_INO;
	for (s->blkoff = 0; ret > 0 && !named; s->blkoff++) {
		ret = root_file(&s->root, cx, s->ino, &file);
		if (!ret)
			ret = file_lookup(&file, cx, s->blkoff, &blocknr);
		ret = damage_forgive(cx, ret);
		if (ret > 0)
			named = name_in_block(s, cx);
	}
	return named < 0 ? named : ret < 0 ? ret : 0;
}

/* Whether checkpoint OTHER has one of the files that CNO has no name for: 1,
   0. */
static int has_missed(struct pastnames *s, struct context *cx, uint64_t cno,
		      uint64_t other)
{
	struct nilfs_inode inode[2];
	struct root root[2];
	int err = root_open(&root[0], cx, s->vol, cno), same = 0;
	size_t i;

	if (!err)
		err = root_open(&root[1], cx, s->vol, other);
	for (i = 0; i < s->n && !err && !same; i++) {
		uint64_t ino = s->fixes[i].place.ino;

		if (!is_of(&s->fixes[i], cno, RULE_INODE_UNREACHABLE))
			continue;
		err = root_inode(&root[0], cx, ino, &inode[0]);
		if (!err)
			err = root_inode(&root[1], cx, ino, &inode[1]);
		same = !err && inode_is_same_file(&inode[0], &inode[1]);
		err = damage_forgive(cx, err);
	}
	return err ? damage_forgive(cx, err) : same;
}

/*
 * The same of all snapshots that share the files: where they share the
 * directory that named them, too, there is a finding for one snapshot only.
 */
static int name_in_roots(struct pastnames *s, struct context *cx, uint64_t cno)
{
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int ret = name_in_root(s, cx, cno);

	if (!ret)
		ret = cptable_list(s->vol, cx, true, &cnos, &count);
	for (i = 0; i < count && ret >= 0; i++) {
		ret = cnos[i] == cno || cnos[i] == s->vol->latest.cno ? 0 :
			has_missed(s, cx, cno, cnos[i]);
		if (ret > 0)
			ret = name_in_root(s, cx, cnos[i]);
	}
	free(cnos);
	return ret < 0 ? ret : 0;
}

/* Snapshots with findings of RULE. */
static int for_each(struct pastnames *s, struct context *cx, enum rule rule,
		    int (*each)(struct pastnames *s, struct context *cx,
				uint64_t cno))
{
	uint64_t cno, done = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < s->n && !err; i++) {
		cno = s->fixes[i].place.cno;
		if (s->fixes[i].rule != rule || cno == done || !cno ||
		    cno == s->vol->latest.cno)
			continue;
		done = cno;
		err = each(s, cx, cno);
	}
	return err;
}

static int run(struct pastblocks *p, struct context *cx,
	       const struct fix *fixes, size_t n, bool surplus_only)
{
	struct pastnames s = {
		.p = p,
		.vol = p->job->vol,
		.block_size = p->job->vol->geo.block_size,
		.fixes = fixes,
		.n = n,
	};
	int err;

	s.o.now = &s.root;
	s.other = malloc(s.block_size);
	if (!s.other)
		return fail(cx, -ENOMEM, "block of a directory");
	err = around_open(&s.o.around, cx, s.vol);
	if (!err && surplus_only)
		err = for_each(&s, cx, RULE_INODE_LINKS_NAMES, remove_names);
	/* Each step only where those before it came to nothing, and from the
	   start. */
	if (!err && !surplus_only)
		err = for_each(&s, cx, RULE_INODE_UNREACHABLE, turn_names);
	s.root.vol = NULL;
	if (!err && !surplus_only && !p->n)
		err = repair_blocks(&s, cx);
	s.root.vol = NULL;
	if (!err && !surplus_only && !p->n)
		err = for_each(&s, cx, RULE_INODE_UNREACHABLE, name_in_roots);
	inodelist_fini(&s.list);
	around_close(&s.o.around);
	free(s.other);
	return err;
}

int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	return run(p, cx, fixes, n, false);
}

int pastnames_remove(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	return run(p, cx, fixes, n, true);
}
