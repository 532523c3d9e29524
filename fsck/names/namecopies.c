// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory blocks with the content that an earlier checkpoint has.
 *
 * The times of a directory change with its names.  If its inode is the same in
 * another checkpoint, but for the places of its blocks, so are the names:
 * mkfs.nilfs2 --redundant writes all directories twice.  The block there is read in
 * place of a broken one, or one of another directory, whose names would be taken for
 * names of this one otherwise.
 *
 * mkfs.nilfs2 takes the times from the source, so a copy may be older.  It must have
 * all names that are right in the present block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "fsck/names/namefix.h"

#define COPIES_MOST 1024u /* limit of findings whose blocks are looked up */

/* Whether BLOCK is block ITEM of a directory, and has only names of inodes that
   exist. */
static bool is_sound_block(struct namefix *f, const struct blockbatch_item *item,
			   const void *block)
{
	uint64_t ino = f->n.list.dirs[item->owner].ino;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool sound = true;

	entrywalk_init(&walk, &f->n.list, ino, item->blkoff, block,
		       f->n.root.vol->geo.block_size);
	while (sound && entrywalk_next(&walk, &entry))
		sound = entry.fate <= ENTRYWALK_NAME && !entry.bad_name &&
			(entry.fate != ENTRYWALK_DOT || entry.e.ino == ino) &&
			(entry.fate != ENTRYWALK_NAME ||
			 entry.type == entry.e.type);
	return sound && !walk.no_dot && !walk.it.verdict;
}

/* Whether A and B differ only in the places of their blocks. */
static bool is_unchanged(struct nilfs_inode a, struct nilfs_inode b)
{
	memset(a.i_bmap, 0, sizeof(a.i_bmap));
	memset(b.i_bmap, 0, sizeof(b.i_bmap));
	return !memcmp(&a, &b, sizeof(a));
}

static bool has_entry(struct namefix *f, const void *block,
		      const struct dirent_entry *e)
{
	struct dirent_entry other;
	struct dirent_iter it;

	dirent_iter_init(&it, block, f->n.root.vol->geo.block_size);
	while (dirent_iter_next(&it, &other))
		if (other.ino == e->ino && other.name_len == e->name_len &&
		    !memcmp(other.name, e->name, e->name_len))
			return true;
	return false;
}

/* Whether COPY has all names of block ITEM of the directory, which is NOW (NULL:
   unreadable), unless that is the block of another directory. */
static bool has_all_names(struct namefix *f, const struct blockbatch_item *item,
			  const void *now, const void *copy)
{
	uint64_t ino = f->n.list.dirs[item->owner].ino;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool all = true;

	if (!now)
		return true;
	entrywalk_init(&walk, &f->n.list, ino, item->blkoff, now,
		       f->n.root.vol->geo.block_size);
	while (all && entrywalk_next(&walk, &entry)) {
		if (entry.fate == ENTRYWALK_DOT && entry.e.ino != ino)
			return true;
		all = entry.fate != ENTRYWALK_NAME || entry.bad_name ||
		      has_entry(f, copy, &entry.e);
	}
	return all;
}

/* Adds the copy of block ITEM of DIR, if there is one. */
static int find_copy(struct namefix *f, struct context *cx,
		     const struct blockbatch_item *item, struct file *dir)
{
	uint32_t size = f->n.root.vol->geo.block_size;
	struct namefix_copy copy = {.vblocknr = item->vblocknr};
	const void *block, *now = NULL;
	struct file file;
	int ret = file_block(dir, cx, item->blkoff, &now);
	int err = damage_forgive(cx, ret < 0 ? ret : 0);

	othernames_begin(f);
	while (!copy.content && !err &&
	       (ret = othernames_next_block(f, cx, item, &file, &block)) > 0) {
		/* A later one may be that of a repair, which keeps times. */
		if (f->then.cno < f->n.root.cno &&
		    is_unchanged(file.inode, dir->inode) &&
		    is_sound_block(f, item, block) &&
		    has_all_names(f, item, now, block)) {
			copy.content = malloc(size);
			if (copy.content)
				memcpy(copy.content, block, size);
			else
				err = fail(cx, -ENOMEM, "block of a directory");
		}
		file_put(&file, block);
	}
	if (now)
		file_put(dir, now);
	if (!copy.content)
		return err ? err : ret;
	err = array_push(cx, &f->copies, &f->ncopies, &f->copies_room, copy);
	if (err) {
		free(copy.content);
		return err;
	}
	/* If it is an older one, other checkpoints have the rest. */
	f->flags[item->owner] |= NAMEFIX_FIX_ENTRIES |
				 (f->lossy ? NAMEFIX_LOSES_NAMES : 0);
	namefix_note(f, NAMEFIX_NOTE_DIR,
		     "directory %" PRIu64 ": block %" PRIu64
		     ": restored from checkpoint %" PRIu64, file.ino,
		     item->blkoff, f->then.cno);
	return 0;
}

int namecopies_find(struct namefix *f, struct context *cx,
			   const struct finding *fixes, size_t n)
{
	struct file dir;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && i < COPIES_MOST && ret >= 0; i++) {
		const struct place *at = &fixes[i].place;
		struct blockbatch_item item = {
			.owner = inodelist_find_dir(&f->n.list, at->ino),
			.blkoff = at->blkoff,
		};

		if (rule_info(fixes[i].rule)->area != RULE_AREA_DIRECTORY ||
		    at->cno != f->n.root.cno || item.owner == f->n.list.ndirs)
			continue;
		ret = root_file(&f->n.root, cx, at->ino, &dir);
		if (!ret)
			ret = blockmap_lookup(&dir.map, cx, item.blkoff,
					      &item.vblocknr);
		if (ret > 0 && !namefix_copy_of(f, item.vblocknr))
			ret = find_copy(f, cx, &item, &dir);
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
	}
	return ret;
}
