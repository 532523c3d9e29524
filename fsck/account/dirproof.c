// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What proves the names of a directory.
 *
 * The checksum of a log: a repair has the names, but not always in the places
 * where they were.  The kernel leaves entries where they are, so a block is
 * mostly an older version of it from which names were deleted since.
 *
 * The times of inodes: the kernel sets the time of change of an inode whenever
 * it gets a name, loses one, or is renamed.  So an inode that has the same time
 * in another checkpoint has the same names there, and a version of the
 * directory from then proves those in it.
 *
 * A name that was read in a broken block is believed unless such a version has
 * it as well, of another time: then the block may be older than it should be.
 */
#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "fsck/account/sides.h"

/* Versions that are tried at most. */
#define VERSIONS_MAX 64u

/* The name of the entry at OFFSET of BLOCK. */
static struct dirent_entry entry_at(const char *block, uint32_t offset)
{
	const struct nilfs_dir_entry *de = (const void *)(block + offset);

	return (struct dirent_entry){
		.ino = le64_get(de->inode),
		.name_len = de->name_len,
		.name = de->name,
	};
}

/*
 * Whether the block at BLOCKNR, in the log at PSEG, was version ONE without the
 * names that are gone, deleted in either order: the first one first, the last
 * entry that is left gets the room; backwards, one that is deleted later takes
 * it along. ENTRIES has room for where they begin.
 */
static bool was_version(const struct comparedir *d, struct context *cx,
			uint64_t pseg, uint64_t blocknr,
			const struct version *one, uint32_t *entries)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	struct nilfs_dir_entry *de, *last;
	char *block = s->blocks[1];
	struct dirent_entry entry;
	struct dirent_iter it;
	const uint64_t *known;
	size_t i, k, n, before;
	int backwards;

	for (backwards = 0; backwards < 2; backwards++) {
		if (!sides_read(s, cx, false, one->blocknr))
			return false;
		memcpy(block, s->blocks[0], size);
		n = before = 0;
		dirent_iter_init(&it, block, size);
		while (dirent_iter_next(&it, &entry))
			entries[n++] = entry.offset;
		if (it.verdict) /* it is no block of a directory */
			return false;
		for (k = 0; k < n; k++) {
			i = backwards ? n - 1 - k : k;
			entry = entry_at(block, entries[i]);
			known = comparedir_find(d, &entry);
			if (!entry.ino || comparedir_is_dots(&entry) ||
			    (known && *known & NAME_IS)) {
				before = i;
				continue;
			}
			/* As nilfs_delete_entry(): the one before takes its
			   room. */
			de = (void *)(block + entries[i]);
			de->inode = le64_make(0);
			if (backwards)
				before = i ? i - 1 : 0;
			if (i == before)
				continue;
			last = (void *)(block + entries[before]);
			last->rec_len = dirent_rec_len_encode(
				dirent_rec_len_decode(last->rec_len) +
				dirent_rec_len_decode(de->rec_len));
		}
		if (sides_was(s, cx, pseg, blocknr, block))
			return true;
	}
	return false;
}

const void *dirproof_find(const struct comparedir *d, struct context *cx,
			  uint64_t blkoff, uint64_t blocknr)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size, *entries;
	const struct version *all;
	uint64_t pseg, now;
	bool found = false;
	size_t i, n;
	int ret;

	if (!sides_wrong_log(s, cx, blocknr, &pseg))
		return NULL;
	ret = file_lookup(d->after, cx, blkoff, &now);
	fail_clear(cx);
	if (ret > 0 && sides_read(s, cx, true, now) &&
	    sides_was(s, cx, pseg, blocknr, s->blocks[1]))
		return s->blocks[1];
	entries = calloc(size / dirent_rec_len(1) + 1, sizeof(*entries));
	all = versions_of(&s->versions, d->after->ino, blkoff, blkoff + 1, &n);
	for (i = 0; entries && !found && i < n && i < VERSIONS_MAX; i++)
		found = all[i].blocknr != blocknr &&
			was_version(d, cx, pseg, blocknr, &all[i], entries);
	free(entries);
	return found ? s->blocks[1] : NULL;
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

/* The inode INO now, in BEFORE, the state before the repair, and THEN, as
   checkpoint CNO had it in the logs; false where one is not known.  Uses the
   second buffer. */
static bool read_inodes(struct sides *s, struct context *cx,
			struct root *before, uint64_t ino, uint64_t cno,
			struct nilfs_inode *now, struct nilfs_inode *then)
{
	const struct palloc *p = &s->before->ifile_palloc;
	uint64_t blkoff = palloc_entry_blkoff(p, ino);
	const struct version *all;
	struct palloc_block b;
	bool is_known;
	size_t i = 0, n;

	all = versions_of(&s->versions, NILFS_IFILE_INO, blkoff, blkoff + 1,
			  &n);
	while (i < n && all[i].cno > cno)
		i++;
	is_known = i < n && !root_inode(before, cx, ino, now) &&
		   !volume_read_blocks(s->before, cx, all[i].blocknr, 1,
				       s->blocks[1]);
	fail_clear(cx);
	if (!is_known)
		return false;
	palloc_locate(p, blkoff, &b);
	*then = *sides_inode(s, s->blocks[1], ino - b.first);
	return true;
}

/* What version ONE of a block of the directory proves of names that were
   added. */
static void ask_version(const struct comparedir *d, struct context *cx,
			struct root *before, const struct version *one)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	struct nilfs_inode now, then;
	struct dirent_entry de;
	struct dirent_iter it;
	uint64_t *known;
	size_t i;

	for (i = 0; i < d->nblocks; i++)
		if (d->blocks[i].blocknr == one->blocknr)
			return; /* it is the one that could not be read */
	if (!read_inodes(s, cx, before, d->after->ino, one->cno, &now, &then) ||
	    le32_get(then.i_generation) != le32_get(now.i_generation) ||
	    !sides_read(s, cx, false, one->blocknr) ||
	    dirent_check_block(s->blocks[0], size))
		return;
	dirent_iter_init(&it, s->blocks[0], size);
	while (dirent_iter_next(&it, &de)) {
		known = de.ino ? comparedir_find(d, &de) : NULL;
		if (!known || !(*known & NAME_ADDED) || *known & NAME_PROVEN)
			continue;
		/* Whether it has the same names in the state and then. */
		if (read_inodes(s, cx, before, de.ino, one->cno, &now, &then) &&
		    sides_links(&then) &&
		    sides_links(&then) == sides_links(&now) &&
		    le32_get(then.i_generation) == le32_get(now.i_generation) &&
		    le64_get(then.i_ctime) == le64_get(now.i_ctime) &&
		    le32_get(then.i_ctime_nsec) == le32_get(now.i_ctime_nsec))
			*known |= NAME_PROVEN;
		else
			*known |= NAME_OLDER;
	}
}

/* Names in blocks that were not compared are as they were: 1 where others were
   added, 0, -ENOMEM, -EINTR. */
static int list_added(struct comparedir *d, struct context *cx)
{
	uint32_t size = d->s->before->geo.block_size;
	struct dirent_entry de;
	struct dirent_iter it;
	const uint64_t *known;
	const void *block;
	bool any = false;
	size_t i;
	int ret = 0;

	for (i = 0; i < d->nblocks && ret >= 0; i++) {
		ret = file_block(d->after, cx, d->blocks[i].blkoff, &block);
		if (ret <= 0)
			continue;
		dirent_iter_init(&it, block, size);
		while (ret >= 0 && dirent_iter_next(&it, &de)) {
			known = comparedir_find(d, &de);
			if (!de.ino || comparedir_is_dots(&de) ||
			    (known && *known & NAME_WAS))
				continue;
			ret = comparedir_note(d, cx, &de, NAME_ADDED);
			any = true;
		}
		file_put(d->after, block);
	}
	return ret < 0 ? ret : any;
}

int dirproof_confirm(struct comparedir *d, struct context *cx)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const struct version *all;
	struct dirent_entry de;
	struct dirent_iter it;
	struct root before;
	uint64_t *known, is;
	bool are_all = true;
	size_t i, n;
	int ret = root_open(&before, cx, s->before, d->state->cno);

	if (!ret)
		ret = list_added(d, cx);
	if (ret <= 0)
		return ret ? damage_forgive(cx, ret) : 1;
	/* What could be read of blocks that are broken. */
	for (i = 0; i < d->nblocks; i++) {
		if (d->blocks[i].is_known || !d->blocks[i].blocknr ||
		    !sides_read(s, cx, false, d->blocks[i].blocknr) ||
		    !dirent_check_block(s->blocks[0], size))
			continue;
		dirent_iter_init(&it, s->blocks[0], size);
		while (dirent_iter_next(&it, &de)) {
			known = de.ino ? comparedir_find(d, &de) : NULL;
			if (known && !dirent_check(&de))
				*known |= NAME_READ;
		}
	}
	all = versions_of(&s->versions, d->after->ino, 0, UINT64_MAX, &n);
	for (i = 0, ret = 0; i < n && !ret; i++) {
		ask_version(d, cx, &before, &all[i]);
		ret = context_cancelled(cx);
	}
	for (i = 0; i < d->names.room; i++) {
		is = d->names.slots[i].value;
		are_all &= !(is & NAME_ADDED) || is & NAME_PROVEN ||
			   (is & NAME_READ && !(is & NAME_OLDER));
	}
	return ret ? ret : are_all;
}

bool dirproof_is_former(const struct comparedir *d, struct context *cx,
			uint64_t blocknr, const struct dirent_entry *de)
{
	struct sides *s = d->s;
	struct nilfs_inode now, then;
	const struct version *all;
	struct dirent_entry other;
	struct dirent_iter it;
	struct root before;
	bool found = false, any;
	size_t i, n;

	if (root_open(&before, cx, s->before, d->state->cno)) {
		fail_clear(cx);
		return false;
	}
	all = versions_of(&s->versions, d->after->ino, 0, UINT64_MAX, &n);
	for (i = 0; i < n && !found; i++) {
		if (all[i].blocknr == blocknr ||
		    !sides_read(s, cx, false, all[i].blocknr))
			continue;
		any = false;
		dirent_iter_init(&it, s->blocks[0],
				 s->before->geo.block_size);
		while (!any && dirent_iter_next(&it, &other))
			any = other.ino == de->ino &&
			      other.name_len == de->name_len &&
			      !memcmp(other.name, de->name, de->name_len);
		found = any &&
			read_inodes(s, cx, &before, de->ino, all[i].cno, &now,
				    &then) &&
			le32_get(then.i_generation) !=
				le32_get(now.i_generation);
	}
	return found;
}
