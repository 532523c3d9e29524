// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in a directory of the volume, for a mount.
 *
 * The readable entries of a damaged directory are listed first, and an error is
 * returned at its end, so that the list is not taken for complete.  The only state
 * between two calls is the position.  Its lowest bit records a loss, as entries
 * begin at multiples of 4.
 */
#include "dump/mount/mountdir.h"

#include <errno.h>
#include <string.h>

#include "check/damage.h"
#include "vol/tree.h"
#include "vol/volume.h"

static int fail_lost(const struct file *file, struct context *cx)
{
	return fail(cx, -EUCLEAN, "directory %llu: not all of its names can be "
		    "read", (unsigned long long)file->ino);
}

/* Steps to the next readable entry: 1, 0 at the end, or a failure.  Sets *LOST if an
   unreadable one was skipped. */
static int next_entry(struct dir_cursor *cur, struct context *cx,
		      struct dir_entry *entry, bool *lost)
{
	int ret;

	for (;;) {
		ret = dir_cursor_next(cur, cx, entry);
		if (ret < 0 && !cur->at_broken_block)
			return ret;
		if (!ret || (ret > 0 &&
			     (dir_is_dots(entry) ||
			      tree_name_is_sane(entry->name, entry->len))))
			return ret;
		*lost = true;
	}
}

/*
 * Searches for NAME from FROM on: 1 and *INO; 0 if it is not found, with *LOST if it
 * may be in an unreadable part.
 */
static int search_name(struct file *file, struct context *cx,
		       struct dir_position *from, const char *name,
		       uint64_t *ino, bool *lost)
{
	struct dir_cursor cur;
	struct dir_entry entry = { 0 };
	size_t len = strlen(name);
	int ret = dir_cursor_open_at(&cur, cx, file, from);

	while (!ret && (ret = next_entry(&cur, cx, &entry, lost)) > 0) {
		if (entry.len == len && !memcmp(entry.name, name, len))
			break;
		ret = 0;
	}
	if (ret > 0) {
		*ino = entry.ino;
		dir_cursor_save(&cur, from);
	}
	dir_cursor_close(&cur);
	if (ret >= 0 || damage_is_fatal(ret))
		return ret;
	*lost = true;
	return 0;
}

int mountdir_find(struct file *file, struct context *cx, uint64_t node,
		  struct mountdir_hint *hint, const char *name, uint64_t *ino)
{
	struct dir_position at = { 0 };
	bool hinted = hint->node == node, lost = false;
	int ret;

	if (hinted)
		at = hint->position;
	ret = search_name(file, cx, &at, name, ino, &lost);
	if (!ret && hinted) {
		at = (struct dir_position){ 0 };
		ret = search_name(file, cx, &at, name, ino, &lost);
	}
	if (ret > 0)
		*hint = (struct mountdir_hint){ node, at };
	if (ret)
		return ret < 0 ? ret : 0;
	return lost ? fail_lost(file, cx) : fail(cx, -ENOENT, "'%s'", name);
}

int mountdir_list(struct file *file, struct context *cx, uint64_t position,
		  mountdir_take take, void *arg)
{
	uint32_t block_bits = file->vol->geo.block_bits;
	uint64_t bytes = position & ~UINT64_C(1);
	const struct dir_position from = {
		bytes >> block_bits,
		(uint32_t)(bytes & ((UINT64_C(1) << block_bits) - 1)),
	};
	struct dir_cursor cur = { .at_broken_block = false };
	struct dir_position at;
	struct dir_entry entry;
	bool lost = position & 1, taken = false;
	int ret = dir_cursor_open_at(&cur, cx, file, &from);

	while (!ret && (ret = next_entry(&cur, cx, &entry, &lost)) > 0) {
		dir_cursor_save(&cur, &at);
		ret = take(arg, &entry,
			   (at.blkoff << block_bits) + at.offset + lost);
		taken = taken || ret >= 0;
	}
	dir_cursor_close(&cur);
	if (ret > 0 || (ret < 0 && (damage_is_fatal(ret) || !taken)))
		return ret < 0 ? ret : 0;
	return lost && !taken ? fail_lost(file, cx) : 0;
}
