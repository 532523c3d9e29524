// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that other checkpoints have.
 *
 * What a directory was called by a checkpoint ago it mostly still is.  A name
 * is taken from there if its inode is the same as then: of the same type and
 * generation, since numbers are given out again.
 *
 * For the latest state that is done where directories lose names, which are
 * taken if their inodes are missed now.  Checkpoints that share a directory
 * share its map, and are looked at once.
 *
 * A changed number in an entry leaves one inode without a name and gives another
 * one too many, or is one that no entry may have.  The newest checkpoint that
 * has the name says which was meant.  Where none does, and the block has other
 * wrong entries, it is an older one, or another directory's, and the name goes.
 */
#include "fsck/names/othernames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "disk/inode.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/namefix.h"
#include "vol/dir.h"

#define TURN_MOST 1024u	/* names that are asked for */

/* Checkpoints that are asked for a name at most. */
#define ASK_MOST 64u

int othernames_is_same(struct othernames *o, struct context *cx, uint64_t ino)
{
	struct nilfs_inode then, now;
	int err = root_inode(&o->then, cx, ino, &then);

	if (!err)
		err = root_inode_bytes(o->now, cx, ino, &now);
	if (err < 0)
		return damage_forgive(cx, err);
	return inode_is_same_file(&then, &now);
}

int othernames_find(struct othernames *o, struct context *cx, uint64_t dir,
		    const struct dirent_entry *e,
		    bool (*could_be)(void *arg, const struct dirent_entry *e,
				     uint64_t ino),
		    void *arg, uint64_t *ino)
{
	const struct lifetime life = { o->now->cno, o->now->cno + 1 };
	unsigned int asked = 0;
	struct file file;
	uint64_t cno;
	int ret = 1;

	around_begin(&o->around, life);
	while (asked++ < ASK_MOST &&
	       (ret = around_next(&o->around, cx, &cno)) > 0) {
		ret = root_open(&o->then, cx, o->now->vol, cno);
		if (!ret)
			ret = root_file(&o->then, cx, dir, &file);
		if (!ret)
			ret = dir_lookup(&file, cx, e->name, e->name_len, ino);
		ret = ret ? damage_forgive(cx, ret) : could_be(arg, e, *ino);
		if (ret > 0)
			ret = othernames_is_same(o, cx, *ino);
		if (ret > 0)
			ret = othernames_is_same(o, cx, dir);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

/* A directory that loses names, as the last checkpoint had it. */
struct torn {
	uint32_t dir;		/* index */
	bool done;
	le32 generation;
	le64 bmap[NILFS_INODE_BMAP_SIZE];
};

struct oldnames {
	struct namefix *f;
	struct othernames other;
	struct torn *torn;
	size_t count, room, done;
	unsigned int asked;	/* names that lead to a wrong inode */
};

static int find_torn(struct oldnames *o, struct context *cx)
{
	struct namefix *f = o->f;
	struct nilfs_inode inode;
	struct torn *torn;
	size_t i;
	int ret;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (!(f->flags[i] & (NAMEFIX_GONE | NAMEFIX_LOSES)))
			continue;
		ret = root_inode_bytes(&f->n.root, cx, f->n.list.dirs[i].ino,
				       &inode);
		ret = damage_forgive(cx, ret);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		if (array_reserve(cx, &o->torn, &o->room, o->count + 1))
			return -ENOMEM;
		torn = &o->torn[o->count++];
		torn->dir = (uint32_t)i;
		torn->done = false;
		torn->generation = inode.i_generation;
		memcpy(torn->bmap, inode.i_bmap, sizeof(torn->bmap));
	}
	return 0;
}

static int take_entry(struct oldnames *o, struct context *cx, uint32_t dir,
		      const struct dir_entry *e)
{
	struct namefix *f = o->f;
	struct inodelist_row row = inodelist_find(&f->n.list, e->ino);
	bool missed;
	int ret;

	if ((e->len <= 2 && !memcmp(e->name, "..", e->len)) ||
	    e->ino == NILFS_ROOT_INO || !row.chunk || !row.chunk->kind[row.at])
		return 0;
	missed = inodelist_is_dir(row.chunk->kind[row.at]) ?
			 namefix_is_orphaned(f, inodelist_find_dir(&f->n.list,
								   e->ino)) :
			 namefix_is_missed(&row);
	if (!missed)
		return 0;
	ret = othernames_is_same(&o->other, cx, e->ino);
	if (ret <= 0)
		return ret;
	row = inodelist_find(&f->n.list, e->ino);
	return namefix_found(f, cx, dir, &row, e->ino, e->name, e->len);
}

/* Reads the directory as FILE has it; done if that is whole. */
static int read_old(struct oldnames *o, struct context *cx, struct torn *torn,
		    struct file *file)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	bool whole = true;
	int ret, err = 0;

	ret = dir_cursor_open(&cur, cx, file);
	while (!ret && !err) {
		ret = dir_cursor_next(&cur, cx, &entry);
		if (ret > 0) {
			err = take_entry(o, cx, torn->dir, &entry);
			ret = 0;
			continue;
		}
		if (!ret)
			break;
		whole = false;
		if (cur.at_broken_block) {
			fail_clear(cx);
			ret = 0;
		}
	}
	dir_cursor_close(&cur);
	if (err || damage_is_fatal(ret))
		return err ? err : ret;
	fail_clear(cx);
	torn->done = whole && !ret;
	o->done += torn->done;
	return 0;
}

/* What checkpoint CNO has of the directories. */
static int look_in(struct oldnames *o, struct context *cx, uint64_t cno)
{
	struct file file;
	size_t i;
	int err = root_open(&o->other.then, cx, o->f->n.root.vol, cno);

	if (err)
		return damage_forgive(cx, err);
	for (i = 0; i < o->count && !err; i++) {
		struct torn *torn = &o->torn[i];

		if (torn->done)
			continue;
		err = root_file(&o->other.then, cx,
				o->f->n.list.dirs[torn->dir].ino, &file);
		if (err) {
			err = damage_forgive(cx, err);
			continue;
		}
		if (!S_ISDIR(le16_get(file.inode.i_mode)) ||
		    le32_get(file.inode.i_generation) !=
			    le32_get(torn->generation) ||
		    !memcmp(file.inode.i_bmap, torn->bmap, sizeof(torn->bmap)))
			continue;
		memcpy(torn->bmap, file.inode.i_bmap, sizeof(torn->bmap));
		err = read_old(o, cx, torn, &file);
	}
	return err;
}

int othernames_gather(struct namefix *f, struct context *cx)
{
	struct oldnames o = { .f = f, .other.now = &f->n.root };
	const struct lifetime life = { f->n.root.cno, NILFS_CNO_MAX };
	uint64_t cno;
	int more = 1, err = find_torn(&o, cx);

	if (!err && o.count)
		err = around_open(&o.other.around, cx, f->n.root.vol);
	if (!err && o.count)
		around_begin(&o.other.around, life);
	while (!err && o.done < o.count &&
	       (more = around_next(&o.other.around, cx, &cno)) > 0)
		err = look_in(&o, cx, cno);
	around_close(&o.other.around);
	free(o.torn);
	return more < 0 ? more : err;
}

/* Whether the inode of ENTRY has a name too many, or may have none. */
static bool is_crowded(const struct entrywalk_entry *entry)
{
	const struct inodelist_row *row = &entry->row;
	uint8_t kind;

	if (entry->bad_name || entry->fate == ENTRYWALK_RESERVED)
		return !entry->bad_name;
	if (entry->fate != ENTRYWALK_NAME)
		return false;
	kind = row->chunk->kind[row->at];
	return !inodelist_is_dir(kind) && !(kind & INODELIST_REFUSED) &&
	       row->chunk->names[row->at] > row->chunk->links[row->at];
}

/* Whether INO has no name now, and is of the type that entry E says. */
static bool could_be(void *arg, const struct dirent_entry *e, uint64_t ino)
{
	struct namefix *f = arg;
	struct inodelist_row row = inodelist_find(&f->n.list, ino);

	return row.chunk && !row.chunk->names[row.at] &&
	       namefix_is_missed(&row) &&
	       (row.chunk->kind[row.at] & INODELIST_TYPE) == e->type;
}

/* ENTRY of ITEM is to lead to INO, or to go (0). */
static int set_target(struct namefix *f, struct context *cx,
		      const struct blockbatch_item *item,
		      const struct entrywalk_entry *entry, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(&f->n.list, ino);
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	if (ino) {
		row.chunk->names[row.at]++;
		text_escape(text, sizeof(text), entry->e.name,
			    entry->e.name_len);
		namefix_note(f, NAMEFIX_NOTE_FOUND, "directory %llu: '%s' "
			     "names inode %llu again, not %llu",
			     (unsigned long long)
				     f->n.list.dirs[item->owner].ino,
			     text, (unsigned long long)ino,
			     (unsigned long long)entry->e.ino);
	}
	if (array_reserve(cx, &f->targets, &f->targets_room, f->ntargets + 1))
		return -ENOMEM;
	f->targets[f->ntargets++] = (struct namefix_target){
		.dir = (uint32_t)item->owner, .offset = entry->e.offset,
		.blkoff = item->blkoff, .ino = ino,
	};
	if (entry->row.chunk)
		entry->row.chunk->names[entry->row.at]--;
	f->flags[item->owner] |= NAMEFIX_ENTRIES;
	return 0;
}

/*
 * Whether the block is an older version, or of another directory: some entry is
 * wrong.  What names in it lead to may have others.
 */
static bool is_doubted(struct namefix *f, const struct blockbatch_item *item,
		       const void *data)
{
	struct inodelist *list = &f->n.list;
	uint64_t dir = list->dirs[item->owner].ino;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool doubted = false;
	size_t child;

	entrywalk_init(&walk, list, dir, item->blkoff, data,
		       f->n.root.vol->geo.block_size);
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

static int turn_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct oldnames *o = arg;
	struct namefix *f = o->f;
	uint64_t dir = f->n.list.dirs[item->owner].ino, ino = 0;
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool doubted;
	int ret = 0;

	fail_clear(cx);
	if (!data)
		return damage_is_fatal(err) ? err : 0;
	doubted = f->lossy && is_doubted(f, item, data);
	if (doubted)
		f->flags[item->owner] |= NAMEFIX_LOSES;
	entrywalk_init(&walk, &f->n.list, dir, item->blkoff, data,
		       f->n.root.vol->geo.block_size);
	while (ret >= 0 && entrywalk_next(&walk, &entry)) {
		if (!is_crowded(&entry))
			continue;
		ret = o->asked++ < TURN_MOST
			      ? othernames_find(&o->other, cx, dir, &entry.e,
						could_be, f, &ino) : 0;
		if (ret > 0)
			ret = set_target(f, cx, item, &entry, ino);
		else if (!ret && doubted)
			ret = set_target(f, cx, item, &entry, 0);
	}
	return ret < 0 ? ret : 0;
}

int othernames_turn(struct namefix *f, struct context *cx)
{
	struct oldnames o = { .f = f, .other.now = &f->n.root };
	int err = around_open(&o.other.around, cx, f->n.root.vol);

	if (!err)
		err = dirread_run(&f->n.root, cx, &f->n.list, 0,
				  f->n.list.ndirs, turn_block, &o);
	around_close(&o.other.around);
	return err;
}
