// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Allocating and freeing numbers of a persistent allocator.
 *
 * The current group is cached, because consecutive numbers are nearly always of
 * the same group: its bitmap and its count of free numbers are written to the
 * file when the next group begins and before the file is written.  A number of
 * another group is freed in the file directly.
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

/* The descriptor of GROUP for writing. */
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

/*
 * Loads GROUP if its descriptor counts a free number, or does not exist: 1.  0
 * if the group is full.
 */
static int load_group(struct numbers *n, struct context *cx, uint64_t group)
{
	struct nilfs_palloc_group_desc desc;
	const void *data;
	int ret;

	if (n->loaded && n->group == group)
		return n->nfrees != 0;
	ret = metafile_look(n->m, cx, palloc_desc_blkoff(&n->p, group), &data);
	if (ret > 0) {
		memcpy(&desc,
		       (const char *)data + palloc_desc_offset(&n->p, group),
		       sizeof(desc));
		if (!le32_get(desc.pg_nfrees))
			return 0;
	}
	if (ret >= 0)
		ret = numbers_sync(n, cx);
	if (ret < 0)
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
	return 1;
}

int numbers_take(struct numbers *n, struct context *cx, uint32_t want,
		 uint64_t *first, uint32_t *count)
{
	uint32_t at = palloc_group_offset(&n->p, n->next), i;
	uint32_t end = n->p.entries_per_group;
	uint64_t group = palloc_group(&n->p, n->next);
	int ret;

	for (;; group++, at = 0) {
		ret = load_group(n, cx, group);
		if (ret < 0)
			return ret;
		/* Eight numbers at once where all of them are in use. */
		while (ret && at < end && palloc_bit(n->bitmap, at))
			at += at % 8 == 0 && n->bitmap[at / 8] == 0xff ? 8 : 1;
		if (ret && at < end)
			break;
	}
	if (want < end - at)
		end = at + want;
	for (i = at; i < end && !palloc_bit(n->bitmap, i);) {
		if (i % 8 == 0 && end - i >= 8 && !n->bitmap[i / 8]) {
			n->bitmap[i / 8] = 0xff;
			i += 8;
		} else {
			n->bitmap[i / 8] |= (uint8_t)(1 << i % 8);
			i++;
		}
	}
	*count = i - at;
	*first = n->group * n->p.entries_per_group + at;
	n->nfrees -= *count;
	n->next = *first + *count;
	n->changed = true;
	return n->through ? numbers_sync(n, cx) : 0;
}

int numbers_give(struct numbers *n, struct context *cx, uint64_t nr)
{
	uint64_t group = palloc_group(&n->p, nr);
	bool loaded = n->loaded && n->group == group;
	uint32_t at = palloc_group_offset(&n->p, nr);
	struct nilfs_palloc_group_desc *desc;
	void *data = n->bitmap;
	uint8_t *bitmap;
	int ret = 0;

	if (!loaded)
		ret = metafile_change(n->m, cx,
				      palloc_bitmap_blkoff(&n->p, group), &data,
				      NULL);
	if (ret)
		return ret;
	bitmap = data;
	if (!palloc_bit(bitmap, at))
		return fail(cx, -EUCLEAN, "number %llu: not in use",
			    (unsigned long long)nr);
	bitmap[at / 8] &= (uint8_t)~(1 << at % 8);
	if (loaded) {
		n->nfrees++;
		n->changed = true;
		return n->through ? numbers_sync(n, cx) : 0;
	}
	ret = change_desc(n, cx, group, &desc);
	if (!ret)
		desc->pg_nfrees = le32_make(le32_get(desc->pg_nfrees) + 1);
	return ret;
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
