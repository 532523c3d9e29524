// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing directories of both sides.
 *
 * A repair may rewrite a directory completely, so blocks cannot be compared:
 * every name of a block that changed is looked up among all names after the
 * repair.  A name with another inode is a different name.
 *
 * What had no name any more is called by its number: in the directory itself,
 * or in one that the repair made in the root.
 */
#include "fsck/account/comparedir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "fsck/account/dirproof.h"
#include "vol/dir.h"
#include "vol/root.h"

/* FNV-1a with 64 bits. */
static uint64_t hash(const char *name, size_t len, uint64_t ino)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; len; len--)
		h = (h ^ (uint8_t)*name++) * 0x100000001b3ULL;
	for (; ino; ino >>= 8)
		h = (h ^ (ino & 0xff)) * 0x100000001b3ULL;
	return h;
}

/* What cannot be read of a directory after the repair is not lost by it. */
static int read_names(struct comparedir *d, struct context *cx,
		      struct file *after)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	int ret = dir_cursor_open(&cur, cx, after);

	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		ret = array_reserve(cx, &d->names, &d->room, d->n + 1);
		if (!ret)
			d->names[d->n++] =
				hash(entry.name, entry.len, entry.ino);
	}
	dir_cursor_close(&cur);
	sort_numbers(d->names, d->n);
	d->read = true;
	return damage_forgive(cx, ret);
}

bool comparedir_is_dots(const struct dirent_entry *de)
{
	return de->name[0] == '.' &&
	       (de->name_len == 1 || (de->name_len == 2 && de->name[1] == '.'));
}

uint64_t comparedir_hash(const struct dirent_entry *de)
{
	return hash(de->name, de->name_len, de->ino);
}

bool comparedir_was(const struct comparedir *d, uint64_t wanted)
{
	size_t i = search_lower_bound(d->known, d->known_count, wanted);

	return i < d->known_count && d->known[i] == wanted;
}

bool comparedir_has(const struct comparedir *d, const struct dirent_entry *de)
{
	uint64_t h = comparedir_hash(de);
	size_t i = search_lower_bound(d->names, d->n, h);

	return i < d->n && d->names[i] == h;
}

/*
 * Whether BLOCK is of another directory: it begins as the first one of a
 * directory does, and is not the first; or it is, and has another number, of
 * which more than a bit differs, and other names, if it has any.
 */
static bool is_anothers(const struct comparedir *d, uint64_t ino,
			uint64_t blkoff, const void *block, uint32_t size)
{
	struct dirent_entry de;
	struct dirent_iter it;
	bool any = false, gone = false;
	uint64_t differs;

	dirent_iter_init(&it, block, size);
	if (!dirent_iter_next(&it, &de))
		return false;
	if (blkoff)
		return de.ino && comparedir_is_dots(&de);
	differs = de.ino ^ ino;
	if (!(differs & (differs - 1)))
		return false;
	do {
		if (!de.ino || comparedir_is_dots(&de))
			continue;
		any = true;
		gone |= !comparedir_has(d, &de);
	} while (dirent_iter_next(&it, &de));
	return gone || !any;
}

/* Adds NAME in directory DIR if it is one that a repair gives to what has lost
   its own. */
static int compare_number(struct sides *s, struct context *cx,
			  const struct sides_state *state, uint64_t dir,
			  uint64_t ino, const char *name, size_t len)
{
	const struct loss loss = {.kind = LOSS_RENAMED, .dir = dir, .ino = ino};
	char number[32];
	int n = snprintf(number, sizeof(number), "#%" PRIu64, ino);

	if (len < (size_t)n || memcmp(name, number, (size_t)n))
		return 0;
	return sides_lose(s, cx, state, &loss, name, len);
}

/* Adds the names in block BLKOFF after the repair, which was BLOCK, that are
   new ones of files which had others. */
static int compare_new(struct sides *s, struct context *cx,
		       const struct sides_state *state, struct file *after,
		       uint64_t blkoff, const void *block)
{
	uint32_t size = s->before->geo.block_size;
	struct dirent_entry de, was;
	struct dirent_iter it, old;
	const void *now;
	bool is_new;
	int err = 0, ret = file_block(after, cx, blkoff, &now);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	dirent_iter_init(&it, now, size);
	while (!err && dirent_iter_next(&it, &de)) {
		is_new = de.ino != 0;
		dirent_iter_init(&old, block, size);
		while (is_new && dirent_iter_next(&old, &was))
			is_new = de.ino != was.ino ||
				 de.name_len != was.name_len ||
				 memcmp(de.name, was.name, de.name_len) != 0;
		if (is_new)
			err = compare_number(s, cx, state, after->ino, de.ino,
					     de.name, de.name_len);
	}
	file_put(after, now);
	return err;
}

/* Adds the names in inode INO after the repair, a directory that it made. */
static int add_made(struct sides *s, struct context *cx,
		    const struct sides_state *state, struct root *root,
		    uint64_t ino)
{
	struct dir_cursor cur = {.at_broken_block = false};
	struct dir_entry entry;
	struct file file;
	int ret = root_file(root, cx, ino, &file), err = 0;

	if (!ret)
		ret = dir_cursor_open(&cur, cx, &file);
	while (!ret && !err &&
	       (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		err = compare_number(s, cx, state, ino, entry.ino, entry.name,
				     entry.len);
		ret = 0;
	}
	dir_cursor_close(&cur);
	return err ? err : damage_forgive(cx, ret);
}

int comparedir_made(struct sides *s, struct context *cx,
		    const struct sides_state *state, struct file *top)
{
	struct dir_cursor cur = {.at_broken_block = false};
	struct nilfs_inode inode;
	struct root before, after;
	struct dir_entry entry;
	int ret = root_open(&before, cx, s->before, state->cno), err = 0;

	if (!ret)
		ret = root_open(&after, cx, s->after, 0);
	if (!ret)
		ret = dir_cursor_open(&cur, cx, top);
	while (!ret && !err &&
	       (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		ret = 0;
		if (entry.type != NILFS_FT_DIR || dir_is_dots(&entry))
			continue;
		if (root_inode(&before, cx, entry.ino, &inode) == -ENOENT)
			err = add_made(s, cx, state, &after, entry.ino);
		fail_clear(cx);
	}
	dir_cursor_close(&cur);
	return err ? err : damage_forgive(cx, ret);
}

/*
 * Whether the name in DE, which directory AFTER has no longer, is lost: 1, 0,
 * -ENOMEM, -EINTR.  It is not if the directory has it with another inode, and its
 * own has as many names as before: then DE was wrong.  Nor if its inode was not in
 * use: the block had been replaced by an older one, and the file deleted before.
 */
static int is_lost(struct sides *s, struct context *cx,
		   const struct sides_state *state, struct file *after,
		   const struct dirent_entry *de)
{
	struct nilfs_inode then, now;
	struct root before, root;
	bool used = true;
	uint64_t ino;
	int ret = root_open(&before, cx, s->before, state->cno);

	if (ret)
		return damage_forgive(cx, ret) ?: 1;
	if (s->is_sound &&
	    !dir_lookup(after, cx, de->name, de->name_len, &ino) &&
	    !root_open(&root, cx, s->after, state->latest ? 0 : state->cno) &&
	    !root_inode(&before, cx, de->ino, &then) &&
	    !root_inode(&root, cx, de->ino, &now) &&
	    le16_get(then.i_links_count) == le16_get(now.i_links_count))
		return 0;
	fail_clear(cx);
	ret = file_bit(&before.ifile, cx, &s->before->ifile_palloc, de->ino,
		       &used);
	return damage_forgive(cx, ret < 0 ? ret : 0) ?: used;
}

/*
 * Whether the names in BLOCK can be compared.  One that leads to a reserved inode
 * led nowhere: what it was to lead to is missed elsewhere, if it has no name now.
 */
static bool has_names(const void *block, uint32_t size)
{
	struct dirent_entry de;
	struct dirent_iter it;
	enum rule rule;

	dirent_iter_init(&it, block, size);
	while (dirent_iter_next(&it, &de)) {
		rule = dirent_check(&de);
		if (rule && rule != RULE_DIR_PRIVATE_INO)
			return false;
	}
	return !it.verdict;
}

/*
 * Takes block BLKOFF, which was at BLOCKNR, as it was written, into *BLOCK, NULL
 * where that is not known, and notes it and the names in it.
 */
static int take_block(struct comparedir *d, struct sides *s,
		      struct context *cx, struct file *after, uint64_t blkoff,
		      uint64_t blocknr, const void **block)
{
	uint32_t size = s->before->geo.block_size;
	const void *found = NULL;
	struct dirent_entry de;
	struct dirent_iter it;

	if (!d->block && !(d->block = malloc(size)))
		return fail(cx, -ENOMEM, "block of a directory");
	if (blocknr)
		found = dirproof_find(d, s, cx, after, blkoff, blocknr);
	if (blocknr && !found && sides_read(s, cx, false, blocknr) &&
	    has_names(s->blocks[0], size) &&
	    !is_anothers(d, after->ino, blkoff, s->blocks[0], size))
		found = s->blocks[0];
	*block = found ? memcpy(d->block, found, size) : NULL;
	if (array_reserve(cx, &d->blocks, &d->blocks_room, d->nblocks + 1))
		return -ENOMEM;
	d->blocks[d->nblocks++] =
		(struct comparedir_place){blkoff, blocknr, found};
	if (!found)
		return blocknr ? sides_note_wrong(s, cx, blocknr, 0) : 0;
	dirent_iter_init(&it, d->block, size);
	while (dirent_iter_next(&it, &de)) {
		if (!de.ino)
			continue;
		if (array_reserve(cx, &d->known, &d->known_room, d->known_count + 1))
			return -ENOMEM;
		d->known[d->known_count++] = comparedir_hash(&de);
	}
	return 0;
}

int comparedir_confirm(struct comparedir *d, struct sides *s,
		       struct context *cx, const struct sides_state *state,
		       struct file *after)
{
	int ret;

	if (!d->nblocks || !s->versions.gathered || s->unconfirmed)
		return 0;
	sort_numbers(d->known, d->known_count);
	ret = dirproof_confirm(d, s, cx, state, after);
	s->unconfirmed = ret <= 0;
	return ret < 0 ? ret : 0;
}

int comparedir_block(struct comparedir *d, struct sides *s, struct context *cx,
		     const struct sides_state *state, struct file *after,
		     uint64_t blkoff, uint64_t blocknr)
{
	uint32_t size = s->before->geo.block_size;
	const struct loss unknown = {
		.kind = LOSS_UNKNOWN,
		.is_open = true,
		.ino = after->ino,
		.offset = blkoff * size,
		.length = size,
	};
	struct loss loss = {.kind = LOSS_NAME, .dir = after->ino};
	struct dirent_entry de;
	struct dirent_iter it;
	const void *block = NULL;
	int ret, err = d->read ? 0 : read_names(d, cx, after);

	if (!err)
		err = take_block(d, s, cx, after, blkoff, blocknr, &block);
	if (err)
		return err;
	if (!block) {
		/* Names are compared with what their inodes were. */
		err = sides_doubt(s, cx, NILFS_IFILE_INO, NILFS_IFILE_INO + 1);
		return err ? err : sides_lose(s, cx, state, &unknown, NULL, 0);
	}
	dirent_iter_init(&it, block, size);
	while (!err && dirent_iter_next(&it, &de)) {
		if (!de.ino || comparedir_is_dots(&de) ||
		    comparedir_has(d, &de) ||
		    dirent_check(&de) == RULE_DIR_PRIVATE_INO)
			continue;
		ret = is_lost(s, cx, state, after, &de);
		if (ret <= 0) {
			err = ret;
			continue;
		}
		loss.ino = de.ino;
		loss.is_open = dirproof_is_former(s, cx, state, after, blocknr,
						  &de);
		err = sides_lose(s, cx, state, &loss, de.name, de.name_len);
		if (!err) /* what its inode was may be asked */
			err = sides_doubt(s, cx, NILFS_IFILE_INO,
					  NILFS_IFILE_INO + 1);
	}
	return err ? err : compare_new(s, cx, state, after, blkoff, block);
}

void comparedir_fini(struct comparedir *d)
{
	free(d->names);
	free(d->block);
	free(d->blocks);
	free(d->known);
	*d = (struct comparedir){.names = NULL};
}
