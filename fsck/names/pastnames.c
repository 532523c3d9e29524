// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in snapshots.
 *
 * A block of a directory that is wrong is repaired by itself (pastentry.h), as
 * far as that goes, then by the same block in the checkpoints before and
 * behind, from the nearest on.
 *
 * Else the block is rebuilt with all names that are known (pastsalvage.h).
 */
#include "fsck/names/pastnames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "fsck/names/pastentry.h"
#include "fsck/names/pastlinks.h"
#include "vol/cptable.h"

int pastnames_open(struct pastnames *s, struct context *cx, uint64_t cno)
{
	bool whole = false;
	int err;

	if (s->e.root.vol && s->e.root.cno == cno)
		return s->listed;
	inodelist_clear(&s->e.list);
	s->listed = false;
	err = root_open(&s->e.root, cx, s->vol, cno);
	if (!err)
		err = inodelist_fill(&s->e.root, cx, &s->e.list, &whole);
	s->listed = !err && whole;
	s->e.root.cno = cno;
	s->e.root.vol = s->vol;
	err = damage_forgive(cx, err);
	fail_clear(cx);
	return err ? err : s->listed;
}

/* Repairs the block by the other one, if any: 1, 0 and it is as it was. */
static int try_other(struct pastnames *s, struct context *cx)
{
	char *before = malloc(s->e.block_size);
	int ret;

	if (!before)
		return fail(cx, -ENOMEM, "block of a directory");
	memcpy(before, s->e.block, s->e.block_size);
	ret = pastentry_repair(&s->e, cx);
	if (!ret)
		memcpy(s->e.block, before, s->e.block_size);
	free(before);
	return ret;
}

/* From the nearest other checkpoint on: 1, 0 where none is of help. */
static int try_all(struct pastnames *s, struct context *cx)
{
	int ret, more;

	/* Types and lengths follow from the snapshot alone. */
	s->e.is_other = false;
	ret = try_other(s, cx);
	s->e.is_other = !ret;
	pastentry_ask(&s->e);
	while (!ret && (more = pastentry_next(&s->e, cx)))
		ret = more < 0 ? more : try_other(s, cx);
	return ret;
}

static int salvage_block(struct pastnames *s, struct context *cx, bool partly)
{
	int ret = pastentry_is_dir(&s->e, cx);

	return ret > 0 ? pastsalvage_run(&s->e, cx, partly) : ret;
}

int pastnames_block(struct pastnames *s, struct context *cx)
{
	struct pastblocks_block *b;
	struct file file;
	int ret = root_file(&s->e.root, cx, s->e.ino, &file);

	if (!ret)
		ret = pastblocks_change_in(s->p, cx, &file, s->e.blkoff, true,
					   &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	s->e.generation = file.inode.i_generation;
	s->e.where = *b;
	s->e.block = b->content;
	return 1;
}

/* The directory whose ".." is wrong is known to be in another one. */
static void set_parent(const struct pastnames *s, const struct fix *fix)
{
	struct nilfs_dir_entry *de = (void *)(s->e.block + fix->place.offset);

	if (fix->rule == RULE_DIR_DOTDOT && fix->has_want && fix->want)
		de->inode = le64_make(fix->want);
}

static bool is_same_block(const struct fix *a, const struct fix *b)
{
	return a->place.kind == b->place.kind && a->place.cno == b->place.cno &&
	       a->place.ino == b->place.ino &&
	       a->place.blkoff == b->place.blkoff;
}

/*
 * Prepares the block for the COUNT findings from FIX on that are of it.  Its
 * second entry is a name unless one of them says that it was "..".
 */
static void take_findings(struct pastnames *s, const struct fix *fix,
			  size_t count)
{
	size_t dir = inodelist_find_dir(&s->e.list, s->e.ino), i;
	bool is_name = true;

	for (i = 0; i < count && is_same_block(&fix[i], fix); i++) {
		is_name &= fix[i].rule != RULE_DIR_DOTDOT;
		set_parent(s, &fix[i]);
	}
	if (dir < s->e.list.ndirs)
		s->e.list.dirs[dir].second_is_name = is_name;
}

static void note_repaired(const struct pastnames *s, uint64_t cno,
			  const char *what)
{
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %" PRIu64
		    ": block %" PRIu64 ": %s", cno, s->e.ino, s->e.blkoff,
		    what);
}

/* Those of the COUNT findings from FIX on that are of its block, at once. */
static int repair_block(struct pastnames *s, struct context *cx,
			const struct fix *fix, size_t count)
{
	const char *what = "repaired";
	int ret = pastnames_open(s, cx, fix->place.cno);

	s->e.ino = fix->place.ino;
	s->e.blkoff = fix->place.blkoff;
	if (ret > 0)
		ret = pastnames_block(s, cx);
	if (ret > 0) {
		take_findings(s, fix, count);
		ret = try_all(s, cx);
		if (!ret)
			what = "rebuilt with the names that are known";
		/* Another version may have had fewer. */
		if (!ret || (ret > 0 && s->e.is_other))
			ret = salvage_block(s, cx, false);
		if (ret <= 0)
			pastblocks_drop(s->p, s->e.where.vblocknr);
	}
	if (ret >= 0)
		note_repaired(s, fix->place.cno,
			      ret ? what : "not repaired");
	return ret < 0 ? ret : 0;
}

/* Whether a name of a few bytes can be added to the current block. */
static bool has_room(const struct pastnames *s)
{
	uint32_t used = dirent_rec_len(sizeof("#12"));
	struct dirent_entry e;
	struct dirent_iter it;

	dirent_iter_init(&it, s->e.block, s->e.block_size);
	while (dirent_iter_next(&it, &e))
		used += e.ino ? dirent_rec_len(e.name_len) : 0;
	return used <= s->e.block_size;
}

/* Names in the current block for what lacks them: 1 where nothing lacks one
   then, 0. */
static int name_in_block(struct pastnames *s, struct context *cx)
{
	size_t n = s->p->n;
	int ret = pastnames_block(s, cx);
	bool is_new = s->p->n > n, changed = false;
	char *before;

	if (ret <= 0)
		return ret;
	before = malloc(s->e.block_size);
	if (!before)
		return fail(cx, -ENOMEM, "block of a directory");
	memcpy(before, s->e.block, s->e.block_size);
	ret = has_room(s) ? salvage_block(s, cx, true) : 0;
	changed = memcmp(before, s->e.block, s->e.block_size) != 0;
	free(before);
	if (changed)
		note_repaired(s, s->e.root.cno,
			      "files without names are named by numbers");
	else if (is_new)
		pastblocks_drop(s->p, s->e.where.vblocknr);
	return ret;
}

/* 1 where the directory has the current block, which no hole is before. */
static int has_block(struct pastnames *s, struct context *cx)
{
	struct file file;
	uint64_t blocknr;
	int ret = root_file(&s->e.root, cx, s->e.ino, &file);

	if (!ret)
		ret = file_lookup(&file, cx, s->e.blkoff, &blocknr);
	return damage_forgive(cx, ret);
}

/* Names in the root of snapshot CNO for what lacks them. */
static int name_in_root(struct pastnames *s, struct context *cx, uint64_t cno)
{
	int ret = pastnames_open(s, cx, cno), named = 0;

	s->e.ino = NILFS_ROOT_INO;
	for (s->e.blkoff = 0; ret > 0 && !named; s->e.blkoff++) {
		ret = has_block(s, cx);
		if (ret > 0)
			named = name_in_block(s, cx);
	}
	return named < 0 ? named : ret < 0 ? ret : 0;
}

/* Whether checkpoint OTHER has one of the files that CNO has no name for: 1,
   0. */
static int has_missed(struct pastnames *s, struct context *cx,
		      const struct fix *fixes, size_t n, uint64_t cno,
		      uint64_t other)
{
	struct nilfs_inode inode[2];
	struct root root[2];
	int err = root_open(&root[0], cx, s->vol, cno), same = 0;
	size_t i;

	if (!err)
		err = root_open(&root[1], cx, s->vol, other);
	for (i = 0; i < n && !err && !same; i++) {
		if (fixes[i].place.cno != cno ||
		    fixes[i].rule != RULE_INODE_UNREACHABLE)
			continue;
		err = root_inode(&root[0], cx, fixes[i].place.ino, &inode[0]);
		if (!err)
			err = root_inode(&root[1], cx, fixes[i].place.ino,
					 &inode[1]);
		same = !err && inode_is_same_file(&inode[0], &inode[1]);
		err = damage_forgive(cx, err);
	}
	return err ? damage_forgive(cx, err) : same;
}

/*
 * The same of all snapshots that share the files: where they share the
 * directory that named them, too, there is a finding for one snapshot only.
 */
static int name_in_roots(struct pastnames *s, struct context *cx,
			 const struct fix *fixes, size_t n, uint64_t cno)
{
	uint64_t *cnos = NULL;
	size_t count = 0, i;
	int ret = name_in_root(s, cx, cno);

	if (!ret)
		ret = cptable_list(s->vol, cx, true, &cnos, &count);
	for (i = 0; i < count && ret >= 0; i++) {
		ret = cnos[i] == cno || cnos[i] == s->vol->latest.cno ? 0 :
			has_missed(s, cx, fixes, n, cno, cnos[i]);
		if (ret > 0)
			ret = name_in_root(s, cx, cnos[i]);
	}
	free(cnos);
	return ret < 0 ? ret : 0;
}

static bool is_past(const struct pastnames *s, const struct fix *fix)
{
	return fix->place.kind == PLACE_NAME && fix->place.cno &&
	       fix->place.cno != s->vol->latest.cno;
}

void pastnames_count(struct pastnames *s, const struct fix *fixes, size_t n,
		     uint64_t cno)
{
	size_t i;

	s->e.nmissed = s->e.ndangling = 0;
	for (i = 0; i < n; i++) {
		if (fixes[i].place.cno != cno)
			continue;
		s->e.ndangling += fixes[i].rule == RULE_DIR_NO_INODE;
		if (fixes[i].rule != RULE_INODE_UNREACHABLE)
			continue;
		s->e.nmissed++;
		s->e.missed = fixes[i].place.ino;
	}
}

static int repair_all(struct pastnames *s, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	uint64_t counted = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (!is_past(s, &fixes[i]) ||
		    (i && is_same_block(&fixes[i], &fixes[i - 1])))
			continue;
		if (fixes[i].place.cno != counted)
			pastnames_count(s, fixes, n, fixes[i].place.cno);
		counted = fixes[i].place.cno;
		err = repair_block(s, cx, &fixes[i], n - i);
	}
	return err;
}

typedef int pastnames_run(struct pastnames *s, struct context *cx,
			  const struct fix *fixes, size_t n);

typedef int pastnames_each(struct pastnames *s, struct context *cx,
			   const struct fix *fixes, size_t n, uint64_t cno);

/* Snapshots with findings of RULE. */
static int for_each(struct pastnames *s, struct context *cx,
		    const struct fix *fixes, size_t n, enum rule rule,
		    pastnames_each *each)
{
	uint64_t done = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		uint64_t cno = fixes[i].place.cno;

		if (fixes[i].rule != rule || cno == done || !cno ||
		    cno == s->vol->latest.cno)
			continue;
		done = cno;
		err = each(s, cx, fixes, n, cno);
	}
	return err;
}

/* Each step only where those before it came to nothing, and from the start. */
static int run_steps(struct pastnames *s, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	int err = for_each(s, cx, fixes, n, RULE_INODE_UNREACHABLE,
			   pastlinks_turn);

	s->e.root.vol = NULL;
	if (!err && !s->p->n)
		err = repair_all(s, cx, fixes, n);
	s->e.root.vol = NULL;
	if (!err && !s->p->n)
		err = for_each(s, cx, fixes, n, RULE_INODE_UNREACHABLE,
			       name_in_roots);
	return err;
}

/* Those of inodes whose links are right. */
static int run_surplus(struct pastnames *s, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	return for_each(s, cx, fixes, n, RULE_INODE_LINKS_NAMES,
			pastlinks_remove);
}

static int run(struct pastblocks *p, struct context *cx,
	       const struct fix *fixes, size_t n, pastnames_run *steps)
{
	struct pastnames s = {
		.p = p,
		.vol = p->job->vol,
		.e = {
			.p = p,
			.block_size = p->job->vol->geo.block_size,
		},
	};
	int err;

	s.e.o.now = &s.e.root;
	s.e.other = malloc(s.e.block_size);
	if (!s.e.other)
		return fail(cx, -ENOMEM, "block of a directory");
	err = around_open(&s.e.o.around, cx, s.vol);
	if (!err)
		err = steps(&s, cx, fixes, n);
	inodelist_fini(&s.e.list);
	around_close(&s.e.o.around);
	free(s.e.other);
	return err;
}

int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	return run(p, cx, fixes, n, run_steps);
}

int pastnames_remove(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	return run(p, cx, fixes, n, run_surplus);
}
