// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of the DAT: where a virtual block is, and in which checkpoints.
 *
 * The logs know better.  Each lists its blocks by virtual number, so where a
 * block is, is where it is listed: of two entries that name one block, the one
 * is right whose number the log has there.  With it the log says whose block
 * it is and of which checkpoint: that is its beginning, and the checkpoints
 * tell, asked for that very block, which of them is the last to have it.
 *
 * A place that no log lists is given up, unless its log lists it by a wrong
 * number (datlife.h).  If a file refers to the entry it
 * says then that it was never written, which is for the repair of maps to
 * see to; else its number is free.
 *
 * A map of the DAT that is broken, and blocks of it that cannot be read, come
 * first (datmap.h): with them, nothing is known of entries.
 */
#include "fsck/plan/fixers.h"

#include <string.h>

#include "check/damage.h"
#include "check/listings.h"
#include "disk/dat.h"
#include "fsck/dat/datblocks.h"
#include "fsck/dat/datlife.h"
#include "fsck/dat/datmap.h"
#include "fsck/dat/datwrong.h"
#include "fsck/dat/groupfix.h"
#include "log/mend.h"

struct mender {
	struct fixer_job *job;
	struct datwrong_list wrong;
	struct listings listings;
	struct datlife life;
	struct groupfix g;
	size_t lost, freed, placed, dated;
};

struct entry {
	uint64_t blocknr, start, end;
};

static uint64_t latest(const struct mender *m)
{
	return m->job->vol->latest.cno;
}

static bool is_referenced(const struct mender *m, uint64_t vblocknr)
{
	/* Where not all could be followed it may be. */
	return m->job->check->tree_broken ||
	       sparse_test(&m->job->check->referenced, vblocknr);
}

/* False where nothing can be said of the place: it stays. */
static bool find_place(struct mender *m, const struct datwrong *w,
		       const struct listing *l, struct entry *e)
{
	if (!w->place)
		return false;
	/* What a file has in a clean segment is there: the SUFILE is wrong. */
	if (l && !l->is_used && l->blocknr == e->blocknr &&
	    is_referenced(m, w->vblocknr))
		return false;
	if (l && !l->is_used)
		l = NULL;
	if (!l && m->listings.partial &&
	    geometry_has_block(&m->job->vol->geo, e->blocknr))
		return false;
	if (l ? l->blocknr == e->blocknr : !e->blocknr)
		return false;
	e->blocknr = l ? l->blocknr : 0;
	return true;
}

/* Without a log that lists it: as little as the files need. */
static void guess_life(struct mender *m, const struct datwrong *w,
		       struct entry *e)
{
	if (e->start > latest(m))
		e->start = NILFS_CNO_MIN;
	if (is_referenced(m, w->vblocknr))
		e->end = NILFS_CNO_MAX;
	else
		e->end = e->start;
}

static bool is_sane(const struct mender *m, const struct entry *e)
{
	return e->start <= e->end && e->start <= latest(m) &&
	       (e->end <= latest(m) || e->end == NILFS_CNO_MAX);
}

static int find_life(struct mender *m, struct context *cx,
		     const struct datwrong *w, const struct listing *l,
		     struct entry *e)
{
	struct datlife_span span;
	struct listing here;
	int ret = 0;

	if (l) {
		here = *l;
		here.blocknr = e->blocknr ? e->blocknr : l->blocknr;
		ret = datlife_find(&m->life, cx, &here, &span);
	}
	if (ret < 0)
		return ret;
	if (!ret) {
		if (w->life || !is_sane(m, e))
			guess_life(m, w, e);
		return 0;
	}
	e->start = span.start;
	if (e->end < span.end || e->end > span.most)
		e->end = span.end;
	return 0;
}

static int write_entry(struct mender *m, struct context *cx, uint64_t vblocknr,
		       const struct entry *e)
{
	struct nilfs_dat_entry de = {
		.de_blocknr = le64_make(e->blocknr),
		.de_start = le64_make(e->start),
		.de_end = le64_make(e->end),
	};
	void *data;
	int err = metafile_change(m->g.m, cx,
				  palloc_entry_blkoff(m->g.p, vblocknr), &data,
				  NULL);

	if (!err)
		memcpy((char *)data + palloc_entry_offset(m->g.p, vblocknr),
		       &de, sizeof(de));
	return err;
}

/*
 * No log has it: nobody misses it, or who does will be told.  Where the log
 * that has the block is what is wrong, the entry stays.
 */
static int give_up(struct mender *m, struct context *cx,
		   const struct datwrong *w, const struct listing *l,
		   struct entry *e)
{
	struct listing right;
	int err = datlife_find_mislisted(&m->life, cx, m->job->check,
					 w->vblocknr, e->blocknr, &right);

	if (err)
		return err < 0 ? err : 0;
	e->blocknr = 0;
	if (is_referenced(m, w->vblocknr)) {
		m->lost++;
		err = find_life(m, cx, w, l, e);
	} else {
		m->freed++;
		e->start = e->end = NILFS_CNO_MIN;
		err = groupfix_set(&m->g, cx, w->vblocknr, false);
	}
	return err ? err : write_entry(m, cx, w->vblocknr, e);
}

static int mend_entry(struct mender *m, struct context *cx,
		      const struct datwrong *w)
{
	const struct listing *l = listings_find(&m->listings, w->vblocknr);
	struct nilfs_dat_entry de;
	struct entry e, old;
	const void *data;
	int ret = metafile_look(m->g.m, cx,
				palloc_entry_blkoff(m->g.p, w->vblocknr),
				&data);

	if (ret <= 0)
		return ret;
	memcpy(&de, (const char *)data +
	       palloc_entry_offset(m->g.p, w->vblocknr), sizeof(de));
	old = e = (struct entry){ le64_get(de.de_blocknr),
				  le64_get(de.de_start), le64_get(de.de_end) };
	if (find_place(m, w, l, &e)) {
		if (!e.blocknr) {
			e.blocknr = old.blocknr;
			return give_up(m, cx, w, l, &e);
		}
		m->placed++;
	}
	ret = find_life(m, cx, w, l, &e);
	if (ret || !memcmp(&old, &e, sizeof(e)))
		return ret;
	m->dated += e.start != old.start || e.end != old.end;
	return write_entry(m, cx, w->vblocknr, &e);
}

static void tell_of(struct mender *m, size_t n, const char *what)
{
	if (n)
		fixers_tell(m->job, "DAT: %zu %s %s", n,
			    n == 1 ? "entry" : "entries", what);
}

static void tell(struct mender *m)
{
	tell_of(m, m->placed, "set to where the logs have the blocks");
	tell_of(m, m->dated, "set to the checkpoints that have the blocks");
	tell_of(m, m->freed, "freed that no log lists and no file has");
	tell_of(m, m->lost, "given up that no log lists");
}

/* The logs are read once for all entries. */
static int gather_listings(struct mender *m, struct context *cx)
{
	const struct datwrong_list *w = &m->wrong;
	struct sparse wanted = { 0 };
	size_t i;
	int ret = datblocks_set(&wanted, cx, w->items[w->n - 1].vblocknr + 1);

	for (i = 0; i < w->n && ret >= 0; i++)
		if (w->items[i].vblocknr < wanted.bits)
			ret = sparse_add(&wanted, cx, w->items[i].vblocknr);
	if (ret >= 0)
		ret = listings_of_vblocks(&m->listings, cx, m->job->check,
					  &wanted);
	sparse_fini(&wanted);
	return ret;
}

static int mend_entries(struct mender *m, struct context *cx)
{
	size_t i;
	int err = damage_forgive(cx, gather_listings(m, cx));

	if (!err)
		err = datlife_init(&m->life, cx, m->job->vol);
	for (i = 0; i < m->wrong.n && !err; i++)
		err = mend_entry(m, cx, &m->wrong.items[i]);
	if (!err)
		err = groupfix_count(&m->g, cx);
	if (!err)
		tell(m);
	return err ? err : mend_changed(m->job->writer, cx);
}

int fix_dat(struct fixer_job *job, struct context *cx,
	    const struct fix *fixes, size_t n)
{
	struct mender m = {
		.job = job,
		.life = { .vol = job->vol },
		.g = {
			.m = mend_file(job->writer, NILFS_DAT_INO),
			.p = &job->vol->dat_palloc,
		},
	};
	int ret = datmap_mend(job, cx, fixes, n);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = datwrong_gather(&m.wrong, job, cx, fixes, n);
	if (!ret && m.wrong.n)
		ret = mend_entries(&m, cx);
	datwrong_fini(&m.wrong);
	listings_fini(&m.listings);
	datlife_fini(&m.life);
	groupfix_fini(&m.g);
	return ret;
}
