// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The entries of the DAT claim their blocks, several workers at a time.
 *
 * A block that is claimed already is in two entries; finding the other one
 * takes another pass, on damaged volumes only.
 */
#include "check/logs/claimer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "vol/blockmap.h"
#include "vol/datscan.h"

#define MOST_NAMED 65536u	/* of entries that share blocks */

int claimer_init(struct claimer *claimer, struct context *cx, struct check *c)
{
	*claimer = (struct claimer){ .c = c };
	return sparse_init(&claimer->shared, cx, c->claimed.bits);
}

void claimer_fini(struct claimer *claimer)
{
	sparse_fini(&claimer->shared);
}

int claimer_flush(struct claimer *claimer, struct context *cx,
		  struct claimer_pending *pending)
{
	uint64_t had, ignored;
	int err = sparse_add_word(&claimer->c->claimed, cx, pending->first,
				  pending->bits, &had);

	pending->bits = 0;
	if (err || !had)
		return err;
	__atomic_store_n(&claimer->any_shared, true, __ATOMIC_RELAXED);
	return sparse_add_word(&claimer->shared, cx, pending->first, had,
			       &ignored);
}

/* The entries that name a block named twice, 0 for the DAT itself. */
struct owner {
	uint64_t blocknr, vblocknr;
};

struct owners {
	const struct claimer *claimer;
	struct owner *list;
	size_t count, room;
};

static int add_owner(struct owners *o, struct context *cx, uint64_t blocknr,
		     uint64_t vblocknr)
{
	if (!sparse_test(&o->claimer->shared, blocknr) ||
	    o->count == MOST_NAMED)
		return 0;
	if (array_reserve(cx, &o->list, &o->room, o->count + 1))
		return -ENOMEM;
	o->list[o->count++] = (struct owner){ blocknr, vblocknr };
	return 0;
}

static int own_entry(void *arg, struct context *cx, unsigned int worker,
		     uint64_t vblocknr, const struct nilfs_dat_entry *de)
{
	(void)worker;
	return vblocknr ? add_owner(arg, cx, le64_get(de->de_blocknr),
				    vblocknr) : 0;
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
static void report_owner(const struct claimer *claimer,
			 const struct owner *first, const struct owner *other)
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
	findings_add(claimer->c->findings, &f);
}

int claimer_report(struct claimer *claimer, struct context *cx)
{
	struct owners o = { .claimer = claimer };
	const struct datscan_visitor visitor = {
		.used = own_entry,
		.own_block = own_block,
		.unreadable = check_skip_unreadable,
		.arg = &o,
	};
	size_t i, first = 0;
	int err = 0;

	if (claimer->any_shared)
		err = datscan_run_alone(claimer->c->vol, cx, &visitor);
	sort_in_place(o.list, o.count, sizeof(*o.list), compare_owners);
	for (i = 1; i < o.count && !err; i++) {
		if (o.list[i].blocknr != o.list[first].blocknr)
			first = i;
		else
			report_owner(claimer, &o.list[first], &o.list[i]);
	}
	free(o.list);
	return err;
}
