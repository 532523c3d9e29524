// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ifile of a state, block by block, and the inodes in it.
 *
 * Checkpoints share most blocks of their ifiles.  One that was compared without
 * a difference is not compared again in the next checkpoint; and where the
 * repair moved nothing, a block in its place needs no comparison at all.
 *
 * An inode that is empty, or makes no sense, may be what damage has left of
 * one: where the bitmap of the ifile has it in use, the logs are asked.
 *
 * Times, owner, permissions and flags are stored only in the inode.  So if a
 * repair took an inode from an older version of its block, these are old,
 * although content and links may have been updated.  The version of an inode is
 * found by comparison with all versions in the logs.
 *
 * The link count follows from the names, or the directories in it; a lower one
 * is a loss only if names were lost.
 */
#include "fsck/account/comparetree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/context.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/expected.h"
#include "fsck/account/sides.h"
#include "vol/root.h"

struct attributes {
	struct sides *s;
	const struct sides_state *state;
	const struct expected *e; /* of the ifile */
	const struct palloc_block *what;
	uint64_t blkoff, vblocknr; /* of the ifile; 0: not known */
	uint64_t before;	   /* where the block was; 0: not known */
	const char *inodes[2];	   /* of each side; NULL: could not be read */
	struct file *ifile;	   /* the one before, or NULL */
	bool is_stale; /* the one before is of an older checkpoint */
};

#define PERMISSIONS 07777u

/* Versions of a block that are compared at most. */
#define VERSIONS_MAX 64u

/* Where an inode is as it was. */
#define UNCHANGED UINT64_MAX

static const struct nilfs_inode *inode_at(const struct attributes *a,
					  const char *block, uint64_t i)
{
	return (const void *)(block + i * a->e->vol->geo.inode_size);
}

static uint16_t links_of(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count);
}

/* A type is what the names say, and the map of a device is its number. */
static bool is_same(const struct nilfs_inode *x, const struct nilfs_inode *y)
{
	const uint16_t mode = le16_get(x->i_mode) ^ le16_get(y->i_mode);

	return le64_get(x->i_ctime) == le64_get(y->i_ctime) &&
	       le64_get(x->i_mtime) == le64_get(y->i_mtime) &&
	       le32_get(x->i_ctime_nsec) == le32_get(y->i_ctime_nsec) &&
	       le32_get(x->i_mtime_nsec) == le32_get(y->i_mtime_nsec) &&
	       le32_get(x->i_uid) == le32_get(y->i_uid) &&
	       le32_get(x->i_gid) == le32_get(y->i_gid) &&
	       le32_get(x->i_flags) == le32_get(y->i_flags) &&
	       le64_get(x->i_xattr) == le64_get(y->i_xattr) &&
	       le32_get(x->i_generation) == le32_get(y->i_generation) &&
	       !(mode & PERMISSIONS) &&
	       (inode_has_bmap(y) ||
		le64_get(x->i_bmap[0]) == le64_get(y->i_bmap[0]));
}

/* The size of a directory follows from its blocks. */
static bool is_same_size(const struct nilfs_inode *x,
			 const struct nilfs_inode *y)
{
	return S_ISDIR(le16_get(y->i_mode)) ||
	       le64_get(x->i_size) == le64_get(y->i_size);
}

static bool is_of_user(const struct attributes *a, uint64_t i)
{
	return !inode_is_private(a->what->first + i);
}

/* Whether inode I exists after the repair, and differs. */
static bool is_changed(const struct attributes *a, uint64_t i)
{
	const struct nilfs_inode *before, *after = inode_at(a, a->inodes[1], i);

	if (!is_of_user(a, i))
		return false;
	before = inode_at(a, a->inodes[0], i);
	if (!links_of(after))
		return memcmp(before, after, sizeof(*after)) != 0;
	return !is_same(before, after) || !is_same_size(before, after);
}

/* Whether nothing of the block before is to be believed. */
static bool is_suspect(const struct attributes *a)
{
	uint64_t i, changed = a->s->foreign;

	if (!a->inodes[0] || a->is_stale)
		return true;
	for (i = 0; i < a->what->count; i++)
		changed += is_changed(a, i) ||
			   (is_of_user(a, i) && /* a file without links is one */
			    !links_of(inode_at(a, a->inodes[0], i)) &&
			    links_of(inode_at(a, a->inodes[1], i)));
	return changed > 1;
}

/* What the bitmap of IFILE, or NULL, says of inode INO: 1 in use, 0 free,
   negative if it cannot be read, or has not as many as its descriptor says. */
static int attributes_is_in_use(struct file *ifile, struct context *cx,
				uint64_t ino)
{
	const struct palloc *p = ifile ? &ifile->vol->ifile_palloc : NULL;
	bool used;

	if (ino == NILFS_ROOT_INO)
		return 1;
	if (ifile && file_is_counted(ifile, cx, p, palloc_group(p, ino)) && file_bit(ifile, cx, &ifile->vol->ifile_palloc, ino,
			      &used) > 0)
		return used;
	fail_clear(cx);
	return -ENOENT;
}

static bool is_version(const struct attributes *a, size_t i)
{
	const struct versions *v = &a->s->versions;

	return i < v->n && v->items[i].ino == NILFS_IFILE_INO &&
	       v->items[i].blkoff == a->blkoff;
}

/*
 * Whether the block before is, byte for byte, a version that another one has
 * replaced by the checkpoint.  Uses the buffers of the sides.
 */
static bool attributes_is_stale(const struct attributes *a, struct context *cx)
{
	const struct versions *v = &a->s->versions;
	const struct version *now = NULL, *one;
	unsigned int asked = 0;
	size_t i;

	if (!a->inodes[0] || !v->gathered)
		return false;
	for (i = versions_from(v, NILFS_IFILE_INO, a->blkoff);
	     is_version(a, i) && asked < VERSIONS_MAX; i++) {
		one = &v->items[i];
		if (one->blocknr == a->before && !now)
			now = one;
		if (!now || one->cno >= now->cno ||
		    one->vblocknr == now->vblocknr)
			continue;
		asked++;
		if (sides_read(a->s, cx, false, one->blocknr) &&
		    !memcmp(a->s->blocks[0], a->inodes[0],
			    a->s->before->geo.block_size))
			return true;
	}
	return false;
}

/* Sets FROM of the inodes whose attributes are those in version ONE, which is
   the NEWEST that the checkpoint can have had, or not. */
static void compare_version(const struct attributes *a,
			    const struct version *one, bool newest,
			    uint64_t *from)
{
	const struct nilfs_inode *then, *after;
	uint64_t i;

	for (i = 0; i < a->what->count; i++) {
		then = inode_at(a, a->s->blocks[0], i);
		after = inode_at(a, a->inodes[1], i);
		if (!from[i] && links_of(after) && is_same(then, after) &&
		    is_same_size(then, after))
			from[i] = newest || a->vblocknr == one->vblocknr
					  ? UNCHANGED : one->cno;
	}
}

/* Finds the versions, from the nearest on, that the inodes are from. */
static void find_origins(const struct attributes *a, struct context *cx,
			 bool later, uint64_t *from)
{
	const struct versions *v = &a->s->versions;
	unsigned int asked = 0;
	bool newest = !later;
	size_t i;

	for (i = versions_from(v, NILFS_IFILE_INO, a->blkoff);
	     is_version(a, i) && asked < VERSIONS_MAX; i++) {
		const struct version *one = &v->items[i];

		if ((one->cno > a->state->cno) != later)
			continue;
		if (one->blocknr != a->before) {
			asked++;
			if (sides_read(a->s, cx, false, one->blocknr))
				compare_version(a, one, newest, from);
		}
		newest = false;
	}
}

/* Inode I, now as in checkpoint FROM. */
static int lose_attribute(const struct attributes *a, struct context *cx,
			  uint64_t i, uint64_t from)
{
	const struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.ino = a->what->first + i,
		.last_ino = a->what->first + i,
		.from = from,
	};

	return sides_lose(a->s, cx, a->state, &loss, NULL, 0);
}

/* Names, or directories, that inode I had, where names were lost. */
static int compare_links(const struct attributes *a, struct context *cx,
			 uint64_t i)
{
	struct loss loss = {.kind = LOSS_LINKS, .ino = a->what->first + i};
	const struct nilfs_inode *after = inode_at(a, a->inodes[1], i);

	if (!a->inodes[0] || !a->s->lost_names)
		return 0;
	loss.offset = links_of(inode_at(a, a->inodes[0], i));
	loss.length = links_of(after);
	if (loss.offset == loss.length)
		return 0;
	if (loss.offset < loss.length && !S_ISDIR(le16_get(after->i_mode)))
		return 0;
	/* A directory for what has lost its name. */
	if (loss.ino == NILFS_ROOT_INO && loss.offset + 1 == loss.length)
		return 0;
	return sides_lose(a->s, cx, a->state, &loss, NULL, 0);
}

/*
 * Whether inode I has another map now, and what it led to was dead: the one
 * before was an older version, and its attributes are.
 */
static bool is_remapped(const struct attributes *a, struct context *cx,
			uint64_t i)
{
	const struct nilfs_inode *before, *after = inode_at(a, a->inodes[1], i);

	if (!a->inodes[0])
		return false;
	before = inode_at(a, a->inodes[0], i);
	return inode_has_bmap(before) && inode_has_bmap(after) &&
	       memcmp(before->i_bmap, after->i_bmap, sizeof(after->i_bmap)) &&
	       expected_is_dead(a->e, cx, bmap_first_ptr(before->i_bmap));
}

/* Inode I, of a block that is SUSPECT: 1 where it is a loss. */
static int compare_attribute(const struct attributes *a, struct context *cx,
			     uint64_t i, bool suspect, uint64_t from)
{
	if (!is_of_user(a, i) || !links_of(inode_at(a, a->inodes[1], i)) ||
	    !attributes_is_in_use(a->ifile, cx, a->what->first + i))
		return 0;
	if (from != UNCHANGED &&
	    (suspect || is_changed(a, i) || is_remapped(a, cx, i)))
		return lose_attribute(a, cx, i, from) ?: 1;
	return suspect ? 0 : compare_links(a, cx, i);
}

/*
 * Adds the inodes whose attributes have, or may have, changed.  If more than
 * one was changed, or refers to blocks of others, the whole block is treated as
 * another one.  1 if there is any, 0, -ENOMEM, -EINTR.
 */
static int attributes_compare(const struct attributes *a, struct context *cx)
{
	bool suspect, any = false;
	uint64_t *from, i;
	int ret = 0;

	if (!a->inodes[1])
		return 0;
	suspect = is_suspect(a);
	from = calloc(a->what->count, sizeof(*from));
	if (!from)
		return fail(cx, -ENOMEM, "origins of inodes");
	if (a->s->versions.gathered) {
		find_origins(a, cx, false, from);
		find_origins(a, cx, true, from);
	}
	for (i = 0; i < a->what->count && ret >= 0; i++) {
		ret = compare_attribute(a, cx, i, suspect, from[i]);
		any |= ret > 0;
	}
	free(from);
	return ret < 0 ? ret : any;
}

struct walk {
	struct comparetree *t;
	struct sides *s;
	const struct sides_state *state;
	struct expected e;
	struct file before; /* the ifile, unless e.inode is NULL */
	struct root after;
	char *inodes[2]; /* a block of each side */
	bool has[2];	 /* it could be read */
	bool has_inodes; /* the block before is one of inodes */
	bool is_stale;	 /* it is, but of an older checkpoint */
};

static const struct nilfs_inode *inode_in(const struct walk *w, int side,
					  uint32_t i)
{
	return (const void *)(w->inodes[side] +
			      (size_t)i * w->s->before->geo.inode_size);
}

static bool exists(const struct nilfs_inode *inode)
{
	return le16_get(inode->i_links_count);
}

static bool is_inode(const struct walk *w, const struct nilfs_inode *inode,
		     uint64_t ino)
{
	return exists(inode) &&
	       inode_check(&w->s->before->geo, inode, ino) == RULE_OK;
}

/* Whether the block before has any inode, or is not what it was. */
static bool has_inodes(const struct walk *w, const struct palloc_block *b)
{
	uint64_t i;

	for (i = 0; w->has[0] && i < b->count; i++)
		if (is_inode(w, inode_in(w, 0, (uint32_t)i), b->first + i))
			return true;
	return false;
}

static bool is_same_inode(const struct nilfs_inode *a,
			  const struct nilfs_inode *b)
{
	return !memcmp(a->i_bmap, b->i_bmap, sizeof(a->i_bmap)) &&
	       le64_get(a->i_size) == le64_get(b->i_size) &&
	       le16_get(a->i_mode) == le16_get(b->i_mode);
}

static struct file *ifile_of(struct walk *w)
{
	return w->e.inode ? &w->before : NULL;
}

/*
 * An inode that could not be read before, or was missing: IS_EMPTY says that it
 * has no links.
 */
static int compare_unknown(struct walk *w, struct context *cx, uint64_t ino,
			   bool is_empty, const struct nilfs_inode *after)
{
	const struct loss removed = {.kind = LOSS_REMOVED, .ino = ino};
	int in_use = attributes_is_in_use(ifile_of(w), cx, ino);

	if (!in_use || (in_use < 0 && is_empty && w->has_inodes))
		return 0;
	if (in_use > 0 && !after && (!w->has_inodes || !is_empty))
		return sides_lose(w->s, cx, w->state, &removed, NULL, 0);
	if (!w->s->versions.gathered)
		return sides_doubt(w->s, cx, ino, ino + 1);
	return comparefile_run(w->s, cx, w->state, ino, NULL, after);
}

static int compare_inode(struct walk *w, struct context *cx, uint64_t ino,
			 uint32_t i)
{
	const struct nilfs_inode *before = NULL, *after = NULL;

	if (w->has[0] && !w->is_stale && is_inode(w, inode_in(w, 0, i), ino))
		before = inode_in(w, 0, i);
	if (w->has[1] && exists(inode_in(w, 1, i)))
		after = inode_in(w, 1, i);
	if (!before)
		return compare_unknown(w, cx, ino,
				       w->has[0] && !exists(inode_in(w, 0, i)),
				       after);
	if (after && w->t->is_dat_same && is_same_inode(before, after))
		return 0;
	return comparefile_run(w->s, cx, w->state, ino, before, after);
}

static int compare_inodes(struct walk *w, struct context *cx,
			  const struct palloc_block *b)
{
	uint64_t i;
	int err = 0;

	w->has_inodes = has_inodes(w, b);
	for (i = 0; i < b->count && !err; i++)
		if (!inode_is_private(b->first + i))
			err = compare_inode(w, cx, b->first + i, (uint32_t)i);
	return err ? err : context_cancelled(cx);
}

static void read_inodes(struct walk *w, struct context *cx, int side,
			uint64_t blocknr)
{
	w->has[side] = blocknr && sides_read(w->s, cx, side, blocknr);
	if (w->has[side])
		memcpy(w->inodes[side], w->s->blocks[side],
		       w->s->before->geo.block_size);
}

/* A block that was corrected in its place is what it was written as. */
static void take_proven(struct walk *w, struct context *cx, uint64_t before,
			uint64_t after)
{
	if (!before || before != after || !w->has[1] ||
	    !sparse_test(&w->s->written, after) ||
	    !sides_is_proven(w->s, cx, after))
		return;
	memcpy(w->inodes[0], w->inodes[1], w->s->before->geo.block_size);
	w->has[0] = true;
}

/* Blocks of both sides that are the same block and were not written. */
static bool is_shared(const struct walk *w, uint64_t before, uint64_t after)
{
	return before && before == after &&
	       !sparse_test(&w->s->written, before);
}

static void mark_clean(struct walk *w, struct context *cx, uint64_t blocknr)
{
	if (sparse_add(&w->t->clean, cx, blocknr) < 0)
		fail_clear(cx);
}

/* Whether BEFORE, which looks like an older version, is one. */
static bool is_stale(struct walk *w, struct context *cx,
		     const struct attributes *a)
{
	return attributes_is_stale(a, cx) &&
	       (!w->has[1] || w->s->contradicted ||
		memcmp(w->inodes[0], w->inodes[1],
		       w->s->before->geo.block_size) ||
		!sides_is_proven(w->s, cx, a->before));
}

/* Whether no inode is left in the block before, nor a bitmap to be believed. */
static bool is_all_lost(struct walk *w, struct context *cx,
			const struct palloc_block *what)
{
	const struct palloc *p = &w->s->before->ifile_palloc;
	bool lost = w->has[0] && ifile_of(w);
	uint32_t i;

	for (i = 0; lost && i < what->count; i++)
		lost = inode_is_private(what->first + i) ||
		       inode_is_empty(inode_in(w, 0, i));
	return lost && !file_is_counted(ifile_of(w), cx, p, what->group);
}

/* The inodes of block B, at BEFORE, on both sides. */
static int compare_block(struct walk *w, struct context *cx,
			 const struct expected_block *b, uint64_t before,
			 const struct palloc_block *what)
{
	struct attributes a = {
		.s = w->s,
		.state = w->state,
		.e = &w->e,
		.what = what,
		.blkoff = b->blkoff,
		.vblocknr = b->vblocknr,
		.before = before,
		.ifile = ifile_of(w),
		.inodes = {w->has[0] ? w->inodes[0] : NULL,
			   w->has[1] ? w->inodes[1] : NULL},
	};
	int ret;

	w->is_stale = a.is_stale = is_stale(w, cx, &a);
	w->s->losses->incomplete |= is_all_lost(w, cx, what);
	w->s->foreign = 0;
	ret = compare_inodes(w, cx, what);
	if (!ret)
		ret = attributes_compare(&a, cx);
	if (ret > 0 || (!ret && w->s->contradicted))
		ret = sides_doubt(w->s, cx, NILFS_IFILE_INO,
				  NILFS_IFILE_INO + 1);
	return ret;
}

static int visit_block(void *arg, struct context *cx,
		       const struct expected_block *b)
{
	struct walk *w = arg;
	bool doubts = w->s->doubts;
	uint64_t n = losslist_count(w->s->losses), before, after;
	struct palloc_block inodes;
	int ret;

	palloc_locate(&w->s->before->ifile_palloc, b->blkoff, &inodes);
	if (inodes.kind != PALLOC_ENTRIES)
		return 0;
	ret = comparefile_after(cx, &w->after.ifile, b->blkoff, &after);
	if (ret < 0)
		return damage_is(ret) ? 0 : ret;
	before = comparefile_settle(w->s, cx, &w->e, b, after);
	if (is_shared(w, before, after) &&
	    (w->t->is_dat_same || sparse_test(&w->t->clean, before)))
		return 0;
	read_inodes(w, cx, 0, before);
	read_inodes(w, cx, 1, after);
	take_proven(w, cx, before, after);
	w->s->doubts = false;
	if (!w->has[0] || (before != after && !w->t->is_dat_same))
		ret = sides_doubt(w->s, cx, NILFS_IFILE_INO,
				  NILFS_IFILE_INO + 1);
	if (ret >= 0)
		ret = compare_block(w, cx, b, before, &inodes);
	if (!ret && !w->s->doubts && is_shared(w, before, after) &&
	    n == losslist_count(w->s->losses))
		mark_clean(w, cx, before);
	w->s->doubts |= doubts;
	return ret;
}

/* Where the ifile could not be read: the inodes that are there. */
static int doubt_inodes(struct walk *w, struct context *cx)
{
	const struct palloc *p = &w->s->before->ifile_palloc;
	struct palloc_block first, last = {.first = UINT64_MAX};
	int err = sides_doubt(w->s, cx, NILFS_IFILE_INO, NILFS_IFILE_INO + 1);

	palloc_locate(p, w->e.doubt_first, &first);
	if (palloc_has_block(p, w->e.doubt_end))
		palloc_locate(p, w->e.doubt_end, &last);
	if (first.kind != PALLOC_ENTRIES)
		first.first = 0;
	return err ? err : sides_doubt(w->s, cx, first.first, last.first);
}

static int compare_ifiles(struct walk *w, struct context *cx, uint64_t after)
{
	uint32_t size = w->s->before->geo.block_size;
	int err = root_open(&w->after, cx, w->s->after, after);

	w->s->losses->incomplete |= err != 0;
	w->inodes[0] = malloc(size);
	w->inodes[1] = malloc(size);
	if (!err && (!w->inodes[0] || !w->inodes[1]))
		err = fail(cx, -ENOMEM, "block of inodes");
	if (!err)
		err = expected_run(&w->e, cx);
	if (!err && w->e.doubt)
		err = doubt_inodes(w, cx);
	free(w->inodes[0]);
	free(w->inodes[1]);
	return damage_forgive(cx, err);
}

int comparetree_run(struct comparetree *t, struct context *cx,
		    const struct sides_state *state,
		    const struct nilfs_inode *ifile, uint64_t after)
{
	struct walk w = {.t = t, .s = t->s, .state = state};

	if (ifile &&
	    file_init(&w.before, cx, t->s->before, NILFS_IFILE_INO, ifile)) {
		fail_clear(cx);
		ifile = NULL;
	}
	w.e = comparefile_walk(t->s, state, NILFS_IFILE_INO, ifile);
	w.e.visit = visit_block;
	w.e.arg = &w;
	return compare_ifiles(&w, cx, after);
}
