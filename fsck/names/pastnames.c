// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in snapshots.
 *
 * A block of a directory that is wrong is repaired by itself (pastentry.h), as
 * far as that goes, then by the same block in the checkpoints before and
 * behind, from the nearest on.
 *
 * A changed inode number in an entry leaves one inode without a name, and gives
 * another one too many, or a name to inode 10, which mkfs.nilfs2 makes and
 * nothing names.  The same name in another checkpoint says which inode it was.
 *
 * Else the block is rebuilt with all names that are known (pastsalvage.h).
 */
#include "fsck/names/pastnames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/dirread.h"
#include "fsck/names/pastentry.h"

struct pastnames {
	struct pastblocks *p;
	struct volume *vol;
	struct pastentry e;
	bool listed;		/* all inodes of the current snapshot */
};

/* The inodes of snapshot CNO: 1, 0 where not all can be read. */
static int open_snapshot(struct pastnames *s, struct context *cx, uint64_t cno)
{
	bool whole = false;
	int err;

	if (s->e.root.vol && s->e.root.cno == cno)
		return s->listed;
	inodelist_clear(&s->e.list);
	s->listed = false;
	err = root_open(&s->e.root, cx, s->vol, cno);
	if (!err)
		err = ifilelist_fill(&s->e.root, cx, &s->e.list, &whole);
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

static int salvage_block(struct pastnames *s, struct context *cx)
{
	int ret = pastentry_is_dir(&s->e, cx);

	return ret > 0 ? pastsalvage_run(&s->e, cx) : ret;
}

/* Finds the block, to be changed: 1, 0. */
static int find_block(struct pastnames *s, struct context *cx)
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
	int ret = open_snapshot(s, cx, fix->place.cno);

	s->e.ino = fix->place.ino;
	s->e.blkoff = fix->place.blkoff;
	if (ret > 0)
		ret = find_block(s, cx);
	if (ret > 0) {
		take_findings(s, fix, count);
		ret = try_all(s, cx);
		if (!ret)
			what = "rebuilt with the names that are known";
		/* Another version may have had fewer. */
		if (!ret || (ret > 0 && s->e.is_other))
			ret = salvage_block(s, cx);
		if (ret <= 0)
			pastblocks_drop(s->p, s->e.where.vblocknr);
	}
	if (ret >= 0)
		note_repaired(s, fix->place.cno,
			      ret ? what : "not repaired");
	return ret < 0 ? ret : 0;
}

/* Names in the root of snapshot CNO for what lacks them. */
static int name_in_root(struct pastnames *s, struct context *cx,
			const struct fix *fixes, size_t n, uint64_t cno)
{
	int ret = open_snapshot(s, cx, cno);

	(void)fixes, (void)n;
	s->e.ino = NILFS_ROOT_INO;
	s->e.blkoff = 0;
	if (ret > 0)
		ret = find_block(s, cx);
	if (ret <= 0)
		return ret;
	ret = salvage_block(s, cx);
	if (ret <= 0)
		pastblocks_drop(s->p, s->e.where.vblocknr);
	else
		note_repaired(s, cno,
			      "files without names are named by numbers");
	return ret < 0 ? ret : 0;
}

static bool is_past(const struct pastnames *s, const struct fix *fix)
{
	return fix->place.kind == PLACE_NAME && fix->place.cno &&
	       fix->place.cno != s->vol->latest.cno;
}

static void count_missed(struct pastnames *s, const struct fix *fixes,
			 size_t n, uint64_t cno)
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
			count_missed(s, fixes, n, fixes[i].place.cno);
		counted = fixes[i].place.cno;
		err = repair_block(s, cx, &fixes[i], n - i);
	}
	return err;
}

/* What the findings of a snapshot say of an inode, in place of its names. */
#define MISSED 1u	/* it has lost a name */
#define CROWDED 2u	/* it has one too many, or should have none */

static bool is_marked(struct pastnames *s, uint64_t ino, uint16_t mark)
{
	struct inodelist_row row = inodelist_find(&s->e.list, ino);

	return row.chunk && row.chunk->names[row.at] == mark;
}

static void mark_inode(struct pastnames *s, uint64_t ino, uint16_t mark)
{
	struct inodelist_row row = inodelist_find(&s->e.list, ino);

	if (row.chunk)
		row.chunk->names[row.at] = mark;
}

static void mark_all(struct pastnames *s, const struct fix *fixes, size_t n,
		     uint64_t cno)
{
	size_t i;

	mark_inode(s, NILFS_SKETCH_INO, CROWDED);
	for (i = 0; i < n; i++) {
		if (fixes[i].place.cno != cno)
			continue;
		if (fixes[i].rule == RULE_INODE_UNREACHABLE)
			mark_inode(s, fixes[i].place.ino, MISSED);
		else if (fixes[i].rule == RULE_INODE_LINKS_NAMES &&
			 fixes[i].want > fixes[i].got)
			mark_inode(s, fixes[i].place.ino, CROWDED);
	}
}

/* Whether INO lacks a name and has the type that entry E says. */
static bool could_be(void *arg, const struct dirent_entry *e, uint64_t ino)
{
	struct pastnames *s = arg;
	struct inodelist_row row = inodelist_find(&s->e.list, ino);

	return is_marked(s, ino, MISSED) &&
	       (row.chunk->kind[row.at] & INODELIST_TYPE) == e->type;
}

/* The inode that entry E must have named: 1, 0. */
static int find_target(struct pastnames *s, struct context *cx,
		       const struct dirent_entry *e, uint64_t *ino)
{
	int ret = othernames_find(&s->e.o, cx, s->e.ino, e, could_be, s, ino);

	if (ret || e->ino != NILFS_SKETCH_INO || s->e.nmissed != 1)
		return ret;
	*ino = s->e.missed;
	return could_be(s, e, *ino);
}

static int retarget_entry(struct pastnames *s, struct context *cx,
			  const struct dirent_entry *e)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	uint64_t ino = 0;
	int ret = find_target(s, cx, e, &ino);

	if (ret > 0)
		ret = find_block(s, cx);
	if (ret <= 0)
		return ret;
	((struct nilfs_dir_entry *)(s->e.block + e->offset))->inode =
		le64_make(ino);
	mark_inode(s, ino, 0);
	text_escape(text, sizeof(text), e->name, e->name_len);
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %" PRIu64
		    ": '%s' names inode %" PRIu64 " again, not %" PRIu64,
		    s->e.root.cno, s->e.ino, text, ino, e->ino);
	return 0;
}

static int retarget_block(void *arg, struct context *cx,
			  const struct blockbatch_item *item, const void *data,
			  int err)
{
	struct pastnames *s = arg;
	struct dirent_entry e;
	struct dirent_iter it;
	int ret = 0;

	if (!data)
		return damage_forgive(cx, err);
	s->e.ino = s->e.list.dirs[item->owner].ino;
	s->e.blkoff = item->blkoff;
	dirent_iter_init(&it, data, s->e.block_size);
	while (!ret && dirent_iter_next(&it, &e))
		if (e.ino && is_marked(s, e.ino, CROWDED))
			ret = retarget_entry(s, cx, &e);
	return ret;
}

/* Entries of snapshot CNO, of which inodes are missed. */
static int retarget_all(struct pastnames *s, struct context *cx,
			const struct fix *fixes, size_t n, uint64_t cno)
{
	int ret = open_snapshot(s, cx, cno);

	if (ret <= 0)
		return ret;
	count_missed(s, fixes, n, cno);
	mark_all(s, fixes, n, cno);
	return dirread_run(&s->e.root, cx, &s->e.list, 0, s->e.list.ndirs,
			   retarget_block, s);
}

typedef int pastnames_each(struct pastnames *s, struct context *cx,
			   const struct fix *fixes, size_t n, uint64_t cno);

/* Snapshots with inodes that nothing names. */
static int for_missed(struct pastnames *s, struct context *cx,
		      const struct fix *fixes, size_t n, pastnames_each *each)
{
	uint64_t done = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		uint64_t cno = fixes[i].place.cno;

		if (fixes[i].rule != RULE_INODE_UNREACHABLE || cno == done ||
		    !cno || cno == s->vol->latest.cno)
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
	int err = for_missed(s, cx, fixes, n, retarget_all);

	s->e.root.vol = NULL;
	if (!err && !s->p->n)
		err = repair_all(s, cx, fixes, n);
	s->e.root.vol = NULL;
	if (!err && !s->p->n)
		err = for_missed(s, cx, fixes, n, name_in_root);
	return err;
}

int pastnames_repair(struct pastblocks *p, struct context *cx,
		     const struct fix *fixes, size_t n)
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
		err = run_steps(&s, cx, fixes, n);
	inodelist_fini(&s.e.list);
	around_close(&s.e.o.around);
	free(s.e.other);
	return err;
}
