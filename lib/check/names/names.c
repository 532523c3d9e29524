// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The names of a checkpoint: the entries of all directories are compared with
 * the list of inodes and counted there; then the counts are checked.
 *
 * Directories are read in the order of their inodes, with blocks of several in
 * one batch.  Most blocks belong to many checkpoints.  The newest is checked
 * first, so a finding has the newest checkpoint with the block.
 *
 * "." and ".." are the first two entries of a directory.  One with a wrong name
 * that leads to the directory or its parent does not count as a name, because
 * that would be a second finding of the same damage.  Any other entry in these
 * places is a name: mkfs.nilfs2 of 2010 left the second entry of the root free,
 * and the kernel reuses free entries.  A directory that was removed while open
 * has no links; its "." and ".." are meaningless, and its size may be 0.
 *
 * A file has as many links as names.  A directory has two links, for its name
 * and its ".", and one for the ".." of each directory in it (nilfs_mkdir());
 * the root has its own ".." instead of a name.  Files without links and names
 * are reported by the pass over files if necessary.  Links are compared only if
 * all names were read, because one unreadable block would make thousands of
 * inodes look lost.
 */
#include "check/names/names.h"

#include <string.h>

#include "base/bitmap.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "disk/dirent.h"

/* With more directories that have two names, parents are not chosen. */
#define OTHERS_MAX 256u

/* A directory and another one that names it, but not first; both are indexes. */
struct other_name {
	uint32_t child, by;
};

struct reading {
	struct names *n;
	struct blockbatch batch;
	uint64_t dir;		/* index of the current directory, or ndirs */
	uint64_t ino;
	bool deleted;		/* the directory has no links */
	const struct blockbatch_item *item;	/* the current block */
	bool reported;		/* a bad entry of the block was reported */
	bool no_dot;		/* the first entry of the directory is a name */
	size_t nopen;		/* directories with an undecided second entry */
	struct other_name others[OTHERS_MAX];
	unsigned int nothers;
};

void names_mark_unread(struct names *n, uint64_t ino)
{
	n->doubts++;
	if (!n->lost++)
		n->first_lost = ino;
}

void names_unjudged(struct names *n, uint64_t ino, const char *why)
{
	names_report(n, &(struct finding){
		.rule = RULE_INODE_LINKS_UNKNOWN,
		.place = place_inode(n->root.cno, ino),
		.detail = why && *why ? why : NULL,
	}, 0);
}

/* Reports RULE for the entry at OFFSET, once per block. */
static void names_report_entry(struct reading *w, enum rule rule,
			       uint32_t offset, const uint64_t *want,
			       const uint64_t *got)
{
	names_report(w->n, &(struct finding){
		.rule = rule,
		.place = names_place(w->n, w->ino, w->item->blkoff, offset),
		.has_want = want != NULL,
		.has_got = got != NULL,
		.want = want ? *want : 0,
		.got = got ? *got : 0,
	}, w->item->vblocknr << 16 ^ offset);
}

static int names_begin_dir(struct reading *w, struct context *cx, uint64_t dir)
{
	int err = 0;

	if (w->dir < w->n->list.ndirs)
		err = dupnames_end(&w->n->dups, cx);
	w->dir = dir;
	if (err || dir >= w->n->list.ndirs)
		return err;
	w->ino = w->n->list.dirs[dir].ino;
	w->deleted = !inodelist_has_dir(&w->n->list, w->ino);
	return dupnames_begin(&w->n->dups, cx, (uint32_t)dir);
}

/* Whether entry number SLOT of the block is "." or "..", or may be, and so is
   not a name. */
static bool is_dots(struct reading *w, const struct dirent_entry *e,
		    unsigned int slot)
{
	struct inodelist_dir *dir = &w->n->list.dirs[w->dir];
	uint64_t differs = e->ino ^ w->ino;
	bool named, another;

	if (w->item->blkoff || slot > 1)
		return false;
	named = e->name_len == slot + 1 && !memcmp(e->name, "..", slot + 1);
	if (w->deleted)
		return named;
	if (!slot) {
		/*
		 * The block belongs to another directory, as its first or a
		 * later block.  One flipped bit does not mean another
		 * directory.  "." is never removed, so an unused entry is not
		 * one.
		 */
		another = !e->ino ? e->name_len && !named :
			  (differs & (differs - 1)) &&
			  (!named || inodelist_has_dir(&w->n->list, e->ino));
		if (differs)
			names_report_entry(
				w, another ? RULE_DIR_ANOTHER : RULE_DIR_DOT,
				e->offset, &w->ino, &e->ino);
		else if (!named)
			names_report_entry(w, RULE_DIR_DOT, e->offset, NULL,
					   NULL);
		w->no_dot = !named && differs;
		return !w->no_dot;
	}
	if (!e->ino || !named) {
		/* The entries of such a block do not show a difference from it. */
		w->n->doubts++;
		if (!e->ino || w->no_dot ||
		    !inodelist_has_dir(&w->n->list, e->ino))
			return false;
		dir->second_open = true;
		w->nopen++;
	}
	dir->dotdot = e->ino;
	return true;
}

static void name_dir(struct reading *w, const struct dirent_entry *e)
{
	struct inodelist *list = &w->n->list;
	size_t at = inodelist_find_dir(list, e->ino);
	struct inodelist_dir *child = &list->dirs[at];

	if (!child->parent && e->ino != NILFS_ROOT_INO) {
		child->parent = (uint32_t)w->dir + 1;
		list->dirs[w->dir].subdirs++;
		return;
	}
	names_report_entry(w, RULE_DIR_SECOND_NAME, e->offset, NULL, &e->ino);
	if (w->nothers < OTHERS_MAX)
		w->others[w->nothers++] = (struct other_name){
			(uint32_t)at, (uint32_t)w->dir };
}

/* Of several directories with an entry for the same one, its ".." decides which
   is the parent; otherwise it is the first. */
static void choose_parents(struct reading *w)
{
	struct inodelist_dir *dirs = w->n->list.dirs;
	unsigned int i;

	for (i = 0; i < w->nothers; i++) {
		struct inodelist_dir *child = &dirs[w->others[i].child];
		uint32_t by = w->others[i].by;

		if (!child->parent || dirs[by].ino != child->dotdot ||
		    dirs[child->parent - 1].ino == child->dotdot)
			continue;
		dirs[child->parent - 1].subdirs--;
		dirs[by].subdirs++;
		child->parent = by + 1;
	}
}

/* Counts a name.  RULE is the rule that its entry breaks. */
static int take_name(struct reading *w, struct context *cx,
		     const struct dirent_entry *e, enum rule rule)
{
	struct root *root = &w->n->root;
	struct nilfs_inode inode;
	struct inodelist_row row;
	uint64_t said = e->type, type;
	int ret = 0;

	if (rule == RULE_DIR_PRIVATE_INO) {
		names_mark_unread(w->n, w->ino);
		return 0;
	}
	row = inodelist_find(&w->n->list, e->ino);
	if (row.chunk && row.chunk->names[row.at] < UINT16_MAX)
		row.chunk->names[row.at]++;
	if (row.chunk)
		row.chunk->touched = true;
	if (!row.chunk || !row.chunk->links[row.at]) {
		names_report_entry(w, RULE_DIR_NO_INODE, e->offset, NULL,
				   &e->ino);
		return 0;
	}
	type = row.chunk->kind[row.at] & INODELIST_TYPE;
	if (rule != RULE_DIR_TYPE && type != NILFS_FT_UNKNOWN && said != type) {
		ret = root_inode_bytes(root, cx, e->ino, &inode);
		if (ret > 0 && e->ino != NILFS_ROOT_INO)
			ret = inodelist_is_mistyped(root->vol, cx, e->ino,
						    &inode, e->type);
		ret = damage_forgive(cx, ret);
		if (!ret)
			names_report_entry(w, RULE_DIR_TYPE_DIFFERS, e->offset,
					   &type, &said);
		else if (ret > 0)
			names_report(w->n, &(struct finding){
				.rule = RULE_INODE_TYPE,
				.place = place_inode(root->cno, e->ino),
				.has_want = true,
				.has_got = true,
				.want = said,
				.got = type,
			}, w->item->vblocknr << 16 ^ e->offset);
	}
	if (type == NILFS_FT_DIR)
		name_dir(w, e);
	return ret < 0 ? ret : 0;
}

static int names_take_block(void *arg, struct context *cx,
			    const struct blockbatch_item *item,
			    const void *data, int err)
{
	const uint64_t is_dir = NILFS_FT_DIR;
	struct reading *w = arg;
	struct names *n = w->n;
	struct inodelist_dir *dir;
	struct dirent_entry e;
	struct dirent_iter it;
	unsigned int slot;
	uint64_t said;
	enum rule rule;
	bool dots;
	int ret = 0;

	w->item = item;
	if (item->owner != w->dir)
		ret = names_begin_dir(w, cx, item->owner);
	if (ret)
		return ret;
	if (!data) {
		if (damage_is_fatal(err))
			return err;
		names_mark_unread(n, w->ino);
		names_report(n, &(struct finding){
			.rule = RULE_DIR_UNREADABLE,
			.place = names_place(n, w->ino, item->blkoff, 0),
			.detail = cx->failure,
		}, item->vblocknr);
		fail_clear(cx);
		return 0;
	}
	dir = &n->list.dirs[w->dir];
	w->reported = w->no_dot = false;
	dirent_iter_init(&it, data, n->root.vol->geo.block_size);
	for (slot = 0; !ret && dirent_iter_next(&it, &e); slot++) {
		rule = dirent_check(&e);
		dots = is_dots(w, &e, slot);
		said = e.type;
		if (!e.ino)
			continue;
		if (rule && !w->reported)
			names_report_entry(w, rule, e.offset, NULL, NULL);
		w->reported |= rule != RULE_OK;
		if (!dots)
			ret = take_name(w, cx, &e, rule);
		else if (!rule && said != is_dir)
			names_report_entry(w, RULE_DIR_TYPE_DIFFERS, e.offset,
					   &is_dir, &said);
		if (n->gone &&
		    !dupnames_has_tag(n->gone, dupnames_tag_in(w->ino, e.name,
							       e.name_len)))
			n->dups.full = true;
		if (!ret)
			ret = dupnames_add(&n->dups, cx, &e);
	}
	if (it.verdict) {
		names_report_entry(w, it.verdict, it.offset, NULL, NULL);
		names_mark_unread(n, w->ino);
	} else if (!item->blkoff && !w->deleted && !dir->dotdot) {
		dir->dotdot = INODELIST_NONE;
	}
	return ret;
}

int names_read(struct names *n, struct context *cx, names_source *source,
	       void *arg)
{
	struct inodelist *list = &n->list;
	struct reading w = { .n = n, .dir = list->ndirs };
	struct blockbatch_item first = { 0 };
	struct inodelist_dir *dir;
	struct inodelist_row row;
	struct dirent_entry e;
	struct inodelist_blocks b;
	size_t i;
	int err = blockbatch_open(&w.batch, cx, n->root.vol, names_take_block,
				  &w);

	if (!err && source)
		err = source(arg, cx, &w.batch);
	/* The pass over files reports a map that is broken or does not match
	   the size.  Names are missing then, if the directory has links. */
	for (i = 0; !source && i < list->ndirs && !err; i++) {
		uint64_t ino = list->dirs[i].ino;

		err = inodelist_add_blocks(&n->root, cx, list, i, false,
					   &w.batch, &b);
		if (err || !inodelist_has_dir(list, ino))
			continue;
		if (b.map.broken || b.map.more || !b.expected ||
		    b.map.found != b.expected)
			names_mark_unread(n, ino);
		if (!b.map.broken && !b.map.more && !b.expected)
			names_report(n, &(struct finding){
				.rule = RULE_DIR_DOT,
				.place = place_inode(n->root.cno, ino),
			}, 0);
	}
	if (!err)
		err = blockbatch_flush(&w.batch, cx) ?:
		      names_begin_dir(&w, cx, list->ndirs);
	blockbatch_close(&w.batch);
	if (err)
		return err;
	/* With the parents known, undecided second entries are a damaged ".."
	   or a name. */
	choose_parents(&w);
	for (i = 0; w.nopen && i < list->ndirs; i++) {
		dir = &list->dirs[i];
		if (!dir->second_open)
			continue;
		w.nopen--;
		w.dir = first.owner = i;
		w.ino = dir->ino;
		w.item = &first;
		e = (struct dirent_entry){
			.ino = dir->dotdot, .offset = dirent_rec_len(1),
		};
		if (inodelist_second_is_parent(list, dir)) {
			names_report_entry(&w, RULE_DIR_DOTDOT, e.offset, NULL,
					   &e.ino);
			continue;
		}
		row = inodelist_find(list, dir->dotdot);
		dir->dotdot = INODELIST_NONE;
		if (row.chunk->names[row.at] < UINT16_MAX)
			row.chunk->names[row.at]++;
		name_dir(&w, &e);
	}
	choose_parents(&w);
	return 0;
}

static uint16_t names_of(struct inodelist *list, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(list, ino);

	return row.chunk->names[row.at];
}

/*
 * Checks ".." of a directory with one name, or of the root.  The kernel needs
 * it only to move the directory, in the latest checkpoint, and fails if it is
 * wrong (nilfs_dotdot()).
 */
static void check_parent(struct names *n, const struct inodelist_dir *dir)
{
	uint64_t want = NILFS_ROOT_INO;
	struct finding f = {
		.rule = RULE_DIR_DOTDOT,
		.place = names_place(n, dir->ino, 0, dirent_rec_len(1)),
		.has_want = true,
		.has_got = true,
		.got = dir->dotdot,
	};

	if (dir->ino != NILFS_ROOT_INO) {
		if (!dir->parent || names_of(&n->list, dir->ino) != 1)
			return;
		want = n->list.dirs[dir->parent - 1].ino;
	}
	if (dir->dotdot == INODELIST_UNKNOWN || dir->dotdot == want)
		return;
	f.want = want;
	if (dir->dotdot == INODELIST_NONE) {
		if (n->root.cno != n->c->vol->latest.cno)
			return;
		f.rule = dir->ino == NILFS_ROOT_INO ? RULE_DIR_NO_DOTDOT :
						      RULE_DIR_PARENT_MISSING;
		f.place = place_inode(n->root.cno, dir->ino);
		f.has_got = false;
	}
	names_report(n, &f, want << 32 ^ dir->dotdot);
}

/* Follows parents from directory I to one with a known path, and records the
   result for all directories on the way.  Reports a loop. */
static void names_follow_parents(struct names *n, struct bitmap *known,
				 struct bitmap *way, size_t i)
{
	const struct inodelist_dir *dirs = n->list.dirs;
	bool second_name = false;
	size_t at = i;

	while (!bitmap_test(known, at) && !bitmap_test(way, at)) {
		bitmap_set(way, at);
		if (!dirs[at].parent)
			break;
		at = dirs[at].parent - 1;
	}
	if (!bitmap_test(known, at) && dirs[at].parent) {
		size_t first = at;

		do {
			second_name |= names_of(&n->list, dirs[at].ino) > 1;
			at = dirs[at].parent - 1;
		} while (at != first);
		if (!second_name)
			names_report(n, &(struct finding){
				.rule = RULE_DIR_LOOP,
				.place = place_inode(n->root.cno,
						     dirs[first].ino),
			}, 0);
	}
	for (at = i; !bitmap_test(known, at); at = dirs[at].parent - 1) {
		bitmap_set(known, at);
		if (!dirs[at].parent)
			break;
	}
}

/*
 * Reports inodes of CHUNK whose links differ from their names, or which have no
 * name.  DIR is the index of the first directory in the chunk.
 */
static void compare_links(struct names *n, const struct inodelist_chunk *chunk,
			  const struct inodelist_dir *dir)
{
	unsigned int i;

	for (i = 0; i < INODELIST_CHUNK; i++) {
		uint8_t kind = chunk->kind[i];
		uint64_t ino = chunk->first + i;
		uint64_t links = chunk->links[i], names = chunk->names[i];
		bool is_dir = inodelist_is_dir(kind);
		uint64_t want = is_dir ? 2 + (uint64_t)dir++->subdirs : names;

		/* A name of an inode without links was reported, unless its
		   entry was not read. */
		if (!links)
			n->doubts += names != 0;
		if (!links || !(kind & INODELIST_TYPE) ||
		    (!is_dir && names && links == names) ||
		    (!names && (ino == NILFS_SKETCH_INO ||
				kind & INODELIST_MKFS)))
			continue;
		if (!names && ino != NILFS_ROOT_INO) {
			if (!(kind & INODELIST_ALLOCATED))
				continue;
			names_report(n, &(struct finding){
				.rule = RULE_INODE_UNREACHABLE,
				.place = place_inode(n->root.cno, ino),
			}, 0);
		}
		if (links != want && (is_dir || names))
			names_report(n, &(struct finding){
				.rule = RULE_INODE_LINKS_NAMES,
				.place = place_inode(n->root.cno, ino),
				.has_want = true,
				.has_got = true,
				.want = want,
				.got = links,
			}, want << 32 ^ links);
	}
}

int names_compare(struct names *n, struct context *cx, bool touched)
{
	struct inodelist *list = &n->list;
	struct bitmap known = { .words = NULL }, way = { .words = NULL };
	size_t i, dir, end;
	int err = bitmap_init(&known, cx, list->ndirs) ?:
		  bitmap_init(&way, cx, list->ndirs);

	for (i = 0; i < list->nchunks && !err; i++) {
		uint64_t first = list->chunks[i]->first;

		if (touched && !list->chunks[i]->touched)
			continue;
		dir = inodelist_first_dir(list, first);
		end = inodelist_first_dir(list, first + INODELIST_CHUNK);
		for (; dir < end; dir++) {
			check_parent(n, &list->dirs[dir]);
			names_follow_parents(n, &known, &way, dir);
		}
	}
	bitmap_fini(&known);
	bitmap_fini(&way);
	if (!err && !touched && n->lost) {
		names_unjudged(n, n->first_lost, NULL);
		return 0;
	}
	for (i = 0; i < list->nchunks && !err; i++)
		if (!touched || list->chunks[i]->touched)
			compare_links(n, list->chunks[i],
				      list->dirs + inodelist_first_dir(list,
						list->chunks[i]->first));
	return err;
}
