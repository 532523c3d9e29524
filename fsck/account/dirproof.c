// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a block of a directory was, proved by the checksum of its log.
 *
 * A repair has the names, but not always in the places where they were.  The
 * kernel leaves entries where they are, so a block is mostly an older version of
 * it from which names were deleted since.
 */
#include "fsck/account/dirproof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/dirent.h"
#include "fsck/account/comparefile.h"

/* Versions that are tried at most. */
#define VERSIONS_MAX 64u

struct trial {
	const struct comparedir *d;
	char *block; /* an older version */
	uint32_t size;
	uint32_t *entries; /* where they begin */
	size_t n;
};

static struct nilfs_dir_entry *entry_at(const struct trial *t, size_t i)
{
	return (void *)(t->block + t->entries[i]);
}

/* Finds the entries: false where the block is not one of a directory. */
static bool list_entries(struct trial *t)
{
	struct dirent_entry de;
	struct dirent_iter it;

	t->n = 0;
	dirent_iter_init(&it, t->block, t->size);
	while (dirent_iter_next(&it, &de))
		t->entries[t->n++] = de.offset;
	return !it.verdict;
}

static bool is_gone(const struct trial *t, size_t i)
{
	const struct nilfs_dir_entry *de = entry_at(t, i);
	const struct dirent_entry entry = {
		.ino = le64_get(de->inode),
		.name_len = de->name_len,
		.name = de->name,
	};

	return entry.ino && !comparedir_is_dots(&entry) &&
	       !comparedir_has(t->d, &entry);
}

/* Deletes entry I, as nilfs_delete_entry(): entry BEFORE takes its room. */
static void delete_entry(const struct trial *t, size_t i, size_t before)
{
	struct nilfs_dir_entry *de = entry_at(t, i), *last;

	de->inode = le64_make(0);
	if (i == before)
		return;
	last = entry_at(t, before);
	last->rec_len = dirent_rec_len_encode(
		dirent_rec_len_decode(last->rec_len) +
		dirent_rec_len_decode(de->rec_len));
}

/* Deletes what is gone, the first one first. */
static void delete_forwards(const struct trial *t)
{
	size_t i, before = 0;

	for (i = 0; i < t->n; i++) {
		if (is_gone(t, i))
			delete_entry(t, i, before);
		else
			before = i;
	}
}

/* The last one first: what one takes up has the room of those after it. */
static void delete_backwards(const struct trial *t)
{
	size_t i;

	for (i = t->n; i--;)
		if (is_gone(t, i))
			delete_entry(t, i, i ? i - 1 : 0);
}

/* Whether the block was version ONE, with names deleted in either order. */
static bool was_version(struct trial *t, struct sides *s, struct context *cx,
			uint64_t pseg, uint64_t blocknr,
			const struct version *one)
{
	void (*const ways[])(const struct trial *t) = {
		delete_forwards,
		delete_backwards,
	};
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!sides_read(s, cx, false, one->blocknr))
			return false;
		memcpy(t->block, s->blocks[0], t->size);
		if (!list_entries(t))
			return false;
		ways[i](t);
		if (sides_was(s, cx, pseg, blocknr, t->block))
			return true;
	}
	return false;
}

static const void *find_version(struct trial *t, struct sides *s,
				struct context *cx, uint64_t ino,
				uint64_t blkoff, uint64_t pseg,
				uint64_t blocknr)
{
	const struct versions *v = &s->versions;
	size_t i = versions_from(v, ino, blkoff), n = 0;

	for (; i < v->n && v->items[i].ino == ino &&
	       v->items[i].blkoff == blkoff && n < VERSIONS_MAX;
	     i++, n++)
		if (v->items[i].blocknr != blocknr &&
		    was_version(t, s, cx, pseg, blocknr, &v->items[i]))
			return t->block;
	return NULL;
}

const void *dirproof_find(const struct comparedir *d, struct sides *s,
			  struct context *cx, struct file *after,
			  uint64_t blkoff, uint64_t blocknr)
{
	struct trial t = {
		.d = d,
		.block = s->blocks[1],
		.size = s->before->geo.block_size,
	};
	const void *found = NULL;
	uint64_t pseg, now;

	if (!sides_wrong_log(s, cx, blocknr, &pseg))
		return NULL;
	if (comparefile_after(cx, after, blkoff, &now) > 0 &&
	    sides_read(s, cx, true, now) &&
	    sides_was(s, cx, pseg, blocknr, s->blocks[1]))
		return s->blocks[1];
	t.entries = calloc(t.size / dirent_rec_len(1) + 1, sizeof(*t.entries));
	if (t.entries)
		found = find_version(&t, s, cx, after->ino, blkoff, pseg,
				     blocknr);
	free(t.entries);
	return found;
}

bool dirproof_clear_rest(void *block, uint32_t size)
{
	struct dirent_entry de;
	struct dirent_iter it;
	uint32_t end = size;

	if (dirent_check_block(block, size))
		return false;
	dirent_iter_init(&it, block, size);
	while (dirent_iter_next(&it, &de))
		end = de.offset + dirent_rec_len(de.name_len);
	memset((char *)block + end, 0, size - end);
	return true;
}
