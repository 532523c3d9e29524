// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in snapshots that lead to a wrong inode, or are one too many.
 *
 * A changed inode number in an entry leaves one inode without a name, and gives
 * another one too many, or a name to inode 10, which mkfs.nilfs2 makes and
 * nothing names.  The same name in another checkpoint says which inode it was.
 *
 * An older version of a block has names that were removed since.  Those of
 * files that still exist give these more names than links.
 */
#include "fsck/names/pastlinks.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"

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

/* Whether no entry may have the number that entry E has. */
static bool is_reserved(const struct dirent_entry *e)
{
	return dirent_check(e) == RULE_DIR_PRIVATE_INO;
}

/* The inode that entry E must have named: 1, 0. */
static int find_target(struct pastnames *s, struct context *cx,
		       const struct dirent_entry *e, uint64_t *ino)
{
	int ret = othernames_find(&s->e.o, cx, s->e.ino, e, could_be, s, ino);

	if (ret || !is_reserved(e) || s->e.nmissed != 1)
		return ret;
	*ino = s->e.missed;
	return could_be(s, e, *ino);
}

static int retarget_entry(struct pastnames *s, struct context *cx,
			  const struct dirent_entry *e)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	uint64_t ino = 0;
	int ret = is_reserved(e) || is_marked(s, e->ino, CROWDED) ?
			  find_target(s, cx, e, &ino) : 0;

	if (ret > 0)
		ret = pastnames_block(s, cx);
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

/* Whether FIX says that an inode of snapshot CNO has more names than links. */
static bool is_crowded(struct pastnames *s, const struct fix *fix, uint64_t cno)
{
	struct inodelist_row row = inodelist_find(&s->e.list, fix->place.ino);

	return fix->rule == RULE_INODE_LINKS_NAMES && fix->want > fix->got &&
	       fix->place.cno == cno && row.chunk &&
	       !inodelist_is_dir(row.chunk->kind[row.at]);
}

static int remove_entry(struct pastnames *s, struct context *cx,
			const struct dirent_entry *e)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	int ret = pastnames_block(s, cx);

	if (ret <= 0)
		return ret;
	((struct nilfs_dir_entry *)(s->e.block + e->offset))->inode =
		le64_make(0);
	text_escape(text, sizeof(text), e->name, e->name_len);
	fixers_note(s->p->job, "checkpoint %" PRIu64 ": directory %" PRIu64
		    ": removed '%s' of inode %" PRIu64, s->e.root.cno, s->e.ino,
		    text, e->ino);
	return 0;
}

/*
 * Whether the current block is one that an older checkpoint has in another
 * place: nothing is written again that has not changed.  1, 0.
 */
static int is_older(struct pastnames *s, struct context *cx)
{
	size_t n = s->p->n;
	int ret = pastnames_block(s, cx), older = 0;

	if (ret <= 0)
		return ret;
	if (s->p->n > n)
		pastblocks_drop(s->p, s->e.where.vblocknr);
	pastentry_ask(&s->e);
	while (!older && (ret = pastentry_next(&s->e, cx)) > 0)
		older = s->e.o.then.cno < s->e.where.life.start &&
			!memcmp(s->e.other, s->data, s->e.block_size);
	return ret < 0 ? ret : older;
}

/*
 * Counts entry E if it may be one too many, or removes it if all are known.  In
 * place of the number of names of such an inode stands 1 and how many of those
 * that are one too many are still to be found.
 */
static int judge_entry(struct pastnames *s, struct context *cx,
		       const struct dirent_entry *e)
{
	struct inodelist_row row = inodelist_find(&s->e.list, e->ino);
	uint16_t *left = row.chunk ? &row.chunk->names[row.at] : NULL;
	int ret;

	if (!left || !*left || (s->all_counted && *left > 1))
		return 0;
	ret = is_older(s, cx);
	if (ret > 0 && s->all_counted)
		return remove_entry(s, cx, e);
	/* With too many of them it is not known which. */
	*left = (uint16_t)(*left - (ret > 0));
	return ret < 0 ? ret : 0;
}

static int visit_entries(void *arg, struct context *cx,
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
	s->data = data;
	dirent_iter_init(&it, data, s->e.block_size);
	while (!ret && dirent_iter_next(&it, &e))
		if (e.ino)
			ret = s->each_entry(s, cx, &e);
	return ret;
}

static int read_names(struct pastnames *s, struct context *cx,
		      int (*each)(struct pastnames *s, struct context *cx,
				  const struct dirent_entry *e))
{
	s->each_entry = each;
	return dirread_run(&s->e.root, cx, &s->e.list, 0, s->e.list.ndirs,
			   visit_entries, s);
}

int pastlinks_turn(struct pastnames *s, struct context *cx,
		   const struct fix *fixes, size_t n, uint64_t cno)
{
	int ret = pastnames_open(s, cx, cno);

	if (ret <= 0)
		return ret;
	pastnames_count(s, fixes, n, cno);
	mark_all(s, fixes, n, cno);
	return read_names(s, cx, retarget_entry);
}

int pastlinks_remove(struct pastnames *s, struct context *cx,
		     const struct fix *fixes, size_t n, uint64_t cno)
{
	int ret = pastnames_open(s, cx, cno);
	size_t i;

	if (ret <= 0)
		return ret;
	for (i = 0; i < n; i++)
		if (is_crowded(s, &fixes[i], cno))
			mark_inode(s, fixes[i].place.ino,
				   (uint16_t)(1 + fixes[i].want - fixes[i].got));
	s->all_counted = false;
	ret = read_names(s, cx, judge_entry);
	s->all_counted = true;
	return ret ? ret : read_names(s, cx, judge_entry);
}
