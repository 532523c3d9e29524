// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The attributes of inodes, and the version of the block that they come from.
 *
 * Times, owner, permissions and flags are stored only in the inode. If a repair
 * took an inode from an older version of its block, these attributes are old,
 * although content and links may have been updated. The version of an inode is
 * found by comparison with all versions in the logs.
 *
 * The link count follows from the names, or from the directories in the inode;
 * a different count is a loss only if names were lost.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"

#define PERMISSIONS 07777u

/* The maximum number of versions of a block that are compared. */
#define VERSIONS_MAX 64u

/* The origin of an inode without changes. */
#define UNCHANGED UINT64_MAX

/*
 * Whether X and Y have the same attributes. The type follows from the names,
 * the map of a device node is its number, and the size of a directory follows
 * from its blocks.
 */
static bool has_same_attributes(const struct nilfs_inode *x, const struct nilfs_inode *y)
{
	const uint16_t mode = le16_get(x->i_mode) ^ le16_get(y->i_mode);

	/* Times, user and group. */
	return !memcmp(&x->i_ctime, &y->i_ctime, offsetof(struct nilfs_inode, i_mode) -
		       offsetof(struct nilfs_inode, i_ctime)) &&
	       le32_get(x->i_flags) == le32_get(y->i_flags) &&
	       le64_get(x->i_xattr) == le64_get(y->i_xattr) &&
	       le32_get(x->i_generation) == le32_get(y->i_generation) &&
	       !(mode & PERMISSIONS) &&
	       (inode_has_bmap(y) ||
		le64_get(x->i_bmap[0]) == le64_get(y->i_bmap[0])) &&
	       (S_ISDIR(le16_get(y->i_mode)) ||
		le64_get(x->i_size) == le64_get(y->i_size));
}

/* Whether inode I exists after the repair, and differs. */
static bool is_inode_changed(const struct ifilewalk *w, uint64_t i)
{
	const struct nilfs_inode *before, *after;

	if (inode_is_private(w->what.first + i))
		return false;
	before = ifilewalk_inode(w, 0, i);
	after = ifilewalk_inode(w, 1, i);
	return sides_links(after) ? !has_same_attributes(before, after) :
				    memcmp(before, after, sizeof(*after)) != 0;
}

int attributes_is_in_use(struct file *ifile, struct context *cx, uint64_t ino)
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

bool attributes_is_missing(struct sides *s, struct context *cx, uint64_t ino)
{
	return s->is_complete && !attributes_is_in_use(&s->roots[1].ifile, cx, ino);
}

/* The versions of the block; their number in *N. */
static const struct version *versions_here(const struct ifilewalk *w, size_t *n)
{
	return versions_of(&w->s->versions, NILFS_IFILE_INO, w->at->blkoff,
			   w->at->blkoff + 1, n);
}

bool attributes_is_stale(const struct ifilewalk *w, struct context *cx)
{
	const struct version *now = NULL, *all;
	unsigned int asked = 0;
	size_t i, n;

	if (!w->has[0] || w->s->is_first)
		return false;
	all = versions_here(w, &n);
	for (i = 0; i < n && asked < VERSIONS_MAX; i++) {
		if (all[i].blocknr == w->blocknr && !now)
			now = &all[i];
		if (!now || all[i].cno >= now->cno ||
		    all[i].vblocknr == now->vblocknr)
			continue;
		asked++;
		if (sides_read(w->s, cx, false, all[i].blocknr) &&
		    !memcmp(w->s->blocks[0], w->inodes[0],
			    w->s->before->geo.block_size))
			return true;
	}
	return false;
}

/*
 * Finds the versions that the inodes come from, before the checkpoint or LATER,
 * from the nearest on. Inodes from the newest version that the checkpoint can
 * have had are unchanged.
 */
static void find_origins(const struct ifilewalk *w, struct context *cx,
			 bool later, uint64_t *from)
{
	struct sides *s = w->s;
	const struct nilfs_inode *then, *after;
	const struct version *all;
	unsigned int asked = 0;
	const bool is_pointed = w->at->vblocknr &&
			       versions_liveness(&w->w, cx, w->at->vblocknr) !=
				       VERSIONS_DEAD;
	bool newest = !later, is_same_one;
	size_t at, n;
	uint64_t i;

	all = versions_here(w, &n);
	for (at = 0; at < n && asked < VERSIONS_MAX; at++) {
		if ((all[at].cno > w->state->cno) != later)
			continue;
		/* A log that is not there any more may have had a newer one. */
		is_same_one = w->at->vblocknr == all[at].vblocknr ||
			      (newest && !is_pointed && !sparse_count(s->in->unread));
		newest = false;
		if (all[at].blocknr == w->blocknr)
			continue;
		asked++;
		if (!sides_read(s, cx, false, all[at].blocknr))
			continue;
		for (i = 0; i < w->what.count; i++) {
			then = sides_inode(s, s->blocks[0], i);
			after = ifilewalk_inode(w, 1, i);
			if (!from[i] && sides_links(after) && sides_links(then) &&
			    has_same_attributes(then, after))
				from[i] = is_same_one ? UNCHANGED :
							all[at].cno;
		}
	}
}

/* The nearest earlier and later versions with other content than the version of
   the checkpoint. */
static void find_neighbours(const struct ifilewalk *w,
			    const struct version **earlier,
			    const struct version **later)
{
	const struct version *all;
	size_t i, n;

	*earlier = *later = NULL;
	all = versions_here(w, &n);
	for (i = 0; i < n && !*earlier; i++) {
		if (all[i].cno > w->state->cno)
			*later = &all[i];
		else if (all[i].blocknr != w->blocknr &&
			 (!w->at->vblocknr ||
			  all[i].vblocknr != w->at->vblocknr))
			*earlier = &all[i];
	}
}

/* The times of deletion of files: the first one up to inode UNTIL, then the
   second. */
struct deletion {
	struct nilfs_inode times[2]; /* of change */
	bool are_known;
	uint64_t until;
};

/*
 * Copies the block after the repair into the second buffer, with unused inodes
 * taken from the version OTHER, or zeros if that is NULL. An inode is kept if
 * it is in use and differs from OTHER. Block counts are not compared because
 * only the repair may have the correct one.
 */
static const char *fill_unused(const struct ifilewalk *w, struct context *cx,
			       const char *other, const struct deletion *d)
{
	struct sides *s = w->s;
	uint32_t size = s->before->geo.inode_size;
	const struct nilfs_inode *then, *time;
	char *block = s->blocks[1];
	struct nilfs_inode *inode;
	bool is_private, is_used;
	uint64_t i;

	memcpy(block, w->inodes[1], s->before->geo.block_size);
	for (i = 0; i < w->what.count; i++) {
		inode = (void *)(block + i * size);
		then = other ? sides_inode(s, other, i) : NULL;
		is_private = inode_is_private(w->what.first + i);
		is_used = is_private ||
			  attributes_is_in_use(w->ifile, cx, w->what.first + i);
		if (!is_private && is_used && sides_links(inode) &&
		    (!then || !has_same_attributes(then, inode) ||
		     memcmp(then->i_bmap, inode->i_bmap, sizeof(then->i_bmap))))
			continue;
		if (!then) {
			memset(inode, 0, size);
			continue;
		}
		memcpy(inode, then, size);
		if (!d->are_known || !sides_links(inode) || is_used)
			continue;
		/* As nilfs_evict_inode() leaves the inode: the time is the one
		   set by nilfs_unlink(). */
		time = &d->times[i >= d->until];
		inode->i_blocks = le64_make(0);
		inode->i_links_count = le16_make(0);
		inode->i_flags = le32_make(0);
		inode->i_ctime = time->i_ctime;
		inode->i_ctime_nsec = time->i_ctime_nsec;
	}
	return block;
}

/* The last deleted file in block BLKOFF of the ifile, or the FIRST one. */
static bool find_deleted(const struct ifilewalk *w, struct context *cx,
			 uint64_t blkoff, bool first, struct nilfs_inode *found)
{
	const struct nilfs_inode *inode;
	uint64_t blocknr, i;
	bool any = false;

	if (!w->ifile || file_lookup(w->ifile, cx, blkoff, &blocknr) <= 0 ||
	    !sides_read(w->s, cx, false, blocknr)) {
		fail_clear(cx);
		return false;
	}
	for (i = 0; i < w->what.count && !(any && first); i++) {
		inode = sides_inode(w->s, w->s->blocks[0], i);
		if (sides_links(inode) || !le64_get(inode->i_ctime))
			continue;
		*found = *inode;
		any = true;
	}
	return any;
}

const char *attributes_find(const struct ifilewalk *w, struct context *cx)
{
	struct sides *s = w->s;
	struct deletion d = {.are_known = false};
	const struct version *others[2];
	const char *block = w->inodes[1];
	bool before, after;
	uint64_t pseg, most;
	int i;

	if (sides_is_right(s, cx, false, w->blocknr, &pseg))
		return NULL;
	if (sides_was_written(s, cx, pseg, w->blocknr, block))
		return block;
	block = fill_unused(w, cx, NULL, NULL);
	if (sides_was_written(s, cx, pseg, w->blocknr, block))
		return block;
	/*
	 * The unused inodes of the block may have been those of another
	 * version. Files that were deleted together have the same time, or
	 * times in the order of the inodes. The adjacent blocks have these
	 * times.
	 */
	before = w->at->blkoff &&
		 find_deleted(w, cx, w->at->blkoff - 1, false, &d.times[0]);
	after = find_deleted(w, cx, w->at->blkoff + 1, true, &d.times[1]);
	d.are_known = before || after;
	if (!before)
		d.times[0] = d.times[1];
	if (!after)
		d.times[1] = d.times[0];
	most = d.are_known ? w->what.count : 0;
	find_neighbours(w, &others[0], &others[1]);
	for (i = 0; i < 2; i++) {
		if (!others[i] ||
		    !sides_read(s, cx, false, others[i]->blocknr))
			continue;
		for (d.until = 0; d.until <= most; d.until++) {
			block = fill_unused(w, cx, s->blocks[0], &d);
			if (sides_was_written(s, cx, pseg, w->blocknr, block))
				return block;
		}
	}
	return NULL;
}

/*
 * Compares inode I, which is as in checkpoint FROM; SUSPECT is set if its block
 * is. 1 if its attributes are a loss. If not, the link count may be one, if
 * names were lost.
 */
static int compare_attribute(const struct ifilewalk *w, struct context *cx,
			     uint64_t i, bool suspect, uint64_t from)
{
	struct sides *s = w->s;
	struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.ino = w->what.first + i,
		.last_ino = w->what.first + i,
		.from = from,
	};
	const struct nilfs_inode *before = NULL, *after;
	bool changed, remapped;

	after = ifilewalk_inode(w, 1, i);
	if (inode_is_private(loss.ino) || !sides_links(after) ||
	    !attributes_is_in_use(w->ifile, cx, loss.ino))
		return 0;
	if (w->has[0])
		before = ifilewalk_inode(w, 0, i);
	changed = !suspect && is_inode_changed(w, i);
	/* The map before led to a dead block, so the map and the attributes
	   were an older version. */
	remapped = before && inode_has_bmap(before) && inode_has_bmap(after) &&
		   memcmp(before->i_bmap, after->i_bmap,
			  sizeof(after->i_bmap)) &&
		   versions_liveness(&w->w, cx, bmap_first_ptr(before->i_bmap)) ==
			   VERSIONS_DEAD;
	if (from != UNCHANGED && (suspect || changed || remapped)) {
		loss.is_unsure = !changed || !sides_links(before);
		return sides_add_loss(s, cx, w->state, &loss, NULL, 0) ?: 1;
	}
	if (suspect || !before || !s->lost_names ||
	    sides_links(before) == sides_links(after))
		return 0;
	loss = (struct loss){
		.kind = LOSS_LINKS,
		.ino = loss.ino,
		.offset = sides_links(before),
		.length = sides_links(after),
	};
	/* The directory that the repair made for inodes without a name. */
	if (loss.ino == NILFS_ROOT_INO && loss.offset + 1 == loss.length)
		return 0;
	return sides_add_loss(s, cx, w->state, &loss, NULL, 0);
}

int attributes_compare(const struct ifilewalk *w, struct context *cx)
{
	struct sides *s = w->s;
	const struct nilfs_inode *then, *next;
	const struct version *earlier = NULL, *later = NULL;
	uint64_t *from, i, changed = s->foreign;
	bool suspect, any = false;
	int ret = 0;

	if (!w->has[1])
		return 0;
	/*
	 * The block before is not trusted if it is not a block of inodes, or if
	 * more than one of its inodes has changed. A file without links counts
	 * as changed.
	 */
	for (i = 0; w->has[0] && i < w->what.count; i++)
		changed += is_inode_changed(w, i) ||
			   (!inode_is_private(w->what.first + i) &&
			    !sides_links(ifilewalk_inode(w, 0, i)) &&
			    sides_links(ifilewalk_inode(w, 1, i)));
	suspect = !w->is_proven && (!w->has[0] || w->is_stale || changed > 1);
	from = calloc(w->what.count, sizeof(*from));
	if (!from)
		return fail(cx, -ENOMEM, "origins of inodes");
	if (!s->is_first) {
		find_origins(w, cx, false, from);
		find_origins(w, cx, true, from);
		find_neighbours(w, &earlier, &later);
	}
	/*
	 * Every change of an attribute sets the time of change. So attributes,
	 * that time included, which are equal in an earlier and a later version
	 * were the same in the version between them.
	 */
	if (earlier && later && sides_read(s, cx, false, later->blocknr)) {
		memcpy(s->blocks[1], s->blocks[0], s->before->geo.block_size);
		if (!sides_read(s, cx, false, earlier->blocknr))
			later = NULL;
		for (i = 0; later && i < w->what.count; i++) {
			then = sides_inode(s, s->blocks[0], i);
			next = sides_inode(s, s->blocks[1], i);
			if (sides_links(ifilewalk_inode(w, 1, i)) &&
			    sides_links(then) && has_same_attributes(then, next) &&
			    has_same_attributes(next, ifilewalk_inode(w, 1, i)))
				from[i] = UNCHANGED;
		}
	}
	for (i = 0; i < w->what.count && ret >= 0; i++) {
		ret = compare_attribute(w, cx, i, suspect, from[i]);
		any |= ret > 0;
	}
	free(from);
	return ret < 0 ? ret : any;
}
