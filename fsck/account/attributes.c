// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The attributes of inodes, and from which version of their block they are.
 *
 * Times, owner, permissions and flags are stored only in the inode.  So if a
 * repair took an inode from an older version of its block, these are old,
 * although content and links may have been updated.  The version of an inode is
 * found by comparison with all versions in the logs.
 *
 * The link count follows from the names, or the directories in it; another one
 * is a loss only if names were lost.
 */
#include "fsck/account/attributes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"

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

	if (a->is_proven)
		return false;
	if (!a->inodes[0] || a->is_stale)
		return true;
	for (i = 0; i < a->what->count; i++)
		changed += is_changed(a, i) ||
			   (is_of_user(a, i) && /* a file without links is one */
			    !links_of(inode_at(a, a->inodes[0], i)) &&
			    links_of(inode_at(a, a->inodes[1], i)));
	return changed > 1;
}

int attributes_is_in_use(struct file *ifile, struct context *cx,
				uint64_t ino)
{
	const struct palloc *p = ifile ? &ifile->vol->ifile_palloc : NULL;
	bool used;

	if (ino == NILFS_ROOT_INO)
		return 1;
	if (ifile && file_is_counted(ifile, cx, p, palloc_group(p, ino)) &&
	    file_bit(ifile, cx, p, ino, &used) > 0)
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

bool attributes_is_stale(const struct attributes *a, struct context *cx)
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

/*
 * The versions on both sides of the one that the checkpoint had, of those with
 * other content.
 */
static void find_neighbours(const struct attributes *a,
			    const struct version **earlier,
			    const struct version **later)
{
	const struct versions *v = &a->s->versions;
	size_t i = versions_from(v, NILFS_IFILE_INO, a->blkoff);

	*earlier = *later = NULL;
	for (; is_version(a, i) && !*earlier; i++) {
		const struct version *one = &v->items[i];

		if (one->cno > a->state->cno)
			*later = one;
		else if (one->blocknr != a->before &&
			 (!a->vblocknr || one->vblocknr != a->vblocknr))
			*earlier = one;
	}
}

static bool is_same_in_all(const struct nilfs_inode *earlier,
			   const struct nilfs_inode *later,
			   const struct nilfs_inode *after)
{
	return links_of(after) && is_same(earlier, later) &&
	       is_same_size(earlier, later) && is_same(later, after) &&
	       is_same_size(later, after);
}

/*
 * Every change of an attribute sets the time of change.  So what an earlier and
 * a later version have in common, with that time, the one between them had.
 */
static void compare_neighbours(const struct attributes *a, struct context *cx,
			       uint64_t *from)
{
	const struct version *earlier, *later;
	uint64_t i;

	find_neighbours(a, &earlier, &later);
	if (!earlier || !later || !sides_read(a->s, cx, false, later->blocknr))
		return;
	memcpy(a->s->blocks[1], a->s->blocks[0], a->e->vol->geo.block_size);
	if (!sides_read(a->s, cx, false, earlier->blocknr))
		return;
	for (i = 0; i < a->what->count; i++)
		if (is_same_in_all(inode_at(a, a->s->blocks[0], i),
				   inode_at(a, a->s->blocks[1], i),
				   inode_at(a, a->inodes[1], i)))
			from[i] = UNCHANGED;
}

/*
 * Whether inode I is in use after the repair, and not as in THEN, another
 * version.  A count of blocks is not compared: only the repair may have it right.
 */
static bool is_own(const struct attributes *a, struct context *cx, uint64_t i,
		   const struct nilfs_inode *then)
{
	const struct nilfs_inode *after = inode_at(a, a->inodes[1], i);

	if (!is_of_user(a, i) || !links_of(after) ||
	    !attributes_is_in_use(a->ifile, cx, a->what->first + i))
		return false;
	return !then || !is_same(then, after) || !is_same_size(then, after) ||
	       memcmp(then->i_bmap, after->i_bmap, sizeof(then->i_bmap)) != 0;
}

/* When files were deleted: up to inode UNTIL at the first time, then the other. */
struct deletion {
	struct nilfs_inode times[2]; /* of change */
	bool are_known;
	uint64_t until;
};

/* INODE as nilfs_evict_inode() leaves it: the time is that of nilfs_unlink(). */
static void delete_inode(struct nilfs_inode *inode,
			 const struct nilfs_inode *time)
{
	inode->i_blocks = le64_make(0);
	inode->i_links_count = le16_make(0);
	inode->i_flags = le32_make(0);
	inode->i_ctime = time->i_ctime;
	inode->i_ctime_nsec = time->i_ctime_nsec;
}

/*
 * Takes the block after the repair into the second buffer, and what is not its
 * own from OTHER, a version, or NULL: zeros.
 */
static const char *fill_unused(const struct attributes *a, struct context *cx,
			       const char *other, const struct deletion *d)
{
	uint32_t size = a->e->vol->geo.inode_size;
	char *block = a->s->blocks[1];
	struct nilfs_inode *inode;
	uint64_t i;

	memcpy(block, a->inodes[1], a->e->vol->geo.block_size);
	for (i = 0; i < a->what->count; i++) {
		if (is_own(a, cx, i, other ? inode_at(a, other, i) : NULL))
			continue;
		inode = (void *)(block + i * size);
		if (!other) {
			memset(inode, 0, size);
			continue;
		}
		memcpy(inode, other + i * size, size);
		if (d->are_known && links_of(inode) && is_of_user(a, i) &&
		    !attributes_is_in_use(a->ifile, cx, a->what->first + i))
			delete_inode(inode, &d->times[i >= d->until]);
	}
	return block;
}

/* The last file that was deleted in block BLKOFF of the ifile, or the FIRST. */
static bool find_deleted(const struct attributes *a, struct context *cx,
			 uint64_t blkoff, bool first, struct nilfs_inode *found)
{
	const struct nilfs_inode *inode;
	uint64_t blocknr, i;
	bool any = false;

	if (!a->ifile || file_lookup(a->ifile, cx, blkoff, &blocknr) <= 0 ||
	    !sides_read(a->s, cx, false, blocknr)) {
		fail_clear(cx);
		return false;
	}
	for (i = 0; i < a->what->count && !(any && first); i++) {
		inode = inode_at(a, a->s->blocks[0], i);
		if (links_of(inode) || !le64_get(inode->i_ctime))
			continue;
		*found = *inode;
		any = true;
	}
	return any;
}

/*
 * Files that were deleted together have the same time, or times that follow each
 * other as the inodes do: the blocks on both sides have them.
 */
static void find_deletion(const struct attributes *a, struct context *cx,
			  struct deletion *d)
{
	bool before = a->blkoff && find_deleted(a, cx, a->blkoff - 1, false,
						&d->times[0]);
	bool after = find_deleted(a, cx, a->blkoff + 1, true, &d->times[1]);

	d->are_known = before || after;
	if (!before)
		d->times[0] = d->times[1];
	if (!after)
		d->times[1] = d->times[0];
}

/* Whether the block was like OTHER, a version, in what is not its own now. */
static const char *try_version(const struct attributes *a, struct context *cx,
			       const struct version *other, uint64_t pseg)
{
	struct deletion d = {.are_known = false};
	const char *block;
	uint64_t most;

	if (!other)
		return NULL;
	find_deletion(a, cx, &d);
	if (!sides_read(a->s, cx, false, other->blocknr))
		return NULL;
	most = d.are_known ? a->what->count : 0;
	for (; d.until <= most; d.until++) {
		block = fill_unused(a, cx, a->s->blocks[0], &d);
		if (sides_was(a->s, cx, pseg, a->before, block))
			return block;
	}
	return NULL;
}

const char *attributes_find(const struct attributes *a, struct context *cx)
{
	const struct version *earlier, *later;
	const char *block = a->inodes[1];
	uint64_t pseg;

	if (!sides_wrong_log(a->s, cx, a->before, &pseg))
		return NULL;
	if (sides_was(a->s, cx, pseg, a->before, block))
		return block;
	block = fill_unused(a, cx, NULL, NULL);
	if (sides_was(a->s, cx, pseg, a->before, block))
		return block;
	find_neighbours(a, &earlier, &later);
	block = try_version(a, cx, earlier, pseg);
	return block ? block : try_version(a, cx, later, pseg);
}

/* Inode I, now as in checkpoint FROM; IS_UNSURE: perhaps as it was. */
static int lose_attribute(const struct attributes *a, struct context *cx,
			  uint64_t i, uint64_t from, bool is_unsure)
{
	const struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.ino = a->what->first + i,
		.last_ino = a->what->first + i,
		.from = from,
		.is_unsure = is_unsure,
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
	bool is_changed_now;

	if (!is_of_user(a, i) || !links_of(inode_at(a, a->inodes[1], i)) ||
	    !attributes_is_in_use(a->ifile, cx, a->what->first + i))
		return 0;
	is_changed_now = !suspect && is_changed(a, i);
	if (from != UNCHANGED &&
	    (suspect || is_changed_now || is_remapped(a, cx, i)))
		return lose_attribute(a, cx, i, from, !is_changed_now ||
				      !links_of(inode_at(a, a->inodes[0], i))) ?: 1;
	return suspect ? 0 : compare_links(a, cx, i);
}

int attributes_compare(const struct attributes *a, struct context *cx)
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
		compare_neighbours(a, cx, from);
	}
	for (i = 0; i < a->what->count && ret >= 0; i++) {
		ret = compare_attribute(a, cx, i, suspect, from[i]);
		any |= ret > 0;
	}
	free(from);
	return ret < 0 ? ret : any;
}
