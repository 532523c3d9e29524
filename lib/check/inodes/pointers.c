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

/* Whether nothing was said yet of the block of the DAT that PTR leads to. */
static bool is_new_gap(struct pointers *p, const struct mapcheck_pointer *ptr)
{
	const struct vblocks *v = vblocks_of(p, ptr);

	if (ptr->ptr >= p->silent_start && ptr->ptr < p->silent_end)
		return false;
	p->silent_start = v->first;
	p->silent_end = v->first + v->count;
	return true;
}

static void report_missing(struct pointers *p, uint64_t ino,
			   const struct mapcheck_pointer *ptr)
{
	p->partial |= POINTERS_LOST;
	if (is_new_gap(p, ptr))
		report_pointer(p, ino, ptr, RULE_BMAP_VBLOCK_MISSING, ptr->ptr);
}

static void report_free(struct pointers *p, uint64_t ino,
			const struct mapcheck_pointer *ptr)
{
	p->partial |= POINTERS_LOST;
	/* Without a bitmap all of the group is free. */
	if (vblocks_of(p, ptr)->bitmap || is_new_gap(p, ptr))
		report_pointer(p, ino, ptr, RULE_BMAP_VBLOCK_FREE, ptr->ptr);
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

static void report_life(struct pointers *p, struct context *cx, uint64_t ino,
			const struct mapcheck_pointer *ptr, uint64_t want,
			uint64_t got)
{
	int first = sparse_add(p->reported, cx, ptr->ptr);

	p->partial |= POINTERS_LOST;
	if (p->check->dat_broken)
		return;
	if (first < 0)
		fail_clear(cx);
	if (first)
		findings_differ(p->check->findings, RULE_BMAP_LIFETIME,
				place_map(p->cno, ino, ptr->key, ptr->level),
				want, got);
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
	if (vb->start > ptr->within.start)
		report_life(p, cx, ino, ptr, ptr->within.start, vb->start);
	else if (vb->end < ptr->within.end)
		report_life(p, cx, ino, ptr, ptr->within.end, vb->end);
	else
		return (struct lifetime){ vb->start, vb->end };
	return ptr->within;
}

/*
 * Records a virtual block: 1 if it is met for the first time, 0 if another
 * checkpoint has it too, -EEXIST if this one has it twice.
 */
static int enter_number(struct pointers *p, struct context *cx, uint64_t number)
{
	int fresh = damage_add(&p->check->referenced, cx, number);
	int first;

	if (fresh < 0)
		return fresh;
	if (!p->walk)
		return fresh ? fresh : -EEXIST;
	first = damage_add(p->walk, cx, number);
	return first < 0 ? first : first ? fresh : -EEXIST;
}

/* What keeps a virtual block from being entered: 0 where it was reported. */
static int report_entering(struct pointers *p, struct context *cx,
			   uint64_t ino, const struct mapcheck_pointer *ptr,
			   int err)
{
	if (err == -EUCLEAN) {
		fail_clear(cx);
		report_missing(p, ino, ptr);
		return 0;
	}
	if (err == -EEXIST) {
		report_pointer(p, ino, ptr, RULE_BMAP_TWICE, ptr->ptr);
		return 0;
	}
	return err;
}

/*
 * What is wrong with the entry of PTR, one thing at most; the lifetime not
 * yet.  True where there is a block to go to all the same.
 */
static bool check_entry(struct pointers *p, uint64_t ino,
			const struct mapcheck_pointer *ptr,
			enum vblocks_state state, const struct vblock *vb)
{
	bool there = is_used(p, vb->blocknr);

	if (state == VBLOCKS_FREE)
		report_free(p, ino, ptr);
	else if (!vb->blocknr)
		report_pointer(p, ino, ptr, RULE_BMAP_VBLOCK_UNWRITTEN,
			       ptr->ptr);
	else if (!there)
		report_pointer(p, ino, ptr, RULE_BMAP_BLOCK_UNUSED,
			       vb->blocknr);
	return there;
}

/*
 * What the latest state refers to was all met before: something else that lives
 * now was not ended with the last checkpoint that has it.
 */
static int note_life(struct pointers *p, struct context *cx, uint64_t number,
		     const struct lifetime *life)
{
	int ret;

	if (!p->walk || p->check->tree_broken || life->end != NILFS_CNO_MAX)
		return 0;
	ret = sparse_add(&p->check->lingering, cx, number);
	return ret < 0 ? ret : 0;
}

/* Whether a log that can be read lists what is at PTR, used as VB says. */
static bool is_in_log(const struct pointers *p, const struct vblock *vb)
{
	const struct check *c = p->check;
	const struct nilfs_geometry *g = &p->vol->geo;

	return geometry_has_block(g, vb->blocknr) &&
	       !sparse_test(&c->claimed, vb->blocknr) &&
	       bitmap_test(&c->used_segments,
			   geometry_segment_of(g, vb->blocknr)) &&
	       !bitmap_test(&c->broken_segments,
			    geometry_segment_of(g, vb->blocknr)) &&
	       !c->logs_shut && !findings_count(c->findings, RULE_SU_BEHIND) &&
	       !findings_count(c->findings, RULE_SU_CLEAN_HOLDS);
}

/* Whether PTR, of metadata file INO, leads to a block of another: 1, 0. */
static int is_foreign(struct pointers *p, struct context *cx, uint64_t ino,
		      const struct mapcheck_pointer *ptr)
{
	const struct sparse *listed = check_listed(p->check, ino);
	struct vblock vb;
	int state;

	if (!listed || ptr->ptr >= listed->bits ||
	    sparse_test(listed, ptr->ptr) || p->check->dat_broken)
		return 0;
	state = vblocks_find(vblocks_of(p, ptr), cx, ptr->ptr, &vb);
	return state < 0 ? state :
	       state == VBLOCKS_USED && is_in_log(p, &vb);
}

/*
 * Whether there never was an inode INO, as far as the latest state shows that,
 * where PTR may hide a part of its ifile: 1, 0.
 */
static int never_was(struct pointers *p, struct context *cx, uint64_t ino,
		     const struct mapcheck_pointer *ptr)
{
	struct nilfs_inode inode;
	struct root root;
	int ret;

	if (inode_is_private(ino) || ino == NILFS_ROOT_INO || ptr->level ||
	    ptr->key == palloc_entry_blkoff(&p->vol->ifile_palloc, ino))
		return 0;
	ret = root_open(&root, cx, p->vol, 0);
	if (!ret)
		ret = root_inode_bytes(&root, cx, ino, &inode);
	if (ret < 0)
		return damage_forgive(cx, ret);
	return !ret || inode_is_empty(&inode);
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
	struct segsum_block b;
	int ret;

	if (vb->start > ptr->within.start || vb->end < ptr->within.end)
		return 1;
	ret = lifelogs_find_block(cx, p->check, vb->blocknr, &b, NULL);
	/* What no log lists as anything is no reason to doubt a log. */
	if (ret <= 0 || b.vblocknr != ptr->ptr)
		return ret < 0 ? damage_forgive(cx, ret) : 1;
	ret = never_was(p, cx, b.ino, ptr);
	return ret < 0 ? ret : !ret;
}

/* Reports the pointer PTR of metadata file INO, or the log of what it leads to:
   1 where the pointer is wrong, 0. */
static int report_foreign(struct pointers *p, struct context *cx, uint64_t ino,
			  const struct mapcheck_pointer *ptr)
{
	struct vblock vb;
	int ret = vblocks_find(vblocks_of(p, ptr), cx, ptr->ptr, &vb);

	if (ret >= 0)
		ret = is_astray(p, cx, ptr, &vb);
	if (ret > 0)
		report_pointer(p, ino, ptr, RULE_BMAP_OWNER, ptr->ptr);
	else if (!ret)
		findings_add(p->check->findings, &(struct finding){
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

static void sum_block(struct pointers *p, uint64_t ino,
		      const struct mapcheck_pointer *ptr)
{
	struct mapsum sum = { 0 };

	mapsum_add(&sum, ptr->ptr, ino, ptr->key);
	mapsums_add(p->check->sums->mapped, ino, &sum);
}

int pointers_check(struct pointers *p, struct context *cx, uint64_t ino,
		   const struct mapcheck_pointer *ptr, struct target *target)
{
	struct vblock vb = { 0 };
	int fresh, state = is_foreign(p, cx, ino, ptr);

	if (state > 0)
		state = report_foreign(p, cx, ino, ptr);
	if (state)
		return state < 0 ? state : 0;
	fresh = enter_number(p, cx, ptr->ptr);
	if (fresh < 0)
		return report_entering(p, cx, ino, ptr, fresh);
	state = vblocks_find(vblocks_of(p, ptr), cx, ptr->ptr, &vb);
	if (state < 0)
		return state;
	/* Everything else was checked when it was new. */
	if (!fresh && state != VBLOCKS_USED)
		return 0;
	if (state == VBLOCKS_MISSING)
		report_missing(p, ino, ptr);
	if (state == VBLOCKS_UNKNOWN)
		p->partial |= POINTERS_LOST;
	if (state == VBLOCKS_MISSING || state == VBLOCKS_UNKNOWN ||
	    (fresh && !check_entry(p, ino, ptr, (enum vblocks_state)state,
				   &vb)))
		return 0;
	target->blocknr = vb.blocknr;
	target->life = state == VBLOCKS_FREE ?
		ptr->within : check_life(p, cx, ino, ptr, &vb);
	if (fresh && !ptr->level && state == VBLOCKS_USED && is_summed(p, ino))
		sum_block(p, ino, ptr);
	if (fresh)
		state = note_life(p, cx, ptr->ptr, &target->life);
	return state < 0 ? state : fresh;
}

/* Whether an entry is valid for a holder that lives WITHIN. */
static inline bool is_sound(struct pointers *p, const struct vblock *vb,
			    const struct lifetime *within)
{
	return is_used(p, vb->blocknr) && vb->start <= within->start &&
	       vb->end >= within->end;
}

/* Adds the N pointers of B from FROM on, to blocks from FIRST on. */
static void sum_run(struct pointers *p, uint64_t ino,
		    const struct mapcheck_blocks *b, uint32_t from,
		    uint64_t first, uint32_t n)
{
	struct mapsum sum = { 0 };
	uint32_t i;

	if (!n || !is_summed(p, ino))
		return;
	for (i = from; i < from + n; i++)
		mapsum_add(&sum, first++, ino,
			   b->keys ? le64_get(b->keys[i]) : i);
	mapsums_add(p->check->sums->mapped, ino, &sum);
}

uint32_t pointers_check_run(struct pointers *p, uint64_t ino,
			    const struct mapcheck_blocks *b, uint32_t from)
{
	struct vblocks *v = &p->vblocks[0];
	const le64 *ptrs = b->ptrs + from;
	uint64_t first = le64_get(ptrs[0]);
	struct vblock vb;
	uint32_t n;

	if (p->walk || !vblocks_has(v, first))
		return 0;
	for (n = 0; n < b->count - from; n++) {
		uint64_t number = first + n;

		if (le64_get(ptrs[n]) != number || !vblocks_has(v, number))
			break;
		if (vblocks_at(v, number, &vb) != VBLOCKS_USED ||
		    !is_sound(p, &vb, &b->within))
			break;
	}
	n = sparse_add_run(&p->check->referenced, first, n);
	sum_run(p, ino, b, from, first, n);
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
