// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links, after all names have their place.
 *
 * A file has as many as names; one that had no links but has a name lost them
 * to damage, since whoever takes the last link takes the name first.  Without
 * either it was deleted while in use, and nobody was there to free it later
 * (nilfs_evict_inode()).
 */
#include "fsck/names/linkwrite.h"

#include <errno.h>
#include <string.h>

#include "disk/inode.h"
#include "fsck/names/namefix.h"
#include "log/inodes.h"
#include "log/newfile.h"

void linkwrite_choose(struct namefix *f)
{
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++) {
		const struct inodelist_dir *d = &f->n.list.dirs[i];

		row = inodelist_find(&f->n.list, d->ino);
		if (!d->parent && !row.chunk->links[row.at] &&
		    !(row.chunk->kind[row.at] & INODELIST_REFUSED) && d->ino >= NILFS_USER_INO &&
		    !(f->flags[i] & (NAMEFIX_LOST | NAMEFIX_PARENT)))
			f->flags[i] |= NAMEFIX_FREED;
	}
}

/* Counts the directories in each that stays. */
static void count_subdirs(struct namefix *f)
{
	struct inodelist_dir *dirs = f->n.list.dirs;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++)
		dirs[i].subdirs = 0;
	for (i = 0; i < f->n.list.ndirs; i++) {
		if (dirs[i].parent && dirs[i].parent != NAMEFIX_MADE + 1)
			dirs[dirs[i].parent - 1].subdirs++;
	}
	if (f->lost.made) {
		i = inodelist_find_dir(&f->n.list, NILFS_ROOT_INO);
		dirs[i].subdirs++;
	}
}

static int set_links(struct namefix *f, struct context *cx, uint64_t ino,
		     uint64_t links)
{
	struct writer *w = f->job->writer;
	struct nilfs_inode inode;
	int err = inodes_read(w, cx, ino, &inode);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	namefix_tell(f, NAMEFIX_TELL_LINKS, "inode %llu: links are %llu, not "
		     "%u", (unsigned long long)ino, (unsigned long long)links,
		     le16_get(inode.i_links_count));
	inode.i_links_count = le16_make((uint16_t)links);
	return inodes_write(w, cx, ino, &inode);
}

/* True where all of the map of INODE can be read: 1, 0, or -ENOMEM, -EINTR. */
static int has_sound_map(struct namefix *f, struct context *cx, uint64_t ino,
			 const struct nilfs_inode *inode)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct blockmap map;
	int ret;

	if (!inode_has_bmap(inode))
		return 1;
	ret = blockmap_init(&map, cx, f->n.root.vol, ino, inode);
	if (!ret) {
		ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
		while (!ret && (ret = blockmap_cursor_next(&cur, cx,
							   &item)) > 0)
			ret = 0;
		blockmap_cursor_close(&cur);
	}
	if (ret && names_is_fatal(ret))
		return ret;
	fail_clear(cx);
	return !ret;
}

/* Frees INO; blocks of a broken map are left to who looks for such. */
static int free_inode(struct namefix *f, struct context *cx, uint64_t ino)
{
	static const struct nilfs_inode empty;
	struct writer *w = f->job->writer;
	struct nilfs_inode inode;
	int ret = inodes_read(w, cx, ino, &inode);

	if (ret == -ENOENT || (!ret && !memcmp(&inode, &empty, sizeof(empty)))) {
		fail_clear(cx);
		return 0;
	}
	if (!ret)
		ret = has_sound_map(f, cx, ino, &inode);
	if (ret > 0)
		ret = newfile_drop(w, cx, ino, &inode);
	if (ret)
		return ret;
	namefix_tell(f, NAMEFIX_TELL_FREED, "inode %llu: freed, it has "
		     "neither links nor names", (unsigned long long)ino);
	return inodes_free(w, cx, ino);
}

static int settle_dir(struct namefix *f, struct context *cx, size_t dir,
		      const struct inodelist_row *row)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];
	uint16_t links = row->chunk->links[row->at];
	uint64_t want = 2 + (uint64_t)d->subdirs;

	if (row->chunk->kind[row->at] & INODELIST_REFUSED)
		return 0;
	if (f->flags[dir] & NAMEFIX_FREED)
		return free_inode(f, cx, d->ino);
	if (links == want || want > UINT16_MAX ||
	    (!d->parent && d->ino != NILFS_ROOT_INO))
		return 0;
	return set_links(f, cx, d->ino, want);
}

static int settle_file(struct namefix *f, struct context *cx, uint64_t ino,
		       const struct inodelist_row *row)
{
	uint16_t names = row->chunk->names[row->at];
	uint16_t links = row->chunk->links[row->at];

	uint8_t kind = row->chunk->kind[row->at];

	if (ino < NILFS_USER_INO || !(kind & INODELIST_ALLOCATED) ||
	    kind & INODELIST_REFUSED)
		return 0;
	if (!names && !links)
		return free_inode(f, cx, ino);
	return names && names != links ? set_links(f, cx, ino, names) : 0;
}

int linkwrite_run(struct namefix *f, struct context *cx)
{
	struct inodelist_row row;
	size_t i, dir = 0;
	int err = 0;

	count_subdirs(f);
	for (i = 0; i < f->n.list.nchunks && !err; i++) {
		row.chunk = f->n.list.chunks[i];
		for (row.at = 0; row.at < INODELIST_CHUNK && !err; row.at++) {
			uint8_t kind = row.chunk->kind[row.at];

			if (!kind)
				continue;
			if ((kind & INODELIST_TYPE) == NILFS_FT_DIR)
				err = settle_dir(f, cx, dir++, &row);
			else
				err = settle_file(f, cx, row.chunk->first +
						  row.at, &row);
		}
	}
	return err;
}
