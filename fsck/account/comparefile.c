// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing a file of both sides.
 *
 * Each block before the repair is compared with the block after it. At the same
 * position the content is the same unless the repair wrote there. At another
 * position the content is compared, because the repair may have copied it.
 * Blocks that the file has only after the repair are no loss.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"

/* The maximum number of older versions that are compared to find the origin of
   stale content. */
#define ORIGINS_MAX 64u

struct comparison {
	struct filewalk w;
	const struct nilfs_inode *inode; /* after; NULL: none */
	struct file after;
	struct comparedir dir;
	bool is_dir;
	bool is_foreign; /* the file had blocks of another file */
	bool is_removed; /* the loss of these blocks is listed */
};

int comparefile_is_newest(struct sides *s, struct context *cx, uint64_t ino,
			  uint64_t blkoff, uint64_t after)
{
	struct versions *v = &s->newer;
	const struct version *all;
	size_t i = 0, n;
	int err = v->gathered ? 0 :
				versions_gather(v, cx, s, true,
						s->before->latest.cno);

	if (err)
		return err;
	all = versions_of(v, ino, blkoff, blkoff + 1, &n);
	/* Skip blocks that the repair wrote, unless it
	   restored them in place. */
	while (i < n && sparse_test(&s->written, all[i].blocknr) &&
	       sides_is_right(s, cx, true, all[i].blocknr, NULL) <= 0)
		i++;
	if (i == n || all[i].is_suspect ||
	    !sides_read(s, cx, true, all[i].blocknr))
		return 0;
	memcpy(s->blocks[0], s->blocks[1], s->before->geo.block_size);
	return sides_read(s, cx, true, after) &&
	       !memcmp(s->blocks[0], s->blocks[1], s->before->geo.block_size);
}

uint64_t comparefile_settle(const struct filewalk *w, struct context *cx,
			    const struct filewalk_block *b, uint64_t after)
{
	struct sides *s = w->s;
	const struct version *all, *here = NULL, *there = NULL, *known = NULL;
	struct segsum_block listed;
	bool misplaced;
	size_t i, n;

	if (s->is_first)
		return b->blocknr;
	all = versions_of(&s->versions, w->ino, b->blkoff, b->blkoff + 1, &n);
	/*
	 * Take a version that is newer than the one that the file points to, if
	 * the DAT shows that the file had another one. The pointer is then of
	 * an older checkpoint.
	 */
	if (versions_liveness(w, cx, b->vblocknr) == VERSIONS_DEAD) {
		for (i = 0; i < n && all[i].vblocknr != b->vblocknr; i++)
			if (!known && all[i].cno <= w->cno)
				known = &all[i];
		if (i < n && known)
			return known->blocknr;
	}
	if (b->blocknr && b->blocknr == after)
		return b->blocknr;
	/* The logs list the block as another block of the file. */
	misplaced = sides_find_listing(s, cx, b->blocknr, &listed) &&
		    (listed.ino != w->ino || listed.is_node ||
		     listed.blkoff != b->blkoff);
	/* Either the pointer or the DAT is wrong. */
	known = misplaced && listed.vblocknr == b->vblocknr ?
			versions_choose(w, cx, b->blkoff, 0) : NULL;
	if (known)
		return known->blocknr;
	for (i = n; i; i--) {
		if (all[i - 1].blocknr == b->blocknr)
			here = &all[i - 1];
		if (all[i - 1].blocknr == after)
			there = &all[i - 1];
	}
	if (there && here && there->cno > here->cno && there->cno <= w->cno)
		return after;
	if (here)
		return here->blocknr;
	known = versions_choose(w, cx, b->blkoff, b->vblocknr);
	if (known)
		return known->blocknr;
	return b->blocknr && there && misplaced ? after : b->blocknr;
}

static int lose_bytes(struct comparison *c, struct context *cx,
		      enum loss_kind kind, uint64_t offset, uint64_t length,
		      uint64_t from)
{
	const struct loss loss = {
		.kind = kind,
		.ino = c->w.ino,
		.offset = offset,
		.length = length,
		.from = from,
	};

	return sides_add_loss(c->w.s, cx, c->dir.state, &loss, NULL, 0);
}

/* The checkpoint that the content of block AFTER was written with, or 0. */
static uint64_t origin_of(struct comparison *c, struct context *cx,
			  uint64_t blkoff, uint64_t after)
{
	struct sides *s = c->w.s;
	const struct version *all;
	size_t i, n;

	all = versions_of(&s->versions, c->w.ino, blkoff, blkoff + 1, &n);
	for (i = 0; i < n; i++)
		if (all[i].blocknr == after)
			return all[i].cno;
	for (i = 0; i < n && i < ORIGINS_MAX; i++)
		if (sides_same_content(s, cx, all[i].blocknr, after))
			return all[i].cno;
	return 0;
}

/* Whether block B was at a wrong key: its log lists it elsewhere in the file,
   where the map before the repair had no block. */
static bool was_elsewhere(struct comparison *c, struct context *cx,
			  const struct filewalk_block *b)
{
	struct sides *s = c->w.s;
	struct segsum_block listed;
	struct file before;
	uint64_t blocknr;
	bool was = c->w.inode && sides_find_listing(s, cx, b->blocknr, &listed) &&
		   listed.ino == c->w.ino && listed.vblocknr == b->vblocknr &&
		   listed.blkoff != b->blkoff &&
		   !file_init(&before, cx, s->before, c->w.ino, c->w.inode) &&
		   !file_lookup(&before, cx, listed.blkoff, &blocknr);

	fail_clear(cx);
	return was;
}

static int comparefile_visit_block(void *arg, struct context *cx,
				   const struct filewalk_block *b)
{
	struct comparison *c = arg;
	struct sides *s = c->w.s;
	uint32_t size = s->before->geo.block_size;
	uint64_t offset = b->blkoff * size, before, after;
	const struct rollforward lost = {
		.blocks = s->synced->lost,
		.count = s->synced->nlost,
	};
	const struct salvaged_block *synced;
	struct segsum_block listed;
	bool is_dead, is_data;
	int ret;

	if (!c->inode && c->is_removed)
		return 0;
	c->is_removed = !c->inode;
	if (!c->inode)
		return lose_bytes(c, cx, LOSS_REMOVED, 0, 0, 0);
	/* Bytes past the new end are reported as truncated. */
	is_data = !c->is_dir && offset < le64_get(c->inode->i_size);
	/* If a mount before the repair would have written the block, the
	   content is compared with that data. */
	synced = rollforward_find(s->synced, c->w.ino, b->blkoff);
	if (!synced || synced->blkoff != b->blkoff)
		synced = rollforward_find(&lost, c->w.ino, b->blkoff);
	if (c->dir.state->latest && synced && synced->blkoff == b->blkoff)
		return 0;
	ret = file_lookup(&c->after, cx, b->blkoff, &after);
	if (ret < 0)
		return damage_forgive(cx, ret);
	before = comparefile_settle(&c->w, cx, b, after);
	/* The pointer leads to a block of another file. The DAT may lead there
	   as well, which is not an error of the file. */
	if (b->blocknr && b->blocknr != after && !c->is_foreign) {
		c->is_foreign = sides_find_listing(s, cx, b->blocknr, &listed) &&
				listed.ino != c->w.ino &&
				listed.vblocknr == b->vblocknr;
		s->foreign += c->is_foreign;
	}
	/* The virtual block has no place, and no log lists it, except possibly a log
	   that cannot be read. The present block of the file may be older. */
	if (!s->is_first && is_data && after && !b->blocknr && b->vblocknr &&
	    sparse_count(s->in->unread) &&
	    !versions_choose(&c->w, cx, b->blkoff, b->vblocknr))
		return lose_bytes(c, cx, LOSS_SUSPECT, offset, size, 0);
	is_dead = versions_liveness(&c->w, cx, b->vblocknr) == VERSIONS_DEAD;
	s->contradicted |= is_dead;
	/* The file has the same block at the same place. */
	if ((!is_dead || !s->is_first) && before && before == after &&
	    (!sparse_test(&s->written, after) ||
	     sides_is_right(s, cx, true, after, NULL) > 0))
		/* If no readable log has the block, its written content is not
		   known. */
		return sparse_test(s->in->unread, after) && is_data ?
			       lose_bytes(c, cx, LOSS_SUSPECT, offset, size,
					  0) : 0;
	s->lost_names |= c->is_dir;
	if (s->is_first)
		return sides_doubt(s, cx, c->w.ino);
	if (c->is_dir)
		return comparedir_block(&c->dir, cx, b->blkoff, before);
	if (!is_data)
		return 0;
	if (!after && was_elsewhere(c, cx, b))
		return 0;
	if (!after)
		return lose_bytes(c, cx, LOSS_ZERO, offset, size, 0);
	if (!before || sides_same_content(s, cx, before, after))
		return 0;
	ret = c->dir.state->latest ?
		      comparefile_is_newest(s, cx, c->w.ino, b->blkoff, after) :
		      0;
	if (ret)
		return ret < 0 ? ret : 0;
	return lose_bytes(c, cx, LOSS_STALE, offset, size,
			  origin_of(c, cx, b->blkoff, after));
}

/* Blocks of the file that its broken map did not lead to. If all logs were
   read, they were holes. */
static int comparefile_visit_unknown(void *arg, struct context *cx, uint64_t blkoff,
				     uint64_t end)
{
	struct comparison *c = arg;
	struct sides *s = c->w.s;
	uint64_t size, first = blkoff << s->before->geo.block_bits;

	if (!c->inode || !sparse_count(s->in->unread))
		return 0;
	s->unconfirmed |= c->is_dir;
	size = le64_get(c->inode->i_size);
	if (end < div_round_up(size, s->before->geo.block_size))
		size = end << s->before->geo.block_bits;
	if (first >= size)
		return 0;
	return lose_bytes(c, cx, c->is_dir ? LOSS_UNKNOWN : LOSS_SUSPECT,
			  first, size - first, 0);
}

int comparefile_run(struct sides *s, struct context *cx,
		    const struct sides_state *state, uint64_t ino,
		    const struct nilfs_inode *before,
		    const struct nilfs_inode *after)
{
	struct comparison c = {
		.w = {.s = s,
		      .cno = state->cno,
		      .ino = ino,
		      .inode = before,
		      .visit = comparefile_visit_block,
		      .unknown = comparefile_visit_unknown,
		      .arg = &c},
		.inode = after,
		.dir = {.s = s, .state = state, .after = &c.after},
		.is_dir = after && S_ISDIR(le16_get(after->i_mode)),
	};
	uint64_t size = before ? le64_get(before->i_size) : 0;
	uint64_t now = after ? le64_get(after->i_size) : 0;
	int err = 0;

	/* A repaired type does not make it another file, unless no blocks are
	   left. */
	if (before &&
	    (!after || (inode_dirent_type(le16_get(before->i_mode)) !=
				inode_dirent_type(le16_get(after->i_mode)) &&
			(le32_get(before->i_generation) !=
				 le32_get(after->i_generation) ||
			 le64_get(before->i_ctime) !=
				 le64_get(after->i_ctime) ||
			 (!inode_has_bmap(after) && inode_has_bmap(before))))))
		return lose_bytes(&c, cx, LOSS_REMOVED, 0, 0, 0);
	/* The size may have been that of another file. */
	if (before && !c.is_dir && size > now &&
	    inode_is_same_file(before, after))
		err = lose_bytes(&c, cx, LOSS_TRUNCATED, now, size - now, 0);
	if (err || (before && !inode_has_bmap(before)) ||
	    (after && !inode_has_bmap(after)))
		return err;
	if (after)
		err = file_init(&c.after, cx, s->after, ino, after);
	c.w.is_same_root = s->is_changed_known && s->in->is_sound && before &&
			   after && size == now &&
			   !memcmp(before->i_bmap, after->i_bmap,
				   sizeof(before->i_bmap));
	err = err ?: versions_walk(&c.w, cx);
	if (!err && c.is_dir && c.dir.nblocks && !s->unconfirmed) {
		err = comparedir_confirm(&c.dir, cx);
		s->unconfirmed = err <= 0;
		err = err < 0 ? err : 0;
	}
	if (!err && c.w.doubt)
		err = sides_doubt(s, cx, ino);
	if (!err && after && ino == NILFS_ROOT_INO && state->latest)
		err = comparedir_made(&c.dir, cx);
	comparedir_fini(&c.dir);
	return damage_forgive(cx, err);
}
