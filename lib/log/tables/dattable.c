// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries of the DAT, changed in runs.
 *
 * Numbers are allocated in order, so the entries that a log fills in are
 * consecutive, and each block of the DAT is looked up once for all of them.  An
 * entry has blocknr zero until its block has a position.
 *
 * A block of the DAT may be written when its entries will not change any more.
 * Therefore the allocated numbers that no log lists yet are counted for each
 * block.
 */
#include "log/tables/dattable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "disk/dat.h"

/* Consecutive entries within a block of the DAT. */
struct entries {
	uint8_t *data;
	uint32_t stride;
	uint32_t count;
};

/* How many of COUNT entries from FIRST on are in the block of the first one. */
static uint32_t in_block(const struct palloc *p, uint64_t first,
			 uint64_t count)
{
	uint32_t at = palloc_group_offset(p, first);
	uint32_t n = p->entries_per_block - at % p->entries_per_block;

	if (n > p->entries_per_group - at)
		n = p->entries_per_group - at;
	return n < count ? n : (uint32_t)count;
}

/* The entries from FIRST on, up to COUNT, that one block contains. */
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

static struct nilfs_dat_entry read_dat_entry(const struct entries *e,
					     uint32_t i)
{
	struct nilfs_dat_entry de;

	memcpy(&de, e->data + (size_t)i * e->stride, sizeof(de));
	return de;
}

int dattable_count_waiting(struct dattable *t, struct context *cx,
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
	struct entries e;
	uint32_t done, i;

	/* Clear them as nilfs_dat_commit_alloc() does. */
	for (done = 0; !ret && t->aged && done < *count; done += e.count) {
		ret = change_entries(t, cx, *first + done, *count - done, &e);
		for (i = 0; !ret && i < e.count; i++)
			write_entry(&e, i, 0, NILFS_CNO_MIN, NILFS_CNO_MAX);
	}
	return ret ? ret : dattable_count_waiting(t, cx, *first, *count, 1);
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
	return search_within(t->snapshots, t->nsnapshots, start, end);
}

/*
 * Adds SIGN to the counts for the block at BLOCKNR, valid from START to END: to
 * those of live blocks, of blocks kept by snapshots only, or to none.
 */
static int count_dattable_block(struct dattable *t, struct context *cx,
				uint64_t blocknr, uint64_t start, uint64_t end,
				int32_t sign)
{
	bool live = end == NILFS_CNO_MAX;

	if (!live && !dattable_has_snapshot(t, start, end))
		return 0;
	return segments_count(t->segments, cx, blocknr, sign, live ? 0 : sign);
}

/*
 * Updates the counts of the block at BLOCKNR, valid until WAS before, until END
 * now.
 */
static int count_dat_end(struct dattable *t, struct context *cx,
			 uint64_t blocknr, uint64_t start, uint64_t was,
			 uint64_t end)
{
	int ret = count_dattable_block(t, cx, blocknr, start, was, -1);

	return ret ? ret : count_dattable_block(t, cx, blocknr, start, end, 1);
}

int dattable_place(struct dattable *t, struct context *cx, uint64_t first,
		   uint32_t count, uint64_t blocknr, bool moved)
{
	struct nilfs_dat_entry de;
	uint64_t old, start, end;
	struct entries e;
	uint32_t i;
	int ret;

	for (; count; first += e.count, count -= e.count) {
		ret = change_entries(t, cx, first, count, &e);
		for (i = 0; !ret && i < e.count; i++, blocknr++) {
			de = read_dat_entry(&e, i);
			old = le64_get(de.de_blocknr);
			start = le64_get(de.de_start);
			end = le64_get(de.de_end);
			if (moved && !old)
				return fail(cx, -EUCLEAN, "virtual block %llu: "
					    "has no block to move",
					    (unsigned long long)first + i);
			/* All but those of dattable_succeed() begin now. */
			if (!moved && (!t->aged || old || start >= end ||
				       end == NILFS_CNO_MAX)) {
				start = t->cno;
				end = NILFS_CNO_MAX;
			}
			write_entry(&e, i, blocknr, start, end);
			if (moved)
				ret = count_dattable_block(t, cx, old, start, end, -1);
			/* It was counted as live where it is now. */
			if (!ret && end != NILFS_CNO_MAX)
				ret = count_dat_end(t, cx, blocknr, start,
						    NILFS_CNO_MAX, end);
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* Frees VBLOCKNR: clears its entry I of E. */
static int free_dat_number(struct dattable *t, struct context *cx,
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
	de = read_dat_entry(&e, 0);
	if (dat_is_current(&de))
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: cannot be freed, it has not ended",
			    (unsigned long long)vblocknr);
	return free_dat_number(t, cx, &e, 0, vblocknr);
}

int dattable_end(struct dattable *t, struct context *cx, uint64_t first,
		 uint64_t count, enum metafile_kind kind)
{
	struct nilfs_dat_entry de;
	uint64_t blocknr, start, end;
	struct entries e;
	uint32_t i;
	int ret;

	for (; count; first += i, count -= i) {
		ret = change_entries(t, cx, first, count, &e);
		for (i = 0; !ret && i < e.count; i++) {
			de = read_dat_entry(&e, i);
			blocknr = le64_get(de.de_blocknr);
			start = le64_get(de.de_start);
			end = kind == METAFILE_SINGLE ? start : t->cno;
			if (!blocknr) {
				/* The block of E may have moved in memory. */
				ret = free_dat_number(t, cx, &e, i, first + i);
				i++;
				break;
			}
			if (!dat_is_current(&de) || start > t->cno)
				return fail(cx, -EUCLEAN, "virtual block %llu: "
					    "in use, but ended in the DAT",
					    (unsigned long long)first + i);
			write_entry(&e, i, blocknr, start, end);
			ret = count_dat_end(t, cx, blocknr, start,
					    NILFS_CNO_MAX, end);
		}
		if (ret)
			return ret;
	}
	return 0;
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
	de = read_dat_entry(&e, 0);
	blocknr = le64_get(de.de_blocknr);
	start = le64_get(de.de_start);
	write_entry(&e, 0, blocknr, start, end);
	return count_dat_end(t, cx, blocknr, start, le64_get(de.de_end), end);
}

int dattable_add_ended(struct dattable *t, struct context *cx, uint64_t start,
		       uint64_t end, uint64_t *number)
{
	struct entries e;
	uint32_t count;
	int ret = dattable_take(t, cx, 1, number, &count);

	if (!ret)
		ret = change_entries(t, cx, *number, 1, &e);
	if (!ret)
		write_entry(&e, 0, 0, start, end);
	return ret;
}

int dattable_succeed(struct dattable *t, struct context *cx,
		     uint64_t vblocknr, uint64_t *next, uint64_t *start)
{
	struct nilfs_dat_entry de;
	uint64_t blocknr, end;
	struct entries e;
	int ret = change_entries(t, cx, vblocknr, 1, &e);

	if (ret)
		return ret;
	de = read_dat_entry(&e, 0);
	blocknr = le64_get(de.de_blocknr);
	*start = le64_get(de.de_start);
	end = le64_get(de.de_end);
	if (!blocknr || *start >= end || end > t->cno)
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: is live or was never valid",
			    (unsigned long long)vblocknr);
	write_entry(&e, 0, blocknr, *start, *start);
	ret = count_dattable_block(t, cx, blocknr, *start, end, -1);
	return ret ? ret : dattable_add_ended(t, cx, *start, end, next);
}

int dattable_make_holes(struct dattable *t, struct context *cx)
{
	struct nilfs_dat_entry de;
	struct palloc_block b;
	uint64_t blkoff, nr;
	int ret = 0;

	for (blkoff = 0; ret >= 0 && tally_next(&t->given, &blkoff); blkoff++) {
		palloc_locate(&t->numbers.p, blkoff, &b);
		/* A number is in use by its bit or by its entry. */
		for (nr = b.first, ret = 0; nr < b.first + b.count && !ret; nr++) {
			ret = numbers_test(&t->numbers, cx, nr);
			if (!ret)
				ret = dattable_read(t, cx, nr, &de);
			if (!ret)
				ret = le64_get(de.de_blocknr) &&
				      dat_is_current(&de);
		}
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
