// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing a file of both sides.
 *
 * Each block before the repair is compared with the one after it: at the same
 * position it has the same content unless the repair wrote there; at another
 * position the content is compared, as the repair may have copied it.  Blocks
 * that the file has only after the repair are no loss.
 */
#include "fsck/account/comparefile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "fsck/account/comparedir.h"
#include "vol/root.h"

/*
 * Whether block AFTER is what the newest log has for block BLKOFF of inode INO,
 * which a mount before the repair would not have found: 1, 0, -ENOMEM, -EINTR.
 */
static int is_newest(struct sides *s, struct context *cx, uint64_t ino,
		     uint64_t blkoff, uint64_t after)
{
	struct versions *v = &s->newer;
	int err = v->gathered ? 0 : versions_gather(v, cx);
	size_t i = err ? 0 : versions_from(v, ino, blkoff);
	const struct version *one;

	/* Not what the repair wrote, unless that is where it was. */
	while (!err && i < v->n &&
	       sparse_test(&s->written, v->items[i].blocknr) &&
	       !sides_is_proven(s, cx, v->items[i].blocknr))
		i++;
	one = err ? NULL : versions_at(v, i, ino, blkoff);
	if (!one || one->is_suspect || !sides_read(s, cx, true, one->blocknr))
		return err;
	memcpy(s->blocks[0], s->blocks[1], s->before->geo.block_size);
	return sides_read(s, cx, true, after) &&
	       !memcmp(s->blocks[0], s->blocks[1], s->before->geo.block_size);
}

/* Block B, which is LOST or was salvaged. */
static int compare_file(struct sides *s, struct context *cx, struct root *root,
			const struct salvaged_block *b, bool lost)
{
	struct loss loss = {
		.kind = LOSS_STALE,
		.latest = true,
		.cno = s->before->latest.cno,
		.ino = b->ino,
		.offset = b->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	struct file file;
	uint64_t after = 0;
	int ret = root_file(root, cx, b->ino, &file);

	if (!ret)
		ret = file_lookup(&file, cx, b->blkoff, &after);
	/* A missing file is already in the list. */
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (loss.offset >= le64_get(file.inode.i_size) ||
	    (!lost && ((ret && b->blocknr == after) ||
		       !sides_read(s, cx, false, b->blocknr) ||
		       (ret && sides_same_content(s, cx, b->blocknr, after)))))
		return 0;
	if (!ret)
		loss.kind = LOSS_ZERO;
	else
		ret = is_newest(s, cx, b->ino, b->blkoff, after);
	if (ret)
		return ret < 0 ? ret : 0;
	losslist_add(s->losses, cx, &loss, NULL, 0);
	return 0;
}

/* Whether the log at PSEG is right after the repair, and files have all that is
   in it. */
static bool is_restored(struct sides *s, struct context *cx, struct root *root,
			uint64_t pseg)
{
	struct logindex_segment segment;
	struct logindex_log log;
	struct logindex_extent e;
	struct file file;
	uint64_t after;
	uint32_t i, j;
	bool is = sides_is_proven(s, cx, pseg) &&
		  versions_log(s->logs_after, cx, s->after, pseg, &segment,
			       &log) &&
		  log.pseg == pseg;

	for (i = 0; is && i < log.nextents; i++) {
		is = !logindex_extent(segment.ix, cx, log.first + i, &e) &&
		     !root_file(root, cx, e.ino, &file);
		for (j = 0; is && j < e.count; j++)
			is = file_lookup(&file, cx, e.blkoff + j, &after) > 0 &&
			     sides_same_content(s, cx, e.blocknr + j, after);
	}
	fail_clear(cx);
	return is;
}

int comparefile_synced(struct sides *s, struct context *cx)
{
	struct loss loss = {.kind = LOSS_SYNCED, .latest = true};
	const struct rollforward *rf = s->synced;
	struct root root;
	uint64_t i;
	int err;

	if (s->after->latest.orphans_start ||
	    !(rf->count || rf->nlost || rf->nholes))
		return 0;
	err = root_open(&root, cx, s->after, 0);
	for (i = 0; i < rf->nholes; i++) {
		loss.block = rf->holes[i];
		if (err || !is_restored(s, cx, &root, loss.block))
			losslist_add(s->losses, cx, &loss, NULL, 0);
	}
	for (i = 0; i < rf->count && !err; i++)
		err = compare_file(s, cx, &root, &rf->blocks[i], false);
	for (i = 0; i < rf->nlost && !err; i++)
		err = compare_file(s, cx, &root, &rf->lost[i], true);
	return damage_forgive(cx, err);
}

/* Older versions that are compared to find where stale content comes from. */
#define ORIGINS_MAX 64u

struct comparison {
	struct sides *s;
	const struct sides_state *state;
	uint64_t ino;
	struct expected e;
	const struct nilfs_inode *inode; /* after; NULL: none */
	struct file after;
	struct comparedir dir;
	bool is_foreign; /* it had blocks of another file */
	bool is_removed; /* and that is in the list */
};

static bool is_dir(const struct comparison *c)
{
	return S_ISDIR(le16_get(c->inode->i_mode));
}

static int lose_bytes(struct comparison *c, struct context *cx,
		      enum loss_kind kind, uint64_t offset, uint64_t length,
		      uint64_t from)
{
	const struct loss loss = {
		.kind = kind,
		.ino = c->ino,
		.offset = offset,
		.length = length,
		.from = from,
	};

	return sides_lose(c->s, cx, c->state, &loss, NULL, 0);
}

static int lose_block(struct comparison *c, struct context *cx,
		      enum loss_kind kind, uint64_t blkoff, uint64_t from)
{
	uint32_t size = c->s->before->geo.block_size;

	return lose_bytes(c, cx, kind, blkoff * size, size, from);
}

static int lose_file(struct comparison *c, struct context *cx)
{
	if (c->is_removed)
		return 0;
	c->is_removed = true;
	return lose_bytes(c, cx, LOSS_REMOVED, 0, 0, 0);
}

int comparefile_after(struct context *cx, struct file *file, uint64_t blkoff,
		      uint64_t *blocknr)
{
	int ret = file_lookup(file, cx, blkoff, blocknr);

	if (!ret)
		*blocknr = 0;
	if (ret < 0 && damage_is(ret))
		fail_clear(cx);
	return ret;
}

/* The version at BLOCKNR of block BLKOFF of inode INO, or NULL. */
static const struct version *version_at(const struct versions *v, uint64_t ino,
					uint64_t blkoff, uint64_t blocknr)
{
	size_t i = versions_from(v, ino, blkoff);
	const struct version *one;

	while ((one = versions_at(v, i, ino, blkoff)) &&
	       one->blocknr != blocknr)
		i++;
	return one;
}

/*
 * A version of B newer than the one that the file points to, where the DAT says
 * that it had another one: then it is the pointer that is of an older
 * checkpoint.
 */
static const struct version *replaced_by(struct sides *s, struct context *cx,
					 const struct expected *e,
					 const struct expected_block *b)
{
	const struct versions *v = &s->versions;
	const struct version *newest = NULL, *one;
	size_t i = versions_from(v, e->ino, b->blkoff);

	if (!expected_is_dead(e, cx, b->vblocknr))
		return NULL;
	while ((one = versions_at(v, i++, e->ino, b->blkoff)) &&
	       one->vblocknr != b->vblocknr)
		if (!newest && one->cno <= e->cno)
			newest = one;
	return one ? newest : NULL;
}

/* Whether the pointer in B is one to a block of another file.  The DAT may lead
   there as well, which is no fault of the file. */
static bool is_anothers(struct sides *s, struct context *cx,
			const struct expected *e,
			const struct expected_block *b)
{
	struct segsum_block listed;

	return versions_listed(&s->versions, cx, b->blocknr, &listed) &&
	       listed.ino != e->ino && listed.vblocknr == b->vblocknr;
}

uint64_t comparefile_settle(struct sides *s, struct context *cx,
			    const struct expected *e,
			    const struct expected_block *b, uint64_t after)
{
	const struct version *here, *there, *known;
	struct segsum_block listed;
	bool misplaced;

	if (!s->versions.gathered)
		return b->blocknr;
	known = replaced_by(s, cx, e, b);
	if (known)
		return known->blocknr;
	if (b->blocknr && b->blocknr == after)
		return b->blocknr;
	/* The logs have another block of the file for what it had. */
	misplaced = versions_listed(&s->versions, cx, b->blocknr, &listed) &&
		    (listed.ino != e->ino || listed.is_node ||
		     listed.blkoff != b->blkoff);
	/* It is the pointer that is wrong, or else the DAT. */
	known = misplaced && listed.vblocknr == b->vblocknr ?
			expected_version(e, cx, b->blkoff, 0) : NULL;
	if (known)
		return known->blocknr;
	here = version_at(&s->versions, e->ino, b->blkoff, b->blocknr);
	there = version_at(&s->versions, e->ino, b->blkoff, after);
	if (there && here && there->cno > here->cno && there->cno <= e->cno)
		return after;
	if (here)
		return here->blocknr;
	known = expected_version(e, cx, b->blkoff, b->vblocknr);
	if (known)
		return known->blocknr;
	return b->blocknr && there && misplaced ? after : b->blocknr;
}

/* The checkpoint with which the content of block AFTER was written, or 0. */
static uint64_t origin_of(struct comparison *c, struct context *cx,
			  uint64_t blkoff, uint64_t after)
{
	const struct versions *v = &c->s->versions;
	const struct version *one = version_at(v, c->ino, blkoff, after);
	size_t i = versions_from(v, c->ino, blkoff), n;

	if (one)
		return one->cno;
	for (n = 0; n < ORIGINS_MAX &&
		    (one = versions_at(v, i + n, c->ino, blkoff)); n++)
		if (sides_same_content(c->s, cx, one->blocknr, after))
			return one->cno;
	return 0;
}

/* Bytes past the new end are reported as such. */
static bool is_cut_off(const struct comparison *c, uint64_t blkoff)
{
	return blkoff * c->s->before->geo.block_size >=
	       le64_get(c->inode->i_size);
}

/* Whether a mount before the repair would have written block BLKOFF of inode
   INO of the latest state: it is compared with that. */
static bool has_synced(const struct sides *s, uint64_t ino, uint64_t blkoff)
{
	const struct rollforward lost = {
		.blocks = s->synced->lost,
		.count = s->synced->nlost,
	};
	const struct salvaged_block *b =
		rollforward_find(s->synced, ino, blkoff);

	if (!b || b->blkoff != blkoff)
		b = rollforward_find(&lost, ino, blkoff);
	return b && b->blkoff == blkoff;
}

static int visit_block(void *arg, struct context *cx,
		       const struct expected_block *b)
{
	struct comparison *c = arg;
	struct sides *s = c->s;
	uint64_t before, after;
	bool is_dead;
	int ret;

	if (!c->inode)
		return lose_file(c, cx);
	if (c->state->latest && has_synced(s, c->ino, b->blkoff))
		return 0;
	ret = comparefile_after(cx, &c->after, b->blkoff, &after);
	if (ret < 0)
		return damage_is(ret) ? 0 : ret;
	before = comparefile_settle(s, cx, &c->e, b, after);
	if (b->blocknr && b->blocknr != after && !c->is_foreign) {
		c->is_foreign = is_anothers(s, cx, &c->e, b);
		s->foreign += c->is_foreign;
	}
	is_dead = expected_is_dead(&c->e, cx, b->vblocknr);
	s->contradicted |= is_dead;
	/* The file has what it had, in the place where it was. */
	if ((!is_dead || s->versions.gathered) && before && before == after &&
	    (!sparse_test(&s->written, after) ||
	     sides_is_proven(s, cx, after)))
		/* Where no readable log has it nothing says what was written. */
		return sparse_test(s->unread, after) && !is_dir(c) &&
				       !is_cut_off(c, b->blkoff) ?
			       lose_block(c, cx, LOSS_SUSPECT, b->blkoff, 0) : 0;
	s->lost_names |= is_dir(c);
	if (!s->versions.gathered)
		return sides_doubt(s, cx, c->ino, c->ino + 1);
	if (is_dir(c))
		return comparedir_block(&c->dir, s, cx, c->state, &c->after,
					b->blkoff, before);
	if (is_cut_off(c, b->blkoff))
		return 0;
	if (!after)
		return lose_block(c, cx, LOSS_ZERO, b->blkoff, 0);
	if (!before || sides_same_content(s, cx, before, after))
		return 0;
	ret = c->state->latest ?
			is_newest(s, cx, c->ino, b->blkoff, after) : 0;
	if (ret)
		return ret < 0 ? ret : 0;
	return lose_block(c, cx, LOSS_STALE, b->blkoff,
			  origin_of(c, cx, b->blkoff, after));
}

/*
 * Blocks of the file that its map was too broken to lead to.  Had all logs been
 * read they were holes.
 */
static int visit_unknown(void *arg, struct context *cx, uint64_t blkoff,
			 uint64_t end)
{
	struct comparison *c = arg;
	uint64_t size, first = blkoff << c->s->before->geo.block_bits;

	if (!c->inode || !sparse_count(c->s->unread))
		return 0;
	c->s->unconfirmed |= is_dir(c);
	size = le64_get(c->inode->i_size);
	if (end < div_round_up(size, c->s->before->geo.block_size))
		size = end << c->s->before->geo.block_bits;
	if (first >= size)
		return 0;
	return lose_bytes(c, cx, is_dir(c) ? LOSS_UNKNOWN : LOSS_SUSPECT, first,
			  size - first, 0);
}

struct expected comparefile_walk(struct sides *s,
				 const struct sides_state *state, uint64_t ino,
				 const struct nilfs_inode *inode)
{
	uint32_t size = s->before->geo.block_size;

	return (struct expected){
		.vol = s->before,
		.findings = s->findings,
		.versions = &s->versions,
		.cno = state->cno,
		.ino = ino,
		.inode = inode,
		.limit = inode && !inode_is_metadata(ino)
				 ? div_round_up(le64_get(inode->i_size), size)
				 : UINT64_MAX,
	};
}

/*
 * Whether AFTER is the file that BEFORE was.  A type that was repaired makes no
 * other file of it, unless there are no blocks any more.
 */
static bool is_same_file(const struct nilfs_inode *before,
			 const struct nilfs_inode *after)
{
	if (inode_dirent_type(le16_get(before->i_mode)) ==
	    inode_dirent_type(le16_get(after->i_mode)))
		return true;
	return le32_get(before->i_generation) ==
		       le32_get(after->i_generation) &&
	       le64_get(before->i_ctime) == le64_get(after->i_ctime) &&
	       (inode_has_bmap(after) || !inode_has_bmap(before));
}

int comparefile_run(struct sides *s, struct context *cx,
		    const struct sides_state *state, uint64_t ino,
		    const struct nilfs_inode *before,
		    const struct nilfs_inode *after)
{
	struct comparison c = {
		.s = s,
		.state = state,
		.ino = ino,
		.inode = after,
		.e = comparefile_walk(s, state, ino, before),
	};
	uint64_t size = before ? le64_get(before->i_size) : 0;
	uint64_t now = after ? le64_get(after->i_size) : 0;
	int err = 0;

	if (before && (!after || !is_same_file(before, after)))
		return lose_file(&c, cx);
	/* Another file may have had that size. */
	if (before && !is_dir(&c) && size > now &&
	    inode_is_same_file(before, after))
		err = lose_bytes(&c, cx, LOSS_TRUNCATED, now, size - now, 0);
	if (err || (before && !inode_has_bmap(before)) ||
	    (after && !inode_has_bmap(after)))
		return err;
	c.e.visit = visit_block;
	c.e.nodes = s;
	c.e.unknown = visit_unknown;
	c.e.arg = &c;
	if (after)
		err = file_init(&c.after, cx, s->after, ino, after);
	if (!err)
		err = expected_run(&c.e, cx);
	if (!err && after && is_dir(&c))
		err = comparedir_confirm(&c.dir, s, cx, state, &c.after);
	if (!err && c.e.doubt)
		err = sides_doubt(s, cx, ino, ino + 1);
	if (!err && after && ino == NILFS_ROOT_INO && state->latest)
		err = comparedir_made(s, cx, state, &c.after);
	comparedir_fini(&c.dir);
	return damage_forgive(cx, err);
}
