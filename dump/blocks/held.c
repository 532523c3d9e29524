// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checkpoints that have a block.
 *
 * An entry of the DAT records the range of checkpoints that have its block.  A
 * cleaner keeps the block while one of these is a snapshot.  The numbers of all
 * checkpoints and snapshots are in two sorted lists.
 */
#include "dump/blocks/held.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "disk/dat.h"
#include "vol/cptable.h"
#include "vol/translate.h"
#include "vol/volume.h"

const char *const held_names[] = {
	[HELD_FREE] = "free",
	[HELD_UNWRITTEN] = "unwritten",
	[HELD_CURRENT] = "current",
	[HELD_SNAPSHOT] = "snapshot",
	[HELD_CHECKPOINT] = "checkpoint",
	[HELD_DEAD] = "dead",
};

/* A part of a list: the numbers in the range of an entry. */
struct part {
	size_t first, count;
};

int held_load(struct held *h, struct context *cx, struct volume *vol)
{
	int err;

	*h = (struct held){ .cnos = NULL };
	err = cptable_list(vol, cx, false, &h->cnos, &h->count);
	if (err)
		return err;
	return cptable_list(vol, cx, true, &h->snapshots, &h->nsnapshots);
}

void held_free(struct held *h)
{
	free(h->cnos);
	free(h->snapshots);
	*h = (struct held){ .cnos = NULL };
}

static struct part part_of(const uint64_t *list, size_t count,
			   const struct nilfs_dat_entry *de)
{
	size_t first = search_lower_bound(list, count,
					  le64_get(de->de_start));
	size_t end = search_lower_bound(list, count, le64_get(de->de_end));

	return (struct part){ first, end > first ? end - first : 0 };
}

/* Whether that part is not empty.  Takes one search. */
static bool has_part(const uint64_t *list, size_t count,
		     const struct nilfs_dat_entry *de)
{
	size_t first = search_lower_bound(list, count,
					  le64_get(de->de_start));

	return first < count && list[first] < le64_get(de->de_end);
}

enum held_state held_state(const struct held *h,
			   const struct nilfs_dat_entry *de)
{
	if (dat_is_unwritten(de))
		return HELD_UNWRITTEN;
	if (dat_is_current(de))
		return HELD_CURRENT;
	if (has_part(h->snapshots, h->nsnapshots, de))
		return HELD_SNAPSHOT;
	if (has_part(h->cnos, h->count, de))
		return HELD_CHECKPOINT;
	return HELD_DEAD;
}

size_t held_count(const struct held *h, const struct nilfs_dat_entry *de,
		  uint64_t *newest)
{
	struct part part = part_of(h->cnos, h->count, de);

	if (newest)
		*newest = part.count ?
				  h->cnos[part.first + part.count - 1] : 0;
	return part.count;
}

static void print_part(struct report *r, const char *what, const char *label,
		       const uint64_t *list, struct part part)
{
	char first[32], last[32], text[96];

	if (report_is_text(r)) {
		snprintf(text, sizeof(text), part.count > 1 ?
			 "%zu (checkpoints %llu to %llu)" :
			 "%zu (checkpoint %llu)", part.count,
			 part.count ? (unsigned long long)list[part.first] : 0,
			 part.count ? (unsigned long long)
			 list[part.first + part.count - 1] : 0);
		report_string(r, what, label, part.count ? text : "none");
		return;
	}
	snprintf(first, sizeof(first), "%s_first", what);
	snprintf(last, sizeof(last), "%s_last", what);
	report_u64(r, what, label, part.count);
	report_value(r, VALUE_U64, first, first, part.count ?
		     value_u64(list[part.first]) : value_absent());
	report_value(r, VALUE_U64, last, last, part.count ?
		     value_u64(list[part.first + part.count - 1]) :
		     value_absent());
}

void held_report(struct report *r, const struct held *h,
		 const struct nilfs_dat_entry *de)
{
	print_part(r, "snapshots", "Held by snapshots", h->snapshots,
		   part_of(h->snapshots, h->nsnapshots, de));
	print_part(r, "checkpoints", "Held by checkpoints", h->cnos,
		   part_of(h->cnos, h->count, de));
}

/* The bitmap is read as well, because a freed number keeps its old entry. */
int held_read(struct held_entry *e, struct context *cx, struct volume *vol,
		  const struct held *h, uint64_t vblocknr)
{
	int err;

	memset(e, 0, sizeof(*e));
	e->group = palloc_group(&vol->dat_palloc, vblocknr);
	err = file_bit(&vol->dat, cx, &vol->dat_palloc, vblocknr, &e->used);
	if (err < 0)
		return err;
	err = translate_entry(vol, cx, vblocknr, &e->de);
	e->exists = !err;
	if (err == -ENOENT) {
		fail_clear(cx);
		err = 0;
	}
	e->state = e->exists && e->used ? held_state(h, &e->de) : HELD_FREE;
	return err;
}
