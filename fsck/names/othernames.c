// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names from other checkpoints.
 *
 * Names mostly do not change from one checkpoint to the next.  A name is taken
 * from another checkpoint if its inode is the same there: of the same type and
 * generation, because inode numbers are reused.
 *
 * Directories that lose names get names of inodes that miss them.  Checkpoints
 * that share the map of a directory are read once.
 *
 * If the inode number of an entry was damaged, one inode has no name, and
 * another has too many or must not have a name.  The nearest checkpoint with
 * that name gives the right inode.  Otherwise it is the only one that misses a
 * name and has the type of the entry.  In a snapshot, if there is one name without
 * an inode and one inode without a name, they belong together.  Otherwise, if
 * the block has other wrong entries or an older version of the directory has
 * it, it is an old block or belongs to another directory, and the name is
 * removed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/text.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/inode.h"
#include "fsck/names/namefix.h"
#include "vol/dir.h"

#define TARGETS_MOST 1024u /* limit of names looked up */

/* 1 if inode INO is the same file in both checkpoints, 0, -ENOMEM, -EINTR. */
static int is_same_file_then(struct namefix *f, struct context *cx,
			     uint64_t ino)
{
	struct nilfs_inode then, now;
	int err = root_inode(&f->then, cx, ino, &then);

	if (!err)
		err = root_inode_bytes(&f->n.root, cx, ino, &now);
	if (err < 0)
		return damage_forgive(cx, err);
	return inode_is_same_file(&then, &now);
}

void othernames_begin(struct namefix *f)
{
	nearcps_begin(&f->nearby,
		     (struct lifetime){f->n.root.cno, f->n.root.cno + 1});
}

/* Opens directory INO in the next checkpoint that has it: 1 and *FILE, 0 if a
   few of them do not have it. */
static int next_dir(struct namefix *f, struct context *cx, uint64_t ino,
		    struct file *file)
{
	uint64_t cno;
	int ret = 0;

	while (f->nearby.asked++ < NEARCPS_SEARCH_MAX &&
	       (ret = nearcps_next(&f->nearby, cx, &cno)) > 0) {
		ret = root_open(&f->then, cx, f->n.root.vol, cno);
		if (!ret)
			ret = root_file(&f->then, cx, ino, file);
		if (!ret)
			ret = is_same_file_then(f, cx, ino);
		if (ret > 0 || (ret && !damage_is(ret)))
			return ret;
		fail_clear(cx);
		ret = 0;
	}
	return ret;
}

/* Whether E may be a lost name of INO: it has its type; if E leads to another
   inode, INO misses exactly one name. */
static bool could_be(struct namefix *f, const struct dirent_entry *e,
		     uint64_t ino)
{
	struct inodelist_row row = inodelist_find(&f->n.list, ino);
	struct inodelist_row now = inodelist_find(&f->n.list, e->ino);
	size_t dir = inodelist_find_dir(&f->n.list, ino);

	if (!row.chunk || (row.chunk->kind[row.at] & INODELIST_TYPE) != e->type)
		return false;
	if (dir < f->n.list.ndirs)
		return namefix_is_orphaned(f, dir);
	return namefix_missing_names(&row) > 0 &&
	       (!row.chunk->names[row.at] || !now.chunk ||
		!now.chunk->kind[now.at]);
}

int othernames_next_block(struct namefix *f, struct context *cx,
			  const struct blockbatch_item *item, struct file *file,
			  const void **block)
{
	uint64_t ptr;
	int ret;

	while ((ret = next_dir(f, cx, f->n.list.dirs[item->owner].ino, file)) >
	       0) {
		ret = blockmap_lookup(&file->map, cx, item->blkoff, &ptr);
		if (ret > 0 && ptr != item->vblocknr)
			ret = file_block(file, cx, item->blkoff, block);
		else if (ret > 0)
			ret = 0;
		ret = damage_forgive(cx, ret);
		if (ret)
			return ret;
	}
	return ret;
}

/*
 * Sets *INO to the target of the name of E, in block ITEM, in the nearest
 * checkpoint where that is the same file and can be right: 1, 0.  The kernel
 * does not move entries to other blocks.
 */
static int find_target(struct namefix *f, struct context *cx,
		       const struct blockbatch_item *item,
		       const struct dirent_entry *e, uint64_t *ino)
{
	struct dirent_entry other;
	struct dirent_iter it;
	struct file file;
	const void *block;
	int ret;

	othernames_begin(f);
	while ((ret = othernames_next_block(f, cx, item, &file, &block)) > 0) {
		*ino = 0;
		dirent_iter_init(&it, block, f->n.root.vol->geo.block_size);
		while (dirent_iter_next(&it, &other))
			if (other.ino && other.name_len == e->name_len &&
			    !memcmp(other.name, e->name, e->name_len))
				*ino = other.ino;
		file_put(&file, block);
		ret = *ino && could_be(f, e, *ino)
			      ? is_same_file_then(f, cx, *ino)
			      : 0;
		if (ret)
			break;
	}
	return ret;
}

int othernames_find_name(struct namefix *f, struct context *cx, uint64_t dir,
			 uint64_t ino, struct entrywalk_name *name)
{
	struct dir_cursor cur;
	struct dir_entry e;
	struct file file;
	int ret = 0;

	othernames_begin(f);
	while (f->nasked++ < TARGETS_MOST &&
	       (ret = next_dir(f, cx, dir, &file)) > 0) {
		ret = dir_cursor_open(&cur, cx, &file);
		while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &e)) > 0)
			ret = e.ino == ino && !dir_is_dots(&e);
		dir_cursor_close(&cur);
		ret = ret > 0 ? is_same_file_then(f, cx, ino)
			      : damage_forgive(cx, ret);
		if (ret)
			break;
	}
	if (ret > 0)
		entrywalk_name_repair(name, e.name, e.len, ino);
	return ret;
}

/*
 * Whether the block is at another place in an older checkpoint: unchanged
 * blocks are not rewritten.  1, 0.
 */
static int is_older_block(struct namefix *f, struct context *cx,
			  const struct blockbatch_item *item, const void *data)
{
	struct file file;
	const void *block;
	bool older = false;
	int ret = 1;

	othernames_begin(f);
	while (!older &&
	       (ret = othernames_next_block(f, cx, item, &file, &block)) > 0) {
		older = f->then.cno < f->n.root.cno &&
			!memcmp(block, data, f->n.root.vol->geo.block_size);
		file_put(&file, block);
	}
	return ret;
}

/*
 * Adds names from directory number DIR of the current checkpoint, unless one of
 * BEFORE has the same directory: 1 if it was read, 0.
 */
static int gather_from_checkpoint(struct namefix *f, struct context *cx,
				  size_t dir, struct root before[2])
{
	uint64_t ino = f->n.list.dirs[dir].ino;
	struct nilfs_inode inode;
	struct inodelist_row row;
	struct dir_cursor cur;
	struct dir_entry e;
	struct file file;
	size_t child;
	int i, ret = root_file(&f->then, cx, ino, &file);

	if (!ret)
		ret = is_same_file_then(f, cx, ino);
	for (i = 0; i < 2 && ret > 0; i++) {
		ret = root_inode_bytes(&before[i], cx, ino, &inode);
		if (ret > 0 && !memcmp(inode.i_bmap, file.inode.i_bmap,
				       sizeof(inode.i_bmap)))
			return 0;
		ret = damage_forgive(cx, ret < 0 ? ret : 0) ?: 1;
	}
	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = dir_cursor_open(&cur, cx, &file);
	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &e)) > 0) {
		child = inodelist_find_dir(&f->n.list, e.ino);
		row = inodelist_find(&f->n.list, e.ino);
		ret = 0;
		if (!e.len || dir_is_dots(&e) || e.ino == NILFS_ROOT_INO ||
		    !row.chunk ||
		    !(child < f->n.list.ndirs ? namefix_is_orphaned(f, child)
					      : namefix_missing_names(&row) > 0))
			continue;
		ret = is_same_file_then(f, cx, e.ino);
		if (ret > 0)
			ret = namefix_take_found(f, cx, dir, &row, e.ino, e.name,
						 e.len);
	}
	dir_cursor_close(&cur);
	return damage_forgive(cx, ret) ?: 1;
}

int othernames_add_missing(struct namefix *f, struct context *cx)
{
	/* Directories that have lost names; then, in a snapshot, the root,
	   which gets the unknown names. */
	const unsigned int torn = NAMEFIX_UNREADABLE | NAMEFIX_LOSES_NAMES;
	const struct inodelist_dir *dirs = f->n.list.dirs;
	int round, nrounds = f->snap && f->nmissed ? 2 : 1, ret = 0;
	struct root before[2];
	size_t i, ntorn;
	unsigned int left;
	uint64_t cno;
	bool any;

	for (round = 0; round < nrounds && ret >= 0; round++) {
		before[0] = before[1] = f->n.root;
		left = NEARCPS_SEARCH_MAX;
		ntorn = 1;
		othernames_begin(f);
		while (ntorn && ret >= 0 && left && namefix_has_missed(f) &&
		       (ret = nearcps_next(&f->nearby, cx, &cno)) > 0) {
			ret = root_open(&f->then, cx, f->n.root.vol, cno);
			if (ret) {
				ret = damage_forgive(cx, ret);
				continue;
			}
			any = false;
			ntorn = 0;
			for (i = 0; i < f->n.list.ndirs && ret >= 0; i++) {
				if (round ? dirs[i].ino != NILFS_ROOT_INO
					  : !(f->flags[i] & torn))
					continue;
				ntorn++;
				ret = gather_from_checkpoint(f, cx, i, before);
				any |= ret > 0;
			}
			left -= any;
			before[1] = before[0];
			before[0] = f->then;
		}
	}
	return ret < 0 ? ret : 0;
}

/*
 * Whether ENTRY of directory OWNER of the list leads to an inode with too many names, or
 * to none.  An entry of another type leads to a directory that has a name elsewhere.
 */
static bool is_suspect(const struct namefix *f, size_t owner,
		       const struct entrywalk_entry *entry)
{
	const struct inodelist_row *row = &entry->row;
	uint8_t kind = row->chunk ? row->chunk->kind[row->at] : 0;
	uint64_t pair;
	size_t child, i;

	if (entry->bad_name || entry->fate != ENTRYWALK_NAME)
		return !entry->bad_name && (entry->fate == ENTRYWALK_RESERVED ||
					    entry->fate == ENTRYWALK_DANGLING);
	if (kind & INODELIST_REFUSED)
		return false;
	if (!inodelist_is_dir(kind))
		return row->chunk->names[row->at] > row->chunk->links[row->at];
	child = inodelist_find_dir(&f->n.list, entry->e.ino);
	pair = (uint64_t)child << 32 | owner;
	i = search_lower_bound(f->others, f->nothers, pair);
	return entry->e.type != NILFS_FT_DIR && row->chunk->names[row->at] > 1 &&
	       (f->n.list.dirs[child].parent != owner + 1 ||
		(i < f->nothers && f->others[i] == pair));
}

/*
 * Whether an entry of the block is wrong, so that the block may be an older
 * version or belong to another directory.
 */
static bool is_doubted(struct namefix *f, const struct blockbatch_item *item,
		       struct entrywalk walk)
{
	struct inodelist *list = &f->n.list;
	uint64_t dir = list->dirs[item->owner].ino;
	struct entrywalk_entry entry;
	bool doubted = false;
	size_t child;

	while (!doubted && entrywalk_next(&walk, &entry)) {
		if (entry.fate == ENTRYWALK_DOT) {
			doubted = entry.e.ino != dir;
		} else if (entry.fate != ENTRYWALK_NAME) {
			doubted = entry.fate > ENTRYWALK_NAME;
		} else if (entry.type != NILFS_FT_DIR) {
			doubted = entry.type != entry.e.type;
		} else {
			child = inodelist_find_dir(list, entry.e.ino);
			doubted = child < list->ndirs &&
				  list->dirs[child].parent != item->owner + 1;
		}
	}
	return doubted || walk.no_dot || walk.it.verdict;
}

/* The only inode of TYPE that misses one name; 0: none or several. */
static uint64_t only_missed(struct namefix *f, uint8_t type)
{
	struct inodelist_row row;
	uint64_t found = 0;
	size_t i;

	for (i = 0; inodelist_next(&f->n.list, &i, &row);) {
		if ((row.chunk->kind[row.at] & INODELIST_TYPE) != type ||
		    namefix_missing_names(&row) != 1)
			continue;
		if (found)
			return 0;
		found = row.chunk->first + row.at;
	}
	return found;
}

/*
 * Finds the right inode for ENTRY, a suspect, in *INO, 0 for none: 1, 0 if that
 * is unknown.
 */
static int find_meant(struct namefix *f, struct context *cx,
		      const struct blockbatch_item *item,
		      const struct entrywalk *walk,
		      const struct entrywalk_entry *entry, bool doubted,
		      uint64_t *ino)
{
	const struct inodelist_row *row = &entry->row;
	struct entrywalk_entry other;
	struct entrywalk again;
	int surplus, ret = 0;

	if (f->nasked++ < TARGETS_MOST)
		ret = find_target(f, cx, item, &entry->e, ino);
	if (ret)
		return ret;
	*ino = f->missed;
	if (entry->fate != ENTRYWALK_NAME)
		return f->snap && f->nmissed == 1 && f->ndangling == 1 &&
		       could_be(f, &entry->e, f->missed);
	/* The type of the entry, and the links of both inodes. */
	*ino = entry->e.type != entry->type ? only_missed(f, entry->e.type) : 0;
	if (*ino)
		return 1;
	/* Inodes restored from other checkpoints have the links of those. */
	if (f->snap && f->job->borrowed && *f->job->borrowed)
		return 0;
	if (doubted || f->nasked > TARGETS_MOST || !(f->lossy || f->snap))
		return doubted;
	/* If more entries lead to it, the wrong one is unknown. */
	surplus = row->chunk->names[row->at] - row->chunk->links[row->at];
	for (again = *walk; entrywalk_next(&again, &other);)
		surplus -= other.e.ino == entry->e.ino;
	if (surplus < 0)
		return 0;
	return is_older_block(f, cx, item, walk->it.block);
}

static int redirect_block(void *arg, struct context *cx,
			  const struct blockbatch_item *item, const void *data,
			  int err)
{
	struct namefix *f = arg;
	uint16_t *flags = &f->flags[item->owner];
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	struct inodelist *list = &f->n.list;
	struct entrywalk walk, from_start;
	struct entrywalk_entry entry;
	struct inodelist_row row;
	uint64_t ino = 0;
	size_t child;
	bool doubted;
	int ret = namefix_walk(f, cx, item, data, err, &walk);

	if (ret <= 0)
		return ret;
	from_start = walk;
	doubted = f->lossy && is_doubted(f, item, walk);
	if (doubted)
		*flags |= NAMEFIX_LOSES_NAMES;
	while (ret >= 0 && entrywalk_next(&walk, &entry)) {
		if (!is_suspect(f, item->owner, &entry))
			continue;
		ret = find_meant(f, cx, item, &from_start, &entry, doubted,
				 &ino);
		if (ret <= 0)
			continue;
		/* The entry will lead to INO, or will be removed. */
		*flags |= !ino && f->lossy ? NAMEFIX_LOSES_NAMES | NAMEFIX_FIX_ENTRIES
					   : NAMEFIX_FIX_ENTRIES;
		if (ino) {
			row = inodelist_find(list, ino);
			row.chunk->names[row.at]++;
			child = inodelist_find_dir(list, ino);
			if (child < list->ndirs) {
				list->dirs[child].parent =
					(uint32_t)item->owner + 1;
				f->flags[child] |= NAMEFIX_IS_DIRECTORY;
			}
			text_escape(text, sizeof(text), entry.e.name,
				    entry.e.name_len);
			namefix_note(f, NAMEFIX_NOTE_FOUND,
				     "directory %" PRIu64
				     ": '%s' leads to inode %" PRIu64
				     " again, not %" PRIu64,
				     list->dirs[item->owner].ino, text, ino,
				     entry.e.ino);
		}
		if (entry.row.chunk)
			entry.row.chunk->names[entry.row.at]--;
		ret = array_push(cx, &f->targets, &f->ntargets,
				 &f->targets_room,
				 (struct namefix_target){
					 .dir = (uint32_t)item->owner,
					 .offset = entry.e.offset,
					 .blkoff = item->blkoff,
					 .ino = ino,
				 });
	}
	return ret < 0 ? ret : 0;
}

int othernames_redirect_entries(struct namefix *f, struct context *cx)
{
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (namefix_is_orphaned(f, i)) {
			f->nmissed++;
			f->missed = f->n.list.dirs[i].ino;
		}
	}
	for (i = 0; inodelist_next(&f->n.list, &i, &row);) {
		if (namefix_is_unnamed(&row)) {
			f->nmissed++;
			f->missed = row.chunk->first + row.at;
		}
	}
	return inodelist_read_dirs(&f->n.root, cx, &f->n.list, 0,
				   f->n.list.ndirs, redirect_block, f);
}
