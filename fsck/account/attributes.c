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

bool attributes_is_stale(const struct attributes *a, struct context *cx)
{
	const struct versions *v = &a->s->versions;
	const struct version *now = NULL, *one;
	unsigned int asked = 0;
	size_t i;

	if (!a->inodes[0] || !v->gathered)
		return false;
	for (i = versions_from(v, NILFS_IFILE_INO, a->blkoff);
	     asked < VERSIONS_MAX &&
	     (one = versions_at(v, i, NILFS_IFILE_INO, a->blkoff)); i++) {
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

/*
 * Finds the versions, from the nearest on, that the inodes are from.  Those in the
 * newest one that the checkpoint can have had are as they were.
 */
static void find_origins(const struct attributes *a, struct context *cx,
			 bool later, uint64_t *from)
{
	const struct versions *v = &a->s->versions;
	const struct nilfs_inode *then, *after;
	const struct version *one;
	unsigned int asked = 0;
	bool newest = !later, is_same_one;
	size_t at;
	uint64_t i;

	for (at = versions_from(v, NILFS_IFILE_INO, a->blkoff);
	     asked < VERSIONS_MAX &&
	     (one = versions_at(v, at, NILFS_IFILE_INO, a->blkoff)); at++) {
		if ((one->cno > a->state->cno) != later)
			continue;
		is_same_one = newest || a->vblocknr == one->vblocknr;
		newest = false;
		if (one->blocknr == a->before)
			continue;
		asked++;
		if (!sides_read(a->s, cx, false, one->blocknr))
			continue;
		for (i = 0; i < a->what->count; i++) {
			then = inode_at(a, a->s->blocks[0], i);
			after = inode_at(a, a->inodes[1], i);
			if (!from[i] && links_of(after) &&
			    is_same(then, after) && is_same_size(then, after))
				from[i] = is_same_one ? UNCHANGED : one->cno;
		}
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
	const struct version *one;

	*earlier = *later = NULL;
	for (; !*earlier &&
	       (one = versions_at(v, i, NILFS_IFILE_INO, a->blkoff)); i++) {
		if (one->cno > a->state->cno)
			*later = one;
		else if (one->blocknr != a->before &&
			 (!a->vblocknr || one->vblocknr != a->vblocknr))
			*earlier = one;
	}
}

/*
 * Every change of an attribute sets the time of change.  So what an earlier and
 * a later version have in common, with that time, the one between them had.
 */
static void compare_neighbours(const struct attributes *a, struct context *cx,
			       uint64_t *from)
{
	const struct nilfs_inode *then, *next, *after;
	const struct version *earlier, *later;
	uint64_t i;

	find_neighbours(a, &earlier, &later);
	if (!earlier || !later || !sides_read(a->s, cx, false, later->blocknr))
		return;
	memcpy(a->s->blocks[1], a->s->blocks[0], a->e->vol->geo.block_size);
	if (!sides_read(a->s, cx, false, earlier->blocknr))
		return;
	for (i = 0; i < a->what->count; i++) {
		then = inode_at(a, a->s->blocks[0], i);
		next = inode_at(a, a->s->blocks[1], i);
		after = inode_at(a, a->inodes[1], i);
		if (links_of(after) && is_same(then, next) &&
		    is_same_size(then, next) && is_same(next, after) &&
		    is_same_size(next, after))
			from[i] = UNCHANGED;
	}
}

/* When files were deleted: up to inode UNTIL at the first time, then the other. */
struct deletion {
	struct nilfs_inode times[2]; /* of change */
	bool are_known;
	uint64_t until;
};

/*
 * Takes the block after the repair into the second buffer, and what is not its
 * own from OTHER, a version, or NULL: zeros.  Its own are inodes in use that are
 * not as in OTHER; a count of blocks is not compared, which only the repair may
 * have right.
 */
static const char *fill_unused(const struct attributes *a, struct context *cx,
			       const char *other, const struct deletion *d)
{
	uint32_t size = a->e->vol->geo.inode_size;
	const struct nilfs_inode *then, *time;
	char *block = a->s->blocks[1];
	struct nilfs_inode *inode;
	bool is_used;
	uint64_t i;

	memcpy(block, a->inodes[1], a->e->vol->geo.block_size);
	for (i = 0; i < a->what->count; i++) {
		inode = (void *)(block + i * size);
		then = other ? inode_at(a, other, i) : NULL;
		is_used = !is_of_user(a, i) ||
			  attributes_is_in_use(a->ifile, cx, a->what->first + i);
		if (is_of_user(a, i) && is_used && links_of(inode) &&
		    (!then || !is_same(then, inode) ||
		     !is_same_size(then, inode) ||
		     memcmp(then->i_bmap, inode->i_bmap, sizeof(then->i_bmap))))
			continue;
		if (!then) {
			memset(inode, 0, size);
			continue;
		}
		memcpy(inode, then, size);
		if (!d->are_known || !links_of(inode) || is_used)
			continue;
		/* As nilfs_evict_inode() leaves it: the time is that of
		   nilfs_unlink(). */
		time = &d->times[i >= d->until];
		inode->i_blocks = le64_make(0);
		inode->i_links_count = le16_make(0);
		inode->i_flags = le32_make(0);
		inode->i_ctime = time->i_ctime;
		inode->i_ctime_nsec = time->i_ctime_nsec;
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
 * Whether the block was like OTHER, a version, in what is not its own now.  Files
 * that were deleted together have the same time, or times that follow each other
 * as the inodes do: the blocks on both sides have them.
 */
static const char *try_version(const struct attributes *a, struct context *cx,
			       const struct version *other, uint64_t pseg)
{
	struct deletion d = {.are_known = false};
	bool before, after;
	const char *block;
	uint64_t most;

	if (!other)
		return NULL;
	before = a->blkoff &&
		 find_deleted(a, cx, a->blkoff - 1, false, &d.times[0]);
	after = find_deleted(a, cx, a->blkoff + 1, true, &d.times[1]);
	d.are_known = before || after;
	if (!before)
		d.times[0] = d.times[1];
	if (!after)
		d.times[1] = d.times[0];
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

/*
 * Inode I, of a block that is SUSPECT, which is as in checkpoint FROM: 1 where its
 * attributes are a loss.  If not, the link count may be, where names were lost.
 */
static int compare_attribute(const struct attributes *a, struct context *cx,
			     uint64_t i, bool suspect, uint64_t from)
{
	struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.ino = a->what->first + i,
		.last_ino = a->what->first + i,
		.from = from,
	};
	const struct nilfs_inode *before, *after = inode_at(a, a->inodes[1], i);
	bool changed, remapped;

	if (!is_of_user(a, i) || !links_of(after) ||
	    !attributes_is_in_use(a->ifile, cx, loss.ino))
		return 0;
	before = a->inodes[0] ? inode_at(a, a->inodes[0], i) : NULL;
	changed = !suspect && is_changed(a, i);
	/* What the map led to was dead: it was an older version, as attributes are. */
	remapped = before && inode_has_bmap(before) && inode_has_bmap(after) &&
		   memcmp(before->i_bmap, after->i_bmap,
			  sizeof(after->i_bmap)) &&
		   expected_is_dead(a->e, cx, bmap_first_ptr(before->i_bmap));
	if (from != UNCHANGED && (suspect || changed || remapped)) {
		loss.is_unsure = !changed || !links_of(before);
		return sides_lose(a->s, cx, a->state, &loss, NULL, 0) ?: 1;
	}
	if (suspect || !before || !a->s->lost_names ||
	    links_of(before) == links_of(after))
		return 0;
	loss = (struct loss){
		.kind = LOSS_LINKS,
		.ino = loss.ino,
		.offset = links_of(before),
		.length = links_of(after),
	};
	/* A directory for what has lost its name. */
	if (loss.ino == NILFS_ROOT_INO && loss.offset + 1 == loss.length)
		return 0;
	return sides_lose(a->s, cx, a->state, &loss, NULL, 0);
}

int attributes_compare(const struct attributes *a, struct context *cx)
{
	uint64_t *from, i, changed = a->s->foreign;
	bool suspect, any = false;
	int ret = 0;

	if (!a->inodes[1])
		return 0;
	/* Whether nothing of the block before is to be believed: it is none, or has
	   changed in more than one inode, a file without links being one. */
	for (i = 0; a->inodes[0] && i < a->what->count; i++)
		changed += is_changed(a, i) ||
			   (is_of_user(a, i) &&
			    !links_of(inode_at(a, a->inodes[0], i)) &&
			    links_of(inode_at(a, a->inodes[1], i)));
	suspect = !a->is_proven &&
		  (!a->inodes[0] || a->is_stale || changed > 1);
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
