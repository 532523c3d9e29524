// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair: what lives where its log lists it by a wrong number.
 *
 * Only a cleaner reads the list, and that would take the block for another
 * one: nilfs_cleanerd gives up there, or moves what lives for dead.  So before
 * a cleaner comes all that lives leaves the segment (removal.h), and no list
 * of its logs is read again.  What no checkpoint has is freed with it.
 *
 * That the log is wrong, and not the DAT, is certain where no log lists the
 * number and the map of the file agrees with the DAT (datlife.h).  Of a block
 * of the DAT itself its log says only where in the DAT it is: with a wrong map
 * much else would be wrong, and this repair make nothing better.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/vblocks.h"
#include "disk/dat.h"
#include "fsck/dat/datlife.h"
#include "fsck/segments/removal.h"
#include "vol/translate.h"

struct moves {
	struct fixer_job *job;
	struct datlife life;
	struct listings listings;	/* of the numbers */
	struct listing *list;		/* the blocks */
	size_t n;
	struct bitmap segments;
	bool any;			/* segment */
};

static bool is_mine(const struct fix *fix)
{
	return fix->rule == RULE_LOG_UNLISTED &&
	       fix->place.kind == PLACE_VBLOCK;
}

static bool is_of_dat(const struct fix *fix)
{
	return fix->rule == RULE_LOG_UNLISTED && fix->place.kind == PLACE_BLOCK;
}

static int gather_listings(struct moves *m, struct context *cx,
			   const struct fix *fixes, size_t n)
{
	struct sparse wanted = { 0 };
	size_t i;
	int ret = sparse_init(&wanted, cx, vblocks_end(m->job->vol, cx));

	for (i = 0; i < n && ret >= 0; i++)
		if (is_mine(&fixes[i]) && fixes[i].place.number < wanted.bits)
			ret = sparse_add(&wanted, cx, fixes[i].place.number);
	if (ret >= 0)
		ret = listings_of_vblocks(&m->listings, cx, m->job->check,
					  &wanted);
	sparse_fini(&wanted);
	return ret;
}

static void add_segment(struct moves *m, uint64_t blocknr)
{
	bitmap_set(&m->segments, geometry_segment_of(&m->job->vol->geo,
						     blocknr));
	m->any = true;
}

/* Whether no checkpoint has virtual block NUMBER any longer: 1, 0. */
static int is_dead(struct moves *m, struct context *cx, uint64_t number)
{
	struct nilfs_dat_entry de;
	int ret = translate_entry(m->job->vol, cx, number, &de);
	size_t i;

	if (ret || !m->life.known || dat_is_current(&de))
		return damage_forgive(cx, ret);
	i = search_lower_bound(m->life.cnos, m->life.n, le64_get(de.de_start));
	return i == m->life.n || m->life.cnos[i] >= le64_get(de.de_end);
}

/* Adds the block of FIX where the log alone is wrong, or it is unused. */
static int add_block(struct moves *m, struct context *cx, const struct fix *fix)
{
	const struct listing *l = listings_find(&m->listings,
						fix->place.number);
	int ret;

	if (l && l->is_used)
		return 0;
	ret = datlife_find_mislisted(&m->life, cx, m->job->check, fix->place.number,
			     fix->got, &m->list[m->n]);
	if (ret > 0)
		m->n++;
	else if (!ret)
		ret = is_dead(m, cx, fix->place.number);
	if (ret > 0)
		add_segment(m, fix->got);
	return ret < 0 ? ret : 0;
}

static int compare_listing(const void *a, const void *b)
{
	const struct listing *x = a, *y = b;

	return (x->blocknr > y->blocknr) - (x->blocknr < y->blocknr);
}

static int list_blocks(struct moves *m, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	size_t i;
	int err = gather_listings(m, cx, fixes, n);

	/* A log that cannot be read may list what the others do not. */
	if (err || m->listings.partial)
		return err;
	m->list = calloc(n + 1, sizeof(*m->list));
	if (!m->list)
		return fail(cx, -ENOMEM, "%zu blocks", n);
	err = datlife_init(&m->life, cx, m->job->vol);
	for (i = 0; i < n && !err; i++) {
		if (is_mine(&fixes[i]))
			err = add_block(m, cx, &fixes[i]);
		else if (is_of_dat(&fixes[i]))
			add_segment(m, fixes[i].place.number);
	}
	sort_in_place(m->list, m->n, sizeof(*m->list), compare_listing);
	return err;
}

static void note_moved(struct moves *m)
{
	uint64_t segnum = bitmap_next_set(&m->segments, 0);

	for (; segnum < m->segments.bits;
	     segnum = bitmap_next_set(&m->segments, segnum + 1))
		fixers_note(m->job, "segment %" PRIu64 ": what lives in it is "
			    "moved, as its logs list some of it wrong",
			    segnum);
}

static int empty_segments(struct moves *m, struct context *cx)
{
	struct removal r = {
		.job = m->job,
		.which = &m->segments,
		.mislisted = m->list,
		.nmislisted = m->n,
	};
	int err = removal_run(&r, cx);

	removal_fini(&r);
	if (!err)
		note_moved(m);
	return err;
}

int fix_moves(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	struct moves m = { .job = job, .life = { .vol = job->vol } };
	int err = bitmap_init(&m.segments, cx, job->vol->geo.nsegments);

	if (!err)
		err = list_blocks(&m, cx, fixes, n);
	if (!err && m.any)
		err = empty_segments(&m, cx);
	bitmap_fini(&m.segments);
	free(m.list);
	listings_fini(&m.listings);
	datlife_fini(&m.life);
	return err;
}
