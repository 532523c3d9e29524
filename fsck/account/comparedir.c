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
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "fsck/account/sides.h"
#include "vol/dir.h"

bool comparedir_is_dots(const struct dirent_entry *de)
{
	return de->name[0] == '.' &&
	       (de->name_len == 1 || (de->name_len == 2 && de->name[1] == '.'));
}

/* FNV-1a with 64 bits. */
static uint64_t hash_name(const struct dirent_entry *de)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < de->name_len; i++)
		h = (h ^ (uint8_t)de->name[i]) * 0x100000001b3ULL;
	return h;
}

uint64_t *comparedir_find(const struct comparedir *d,
			  const struct dirent_entry *de)
{
	struct pairtable_entry *name =
		pairtable_find(&d->names, hash_name(de), de->ino);

	return name ? &name->value : NULL;
}

int comparedir_note(struct comparedir *d, struct context *cx,
		    const struct dirent_entry *de, enum comparedir_name what)
{
	uint64_t *known = comparedir_find(d, de);

	if (!known)
		return pairtable_add(&d->names, cx, hash_name(de), de->ino,
				     what);
	*known |= what;
	return 0;
}

/* What cannot be read of a directory after the repair is not lost by it. */
static int read_names(struct comparedir *d, struct context *cx)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	struct dirent_entry de;
	int ret = dir_cursor_open(&cur, cx, d->after);

	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		de = (struct dirent_entry){
			.ino = entry.ino,
			.name_len = entry.len,
			.name = entry.name,
		};
		ret = comparedir_note(d, cx, &de, NAME_IS);
	}
	dir_cursor_close(&cur);
	d->read = true;
	return damage_forgive(cx, ret);
}

/* Whether DE is gone: the directory has no such name of its inode any more. */
static bool is_gone(const struct comparedir *d, const struct dirent_entry *de)
{
	const uint64_t *known;

	if (!de->ino || comparedir_is_dots(de))
		return false;
	known = comparedir_find(d, de);
	return !known || !(*known & NAME_IS);
}

/*
 * Whether BLOCK is of another directory: it begins as the first one of a
 * directory does, and is not the first; or it is, and has another number, of
 * which more than a bit differs, and other names, if it has any.
 */
static bool is_anothers(const struct comparedir *d, uint64_t blkoff,
			const void *block)
{
	struct dirent_entry de;
	struct dirent_iter it;
	bool any = false, gone = false;
	uint64_t differs;

	dirent_iter_init(&it, block, d->s->before->geo.block_size);
	if (!dirent_iter_next(&it, &de))
		return false;
	if (blkoff)
		return de.ino && comparedir_is_dots(&de);
	differs = de.ino ^ d->after->ino;
	if (!(differs & (differs - 1)))
		return false;
	do {
		any |= de.ino && !comparedir_is_dots(&de);
		gone |= is_gone(d, &de);
	} while (dirent_iter_next(&it, &de));
	return gone || !any;
}

/* Adds NAME of inode INO in directory DIR if it is one that a repair gives
   to what has lost its own. */
static int compare_number(const struct comparedir *d, struct context *cx,
			  uint64_t dir, uint64_t ino, const char *name,
			  size_t len)
{
	const struct loss loss = {.kind = LOSS_RENAMED, .dir = dir, .ino = ino};
	char number[32];
	int n = snprintf(number, sizeof(number), "#%" PRIu64, ino);

	if (len < (size_t)n || memcmp(name, number, (size_t)n))
		return 0;
	return sides_lose(d->s, cx, d->state, &loss, name, len);
}

/* Adds the names in block BLKOFF after the repair, which was d->block, that are
   new ones of files which had others. */
static int compare_new(struct comparedir *d, struct context *cx,
		       uint64_t blkoff)
{
	uint32_t size = d->s->before->geo.block_size;
	struct dirent_entry de, was;
	struct dirent_iter it, old;
	const void *now;
	bool is_new;
	int err = 0, ret = file_block(d->after, cx, blkoff, &now);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	dirent_iter_init(&it, now, size);
	while (!err && dirent_iter_next(&it, &de)) {
		is_new = de.ino != 0;
		dirent_iter_init(&old, d->block, size);
		while (is_new && dirent_iter_next(&old, &was))
			is_new = de.ino != was.ino ||
				 de.name_len != was.name_len ||
				 memcmp(de.name, was.name, de.name_len) != 0;
		if (is_new)
			err = compare_number(d, cx, d->after->ino, de.ino,
					     de.name, de.name_len);
	}
	file_put(d->after, now);
	return err;
}

int comparedir_made(const struct comparedir *d, struct context *cx)
{
	struct dir_cursor top = {.at_broken_block = false}, cur;
	struct dir_entry entry, made;
	struct nilfs_inode inode;
	struct root before, after;
	struct file file;
	int ret = root_open(&before, cx, d->s->before, d->state->cno), err = 0;

	if (!ret)
		ret = root_open(&after, cx, d->s->after, 0);
	if (!ret)
		ret = dir_cursor_open(&top, cx, d->after);
	while (!ret && !err &&
	       (ret = dir_cursor_next_sound(&top, cx, &entry)) > 0) {
		ret = 0;
		if (entry.type != NILFS_FT_DIR || dir_is_dots(&entry) ||
		    root_inode(&before, cx, entry.ino, &inode) != -ENOENT) {
			fail_clear(cx);
			continue;
		}
		cur = (struct dir_cursor){.at_broken_block = false};
		err = root_file(&after, cx, entry.ino, &file);
		if (!err)
			err = dir_cursor_open(&cur, cx, &file);
		while (!err &&
		       (err = dir_cursor_next_sound(&cur, cx, &made)) > 0)
			err = compare_number(d, cx, entry.ino, made.ino,
					     made.name, made.len);
		dir_cursor_close(&cur);
		err = damage_forgive(cx, err);
		fail_clear(cx);
	}
	dir_cursor_close(&top);
	return err ? err : damage_forgive(cx, ret);
}

/*
 * Whether the name in DE, which the directory has no longer, is lost: 1, 0,
 * -ENOMEM, -EINTR.  It is not if the directory has it with another inode, and
 * its own has as many names as before: then DE was wrong.  Nor if its inode was
 * not in use: the block had been replaced by an older one, and the file deleted
 * before.
 */
static int is_lost(const struct comparedir *d, struct context *cx,
		   const struct dirent_entry *de)
{
	struct sides *s = d->s;
	struct nilfs_inode then, now;
	struct root before, root;
	bool used = true;
	uint64_t ino;
	int ret = root_open(&before, cx, s->before, d->state->cno);

	if (ret)
		return damage_forgive(cx, ret) ?: 1;
	if (s->in->is_sound &&
	    !dir_lookup(d->after, cx, de->name, de->name_len, &ino) &&
	    !root_open(&root, cx, s->after,
		       d->state->latest ? 0 : d->state->cno) &&
	    !root_inode(&before, cx, de->ino, &then) &&
	    !root_inode(&root, cx, de->ino, &now) &&
	    sides_links(&then) == sides_links(&now))
		return 0;
	fail_clear(cx);
	ret = file_bit(&before.ifile, cx, &s->before->ifile_palloc, de->ino,
		       &used);
	return damage_forgive(cx, ret < 0 ? ret : 0) ?: used;
}

/*
 * Takes block BLKOFF, which was at BLOCKNR, as it was written, into d->block,
 * and notes it and the names in it: 1, 0 where that is not known.  -ENOMEM.
 */
static int take_block(struct comparedir *d, struct context *cx,
		      uint64_t blkoff, uint64_t blocknr)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const void *found = NULL;
	struct dirent_entry de;
	struct dirent_iter it;
	enum rule rule = RULE_OK;
	int err = 0;

	if (!d->block && !(d->block = malloc(size)))
		return fail(cx, -ENOMEM, "block of a directory");
	if (blocknr)
		found = dirproof_find(d, cx, blkoff, blocknr);
	if (blocknr && !found && sides_read(s, cx, false, blocknr)) {
		/* A name that leads to a reserved inode led nowhere: what it
		   was to lead to is missed elsewhere, if it has no name now. */
		dirent_iter_init(&it, s->blocks[0], size);
		while (!rule && dirent_iter_next(&it, &de))
			if ((rule = dirent_check(&de)) == RULE_DIR_PRIVATE_INO)
				rule = RULE_OK;
		if (!rule && !it.verdict &&
		    !is_anothers(d, blkoff, s->blocks[0]))
			found = s->blocks[0];
	}
	if (array_reserve(cx, &d->blocks, &d->blocks_room, d->nblocks + 1))
		return -ENOMEM;
	d->blocks[d->nblocks++] =
		(struct comparedir_place){blkoff, blocknr, found};
	if (!found)
		return blocknr ? sides_note_wrong(s, cx, blocknr, 0) : 0;
	memcpy(d->block, found, size);
	dirent_iter_init(&it, d->block, size);
	while (!err && dirent_iter_next(&it, &de))
		if (de.ino)
			err = comparedir_note(d, cx, &de, NAME_WAS);
	return err ? err : 1;
}

int comparedir_block(struct comparedir *d, struct context *cx, uint64_t blkoff,
		     uint64_t blocknr)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const struct loss unknown = {
		.kind = LOSS_UNKNOWN,
		.is_open = true,
		.ino = d->after->ino,
		.offset = blkoff * size,
		.length = size,
	};
	struct loss loss = {.kind = LOSS_NAME, .dir = d->after->ino};
	struct dirent_entry de;
	struct dirent_iter it;
	int ret = d->read ? 0 : read_names(d, cx), err = 0;

	if (!ret)
		ret = take_block(d, cx, blkoff, blocknr);
	if (ret < 0)
		return ret;
	if (!ret) {
		/* Names are compared with what their inodes were. */
		err = sides_doubt(s, cx, NILFS_IFILE_INO);
		return err ? err :
			     sides_lose(s, cx, d->state, &unknown, NULL, 0);
	}
	dirent_iter_init(&it, d->block, size);
	while (!err && dirent_iter_next(&it, &de)) {
		if (!is_gone(d, &de) ||
		    dirent_check(&de) == RULE_DIR_PRIVATE_INO)
			continue;
		ret = is_lost(d, cx, &de);
		if (ret <= 0) {
			err = ret;
			continue;
		}
		loss.ino = de.ino;
		loss.is_open = dirproof_is_former(d, cx, blocknr, &de);
		err = sides_lose(s, cx, d->state, &loss, de.name, de.name_len);
		if (!err) /* what its inode was may be asked */
			err = sides_doubt(s, cx, NILFS_IFILE_INO);
	}
	return err ? err : compare_new(d, cx, blkoff);
}

void comparedir_fini(struct comparedir *d)
{
	pairtable_fini(&d->names);
	free(d->block);
	free(d->blocks);
}
