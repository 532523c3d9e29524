// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How the numbers in use are spread over the DAT.
 *
 * Files that are gone leave gaps, and a block of the DAT stays as long as one
 * number in it is in use.  The bitmaps tell how many there are, and the map of
 * the DAT which blocks there are: no entry is read.
 *
 * Blocks of cpfile and SUFILE get new numbers in any case where they are
 * written again, so theirs are as good as free.
 */
#include "gc/datuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/palloc.h"
#include "disk/segusage.h"

/* What is known of a block takes this part of the memory, at most. */
#define PART 8

/* Blocks of the cpfile that change with a log, and nodes. */
#define CPFILE_NUMBERS 4

struct look {
	struct datuse *s;
	struct volume *vol;
	struct tally ending;	/* of cpfile and SUFILE, by block */
	char *bitmap;
	uint64_t group;		/* that it is of */
	bool known;
	uint64_t next;		/* block */
};

static int read_bitmap(struct look *l, struct context *cx, uint64_t blkoff,
		       uint64_t group)
{
	struct file *dat = &l->vol->dat;
	const void *data;
	int ret = file_block(dat, cx, blkoff, &data);

	if (ret <= 0)
		return ret;
	memcpy(l->bitmap, data, l->vol->geo.block_size);
	file_put(dat, data);
	l->group = group;
	l->known = true;
	return 0;
}

/* One that is nearly full costs more than it brings. */
static bool is_sparse(const struct datuse_block *b)
{
	return b->used && b->kept <= b->count - b->count / 4;
}

static int add(struct look *l, struct context *cx,
	       const struct datuse_block *b)
{
	struct datuse *s = l->s;
	struct datuse_block *grown;

	s->numbers += b->count;
	s->used += b->used;
	if (!is_sparse(b) || (s->n + 1) * sizeof(*b) > cx->max_memory / PART)
		return 0;
	grown = array_grow(cx, s->blocks, &s->room, s->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->blocks = grown;
	grown[s->n++] = *b;
	return 0;
}

static int look_at(struct look *l, struct context *cx, uint64_t blkoff)
{
	const struct palloc *p = &l->vol->dat_palloc;
	struct palloc_block what;
	struct datuse_block b;
	uint32_t bit;

	palloc_locate(p, blkoff, &what);
	if (what.kind == PALLOC_BITMAP)
		return read_bitmap(l, cx, blkoff, what.group);
	if (what.kind != PALLOC_ENTRIES || !l->known || l->group != what.group)
		return 0;
	bit = palloc_group_offset(p, what.first);
	b = (struct datuse_block){
		.blkoff = blkoff,
		.first = what.first,
		.count = (uint32_t)what.count,
		.used = palloc_count_range(l->bitmap, bit,
					   bit + (uint32_t)what.count),
	};
	b.kept = b.used - (uint32_t)tally_get(&l->ending, blkoff);
	return add(l, cx, &b);
}

/* What a walk over a map does with an item. */
typedef int visit(struct look *l, struct context *cx,
		  const struct blockmap_item *item);

static int walk(struct look *l, struct context *cx, const struct blockmap *map,
		bool nodes, visit *each)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, map, 0, nodes);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		ret = each(l, cx, &item);
	blockmap_cursor_close(&cur);
	return ret;
}

static int visit_dat(struct look *l, struct context *cx,
		     const struct blockmap_item *item)
{
	int ret = 0;

	for (; l->next < item->key && !ret; l->next++)
		ret = tally_add(&l->s->holes, cx, l->next, 1);
	l->next = item->key + 1;
	return ret ? ret : look_at(l, cx, item->key);
}

static int visit_ending(struct look *l, struct context *cx,
			const struct blockmap_item *item)
{
	return tally_add(&l->ending, cx,
			 palloc_entry_blkoff(&l->vol->dat_palloc, item->ptr),
			 1);
}

static int compare(const void *a, const void *b)
{
	const struct datuse_block *x = a, *y = b;

	if (x->kept != y->kept)
		return x->kept < y->kept ? -1 : 1;
	return x->blkoff < y->blkoff ? -1 : x->blkoff > y->blkoff;
}

int datuse_find(struct datuse *s, struct context *cx, struct volume *vol)
{
	struct look l = { .s = s, .vol = vol };
	int ret;

	*s = (struct datuse){ 0 };
	l.bitmap = malloc(vol->geo.block_size);
	if (!l.bitmap)
		return fail(cx, -ENOMEM, "bitmap of the DAT");
	ret = walk(&l, cx, &vol->cpfile.map, true, visit_ending);
	if (!ret)
		ret = walk(&l, cx, &vol->sufile.map, true, visit_ending);
	if (!ret)
		ret = walk(&l, cx, &vol->dat.map, false, visit_dat);
	tally_fini(&l.ending);
	free(l.bitmap);
	sort_in_place(s->blocks, s->n, sizeof(*s->blocks), compare);
	return ret;
}

void datuse_free(struct datuse *s)
{
	free(s->blocks);
	tally_fini(&s->holes);
	*s = (struct datuse){ 0 };
}

size_t datuse_count(const struct datuse *s, uint64_t spare)
{
	uint64_t kept = s->used + spare, n = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		n += s->blocks[i].count;
		if (kept + n > s->numbers)
			break;
	}
	return i;
}

uint64_t datuse_spare(const struct volume *vol)
{
	return segusage_nblocks(&vol->geo) + CPFILE_NUMBERS;
}
