// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair: what lives where its log lists it by a wrong number, or as another
 * file's.
 *
 * Only a cleaner reads the list, and that would take the block for another one:
 * nilfs_cleanerd gives up there, or moves what lives for dead.  So before a
 * cleaner comes all that lives leaves the segment (removal.h), and no list of
 * its logs is read again.  What no checkpoint has is freed with it.
 *
 * The same where logs list numbers that the DAT has free or elsewhere: a cleaner
 * would move what they list over the block that has such a number by then.
 *
 * That the log is wrong, and not the DAT, is certain where no log lists the
 * number and the map of a file agrees with the DAT.  Where the log has another
 * owner of a block than the pointer to it, the pointer is right if the map of
 * that owner has no such block.  Of a block of the DAT itself its log says only
 * where in the DAT it is: with a wrong map much else would be wrong, and this
 * repair make nothing better.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/dat.h"
#include "fsck/segments/removal.h"
#include "vol/translate.h"

struct moves {
	struct fixer_job *job;
	struct listings listings;	/* of the numbers */
	uint64_t *inos;			/* that the findings are of */
	size_t n;
	struct bitmap segments;
	bool any;			/* segment */
};

/* Whether the log has another owner, or another place, than a map. */
static bool is_of_map(const struct fix *fix)
{
	return fix->rule == RULE_BMAP_OWNER || fix->rule == RULE_BMAP_PLACE ||
	       fix->rule == RULE_LOG_PLACE;
}

/* The virtual block that FIX says is listed wrong, or 0. */
static uint64_t number_of(const struct fix *fix)
{
	if (is_of_map(fix))
		return fix->got;
	return fix->rule == RULE_LOG_UNLISTED &&
	       fix->place.kind == PLACE_VBLOCK ? fix->place.number : 0;
}

static int gather_listings(struct moves *m, struct context *cx,
			   const struct fix *fixes, size_t n)
{
	struct sparse wanted = { 0 };
	size_t i;
	int ret = sparse_init(&wanted, cx, vblocks_end(m->job->vol, cx));

	for (i = 0; i < n && ret >= 0; i++)
		if (number_of(&fixes[i]) &&
		    number_of(&fixes[i]) < wanted.bits)
			ret = sparse_add(&wanted, cx, number_of(&fixes[i]));
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

/* Adds the segment with the block of FIX where its log alone can be wrong. */
static int add(struct moves *m, struct context *cx, const struct fix *fix)
{
	uint64_t number = number_of(fix);
	const struct listing *l = listings_find(&m->listings, number);
	struct nilfs_dat_entry de;
	size_t i = 0;
	int err;

	if (l && l->is_used &&
	    (!is_of_map(fix) ||
	     (fix->rule == RULE_BMAP_OWNER && l->ino == fix->place.ino)))
		return 0;
	err = translate_entry(m->job->vol, cx, number, &de);
	if (err || !geometry_has_block(&m->job->vol->geo,
				       le64_get(de.de_blocknr)))
		return damage_forgive(cx, err);
	/* Logs may list blocks of this inode as another's. */
	while (i < m->n && m->inos[i] != fix->place.ino)
		i++;
	if (is_of_map(fix)) {
		m->inos[i] = fix->place.ino;
		m->n += i == m->n;
	}
	add_segment(m, le64_get(de.de_blocknr));
	return 0;
}

static int list_blocks(struct moves *m, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	size_t i;
	int err = gather_listings(m, cx, fixes, n);

	if (err)
		return err;
	m->inos = calloc(n + 1, sizeof(*m->inos));
	if (!m->inos)
		return fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n && !err; i++) {
		/* Of numbers that are free or another block's by the DAT. */
		if (fixes[i].place.kind == PLACE_SEGMENT)
			add_segment(m, geometry_segment_start(
				&m->job->vol->geo, fixes[i].place.number));
		/* A log that cannot be read may list what the others do not. */
		else if (m->listings.partial)
			continue;
		else if (number_of(&fixes[i]))
			err = add(m, cx, &fixes[i]);
		else if (fixes[i].rule == RULE_LOG_UNLISTED &&
			 fixes[i].place.kind == PLACE_BLOCK)
			add_segment(m, fixes[i].place.number);
	}
	return err;
}

int fix_moves(struct fixer_job *job, struct context *cx,
	      const struct fix *fixes, size_t n)
{
	struct moves m = { .job = job };
	struct removal r = { .job = job, .which = &m.segments };
	uint64_t segnum;
	int err = bitmap_init(&m.segments, cx, job->vol->geo.nsegments);

	if (!err)
		err = list_blocks(&m, cx, fixes, n);
	if (!err && m.any) {
		r.inos = m.inos;
		r.ninos = m.n;
		err = removal_run(&r, cx);
		removal_fini(&r);
	}
	for (segnum = 0; segnum < m.segments.bits && !err; segnum++)
		if (bitmap_test(&m.segments, segnum))
			fixers_note(job, "segment %" PRIu64 ": what lives in "
				    "it is moved, as its logs list some of it "
				    "wrong", segnum);
	bitmap_fini(&m.segments);
	free(m.inos);
	listings_fini(&m.listings);
	return err;
}
