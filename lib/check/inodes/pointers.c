// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where pointers lead.
 *
 * A tree is copied on write from the bottom up: a change of a block changes
 * the pointer to it, and so the block that holds the pointer.  Hence a block
 * lives in every checkpoint in which what points to it lives.  This is asked
 * of each pointer once, however many checkpoints have its holder; of several
 * holders that find a lifetime too short the first one speaks.
 *
 * A virtual block that is met again is a double use if nothing was met before
 * this checkpoint; else a set of what this checkpoint met distinguishes it from
 * one that older and newer checkpoints share.
 *
 * The logs say whose a block is.  That is asked for metadata files only: a
 * pointer of theirs that leads astray makes garbage of all that hangs from it,
 * and what files have in common with others is found by the double use.  If there
 * never was a file as the log names it, the log is wrong.
 *
 * Numbers without an entry are reported once for a block of the DAT.  Where
 * the DAT's own map is broken its pass has said so, its entries may be those
 * of other numbers, and nothing is said of them here.
 */
#include "check/inodes/pointers.h"

#include <errno.h>

#include "check/check.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/mapsums.h"
#include "disk/inode.h"
#include "vol/root.h"

#define READAHEAD_NODES 32u

void pointers_init(struct pointers *p, struct check *check,
		   struct volume *vol, struct sparse *reported)
{
	*p = (struct pointers){ .check = check, .vol = vol, .reported = reported };
	vblocks_init(&p->vblocks[0], vol, &check->datruns);
	vblocks_init(&p->vblocks[1], vol, &check->datruns);
}

void pointers_fini(struct pointers *p)
{
	vblocks_fini(&p->vblocks[0]);
	vblocks_fini(&p->vblocks[1]);
}

static struct vblocks *vblocks_of(struct pointers *p,
				  const struct mapcheck_pointer *ptr)
{
	return &p->vblocks[ptr->level > 0];
}

static void report_pointer(struct pointers *p, uint64_t ino,
			   const struct mapcheck_pointer *ptr, enum rule rule,
			   uint64_t got)
{
	struct finding f = {
		.rule = rule,
		.place = place_map(p->cno, ino, ptr->key, ptr->level),
		.has_got = true,
		.got = got,
	};

	p->partial |= rule == RULE_BMAP_TWICE ? POINTERS_TWICE : POINTERS_LOST;
	if (!p->check->dat_broken || rule == RULE_BMAP_TWICE)
		findings_add(p->check->findings, &f);
}

/* PTR leads to no entry in use: RULE, said once for a block of the DAT; without a
   bitmap all of a group is free. */
static void report_gap(struct pointers *p, uint64_t ino,
		       const struct mapcheck_pointer *ptr, enum rule rule)
{
	const struct vblocks *v = vblocks_of(p, ptr);

	p->partial |= POINTERS_LOST;
	if (rule == RULE_BMAP_VBLOCK_MISSING || !v->bitmap) {
		if (ptr->ptr >= p->silent_start && ptr->ptr < p->silent_end)
			return;
		p->silent_start = v->first;
		p->silent_end = v->first + v->count;
	}
	report_pointer(p, ino, ptr, rule, ptr->ptr);
}

/* Whether BLOCKNR, not of the current segment, is in one in use. */
static bool seek_segment(struct pointers *p, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &p->vol->geo;
	const struct bitmap *used = &p->check->used_segments;
	uint64_t segnum;

	if (!geometry_has_block(g, blocknr))
		return false;
	segnum = geometry_segment_of(g, blocknr);
	if (used->bits && !bitmap_test(used, segnum))
		return false;
	p->used_start = geometry_segment_start(g, segnum);
	p->used_end = geometry_segment_end(g, segnum);
	return true;
}

static inline bool is_used(struct pointers *p, uint64_t blocknr)
{
	return (blocknr >= p->used_start && blocknr < p->used_end) ||
	       seek_segment(p, blocknr);
}

/*
 * The lifetime of the block at PTR, or of the holder if the entry is wrong, so
 * that the blocks below are not reported as well.
 */
static struct lifetime check_life(struct pointers *p, struct context *cx,
				  uint64_t ino,
				  const struct mapcheck_pointer *ptr,
				  const struct vblock *vb)
{
	bool late = vb->start > ptr->within.start;
	int first;

	if (!late && vb->end >= ptr->within.end)
		return (struct lifetime){ vb->start, vb->end };
	first = sparse_add(p->reported, cx, ptr->ptr);
	p->partial |= POINTERS_LOST;
	if (first < 0 && !p->check->dat_broken)
		fail_clear(cx);
	if (first && !p->check->dat_broken)
		findings_differ(p->check->findings, RULE_BMAP_LIFETIME,
				place_map(p->cno, ino, ptr->key, ptr->level),
				late ? ptr->within.start : ptr->within.end,
				late ? vb->start : vb->end);
	return ptr->within;
}

/*
 * Whether PTR is what is wrong, and not the log of its block, used as VB says:
 * the block does not live as long, or the log names a file that there was. 1,
 * 0.
 */
static int is_astray(struct pointers *p, struct context *cx,
		     const struct mapcheck_pointer *ptr,
		     const struct vblock *vb)
{
	struct nilfs_inode inode;
	struct segsum_block b;
	struct root root;
	int ret;

	if (vb->start > ptr->within.start || vb->end < ptr->within.end)
		return 1;
	ret = lifelogs_find_block(cx, p->check, vb->blocknr, &b, NULL);
	if (ret < 0)
		return damage_forgive(cx, ret);
	/* What no log lists as anything is no reason to doubt a log. */
	if (!ret || b.vblocknr != ptr->ptr)
		return 1;
	/* The latest state shows whether there was the file, unless PTR hides
	   that part of its ifile. */
	if (inode_is_private(b.ino) || b.ino == NILFS_ROOT_INO || ptr->level ||
	    ptr->key == palloc_entry_blkoff(&p->vol->ifile_palloc, b.ino))
		return 1;
	ret = root_open(&root, cx, p->vol, 0);
	if (!ret)
		ret = root_inode_bytes(&root, cx, b.ino, &inode);
	if (ret < 0) {
		ret = damage_forgive(cx, ret);
		return ret ? ret : 1;
	}
	return ret && !inode_is_empty(&inode);
}

/*
 * Whether PTR, of metadata file INO, leads to a block of another by a log that
 * can be read, and the log is right: 1, 0.  Either of them is reported.
 */
static int is_foreign(struct pointers *p, struct context *cx, uint64_t ino,
		      const struct mapcheck_pointer *ptr)
{
	struct check *c = p->check;
	const struct sparse *listed = check_listed(c, ino);
	struct vblock vb;
	uint64_t segnum;
	int ret;

	if (!listed || ptr->ptr >= listed->bits ||
	    sparse_test(listed, ptr->ptr) || c->dat_broken)
		return 0;
	ret = vblocks_find(vblocks_of(p, ptr), cx, ptr->ptr, &vb);
	if (ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	if (!geometry_has_block(&p->vol->geo, vb.blocknr) ||
	    sparse_test(&c->claimed, vb.blocknr))
		return 0;
	segnum = geometry_segment_of(&p->vol->geo, vb.blocknr);
	if (!bitmap_test(&c->used_segments, segnum) ||
	    bitmap_test(&c->broken_segments, segnum) || c->logs_shut ||
	    findings_count(c->findings, RULE_SU_BEHIND) ||
	    findings_count(c->findings, RULE_SU_CLEAN_HOLDS))
		return 0;
	ret = is_astray(p, cx, ptr, &vb);
	if (ret > 0)
		report_pointer(p, ino, ptr, RULE_BMAP_OWNER, ptr->ptr);
	else if (!ret)
		findings_add(c->findings, &(struct finding){
			.rule = RULE_LOG_PLACE,
			.place = place_map(p->cno, ino, ptr->key, ptr->level),
			.has_got = true, .got = ptr->ptr,
		});
	return ret;
}

/* Whether the blocks of file INO are added up now. */
static inline bool is_summed(const struct pointers *p, uint64_t ino)
{
	return p->check->sums && !p->check->sums->closed &&
	       !inode_is_metadata(ino);
}

int pointers_check(struct pointers *p, struct context *cx, uint64_t ino,
		   const struct mapcheck_pointer *ptr, struct target *target)
{
	struct check *c = p->check;
	struct mapsum sum = { 0 };
	struct vblock vb = { 0 };
	int fresh, first = 1, state = is_foreign(p, cx, ino, ptr);

	if (state)
		return state < 0 ? state : 0;

	/* Met for the first time, in another checkpoint too, or twice here. */
	fresh = damage_add(&c->referenced, cx, ptr->ptr);
	if (fresh >= 0)
		first = p->walk ? damage_add(p->walk, cx, ptr->ptr) : fresh;
	if (fresh == -EUCLEAN || first == -EUCLEAN) {
		fail_clear(cx);
		report_gap(p, ino, ptr, RULE_BMAP_VBLOCK_MISSING);
		return 0;
	}
	if (fresh < 0 || first < 0)
		return fresh < 0 ? fresh : first;
	if (!first) {
		report_pointer(p, ino, ptr, RULE_BMAP_TWICE, ptr->ptr);
		return 0;
	}

	state = vblocks_find(vblocks_of(p, ptr), cx, ptr->ptr, &vb);
	if (state < 0)
		return state;
	/* Everything else was checked when it was new. */
	if (!fresh && state != VBLOCKS_USED)
		return 0;
	if (state == VBLOCKS_MISSING)
		report_gap(p, ino, ptr, RULE_BMAP_VBLOCK_MISSING);
	if (state == VBLOCKS_UNKNOWN)
		p->partial |= POINTERS_LOST;
	if (state == VBLOCKS_MISSING || state == VBLOCKS_UNKNOWN)
		return 0;
	if (fresh) {
		bool there = is_used(p, vb.blocknr);

		if (state == VBLOCKS_FREE)
			report_gap(p, ino, ptr, RULE_BMAP_VBLOCK_FREE);
		else if (!vb.blocknr)
			report_pointer(p, ino, ptr, RULE_BMAP_VBLOCK_UNWRITTEN,
				       ptr->ptr);
		else if (!there)
			report_pointer(p, ino, ptr, RULE_BMAP_BLOCK_UNUSED,
				       vb.blocknr);
		/* A free one is a block to go to all the same. */
		if (!there)
			return 0;
	}
	target->blocknr = vb.blocknr;
	target->life = state == VBLOCKS_FREE ?
		ptr->within : check_life(p, cx, ino, ptr, &vb);
	if (!fresh)
		return 0;
	if (!ptr->level && state == VBLOCKS_USED && is_summed(p, ino)) {
		mapsum_add(&sum, ptr->ptr, ino, ptr->key);
		mapsums_add(c->sums->mapped, ino, &sum);
	}
	/*
	 * What the latest state refers to was all met before: something else
	 * that lives now was not ended with the last checkpoint that has it.
	 */
	if (p->walk && !c->tree_broken && target->life.end == NILFS_CNO_MAX)
		state = sparse_add(&c->lingering, cx, ptr->ptr);
	return state < 0 ? state : fresh;
}

uint32_t pointers_check_run(struct pointers *p, uint64_t ino,
			    const struct mapcheck_blocks *b, uint32_t from)
{
	struct vblocks *v = &p->vblocks[0];
	const le64 *ptrs = b->ptrs + from;
	uint64_t first = le64_get(ptrs[0]);
	struct mapsum sum = { 0 };
	struct vblock vb;
	uint32_t n, i;

	if (p->walk || !vblocks_has(v, first))
		return 0;
	for (n = 0; n < b->count - from; n++) {
		uint64_t number = first + n;

		if (le64_get(ptrs[n]) != number || !vblocks_has(v, number))
			break;
		if (vblocks_at(v, number, &vb) != VBLOCKS_USED ||
		    !is_used(p, vb.blocknr) || vb.start > b->within.start ||
		    vb.end < b->within.end)
			break;
	}
	n = sparse_add_run(&p->check->referenced, first, n);
	if (!n || !is_summed(p, ino))
		return n;
	for (i = 0; i < n; i++)
		mapsum_add(&sum, first + i, ino,
			   b->keys ? le64_get(b->keys[from + i]) : from + i);
	mapsums_add(p->check->sums->mapped, ino, &sum);
	return n;
}

void pointers_read_node(struct pointers *p, struct context *cx,
			uint64_t blocknr)
{
	p->run = blocknr == p->next_node ? p->run + 1 : 0;
	p->next_node = blocknr + 1;
	if (p->run && blocknr >= p->ahead) {
		cache_readahead(p->vol->cache, cx, blocknr, READAHEAD_NODES);
		p->ahead = blocknr + READAHEAD_NODES;
	}
	if (!p->run)
		p->ahead = 0;
}
