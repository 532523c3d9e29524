// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of the DAT, changed in runs.
 *
 * Numbers are allocated in order, so the entries that a log fills in are
 * consecutive, and each block of the DAT is looked up once for all of them.  An
 * entry has blocknr zero until its block has a position.
 *
 * A block of the DAT may be written once none of its entries will change: for
 * that, the numbers that are in no log yet are counted for each block.
 */
#include "log/tables/dattable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "disk/dat.h"

/* Entries of a block of the DAT that follow each other. */
struct entries {
	uint8_t *data;
	uint32_t stride;
	uint32_t count;
};

/* How many of COUNT entries from FIRST on are in the block of the first. */
static uint32_t in_block(const struct palloc *p, uint64_t first,
			 uint64_t count)
{
	uint32_t at = palloc_group_offset(p, first);
	uint32_t n = p->entries_per_block - at % p->entries_per_block;

	if (n > p->entries_per_group - at)
		n = p->entries_per_group - at;
	return n < count ? n : (uint32_t)count;
}

/* The entries from FIRST on, as many of COUNT as one block has. */
static int change_entries(struct dattable *t, struct context *cx,
			  uint64_t first, uint64_t count, struct entries *e)
{
	const struct palloc *p = &t->numbers.p;
	void *data;
	int ret = metafile_change(t->m, cx, palloc_entry_blkoff(p, first),
				  &data, NULL);

	if (ret)
		return ret;
	e->data = (uint8_t *)data + palloc_entry_offset(p, first);
	e->stride = p->entry_size;
	e->count = in_block(p, first, count);
	return 0;
}

static void write_entry(struct entries *e, uint32_t i, uint64_t blocknr,
			uint64_t start, uint64_t end)
{
	struct nilfs_dat_entry de = {
		.de_blocknr = le64_make(blocknr),
		.de_start = le64_make(start),
		.de_end = le64_make(end),
	};

	memcpy(e->data + (size_t)i * e->stride, &de, sizeof(de));
}

static struct nilfs_dat_entry read_entry(const struct entries *e, uint32_t i)
{
	struct nilfs_dat_entry de;

	memcpy(&de, e->data + (size_t)i * e->stride, sizeof(de));
	return de;
}

/* As nilfs_dat_commit_alloc() leaves them. */
static int reset(struct dattable *t, struct context *cx, uint64_t first,
		 uint32_t count)
{
	struct entries e;
	uint32_t i;
	int ret;

	for (; count; first += e.count, count -= e.count) {
		ret = change_entries(t, cx, first, count, &e);
		if (ret)
			return ret;
		for (i = 0; i < e.count; i++)
			write_entry(&e, i, 0, NILFS_CNO_MIN, NILFS_CNO_MAX);
	}
	return 0;
}

/* Counts N for each of the numbers where their block is. */
static int count_waiting(struct dattable *t, struct context *cx,
			 uint64_t first, uint32_t count, int sign)
{
	const struct palloc *p = &t->numbers.p;
	uint32_t n;
	int ret = 0;

	for (; count && !ret; first += n, count -= n) {
		n = in_block(p, first, count);
		ret = tally_add(&t->waiting, cx,
				palloc_entry_blkoff(p, first),
				sign * (int32_t)n);
	}
	return ret;
}

int dattable_take(struct dattable *t, struct context *cx, uint32_t want,
		  uint64_t *first, uint32_t *count)
{
	int ret = numbers_take(&t->numbers, cx, want, first, count);

	if (!ret && t->aged)
		ret = reset(t, cx, *first, *count);
	return ret ? ret : count_waiting(t, cx, *first, *count, 1);
}

int dattable_listed(struct dattable *t, struct context *cx, uint64_t first,
		    uint32_t count)
{
	return count_waiting(t, cx, first, count, -1);
}

bool dattable_is_complete(const struct dattable *t, uint64_t blkoff)
{
	return !tally_get(&t->waiting, blkoff);
}

int dattable_touch(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count)
{
	struct entries e;
	int ret;

	for (; count; first += e.count, count -= e.count) {
		ret = change_entries(t, cx, first, count, &e);
		if (ret)
			return ret;
	}
	return 0;
}

bool dattable_has_snapshot(const struct dattable *t, uint64_t start,
			   uint64_t end)
{
	size_t i = search_lower_bound(t->snapshots, t->nsnapshots, start);

	return i < t->nsnapshots && t->snapshots[i] < end;
}

/* Taken by dattable_succeed(): its life was over before it has a place. */
static bool is_past(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr) &&
	       le64_get(de->de_end) != NILFS_CNO_MAX &&
	       le64_get(de->de_start) < le64_get(de->de_end);
}

/*
 * Counts the block at BLOCKNR, of a life from START to END, SIGN times: a live
 * one, one that only snapshots keep, or none at all.
 */
static int count_life(struct dattable *t, struct context *cx, uint64_t blocknr,
		      uint64_t start, uint64_t end, int32_t sign)
{
	bool current = end == NILFS_CNO_MAX;

	if (!current && !dattable_has_snapshot(t, start, end))
		return 0;
	return segments_count(t->segments, cx, blocknr, sign,
			      current ? 0 : sign);
}

/*
 * The block at BLOCKNR, counted as live, belongs to a life that has ended: it
 * is dead now, or kept by snapshots only.
 */
static int count_past(struct dattable *t, struct context *cx, uint64_t blocknr,
		      uint64_t start, uint64_t end)
{
	int ret = count_life(t, cx, blocknr, start, NILFS_CNO_MAX, -1);

	return ret ? ret : count_life(t, cx, blocknr, start, end, 1);
}

/* Entry I of E, that of virtual block VBLOCKNR, and where its block is now. */
typedef int put_entry(struct dattable *t, struct context *cx,
		      struct entries *e, uint32_t i, uint64_t vblocknr,
		      uint64_t blocknr);

/* Calls PUT for COUNT entries from FIRST on, of blocks from BLOCKNR on. */
static int put_entries(struct dattable *t, struct context *cx, uint64_t first,
		       uint32_t count, uint64_t blocknr, put_entry *put)
{
	struct entries e;
	uint32_t i;
	int ret;

	for (; count; first += e.count, count -= e.count) {
		ret = change_entries(t, cx, first, count, &e);
		for (i = 0; !ret && i < e.count; i++)
			ret = put(t, cx, &e, i, first + i, blocknr++);
		if (ret)
			return ret;
	}
	return 0;
}

static int place_entry(struct dattable *t, struct context *cx,
		       struct entries *e, uint32_t i, uint64_t vblocknr,
		       uint64_t blocknr)
{
	struct nilfs_dat_entry de;
	uint64_t start, end;

	(void)vblocknr;
	if (t->aged) {
		de = read_entry(e, i);
		if (is_past(&de)) {
			start = le64_get(de.de_start);
			end = le64_get(de.de_end);
			write_entry(e, i, blocknr, start, end);
			return count_past(t, cx, blocknr, start, end);
		}
	}
	write_entry(e, i, blocknr, t->cno, NILFS_CNO_MAX);
	return 0;
}

int dattable_place(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count, uint64_t blocknr)
{
	return put_entries(t, cx, first, count, blocknr, place_entry);
}

/*
 * A block with entry DE leaves its segment for that of BLOCKNR, where it was
 * counted as live.
 */
static int count_move(struct dattable *t, struct context *cx,
		      const struct nilfs_dat_entry *de, uint64_t blocknr)
{
	uint64_t start = le64_get(de->de_start), end = le64_get(de->de_end);
	int ret = count_life(t, cx, le64_get(de->de_blocknr), start, end, -1);

	if (ret || end == NILFS_CNO_MAX)
		return ret;
	return count_past(t, cx, blocknr, start, end);
}

static int move_entry(struct dattable *t, struct context *cx,
		      struct entries *e, uint32_t i, uint64_t vblocknr,
		      uint64_t blocknr)
{
	struct nilfs_dat_entry de = read_entry(e, i);

	if (!le64_get(de.de_blocknr))
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: has no block to be moved",
			    (unsigned long long)vblocknr);
	write_entry(e, i, blocknr, le64_get(de.de_start),
		    le64_get(de.de_end));
	return count_move(t, cx, &de, blocknr);
}

int dattable_move(struct dattable *t, struct context *cx, uint64_t first,
		  uint32_t count, uint64_t blocknr)
{
	return put_entries(t, cx, first, count, blocknr, move_entry);
}

/* Frees VBLOCKNR: clears its entry I of E. */
static int give_back(struct dattable *t, struct context *cx,
		     struct entries *e, uint32_t i, uint64_t vblocknr)
{
	const struct palloc *p = &t->numbers.p;
	int ret;

	write_entry(e, i, 0, NILFS_CNO_MIN, NILFS_CNO_MIN);
	ret = numbers_give(&t->numbers, cx, vblocknr);
	return ret ? ret : tally_add(&t->given, cx,
				     palloc_entry_blkoff(p, vblocknr), 1);
}

int dattable_free(struct dattable *t, struct context *cx, uint64_t vblocknr)
{
	struct nilfs_dat_entry de;
	struct entries e;
	int ret = change_entries(t, cx, vblocknr, 1, &e);

	if (ret)
		return ret;
	de = read_entry(&e, 0);
	if (dat_is_current(&de))
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: is freed, but did not end",
			    (unsigned long long)vblocknr);
	return give_back(t, cx, &e, 0, vblocknr);
}

/*
 * Ends entry I: 0, or 1 where it was freed instead, and E may be elsewhere.
 */
static int end_entry(struct dattable *t, struct context *cx,
		     struct entries *e, uint32_t i, uint64_t vblocknr,
		     enum metafile_kind kind)
{
	struct nilfs_dat_entry de = read_entry(e, i);
	uint64_t blocknr = le64_get(de.de_blocknr);
	uint64_t start = le64_get(de.de_start);
	uint64_t end = kind == METAFILE_SINGLE ? start : t->cno;
	int ret;

	if (blocknr && (!dat_is_current(&de) || start > t->cno))
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: in use, but ended in the DAT",
			    (unsigned long long)vblocknr);
	if (!blocknr) {
		ret = give_back(t, cx, e, i, vblocknr);
		return ret ? ret : 1;
	}
	write_entry(e, i, blocknr, start, end);
	return count_past(t, cx, blocknr, start, end);
}

int dattable_end(struct dattable *t, struct context *cx, uint64_t first,
		 uint64_t count, enum metafile_kind kind)
{
	struct entries e;
	uint32_t i;
	int ret;

	for (; count; first += e.count, count -= e.count) {
		ret = change_entries(t, cx, first, count, &e);
		for (i = 0; !ret && i < e.count; i++)
			ret = end_entry(t, cx, &e, i, first + i, kind);
		if (ret < 0)
			return ret;
		if (ret)
			e.count = i;
	}
	return 0;
}

/* Frees VBLOCKNR, whose entry is E, and stores its life in *LIFE. */
static int give_up(struct dattable *t, struct context *cx, struct entries *e,
		   uint64_t vblocknr, struct nilfs_dat_entry *life)
{
	uint64_t blocknr, start, end;

	*life = read_entry(e, 0);
	blocknr = le64_get(life->de_blocknr);
	start = le64_get(life->de_start);
	end = le64_get(life->de_end);
	if (!blocknr || start >= end || end > t->cno)
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: no life of it has ended",
			    (unsigned long long)vblocknr);
	write_entry(e, 0, blocknr, start, start);
	if (!dattable_has_snapshot(t, start, end))
		return 0;
	return segments_count(t->segments, cx, blocknr, -1, -1);
}

int dattable_set_end(struct dattable *t, struct context *cx, uint64_t vblocknr,
		     uint64_t end)
{
	struct nilfs_dat_entry de;
	struct entries e;
	uint64_t blocknr, start;
	int ret = change_entries(t, cx, vblocknr, 1, &e);

	if (ret)
		return ret;
	de = read_entry(&e, 0);
	blocknr = le64_get(de.de_blocknr);
	start = le64_get(de.de_start);
	write_entry(&e, 0, blocknr, start, end);
	ret = count_life(t, cx, blocknr, start, le64_get(de.de_end), -1);
	return ret ? ret : count_life(t, cx, blocknr, start, end, 1);
}

int dattable_succeed(struct dattable *t, struct context *cx,
		     uint64_t vblocknr, uint64_t *next, uint64_t *start)
{
	struct nilfs_dat_entry life;
	struct entries e;
	uint32_t count;
	int ret = change_entries(t, cx, vblocknr, 1, &e);

	if (!ret)
		ret = give_up(t, cx, &e, vblocknr, &life);
	if (!ret)
		ret = dattable_take(t, cx, 1, next, &count);
	if (!ret)
		ret = change_entries(t, cx, *next, 1, &e);
	if (ret)
		return ret;
	*start = le64_get(life.de_start);
	write_entry(&e, 0, 0, *start, le64_get(life.de_end));
	return 0;
}

/* Whether one of B's numbers is in use by its bit or its entry: 1, 0. */
static int is_used(struct dattable *t, struct context *cx,
		   const struct palloc_block *b)
{
	struct nilfs_dat_entry de;
	uint64_t i;
	int ret = 0;

	for (i = b->first; i < b->first + b->count && !ret; i++) {
		ret = numbers_test(&t->numbers, cx, i);
		if (!ret)
			ret = dattable_read(t, cx, i, &de);
		if (!ret)
			ret = le64_get(de.de_blocknr) && dat_is_current(&de);
	}
	return ret;
}

int dattable_make_holes(struct dattable *t, struct context *cx)
{
	struct palloc_block b;
	uint64_t blkoff;
	int ret = 0;

	for (blkoff = 0; ret >= 0 && tally_next(&t->given, &blkoff); blkoff++) {
		palloc_locate(&t->numbers.p, blkoff, &b);
		ret = is_used(t, cx, &b);
		if (!ret)
			ret = metafile_delete(t->m, cx, blkoff);
	}
	tally_fini(&t->given);
	return ret < 0 ? ret : 0;
}

int dattable_read(struct dattable *t, struct context *cx, uint64_t vblocknr,
		  struct nilfs_dat_entry *de)
{
	const struct palloc *p = &t->numbers.p;
	const void *data;
	int ret = metafile_look(t->m, cx, palloc_entry_blkoff(p, vblocknr),
				&data);

	if (ret < 0)
		return ret;
	if (!ret)
		return fail(cx, -EUCLEAN, "virtual block %llu: not in the DAT",
			    (unsigned long long)vblocknr);
	memcpy(de, (const char *)data + palloc_entry_offset(p, vblocknr),
	       sizeof(*de));
	return 0;
}

void dattable_fini(struct dattable *t)
{
	numbers_fini(&t->numbers);
	tally_fini(&t->waiting);
	tally_fini(&t->given);
	free(t->snapshots);
	t->snapshots = NULL;
}
