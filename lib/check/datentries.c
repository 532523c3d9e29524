// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The entries of the DAT.
 *
 * One pass over all of them by several workers.  Most entries are fine, so
 * the question is asked in a few comparisons here, and only of one that is not
 * is it asked again which rule it breaks.  The block of an entry is added to
 * the set of claimed ones; that it is there already says that two entries name
 * it, but not which was the other.  That takes a second pass, which remembers
 * the few in question, and happens on damaged volumes only.
 *
 * An entry without a block was given out and never written, and says nothing.
 * Entries that are not in use keep what they last held and are not looked at.
 */
#include "check/datentries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/check.h"
#include "disk/dat.h"
#include "vol/datscan.h"

#define MOST_NAMED 65536u	/* of entries that share blocks */

struct scan {
	struct check *c;
	const struct nilfs_geometry *geo;
	uint64_t cno;
	uint64_t first_block, end_block;	/* where segments are */
	uint64_t nblocks;	/* of the DAT that were met */
	uint64_t live;		/* entries */
	struct sparse shared;	/* blocks that were claimed twice */
	bool any_shared;
};

/* Blocks to be claimed; neighbours mostly have neighbouring entries. */
struct pending {
	uint64_t first;		/* a multiple of 64 */
	uint64_t bits;
};

static int claim_pending(struct scan *s, struct context *cx,
			 struct pending *pending)
{
	uint64_t had, ignored;
	int err = sparse_add_word(&s->c->claimed, cx, pending->first,
				  pending->bits, &had);

	pending->bits = 0;
	if (err || !had)
		return err;
	__atomic_store_n(&s->any_shared, true, __ATOMIC_RELAXED);
	return sparse_add_word(&s->shared, cx, pending->first, had, &ignored);
}

static int claim(struct scan *s, struct context *cx, struct pending *pending,
		 uint64_t blocknr)
{
	uint64_t bit = UINT64_C(1) << blocknr % 64;
	int err = 0;

	if (blocknr - blocknr % 64 != pending->first || pending->bits & bit)
		err = claim_pending(s, cx, pending);
	pending->first = blocknr - blocknr % 64;
	pending->bits |= bit;
	return err;
}

/* Names the rule that the entry of VBLOCKNR breaks. */
static void report_entry(struct scan *s, uint64_t vblocknr,
			 const struct nilfs_dat_entry *de)
{
	struct place place = place_number(PLACE_VBLOCK, vblocknr);
	struct findings *f = s->c->findings;
	enum rule rule = dat_check(s->geo, de, s->cno);

	switch (rule) {
	case RULE_OK:
		return;
	case RULE_DAT_LIFETIME:
		findings_differ(f, rule, place, le64_get(de->de_start),
				le64_get(de->de_end));
		return;
	case RULE_DAT_START:
		findings_differ(f, rule, place, s->cno,
				le64_get(de->de_start));
		return;
	case RULE_DAT_END:
		findings_differ(f, rule, place, s->cno, le64_get(de->de_end));
		return;
	default:
		findings_add(f, &(struct finding){
			.rule = rule, .place = place,
			.has_got = true, .got = le64_get(de->de_blocknr),
		});
	}
}

static int check_entry(struct scan *s, struct context *cx,
		       struct pending *pending, uint64_t vblocknr,
		       const struct nilfs_dat_entry *de)
{
	uint64_t blocknr = le64_get(de->de_blocknr);
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	bool inside = blocknr >= s->first_block && blocknr < s->end_block;

	if (start > end || start > s->cno || (end > s->cno && ~end) ||
	    (blocknr && !inside))
		report_entry(s, vblocknr, de);
	return inside ? claim(s, cx, pending, blocknr) : 0;
}

static int check_entries(void *arg, struct context *cx, unsigned int worker,
			 const struct datscan_block *block)
{
	struct scan *s = arg;
	struct pending pending = { 0 };
	uint32_t i = 0, end, live = 0;
	int err = 0;

	(void)worker;
	if (!block->first) {
		if (!datscan_is_used(block, 0))
			findings_broken(s->c->findings, RULE_DAT_RESERVED,
					place_number(PLACE_VBLOCK, 0));
		i = 1;
	}
	for (i = datscan_next_used(block, i); i < block->count && !err;
	     i = datscan_next_used(block, end)) {
		end = datscan_next_free(block, i);
		for (; i < end && !err; i++) {
			live += dat_is_current(datscan_entry(block, i));
			err = check_entry(s, cx, &pending, block->first + i,
					  datscan_entry(block, i));
		}
	}
	__atomic_add_fetch(&s->live, live, __ATOMIC_RELAXED);
	return err ? err : claim_pending(s, cx, &pending);
}

static int count_block(void *arg, struct context *cx,
		       const struct blockmap_item *item)
{
	struct scan *s = arg;

	(void)cx;
	(void)item;
	check_progress(s->c, ++s->nblocks);
	return 0;
}

static int report_unreadable(void *arg, struct context *cx, uint64_t blkoff)
{
	struct scan *s = arg;

	return check_damage(s->c, cx, -EIO, RULE_DEV_UNREADABLE,
			    place_map(0, NILFS_DAT_INO, blkoff, 0));
}

/* Of a block that more than one names: who does, 0 for the DAT itself. */
struct owner {
	uint64_t blocknr, vblocknr;
};

struct owners {
	const struct scan *scan;
	struct owner *list;
	size_t count, room;
};

static int add_owner(struct owners *o, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr)
{
	struct owner *grown;

	if (!sparse_test(&o->scan->shared, blocknr) || o->count == MOST_NAMED)
		return 0;
	grown = array_grow(cx, o->list, &o->room, o->count + 1,
			   sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	o->list = grown;
	grown[o->count++] = (struct owner){ blocknr, vblocknr };
	return 0;
}

static int own_entries(void *arg, struct context *cx, unsigned int worker,
		       const struct datscan_block *block)
{
	const struct nilfs_dat_entry *de;
	uint32_t i;
	int err = 0;

	(void)worker;
	for (i = datscan_next_used(block, 0); i < block->count && !err;
	     i = datscan_next_used(block, i + 1)) {
		de = datscan_entry(block, i);
		if (block->first + i)
			err = add_owner(arg, cx, le64_get(de->de_blocknr),
					block->first + i);
	}
	return err;
}

static int own_block(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	return add_owner(arg, cx, item->ptr, 0);
}

static int compare_owners(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->blocknr != y->blocknr)
		return x->blocknr < y->blocknr ? -1 : 1;
	if (x->vblocknr != y->vblocknr)
		return x->vblocknr < y->vblocknr ? -1 : 1;
	return 0;
}

/* One finding for each but the first that name a block. */
static void report_owner(struct scan *s, const struct owner *first,
			 const struct owner *other)
{
	char text[80] = "the DAT itself has that block";
	struct finding f = {
		.rule = RULE_DAT_DOUBLE,
		.place = place_number(PLACE_VBLOCK, other->vblocknr),
		.has_got = true,
		.got = other->blocknr,
		.detail = text,
	};

	if (first->vblocknr)
		snprintf(text, sizeof(text), "virtual block %llu has that block",
			 (unsigned long long)first->vblocknr);
	findings_add(s->c->findings, &f);
}

static int report_shared(struct scan *s, struct context *cx)
{
	struct owners o = { .scan = s };
	const struct datscan_visitor visitor = {
		.entries = own_entries,
		.own_block = own_block,
		.unreadable = check_skip_unreadable,
		.arg = &o,
	};
	struct context alone;
	size_t i, first = 0;
	int err;

	context_child(cx, &alone);
	alone.threads = 1;
	err = datscan_run(s->c->vol, &alone, &visitor);
	if (err)
		context_adopt(cx, &alone);
	sort_in_place(o.list, o.count, sizeof(*o.list), compare_owners);
	for (i = 1; i < o.count && !err; i++) {
		if (o.list[i].blocknr != o.list[first].blocknr)
			first = i;
		else
			report_owner(s, &o.list[first], &o.list[i]);
	}
	free(o.list);
	return err;
}

int datentries_check(struct check *c, struct context *cx)
{
	struct scan s = {
		.c = c,
		.geo = &c->vol->geo,
		.cno = c->vol->latest.cno,
		.first_block = c->vol->geo.first_data_block,
		.end_block = c->claimed.bits,
	};
	const struct datscan_visitor visitor = {
		.entries = check_entries,
		.own_block = count_block,
		.unreadable = report_unreadable,
		.arg = &s,
	};
	int err;

	err = sparse_init(&s.shared, cx, c->claimed.bits);
	if (!err)
		err = datscan_run(c->vol, cx, &visitor);
	if (!err && s.any_shared)
		err = report_shared(&s, cx);
	sparse_fini(&s.shared);
	c->live_entries = s.live;
	return err;
}
