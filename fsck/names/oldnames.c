// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of the newest checkpoint that older ones have (othernames.h).
 *
 * A name is taken from there if its inode is missed now.  Checkpoints that
 * share a directory share its map, and are looked at once.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "check/blockbatch.h"
#include "check/damage.h"
#include "check/names/dirread.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/namefix.h"
#include "fsck/names/othernames.h"
#include "vol/dir.h"

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

static int add_torn(struct oldnames *o, struct context *cx, size_t dir)
{
	struct namefix *f = o->f;
	struct nilfs_inode inode;
	struct torn *torn;
	int err = root_inode_bytes(&f->n.root, cx, f->n.list.dirs[dir].ino,
				   &inode);

	if (err < 0)
		return damage_forgive(cx, err);
	if (array_reserve(cx, &o->torn, &o->room, o->count + 1))
		return -ENOMEM;
	torn = &o->torn[o->count++];
	torn->dir = (uint32_t)dir;
	torn->done = false;
	torn->generation = inode.i_generation;
	memcpy(torn->bmap, inode.i_bmap, sizeof(torn->bmap));
	return 0;
}

static int find_torn(struct oldnames *o, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < o->f->n.list.ndirs && !err; i++) {
		if (o->f->flags[i] & (NAMEFIX_GONE | NAMEFIX_LOSES))
			err = add_torn(o, cx, i);
	}
	return err;
}

static bool is_missed(struct namefix *f, const struct inodelist_row *row,
		      uint64_t ino)
{
	if (!row->chunk || !row->chunk->kind[row->at])
		return false;
	if ((row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR)
		return namefix_is_orphaned(f, inodelist_find_dir(&f->n.list,
								 ino));
	return namefix_is_missed(row);
}

static int take_entry(struct oldnames *o, struct context *cx, uint32_t dir,
		      const struct dir_entry *e)
{
	struct namefix *f = o->f;
	struct inodelist_row row = inodelist_find(&f->n.list, e->ino);
	int ret;

	if (e->len <= 2 && !memcmp(e->name, "..", e->len))
		return 0;
	if (e->ino == NILFS_ROOT_INO || !is_missed(f, &row, e->ino))
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

static int look_at(struct oldnames *o, struct context *cx, struct torn *torn)
{
	struct file file;
	int err = root_file(&o->other.then, cx, o->f->n.list.dirs[torn->dir].ino,
			    &file);

	if (err)
		return damage_forgive(cx, err);
	if (!S_ISDIR(le16_get(file.inode.i_mode)) ||
	    le32_get(file.inode.i_generation) != le32_get(torn->generation) ||
	    !memcmp(file.inode.i_bmap, torn->bmap, sizeof(torn->bmap)))
		return 0;
	memcpy(torn->bmap, file.inode.i_bmap, sizeof(torn->bmap));
	return read_old(o, cx, torn, &file);
}

static int look_in(struct oldnames *o, struct context *cx, uint64_t cno)
{
	size_t i;
	int err = root_open(&o->other.then, cx, o->f->n.root.vol, cno);

	if (err)
		return damage_forgive(cx, err);
	for (i = 0; i < o->count && !err; i++) {
		if (!o->torn[i].done)
			err = look_at(o, cx, &o->torn[i]);
	}
	return err;
}

static int look_back(struct oldnames *o, struct context *cx)
{
	const struct lifetime life = { o->f->n.root.cno, NILFS_CNO_MAX };
	uint64_t cno;
	int err = 0, more = 1;

	around_begin(&o->other.around, life);
	while (!err && o->done < o->count &&
	       (more = around_next(&o->other.around, cx, &cno)) > 0)
		err = look_in(o, cx, cno);
	return more < 0 ? more : err;
}

/*
 * Entries that lead to a wrong inode.
 *
 * A changed number leaves one inode without a name and gives another one too
 * many, or is one that no entry may have.  The newest checkpoint that has the name
 * says which was meant.  Where none does, and the block has other wrong entries, it
 * is an older one, or another directory's, and the name goes.
 */
#define TURN_MOST 1024u	/* names that are asked for */

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
	return (kind & INODELIST_TYPE) != NILFS_FT_DIR &&
	       !(kind & INODELIST_REFUSED) &&
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

/* Notes that ENTRY of ITEM is to lead to INO, or to go (0). */
static int note_found(struct namefix *f, struct context *cx,
		      const struct blockbatch_item *item,
		      const struct entrywalk_entry *entry, uint64_t ino)
{
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

/* ENTRY of ITEM is to lead to INO. */
static int set_target(struct namefix *f, struct context *cx,
		      const struct blockbatch_item *item,
		      const struct entrywalk_entry *entry, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(&f->n.list, ino);
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];

	row.chunk->names[row.at]++;
	text_escape(text, sizeof(text), entry->e.name, entry->e.name_len);
	namefix_note(f, NAMEFIX_NOTE_FOUND, "directory %llu: '%s' names inode "
		     "%llu again, not %llu",
		     (unsigned long long)f->n.list.dirs[item->owner].ino, text,
		     (unsigned long long)ino,
		     (unsigned long long)entry->e.ino);
	return note_found(f, cx, item, entry, ino);
}

/* Whether ENTRY, of directory number DIR, is not of it as it is now. */
static bool is_doubtful(const struct namefix *f, size_t dir,
			const struct entrywalk_entry *entry)
{
	const struct inodelist *list = &f->n.list;
	size_t child;

	if (entry->fate == ENTRYWALK_DOT)
		return entry->e.ino != list->dirs[dir].ino;
	if (entry->fate != ENTRYWALK_NAME)
		return entry->fate != ENTRYWALK_FREE &&
		       entry->fate != ENTRYWALK_DOTDOT;
	if (entry->type != NILFS_FT_DIR)
		return entry->type != entry->e.type;
	child = inodelist_find_dir(list, entry->e.ino);
	return child < list->ndirs && list->dirs[child].parent != dir + 1;
}

/*
 * Whether the block is an older version, or of another directory: some entry is
 * wrong.  What names in it lead to may have others.
 */
static bool is_doubted(struct namefix *f, const struct blockbatch_item *item,
		       const void *data)
{
	struct entrywalk_entry entry;
	struct entrywalk walk;
	bool doubted = false;

	entrywalk_init(&walk, &f->n.list, f->n.list.dirs[item->owner].ino,
		       item->blkoff, data, f->n.root.vol->geo.block_size);
	while (!doubted && entrywalk_next(&walk, &entry))
		doubted = is_doubtful(f, item->owner, &entry);
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
			ret = note_found(f, cx, item, &entry, 0);
	}
	return ret < 0 ? ret : 0;
}

int oldnames_turn(struct namefix *f, struct context *cx)
{
	struct oldnames o = { .f = f, .other.now = &f->n.root };
	int err = around_open(&o.other.around, cx, f->n.root.vol);

	if (!err)
		err = dirread_run(&f->n.root, cx, &f->n.list, 0,
				  f->n.list.ndirs, turn_block, &o);
	around_close(&o.other.around);
	return err;
}

int oldnames_run(struct namefix *f, struct context *cx)
{
	struct oldnames o = { .f = f, .other.now = &f->n.root };
	int err = find_torn(&o, cx);

	if (!err && o.count)
		err = around_open(&o.other.around, cx, f->n.root.vol);
	if (!err && o.count)
		err = look_back(&o, cx);
	around_close(&o.other.around);
	free(o.torn);
	return err;
}
