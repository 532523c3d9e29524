// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which entries of the DAT are doubtful.
 *
 * A finding names the entry, or the pointer that leads to it, which is looked
 * up again.  Of two entries that share a block the finding names one: the
 * other is found by reading all entries.  So are those that name blocks not in
 * use, of which one finding speaks for all, and those that were never written,
 * because below one of a node there may be more that nobody has met.
 * What cannot be found is left out.
 */
#include "fsck/dat/datwrong.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "fsck/dat/datblocks.h"
#include "fsck/dat/datlife.h"
#include "vol/datscan.h"

static int add(struct datwrong_list *l, struct context *cx, uint64_t vblocknr,
	       bool place)
{
	struct datwrong *grown;

	if (!vblocknr)
		return 0;
	grown = array_grow(cx, l->items, &l->room, l->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->items = grown;
	grown[l->n++] = (struct datwrong){ vblocknr, place, !place };
	return 0;
}

/* The virtual block that a pointer of a map leads to. */
static int add_pointer(struct datwrong_list *l, struct fixer_job *job,
		       struct context *cx, const struct fix *fix)
{
	const struct place *at = &fix->place;
	uint64_t vblocknr;
	int ret = datlife_pointer(job->vol, cx, at->cno, at->ino, at->blkoff,
				  at->level, &vblocknr);

	return ret <= 0 ? damage_forgive(cx, ret) :
	       add(l, cx, vblocknr, fix->rule != RULE_BMAP_LIFETIME);
}

/* Where the ifile has inode INO. */
static struct place holding_inode(const struct volume *vol, uint64_t cno,
				  uint64_t ino)
{
	return place_map(cno, NILFS_IFILE_INO,
			 palloc_entry_blkoff(&vol->ifile_palloc, ino), 0);
}

/*
 * All that holds the pointer at AT, nodes and the block with the inode: what
 * does not live as long as they do may be right, and one of them wrong.
 */
static int add_holders(struct datwrong_list *l, struct fixer_job *job,
		       struct context *cx, struct place at)
{
	uint64_t vblocknr;
	int ret = 1;

	for (at.level++; ret > 0; at.level++) {
		ret = datlife_pointer(job->vol, cx, at.cno, at.ino, at.blkoff,
				      at.level, &vblocknr);
		if (ret > 0)
			ret = add(l, cx, vblocknr, false) ? -ENOMEM : 1;
	}
	ret = damage_forgive(cx, ret);
	if (ret || inode_is_metadata(at.ino))
		return ret;
	at = holding_inode(job->vol, at.cno, at.ino);
	ret = datlife_pointer(job->vol, cx, at.cno, at.ino, at.blkoff, 0,
			      &vblocknr);
	if (ret > 0)
		ret = add(l, cx, vblocknr, false);
	ret = damage_forgive(cx, ret);
	return ret ? ret : add_holders(l, job, cx, at);
}

static int add_life(struct datwrong_list *l, struct fixer_job *job,
		    struct context *cx, const struct fix *fix)
{
	int err = add_pointer(l, job, cx, fix);

	return err ? err : add_holders(l, job, cx, fix->place);
}

static int add_fix(struct datwrong_list *l, struct fixer_job *job,
		   struct context *cx, const struct fix *fix)
{
	switch (fix->rule) {
	case RULE_DAT_LIFETIME:
	case RULE_DAT_START:
	case RULE_DAT_END:
		return add(l, cx, fix->place.number, false);
	case RULE_DAT_BLOCKNR:
	case RULE_DAT_DOUBLE:
	case RULE_LOG_UNLISTED:
		return fix->place.kind == PLACE_VBLOCK ?
		       add(l, cx, fix->place.number, true) : 0;
	case RULE_BMAP_VBLOCK_UNWRITTEN:
		return add(l, cx, fix->got, true);
	case RULE_BMAP_LIFETIME:
		return add_life(l, job, cx, fix);
	case RULE_BMAP_BLOCK_UNUSED:
		return add_pointer(l, job, cx, fix);
	default:
		return 0;
	}
}

struct search {
	struct datwrong_list *l;
	struct sparse blocks;	/* whoever names these is doubtful */
};

static int search_entries(void *arg, struct context *cx, unsigned int worker,
			  const struct datscan_block *block)
{
	struct search *s = arg;
	uint32_t i;
	int err = 0;

	(void)worker;
	for (i = datscan_next_used(block, 0); i < block->count && !err;
	     i = datscan_next_used(block, i + 1))
		if (sparse_test(&s->blocks,
				le64_get(datscan_entry(block, i)->de_blocknr)))
			err = add(s->l, cx, block->first + i, true);
	return err;
}

/* Whoever names blocks that the SUFILE says are not in use. */
static int doubt_segment(struct search *s, struct context *cx,
			 const struct volume *vol, const struct fix *fix)
{
	uint64_t segnum = fix->place.number, block, end;
	int ret = 0;

	if (segnum >= vol->geo.nsegments)
		return 0;
	block = geometry_segment_start(&vol->geo, segnum);
	end = geometry_segment_end(&vol->geo, segnum);
	if (fix->rule == RULE_SU_BEHIND)
		block += fix->got;
	for (; block < end && ret >= 0; block++)
		ret = sparse_add(&s->blocks, cx, block);
	return ret;
}

/* The blocks, 0 for none, whose entries FIX makes doubtful. */
static int doubt_blocks(struct search *s, struct context *cx,
			const struct volume *vol, const struct fix *fix)
{
	switch (fix->rule) {
	case RULE_DAT_DOUBLE:
		return damage_add(&s->blocks, cx, fix->got);
	case RULE_BMAP_VBLOCK_UNWRITTEN:
		return sparse_add(&s->blocks, cx, 0);
	case RULE_SU_CLEAN_HOLDS:
	case RULE_SU_BEHIND:
		return doubt_segment(s, cx, vol, fix);
	default:
		return 0;
	}
}

/* Adds all entries that name doubtful blocks. */
static int search(struct datwrong_list *l, struct fixer_job *job,
		  struct context *cx, const struct fix *fixes, size_t n)
{
	struct search s = { .l = l };
	const struct datscan_visitor visitor = {
		.entries = search_entries,
		.unreadable = check_skip_unreadable,
		.arg = &s,
	};
	const struct nilfs_geometry *geo = &job->vol->geo;
	struct context alone;
	size_t i;
	int ret = sparse_init(&s.blocks, cx,
			      geometry_segment_end(geo, geo->nsegments - 1));

	for (i = 0; i < n && ret >= 0; i++)
		ret = doubt_blocks(&s, cx, job->vol, &fixes[i]);
	context_child(cx, &alone);
	alone.threads = 1;
	if (ret >= 0 && sparse_next(&s.blocks, 0) < s.blocks.bits) {
		ret = datscan_run(job->vol, &alone, &visitor);
		if (ret)
			context_adopt(cx, &alone);
	}
	sparse_fini(&s.blocks);
	return ret < 0 ? ret : 0;
}

static int compare(const void *a, const void *b)
{
	const struct datwrong *x = a, *y = b;

	return (x->vblocknr > y->vblocknr) - (x->vblocknr < y->vblocknr);
}

static void merge(struct datwrong_list *l)
{
	struct datwrong *last = NULL;
	size_t i, kept = 0;

	sort_in_place(l->items, l->n, sizeof(*l->items), compare);
	for (i = 0; i < l->n; i++) {
		if (last && last->vblocknr == l->items[i].vblocknr) {
			last->place |= l->items[i].place;
			last->life |= l->items[i].life;
			continue;
		}
		last = &l->items[kept++];
		*last = l->items[i];
	}
	l->n = kept;
}

int datwrong_gather(struct datwrong_list *l, struct fixer_job *job,
		    struct context *cx, const struct fix *fixes, size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_fix(l, job, cx, &fixes[i]);
	if (!err)
		err = search(l, job, cx, fixes, n);
	if (!err)
		merge(l);
	return err;
}

void datwrong_fini(struct datwrong_list *l)
{
	free(l->items);
	l->items = NULL;
	l->n = 0;
}
