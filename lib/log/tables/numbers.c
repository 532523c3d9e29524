// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Allocating and freeing numbers of a persistent allocator.
 *
 * The current group is held in memory, because consecutive numbers are nearly
 * always of the same group: its bitmap and its count of free numbers are
 * written to the file when the next group begins and before the file is
 * written.  A number of another group is freed in the file itself.
 */
#include "log/tables/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int numbers_init(struct numbers *n, struct context *cx, struct metafile *m,
		 uint32_t block_size, uint32_t entry_size)
{
	memset(n, 0, sizeof(*n));
	n->m = m;
	palloc_init(&n->p, block_size, entry_size);
	n->bitmap = malloc(block_size);
	return n->bitmap ? 0 : fail(cx, -ENOMEM, "bitmap of numbers");
}

void numbers_fini(struct numbers *n)
{
	free(n->bitmap);
	n->bitmap = NULL;
}

/* The descriptor of GROUP, to be changed. */
static int change_desc(struct numbers *n, struct context *cx, uint64_t group,
		       struct nilfs_palloc_group_desc **desc)
{
	struct nilfs_palloc_group_desc *descs;
	uint32_t i;
	void *data;
	bool fresh;
	int ret = metafile_change(n->m, cx, palloc_desc_blkoff(&n->p, group),
				  &data, &fresh);

	if (ret)
		return ret;
	descs = data;
	for (i = 0; fresh && i < n->p.groups_per_desc; i++)
		descs[i].pg_nfrees = le32_make(n->p.entries_per_group);
	*desc = (void *)((char *)data + palloc_desc_offset(&n->p, group));
	return 0;
}

int numbers_sync(struct numbers *n, struct context *cx)
{
	struct nilfs_palloc_group_desc *desc;
	void *data;
	int ret;

	if (!n->changed)
		return 0;
	ret = change_desc(n, cx, n->group, &desc);
	if (ret)
		return ret;
	desc->pg_nfrees = le32_make(n->nfrees);
	ret = metafile_change(n->m, cx,
			      palloc_bitmap_blkoff(&n->p, n->group), &data,
			      NULL);
	if (ret)
		return ret;
	memcpy(data, n->bitmap, n->p.block_size);
	n->changed = false;
	return 0;
}

void numbers_forget(struct numbers *n)
{
	n->loaded = false;
	n->changed = false;
}

/* Loads GROUP. */
static int load(struct numbers *n, struct context *cx, uint64_t group)
{
	const void *data;
	int ret;

	if (n->loaded && n->group == group)
		return 0;
	ret = numbers_sync(n, cx);
	if (ret)
		return ret;
	n->loaded = false;
	ret = metafile_look(n->m, cx, palloc_bitmap_blkoff(&n->p, group),
			    &data);
	if (ret < 0)
		return ret;
	if (ret)
		memcpy(n->bitmap, data, n->p.block_size);
	else
		memset(n->bitmap, 0, n->p.block_size);
	n->nfrees = n->p.entries_per_group - palloc_count(&n->p, n->bitmap);
	n->group = group;
	n->loaded = true;
	return 0;
}

/* First bit from AT on that is clear, or the number of bits. */
static uint32_t next_clear(const struct numbers *n, uint32_t at)
{
	while (at < n->p.entries_per_group && palloc_bit(n->bitmap, at)) {
		if (at % 8 == 0 && n->bitmap[at / 8] == 0xff)
			at += 8;
		else
			at++;
	}
	return at;
}

/* Sets up to WANT clear bits from AT on; returns how many. */
static uint32_t set_bits(struct numbers *n, uint32_t at, uint32_t want)
{
	uint32_t end = n->p.entries_per_group, i = at;

	if (want < end - at)
		end = at + want;
	while (i < end && !palloc_bit(n->bitmap, i)) {
		if (i % 8 == 0 && end - i >= 8 && !n->bitmap[i / 8]) {
			n->bitmap[i / 8] = 0xff;
			i += 8;
		} else {
			n->bitmap[i / 8] |= (uint8_t)(1 << i % 8);
			i++;
		}
	}
	return i - at;
}

/* 1 if GROUP has a free number by its descriptor, or has no descriptor. */
static int has_room(struct numbers *n, struct context *cx, uint64_t group)
{
	struct nilfs_palloc_group_desc desc;
	const void *data;
	int ret;

	if (n->loaded && n->group == group)
		return n->nfrees != 0;
	ret = metafile_look(n->m, cx, palloc_desc_blkoff(&n->p, group), &data);
	if (ret < 0)
		return ret;
	if (!ret)
		return 1;
	memcpy(&desc, (const char *)data + palloc_desc_offset(&n->p, group),
	       sizeof(desc));
	return le32_get(desc.pg_nfrees) != 0;
}

/* Loads the group of the first free number from group GROUP, bit *AT on. */
static int find_free(struct numbers *n, struct context *cx, uint64_t group,
		     uint32_t *at)
{
	int ret;

	for (;; group++, *at = 0) {
		ret = has_room(n, cx, group);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		ret = load(n, cx, group);
		if (ret)
			return ret;
		*at = next_clear(n, *at);
		if (*at < n->p.entries_per_group)
			return 0;
	}
}

int numbers_take(struct numbers *n, struct context *cx, uint32_t want,
		 uint64_t *first, uint32_t *count)
{
	uint32_t at = palloc_group_offset(&n->p, n->next);
	int ret = find_free(n, cx, palloc_group(&n->p, n->next), &at);

	if (ret)
		return ret;
	*count = set_bits(n, at, want);
	*first = n->group * n->p.entries_per_group + at;
	n->nfrees -= *count;
	n->next = *first + *count;
	n->changed = true;
	return n->through ? numbers_sync(n, cx) : 0;
}

static int already_free(struct context *cx, uint64_t nr)
{
	return fail(cx, -EUCLEAN, "number %llu: not in use",
		    (unsigned long long)nr);
}

static int give_elsewhere(struct numbers *n, struct context *cx, uint64_t nr)
{
	uint64_t group = palloc_group(&n->p, nr);
	uint32_t at = palloc_group_offset(&n->p, nr);
	struct nilfs_palloc_group_desc *desc;
	uint8_t *bitmap;
	void *data;
	int ret;

	ret = metafile_change(n->m, cx, palloc_bitmap_blkoff(&n->p, group),
			      &data, NULL);
	if (ret)
		return ret;
	bitmap = data;
	if (!palloc_bit(bitmap, at))
		return already_free(cx, nr);
	bitmap[at / 8] &= (uint8_t)~(1 << at % 8);
	ret = change_desc(n, cx, group, &desc);
	if (!ret)
		desc->pg_nfrees = le32_make(le32_get(desc->pg_nfrees) + 1);
	return ret;
}

int numbers_give(struct numbers *n, struct context *cx, uint64_t nr)
{
	uint32_t at = palloc_group_offset(&n->p, nr);

	if (!n->loaded || n->group != palloc_group(&n->p, nr))
		return give_elsewhere(n, cx, nr);
	if (!palloc_bit(n->bitmap, at))
		return already_free(cx, nr);
	n->bitmap[at / 8] &= (uint8_t)~(1 << at % 8);
	n->nfrees++;
	n->changed = true;
	return n->through ? numbers_sync(n, cx) : 0;
}

int numbers_test(struct numbers *n, struct context *cx, uint64_t nr)
{
	uint64_t group = palloc_group(&n->p, nr);
	uint32_t at = palloc_group_offset(&n->p, nr);
	const void *data;
	int ret;

	if (n->loaded && n->group == group)
		return palloc_bit(n->bitmap, at);
	ret = metafile_look(n->m, cx, palloc_bitmap_blkoff(&n->p, group),
			    &data);
	return ret <= 0 ? ret : palloc_bit(data, at);
}
