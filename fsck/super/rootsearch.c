// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Super roots, from the newest to older ones.
 *
 * Each log with a super root was once the latest.  How old it is says its
 * sequence number, and its place among logs with the same number; where it lies
 * on the device says nothing.  Where the number of the checkpoint and the time
 * contradict the sequence number, it is that which is wrong.  Of a state whose segments were reclaimed and
 * written again the super root may be right, but blocks are not what its DAT
 * says: only a check of the whole state shows that.
 *
 * A super root that is lost, from the one before it.
 *
 * The logs since then list each block of DAT, cpfile and SUFILE that was
 * written, as these have new places.  What they hang from is the root of a map
 * in the super root: the pointers there that lead to one of them are replaced.
 * Sizes and times of these files do not change.  How many blocks they have got
 * or lost is not known exactly, nor whether the log is a cleaner's, so some
 * numbers are tried.  The checksum of the log shows which of them is right, bit
 * for bit.
 */
#include "fsck/super/rootsearch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/segsum.h"
#include "disk/superroot.h"
#include "fsck/witness/witness.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/logsearch.h"

#define FILES 3			/* DAT, cpfile, SUFILE */
#define FEWER 1			/* blocks that a file may have lost */
#define OLDER_MAX 8		/* super roots before it that are looked at */
#define SEGMENTS_MAX 256	/* that may lie between the two */

/* Numbers of blocks that are tried; the DAT grows with the files. */
static const unsigned int tries[FILES] = { 512, 6, 4 };

struct rootderive {
	const struct rootsearch *rs;
	const struct root_log *root, *before;
	struct witness witness;
	struct witness_block made;
	char *block;
	/* As before: */
	uint64_t blocks[FILES];
	le64 maps[FILES][NILFS_INODE_BMAP_SIZE];
	uint64_t nongc;
};

static struct nilfs_inode *inode_of(const struct rootderive *d, uint64_t ino)
{
	return (struct nilfs_inode *)(uintptr_t)superroot_inode(
		d->rs->geo, d->block, ino);
}

static uint64_t super_root_of(const struct root_log *root)
{
	return root->pseg + le32_get(root->ss.ss_nblocks) - 1;
}

/* Reads the super root of ROOT: 1, 0 where there is none, or a failure. */
static int read_root(const struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, char *block)
{
	int err = volume_read_blocks(rs->vol, cx, super_root_of(root), 1,
				     block);

	if (err)
		return damage_forgive(cx, err);
	return superroot_check(rs->geo, block) == RULE_OK;
}

/* Pointer KEY of the root of a B-tree; one that is new comes last. */
static void set_child(struct nilfs_inode *inode, uint64_t key, uint64_t ptr)
{
	struct nilfs_btree_node *root = (void *)inode->i_bmap;
	le64 *keys = inode->i_bmap + 1;
	le64 *ptrs = keys + NILFS_BTREE_ROOT_NCHILDREN_MAX;
	uint16_t n = le16_get(root->bn_nchildren), i = 0;

	while (i < n && le64_get(keys[i]) != key)
		i++;
	if (i == NILFS_BTREE_ROOT_NCHILDREN_MAX ||
	    (i == n && n && le64_get(keys[n - 1]) > key))
		return;
	keys[i] = le64_make(key);
	ptrs[i] = le64_make(ptr);
	if (i == n)
		root->bn_nchildren = le16_make(n + 1);
}

/*
 * The root of a map that became a B-tree.  What is in use of it is set, the
 * rest is what the direct map had: nilfs_btree_commit_convert_and_insert().
 */
static void make_root(struct nilfs_inode *inode,
		      const le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct nilfs_btree_node *root = (void *)inode->i_bmap;

	memcpy(inode->i_bmap, map, sizeof(inode->i_bmap));
	root->bn_flags = NILFS_BTREE_NODE_ROOT;
	root->bn_level = NILFS_BTREE_LEVEL_NODE_MIN + 1;
	root->bn_nchildren = le16_make(0);
}

/* Block B, at BLOCKNR, which the map of its file may have in its root. */
static int take_block(struct rootderive *d, struct context *cx,
		      const struct segsum_block *b, uint64_t blocknr)
{
	struct nilfs_inode *inode = inode_of(d, b->ino);
	uint64_t ptr = b->is_virtual ? b->vblocknr : blocknr;
	uint32_t size = d->rs->geo->block_size;
	uint64_t key = b->blkoff;
	struct bmap_node root, node = { 0 };
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
		bmap_node_read(size, block, &node);
		key = node.nchildren ? bmap_node_key(&node, 0) : 0;
		cache_put(d->rs->vol->cache, block);
	}
	if (!bmap_is_btree(inode->i_bmap))
		make_root(inode, d->maps[b->ino - NILFS_DAT_INO]);
	bmap_root_read(inode->i_bmap, &root);
	if (node.level + 1 == root.level)
		set_child(inode, key, ptr);
	return 0;
}

/* Whether LOG was written after the super root before, up to the lost one. */
static bool is_since(const struct rootderive *d, const struct log *log)
{
	uint64_t seq = le64_get(log->ss.ss_seq);
	uint64_t from = le64_get(d->before->ss.ss_seq);
	uint64_t to = le64_get(d->root->ss.ss_seq);

	return (seq > from || (seq == from && log->pseg > d->before->pseg)) &&
	       (seq < to || (seq == to && log->pseg <= d->root->pseg));
}

static int take_log(struct rootderive *d, struct context *cx,
		    struct segsum_iter *it, uint64_t pseg)
{
	struct segsum_block b;
	int err = 0;

	while (!err && segsum_iter_next(it, &b))
		if (b.ino >= NILFS_DAT_INO && b.ino < NILFS_DAT_INO + FILES)
			err = take_block(d, cx, &b, pseg + b.index);
	return err;
}

/* The logs since then in segment SEGNUM; *NEXT is the one that they name. */
static int take_segment(struct rootderive *d, struct context *cx,
			uint64_t segnum, uint64_t *next)
{
	const struct nilfs_geometry *geo = d->rs->geo;
	struct logsearch search;
	struct log log;
	int ret = logsearch_open(&search, cx, d->rs->vol, segnum,
				 geometry_segment_start(geo, segnum));

	while (!ret && (ret = logsearch_next(&search, cx, &log))) {
		search.next += ret < 0;
		if (ret > 0 && is_since(d, &log)) {
			*next = geometry_segment_of(geo,
						    le64_get(log.ss.ss_next));
			ret = take_log(d, cx, &search.summary.iter, log.pseg);
		}
		ret = ret > 0 ? 0 : damage_forgive(cx, ret);
	}
	logsearch_close(&search);
	return ret;
}

/* The logs since then, segment after segment. */
static int take_segments(struct rootderive *d, struct context *cx)
{
	const struct nilfs_geometry *geo = d->rs->geo;
	uint64_t last = geometry_segment_of(geo, d->root->pseg);
	uint64_t now = geometry_segment_of(geo, d->before->pseg), next;
	unsigned int n;
	int err = 0;

	/* Where nothing follows in its segment its own log leads on. */
	next = geometry_segment_of(geo, le64_get(d->before->ss.ss_next));
	for (n = 0; n < SEGMENTS_MAX && now < geo->nsegments && !err; n++) {
		err = take_segment(d, cx, now, &next);
		if (now == last)
			break;
		now = next;
	}
	return err;
}

/* Whether the log proves the block once it has its sums: 1, 0, a failure. */
static int is_proved(struct rootderive *d, struct context *cx)
{
	struct nilfs_super_root *sr = (void *)d->block;

	sr->sr_sum = le32_make(superroot_checksum(d->rs->geo, d->block));
	return witness_proves(&d->witness, cx, d->root->pseg, &d->made, 1);
}

/* Tries the numbers of blocks; bit 0 of TRY says whether a cleaner wrote it. */
static int try_numbers(struct rootderive *d, struct context *cx)
{
	struct nilfs_super_root *sr = (void *)d->block;
	unsigned int try, rest, i;
	int ret = 0;

	for (try = 0; try < 2 * tries[0] * tries[1] * tries[2] && !ret; try++) {
		sr->sr_nongc_ctime = try % 2 ? le64_make(d->nongc) :
					       d->root->ss.ss_create;
		for (i = 0, rest = try / 2; i < FILES; rest /= tries[i++])
			inode_of(d, NILFS_DAT_INO + i)->i_blocks = le64_make(
				d->blocks[i] + (rest % tries[i]) - FEWER);
		ret = is_proved(d, cx);
	}
	return ret;
}

static int derive_root(struct rootderive *d, struct context *cx)
{
	const struct nilfs_super_root *sr = (const void *)d->block;
	uint32_t bytes = le16_get(sr->sr_bytes);
	const struct nilfs_inode *inode;
	unsigned int i;
	int err;

	memset(d->block + bytes, 0, d->rs->geo->block_size - bytes);
	d->nongc = le64_get(sr->sr_nongc_ctime);
	for (i = 0; i < FILES; i++) {
		inode = inode_of(d, NILFS_DAT_INO + i);
		d->blocks[i] = le64_get(inode->i_blocks);
		memcpy(d->maps[i], inode->i_bmap, sizeof(d->maps[i]));
	}
	err = take_segments(d, cx);
	return err ? err : try_numbers(d, cx);
}

int rootderive_run(const struct rootsearch *rs, struct context *cx, size_t i,
		   char *block)
{
	struct rootderive d = {
		.rs = rs,
		.root = &rs->roots[i],
		.witness.logbits = { .dev = rs->dev, .geo = rs->geo },
		.made = { super_root_of(&rs->roots[i]), block },
		.block = block,
	};
	size_t end = i + OLDER_MAX < rs->nroots ? i + OLDER_MAX : rs->nroots;
	int ret = d.root->headless ? 1 : read_root(rs, cx, d.root, block);

	if (ret)
		return ret < 0 ? ret : 0;
	while (++i < end && !ret) {
		d.before = &rs->roots[i];
		ret = read_root(rs, cx, d.before, block);
	}
	if (ret > 0)
		ret = derive_root(&d, cx);
	witness_fini(&d.witness);
	return ret;
}

#define ROOTS_MAX 65536		/* kept; older ones are forgotten */

/* -1 where M is greater than N, 1 where it is less. */
static int descending(uint64_t m, uint64_t n)
{
	return (m < n) - (m > n);
}

/* Newest first, by two of the three numbers that grow with each log. */
static int compare_log(const void *a, const void *b)
{
	const struct root_log *x = a, *y = b;
	int seq = descending(le64_get(x->ss.ss_seq), le64_get(y->ss.ss_seq));
	int others = descending(le64_get(x->ss.ss_create),
				le64_get(y->ss.ss_create));

	if (!seq)
		seq = descending(x->pseg, y->pseg);
	if (segsum_has_cno(&x->ss) && segsum_has_cno(&y->ss))
		others += descending(segsum_cno(&x->ss), segsum_cno(&y->ss));
	return others == -2 || others == 2 ? others : seq;
}

static void sort_roots(struct rootsearch *rs)
{
	if (rs->nroots)
		qsort(rs->roots, rs->nroots, sizeof(*rs->roots), compare_log);
}

static int add_root(struct rootsearch *rs, struct context *cx,
		    const struct root_log *root)
{
	if (rs->nroots == ROOTS_MAX) {
		sort_roots(rs);
		rs->nroots /= 2;
	}
	if (array_reserve(cx, &rs->roots, &rs->room, rs->nroots + 1))
		return -ENOMEM;
	rs->roots[rs->nroots++] = *root;
	return 0;
}

static int add_log(struct rootsearch *rs, struct context *cx,
		   const struct log *log)
{
	const struct root_log root = { .pseg = log->pseg, .ss = log->ss };
	uint64_t seq = le64_get(log->ss.ss_seq);

	if (seq > rs->seq || (seq == rs->seq && log->pseg > rs->last_pseg)) {
		rs->seq = seq;
		rs->last_pseg = log->pseg;
	}
	return segsum_has_super_root(&log->ss) ? add_root(rs, cx, &root) : 0;
}

/* What cannot be read, or cannot be so long, is no log. */
static int pass_over(struct logsearch *ls, struct context *cx, int ret)
{
	if (ret != -EIO && ret != -EUCLEAN)
		return ret;
	fail_clear(cx);
	ls->next++;
	return 1;
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
		ret = ret > 0 ? add_log(rs, cx, &log) :
				pass_over(&ls, cx, ret);
		if (ret < 0)
			break;
	}
	logsearch_close(&ls);
	return ret;
}

int rootsearch_run(struct rootsearch *rs, struct context *cx)
{
	uint64_t segnum;
	int err = volume_open_layout(&rs->vol, cx, rs->dev, rs->geo);

	for (segnum = 0; segnum < rs->geo->nsegments && !err; segnum++) {
		err = context_cancelled(cx);
		if (!err)
			err = search_segment(rs, cx, segnum);
		if (rs->progress)
			rs->progress(rs->arg, segnum);
	}
	sort_roots(rs);
	return err;
}

/* The super root after PSEG in its segment: 1 and *BLOCKNR, 0 for none. */
static int find_super_root(struct rootsearch *rs, struct context *cx,
			   uint64_t pseg, uint64_t *blocknr)
{
	uint64_t b, end = geometry_segment_end(
				rs->geo, geometry_segment_of(rs->geo, pseg));
	const void *block;
	int ret = 0;

	for (b = pseg + 1; b < end && !ret; b++) {
		if (cache_get(rs->vol->cache, cx, b, &block)) {
			fail_clear(cx);
			continue;
		}
		ret = superroot_check(rs->geo, block) == RULE_OK;
		cache_put(rs->vol->cache, block);
		*blocknr = b;
	}
	return ret;
}

/* Segments of logs are followed by the same one, as its first log says. */
static le64 next_of(const struct rootsearch *rs, uint64_t pseg, uint64_t seq)
{
	uint64_t segnum = geometry_segment_of(rs->geo, pseg);
	size_t i;

	for (i = 0; i < rs->nroots; i++)
		if (geometry_segment_of(rs->geo, rs->roots[i].pseg) == segnum &&
		    le64_get(rs->roots[i].ss.ss_seq) == seq)
			return rs->roots[i].ss.ss_next;
	return le64_make(geometry_segment_start(rs->geo, segnum));
}

int rootsearch_add_named(struct rootsearch *rs, struct context *cx,
			 const struct nilfs_super_block *sb)
{
	uint64_t pseg = le64_get(sb->s_last_pseg), at;
	struct root_log root = { .pseg = pseg, .headless = true };
	size_t i;
	int ret;

	if (!geometry_has_block(rs->geo, pseg))
		return 0;
	for (i = 0; i < rs->nroots; i++)
		if (rs->roots[i].pseg == pseg)
			return 0;
	if (!find_super_root(rs, cx, pseg, &at))
		return 0;
	root.ss.ss_seq = sb->s_last_seq;
	root.ss.ss_cno = sb->s_last_cno;
	root.ss.ss_bytes = le16_make(sizeof(root.ss));
	root.ss.ss_flags = le16_make(NILFS_SS_SR);
	root.ss.ss_create = sb->s_wtime;
	root.ss.ss_nblocks = le32_make((uint32_t)(at + 1 - pseg));
	root.ss.ss_next = next_of(rs, pseg, le64_get(sb->s_last_seq));
	ret = add_root(rs, cx, &root);
	if (le64_get(sb->s_last_seq) >= rs->seq) {
		rs->seq = le64_get(sb->s_last_seq);
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

/* Where the volume would go on after the super root of ROOT. */
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

/* The greatest number of a checkpoint, for logs that do not have it. */
static int find_cno(struct context *cx, struct volume *vol, uint64_t *cno)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret = cptable_cursor_open(&cur, cx, vol);

	*cno = 0;
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		*cno = le64_get(cp.cp_cno);
		ret = 0;
	}
	cptable_cursor_close(&cur);
	if (!ret && !*cno)
		ret = fail(cx, -EUCLEAN, "cpfile: no checkpoint");
	return ret;
}

/* The blocks of the log at AT; its summary is known to be right. */
static int check_blocks(struct rootsearch *rs, struct context *cx,
			const struct recovery *at, bool *hurt)
{
	struct nilfs_segment_summary ss;
	int err = logcheck_read(rs->vol, cx, at->pseg_start, at->seq, &ss);

	*hurt = err == -EUCLEAN || err == -EIO;
	if (!*hurt)
		return err;
	fail_clear(cx);
	return 0;
}

int rootsearch_open(const struct rootsearch *rs, struct context *cx,
		    const struct recovery *at, struct volume **volp)
{
	return volume_open_at(volp, cx, rs->dev, rs->geo, at);
}

/* Whether the cpfile of VOL ends with checkpoint CNO: 0, or damage. */
static int check_cno(struct context *cx, struct volume *vol, uint64_t cno)
{
	uint64_t last;
	int err = find_cno(cx, vol, &last);

	if (!err && last != cno)
		err = fail(cx, -EUCLEAN, "super root: is of checkpoint %llu",
			   (unsigned long long)last);
	return err;
}

int rootsearch_state(struct rootsearch *rs, struct context *cx,
		     const struct root_log *root, struct recovery *at,
		     bool *hurt)
{
	struct volume *vol = NULL;
	int err;

	place_root(rs, root, at);
	err = check_blocks(rs, cx, at, hurt);
	if (!err)
		err = rootsearch_open(rs, cx, at, &vol);
	if (!err && !at->cno)
		err = find_cno(cx, vol, &at->cno);
	if (!err && root->headless)
		err = check_cno(cx, vol, at->cno);
	volume_close(vol);
	if (damage_is(err)) {
		fail_clear(cx);
		return 0;
	}
	/* A log that cannot be read ends the chain as one that is torn does. */
	if (!err)
		err = damage_forgive(cx, recovery_follow(rs->vol, cx, at));
	return err ? err : 1;
}
