// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Super roots, newest first.
 *
 * All logs of a segment have its sequence number, which grows with each new
 * segment (nilfs_segctor_begin_construction()). Two logs with the same number
 * and offset mean that one is wrong, or is left from a state that was given up;
 * then the checkpoint number decides, and finally the time. A state that has
 * the checkpoint of another one is later than it. Of two logs that contradict each
 * other, the one that disagrees with more of the other logs has a wrong number.
 *
 * A lost super root is derived from the previous one. The logs since then list
 * each new block of DAT, cpfile and SUFILE, and pointers to them in the roots
 * of the maps are replaced. Block counts, and whether a cleaner wrote the log, are not
 * known, so some values are tried: the checksum of the log proves the correct
 * one.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "fsck/witness/witness.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"

#define ROOTS_MAX 65536		/* maximum; older ones are dropped */

int rootsearch_compare(const void *a, const void *b)
{
	const struct root_log *x = a, *y = b;

	return sort_order(y->seq, x->seq) ?:
	       sort_order(y->offset, x->offset) ?:
	       sort_order(segsum_cno(&y->ss), segsum_cno(&x->ss)) ?:
	       sort_order(le64_get(y->ss.ss_create), le64_get(x->ss.ss_create)) ?:
	       sort_order(y->pseg, x->pseg);
}

static void sort_roots(struct rootsearch *rs)
{
	sort_in_place(rs->roots, rs->nroots, sizeof(*rs->roots), rootsearch_compare);
}

/* Adds ROOT at the place given by its summary. */
static int add_root(struct rootsearch *rs, struct context *cx,
		    const struct root_log *root)
{
	const struct nilfs_geometry *geo = rs->geo;
	struct root_log *to;

	if (rs->nroots == ROOTS_MAX) {
		sort_roots(rs);
		rs->nroots /= 2;
	}
	if (array_reserve(cx, &rs->roots, &rs->room, rs->nroots + 1))
		return -ENOMEM;
	to = &rs->roots[rs->nroots++];
	*to = *root;
	to->seq = le64_get(root->ss.ss_seq);
	to->offset = root->pseg - geometry_segment_start(
			geo, geometry_segment_of(geo, root->pseg));
	return 0;
}

static int search_segment(struct rootsearch *rs, struct context *cx,
			  uint64_t segnum)
{
	struct logsearch ls;
	struct log log;
	int ret = logsearch_open(&ls, cx, rs->vol, segnum,
				 geometry_segment_start(rs->geo, segnum));

	if (ret)
		return ret;
	while ((ret = logsearch_next(&ls, cx, &log))) {
		const struct root_log root = { .pseg = log.pseg, .ss = log.ss };
		uint64_t seq = le64_get(log.ss.ss_seq);

		/* Unreadable logs and those of impossible
		   length are skipped. */
		if (ret == -EIO || ret == -EUCLEAN) {
			fail_clear(cx);
			ls.next++;
			continue;
		}
		if (ret < 0)
			break;
		if (seq > rs->seq ||
		    (seq == rs->seq && log.pseg > rs->last_pseg)) {
			rs->seq = seq;
			rs->last_pseg = log.pseg;
		}
		ret = segsum_has_super_root(&log.ss) ? add_root(rs, cx, &root) :
						       0;
		if (ret)
			break;
	}
	logsearch_close(&ls);
	return ret;
}

int rootsearch_add_named(struct rootsearch *rs, struct context *cx,
			 const struct nilfs_super_block *sb)
{
	uint64_t pseg = le64_get(sb->s_last_pseg), at, end, segnum;
	uint64_t seq = le64_get(sb->s_last_seq);
	struct root_log root = { .pseg = pseg, .headless = true };
	const void *block;
	size_t i;
	int ret = 0;

	if (!geometry_has_block(rs->geo, pseg))
		return 0;
	for (i = 0; i < rs->nroots; i++)
		if (rs->roots[i].pseg == pseg)
			return 0;
	segnum = geometry_segment_of(rs->geo, pseg);
	end = geometry_segment_end(rs->geo, segnum);
	for (at = pseg + 1; at < end; at++) {
		ret = cache_get(rs->vol->cache, cx, at, &block);
		if (!ret) {
			ret = superroot_check(rs->geo, block) == RULE_OK;
			cache_put(rs->vol->cache, block);
		}
		ret = damage_forgive(cx, ret);
		if (ret)
			break;
	}
	if (ret <= 0)
		return ret;
	root.ss.ss_seq = sb->s_last_seq;
	root.ss.ss_cno = sb->s_last_cno;
	root.ss.ss_bytes = le16_make(sizeof(root.ss));
	root.ss.ss_flags = le16_make(NILFS_SS_SR);
	root.ss.ss_create = sb->s_wtime;
	root.ss.ss_nblocks = le32_make((uint32_t)(at + 1 - pseg));
	/* All logs of a segment name the same next segment. */
	root.ss.ss_next = le64_make(geometry_segment_start(rs->geo, segnum));
	for (i = rs->nroots; i--;)
		if (geometry_segment_of(rs->geo, rs->roots[i].pseg) == segnum &&
		    le64_get(rs->roots[i].ss.ss_seq) == seq)
			root.ss.ss_next = rs->roots[i].ss.ss_next;
	ret = add_root(rs, cx, &root);
	if (seq >= rs->seq) {
		rs->seq = seq;
		rs->last_pseg = pseg;
	}
	sort_roots(rs);
	return ret;
}

void rootsearch_fini(struct rootsearch *rs)
{
	free(rs->roots);
	volume_close(rs->vol);
	rs->roots = NULL;
	rs->vol = NULL;
}

/* Sets *AT to the place where the volume continues after the super root of
   ROOT. */
static void place_root(const struct rootsearch *rs,
		       const struct root_log *root, struct recovery *at)
{
	const struct nilfs_geometry *geo = rs->geo;
	uint64_t end = root->pseg + le32_get(root->ss.ss_nblocks);

	*at = (struct recovery){
		.cno = segsum_cno(&root->ss),
		.super_root = end - 1,
		.pseg_start = root->pseg,
		.seq = le64_get(root->ss.ss_seq),
		.segnum = geometry_segment_of(geo, root->pseg),
		.nextnum = geometry_segment_of(geo,
					       le64_get(root->ss.ss_next)),
		.ctime = le64_get(root->ss.ss_create),
	};
	at->offset = end - geometry_segment_start(geo, at->segnum);
}

int rootsearch_state(struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, struct recovery *at,
		     bool *hurt)
{
	struct nilfs_segment_summary ss;
	struct volume *vol = NULL;
	uint64_t last = 0, *cnos;
	size_t n;
	int err;

	place_root(rs, root, at);
	/* The summary is known to be valid, the blocks are not. */
	err = logcheck_read(rs->vol, cx, at->pseg_start, at->seq, &ss);
	*hurt = err == -EUCLEAN || err == -EIO;
	if (*hurt) {
		fail_clear(cx);
		err = 0;
	}
	if (!err)
		err = volume_open_at(&vol, cx, rs->dev, rs->geo, at);
	/* The greatest checkpoint number, for logs without it. */
	if (!err && (!at->cno || root->headless)) {
		err = cptable_list(vol, cx, false, &cnos, &n);
		if (!err && !n)
			err = fail(cx, -EUCLEAN, "cpfile: no checkpoint");
		if (!err)
			last = cnos[n - 1];
		free(cnos);
	}
	if (!at->cno)
		at->cno = last;
	if (!err && root->headless && last != at->cno)
		err = fail(cx, -EUCLEAN, "super root: is of checkpoint %llu",
			   (unsigned long long)last);
	volume_close(vol);
	if (damage_is(err)) {
		fail_clear(cx);
		return 0;
	}
	/* An unreadable log ends the chain like an incomplete one. */
	if (!err)
		err = damage_forgive(cx, recovery_follow(rs->vol, cx, at));
	return err ? err : 1;
}

/* Whether LATER has the checkpoint of EARLIER: 1, 0, or a failure. */
static int has_checkpoint(const struct rootsearch *rs, struct context *cx,
			  const struct root_log *later,
			  const struct root_log *earlier)
{
	const struct root_log *const roots[2] = { later, earlier };
	struct nilfs_checkpoint cp[2];
	struct volume *vol;
	struct recovery at;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		vol = NULL;
		place_root(rs, roots[i], &at);
		err = volume_open_at(&vol, cx, rs->dev, rs->geo, &at);
		if (!err)
			err = cptable_read(vol, cx, segsum_cno(&earlier->ss),
					   &cp[i]);
		volume_close(vol);
	}
	return err ? damage_forgive(cx, err) :
		     checkpoint_is_same(&cp[0], &cp[1]);
}

/*
 * The first root and LATER have the same checkpoint, so the log of one of them has a
 * wrong number. Moves that root after the correctly numbered log with the previous
 * checkpoint. Among logs of the same second, a wrong number may contradict only one
 * other number.
 */
static void place_misnumbered(struct rootsearch *rs, struct root_log *later)
{
	struct root_log *first = rs->roots, *wrong, *root;
	const struct root_log *before = NULL;
	size_t against_first = 0, against_later = 0;
	uint64_t cno;

	for (root = first; root < first + rs->nroots; root++) {
		cno = segsum_cno(&root->ss);
		against_first += cno > segsum_cno(&first->ss);
		against_later += root < later && cno < segsum_cno(&later->ss);
	}
	wrong = against_first >= against_later ? first : later;
	if (first->misnumbered || later->misnumbered)
		wrong = first->misnumbered ? later : first;
	wrong->misnumbered = true;
	cno = segsum_cno(&wrong->ss);
	for (root = first; root < first + rs->nroots; root++)
		if (!root->misnumbered && segsum_cno(&root->ss) < cno &&
		    (!before || segsum_cno(&root->ss) > segsum_cno(&before->ss)))
			before = root;
	wrong->seq = before ? before->seq : 0;
	wrong->offset = before ? before->offset : 0;
	sort_roots(rs);
}

int rootsearch_run(struct rootsearch *rs, struct context *cx)
{
	struct root_log *root, *first, *later;
	uint64_t segnum;
	int ret = volume_open_layout(&rs->vol, cx, rs->dev, rs->geo);

	for (segnum = 0; segnum < rs->geo->nsegments && !ret; segnum++) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = search_segment(rs, cx, segnum);
		if (rs->check)
			check_progress(rs->check, segnum);
	}
	sort_roots(rs);
	/* Each misnumbered root is found at most once. */
	while (!ret && rs->nroots) {
		/* The root with the greatest checkpoint that is not older than
		   the first one. */
		later = first = rs->roots;
		for (root = first; root < first + rs->nroots; root++)
			if (segsum_cno(&root->ss) > segsum_cno(&later->ss) &&
			    le64_get(root->ss.ss_create) >=
				    le64_get(first->ss.ss_create))
				later = root;
		if (later == first ||
		    (first->misnumbered && later->misnumbered))
			break;
		ret = has_checkpoint(rs, cx, later, first);
		if (ret <= 0)
			break;
		place_misnumbered(rs, later);
		ret = 0;
	}
	return ret;
}

#define FILES 3			/* DAT, cpfile, SUFILE */
#define FEWER 1			/* number of blocks that a file may have lost */
#define OLDER_MAX 8		/* maximum number of earlier super roots searched */
#define SEGMENTS_MAX 256	/* maximum of segments between the two */

/* The numbers of block counts that are tried; the DAT grows with the files. */
static const unsigned int tries[FILES] = { 512, 6, 4 };

struct rootderive {
	const struct rootsearch *rs;
	const struct root_log *root, *before;
	char *block;
	le64 maps[FILES][NILFS_INODE_BMAP_SIZE];	/* in the previous super root */
};

static struct nilfs_inode *inode_in(const struct rootderive *d, uint64_t ino)
{
	return (struct nilfs_inode *)(uintptr_t)superroot_inode(
		d->rs->geo, d->block, ino);
}

static uint64_t super_root_of(const struct root_log *root)
{
	return root->pseg + le32_get(root->ss.ss_nblocks) - 1;
}

/* Reads the super root of ROOT: 1, 0 if it is invalid, or a failure. */
static int read_root(const struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, char *block)
{
	int err = volume_read_blocks(rs->vol, cx, super_root_of(root), 1,
				     block);

	if (err)
		return damage_forgive(cx, err);
	return superroot_check(rs->geo, block) == RULE_OK;
}

/* Updates the root of the map of its file for block B, at BLOCKNR. */
static int rootsearch_take_block(struct rootderive *d, struct context *cx,
				 const struct segsum_block *b, uint64_t blocknr)
{
	struct nilfs_inode *inode = inode_in(d, b->ino);
	struct nilfs_btree_node *top = (void *)inode->i_bmap;
	le64 *keys = inode->i_bmap + 1;
	le64 *ptrs = keys + NILFS_BTREE_ROOT_NCHILDREN_MAX;
	uint64_t ptr = b->is_virtual ? b->vblocknr : blocknr;
	uint64_t key = b->blkoff;
	struct bmap_node root, node = { 0 };
	uint16_t n, i = 0;
	const void *block;
	int err;

	if (!bmap_is_btree(inode->i_bmap) && !b->is_node) {
		if (key < NILFS_DIRECT_NBLOCKS)
			inode->i_bmap[1 + key] = le64_make(ptr);
		return 0;
	}
	if (b->is_node) {
		err = cache_get(d->rs->vol->cache, cx, blocknr, &block);
		if (err)
			return damage_forgive(cx, err);
		bmap_node_read(d->rs->geo->block_size, block, &node);
		key = node.nchildren ? bmap_node_key(&node, 0) : 0;
		cache_put(d->rs->vol->cache, block);
	}
	/*
	 * The map became a B-tree. Its used fields are set, the others keep the
	 * content of the direct map: nilfs_btree_commit_convert_and_insert().
	 */
	if (!bmap_is_btree(inode->i_bmap)) {
		memcpy(inode->i_bmap, d->maps[b->ino - NILFS_DAT_INO],
		       sizeof(inode->i_bmap));
		top->bn_flags = NILFS_BTREE_NODE_ROOT;
		top->bn_level = NILFS_BTREE_LEVEL_NODE_MIN + 1;
		top->bn_nchildren = le16_make(0);
	}
	bmap_root_read(inode->i_bmap, &root);
	if (node.level + 1 != root.level)
		return 0;
	/* Pointer KEY of the root; a new one comes last. */
	n = le16_get(top->bn_nchildren);
	while (i < n && le64_get(keys[i]) != key)
		i++;
	if (i == NILFS_BTREE_ROOT_NCHILDREN_MAX ||
	    (i == n && n && le64_get(keys[n - 1]) > key))
		return 0;
	keys[i] = le64_make(key);
	ptrs[i] = le64_make(ptr);
	if (i == n)
		top->bn_nchildren = le16_make(n + 1);
	return 0;
}

/*
 * Processes the blocks of the files in logs of segment SEGNUM that were written
 * after the previous super root, up to the lost one. *NEXT is the segment that
 * the last log names.
 */
static int rootsearch_take_segment(struct rootderive *d, struct context *cx,
				   uint64_t segnum, uint64_t *next)
{
	const struct nilfs_geometry *geo = d->rs->geo;
	uint64_t from = le64_get(d->before->ss.ss_seq);
	uint64_t to = le64_get(d->root->ss.ss_seq), seq;
	struct logsearch search;
	struct segsum_block b;
	struct log log;
	int ret = logsearch_open(&search, cx, d->rs->vol, segnum,
				 geometry_segment_start(geo, segnum));

	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		search.next += ret < 0;
		if (ret < 0) {
			ret = damage_forgive(cx, ret);
			continue;
		}
		ret = 0;
		seq = le64_get(log.ss.ss_seq);
		if (seq < from ||
		    (seq == from && log.pseg <= d->before->pseg) ||
		    seq > to || (seq == to && log.pseg > d->root->pseg))
			continue;
		*next = geometry_segment_of(geo, le64_get(log.ss.ss_next));
		while (!ret && segsum_iter_next(&search.summary.iter, &b))
			if (b.ino >= NILFS_DAT_INO &&
			    b.ino < NILFS_DAT_INO + FILES)
				ret = rootsearch_take_block(d, cx, &b,
							    log.pseg + b.index);
	}
	logsearch_close(&search);
	return ret;
}

int rootsearch_derive(const struct rootsearch *rs, struct context *cx, size_t i,
		      char *block)
{
	const struct nilfs_geometry *geo = rs->geo;
	struct nilfs_super_root *sr = (void *)block;
	struct rootderive d = {
		.rs = rs,
		.root = &rs->roots[i],
		.block = block,
	};
	const struct witness_block made = { super_root_of(d.root), block };
	struct witness witness = {
		.logbits = { .dev = rs->dev, .geo = geo },
	};
	uint64_t blocks[FILES], nongc;
	size_t end = i + OLDER_MAX < rs->nroots ? i + OLDER_MAX : rs->nroots;
	uint64_t last = geometry_segment_of(geo, d.root->pseg), now, next;
	const struct nilfs_inode *inode;
	unsigned int n, rest, try = 0;
	uint32_t bytes;
	int ret = d.root->headless ? 1 : read_root(rs, cx, d.root, block);

	if (ret)
		return ret < 0 ? ret : 0;
	while (++i < end && !ret) {
		d.before = &rs->roots[i];
		ret = read_root(rs, cx, d.before, block);
	}
	if (ret <= 0)
		return ret;
	ret = 0;
	bytes = le16_get(sr->sr_bytes);
	memset(block + bytes, 0, geo->block_size - bytes);
	nongc = le64_get(sr->sr_nongc_ctime);
	for (n = 0; n < FILES; n++) {
		inode = inode_in(&d, NILFS_DAT_INO + n);
		blocks[n] = le64_get(inode->i_blocks);
		memcpy(d.maps[n], inode->i_bmap, sizeof(d.maps[n]));
	}
	/* If no log follows in its segment, its own log names the next one. */
	now = geometry_segment_of(geo, d.before->pseg);
	next = geometry_segment_of(geo, le64_get(d.before->ss.ss_next));
	for (n = 0; n < SEGMENTS_MAX && now < geo->nsegments && !ret; n++) {
		ret = rootsearch_take_segment(&d, cx, now, &next);
		if (now == last)
			break;
		now = next;
	}
	/* Bit 0 of TRY: the cleaner wrote the log, or not. */
	for (; try < 2 * tries[0] * tries[1] * tries[2] && !ret; try++) {
		sr->sr_nongc_ctime = try % 2 ? le64_make(nongc) :
					       d.root->ss.ss_create;
		for (n = 0, rest = try / 2; n < FILES; rest /= tries[n++])
			inode_in(&d, NILFS_DAT_INO + n)->i_blocks = le64_make(
				blocks[n] + (rest % tries[n]) - FEWER);
		sr->sr_sum = le32_make(superroot_checksum(geo, block));
		ret = witness_proves(&witness, cx, d.root->pseg, &made, 1);
	}
	witness_fini(&witness);
	return ret;
}
