// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The entries of all directories.
 *
 * Directories are read in the order of their inodes, blocks of several in one
 * batch.  Each entry is compared with the list of inodes, and counted there;
 * linkcount.c compares the counts afterwards.
 *
 * "." and ".." are the first two entries of a directory.  One that has lost its
 * name, but leads to the directory or to its parent, does not count as a name:
 * that would be a second finding of the same damage.  Any other entry there is
 * a name, also one that follows no "..": mkfs.nilfs2 of 2010 left the second
 * entry of the root free, and the kernel uses free entries.
 *
 * A directory that was removed while in use has no links; its "." and ".." are
 * meaningless, and its size may be 0.
 */
#include "check/damage.h"

#include <string.h>

#include "check/names/dirread.h"
#include "check/names/inodetype.h"
#include "check/names/names.h"
#include "disk/dirent.h"

/* Above this number of directories with two names, no parents are chosen. */
#define OTHERS_MAX 256u

/* A directory, and one that names it but not first; both by index. */
struct other_name {
	uint32_t child, by;
};

struct dirnames {
	struct names *n;
	struct blockbatch batch;
	uint64_t dir;		/* index of the current directory, or ndirs */
	uint64_t ino;
	bool deleted;		/* it has no links */
	const struct blockbatch_item *item;	/* the current block */
	bool reported;		/* a bad entry of it was reported */
	bool no_dot;		/* its first entry is any name */
	size_t nopen;		/* directories with an open second entry */
	struct other_name others[OTHERS_MAX];
	unsigned int nothers;
};

/* Reports RULE for the entry at OFFSET, once for each block with it. */
static void report_entry(struct dirnames *w, enum rule rule, uint32_t offset,
			 const uint64_t *want, const uint64_t *got)
{
	struct finding f = {
		.rule = rule,
		.place = place_name(w->n->root.cno, w->ino, w->item->blkoff,
				    offset),
		.has_want = want != NULL,
		.has_got = got != NULL,
		.want = want ? *want : 0,
		.got = got ? *got : 0,
	};

	names_report(w->n, &f, w->item->vblocknr << 16 ^ offset);
}

static bool has_links(struct names *n, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(&n->list, ino);

	return row.chunk->links[row.at] != 0;
}

static int begin_dir(struct dirnames *w, struct context *cx, uint64_t dir)
{
	int err = 0;

	if (w->dir < w->n->list.ndirs)
		err = dupnames_end(&w->n->dups, cx);
	w->dir = dir;
	if (err || dir >= w->n->list.ndirs)
		return err;
	w->ino = w->n->list.dirs[dir].ino;
	w->deleted = !has_links(w->n, w->ino);
	return dupnames_begin(&w->n->dups, cx, (uint32_t)dir);
}

static bool is_name(const struct dirent_entry *e, const char *name)
{
	return e->name_len == strlen(name) &&
	       !memcmp(e->name, name, e->name_len);
}

/*
 * Whether entry number SLOT of the block is "." or "..", or may be, and so no
 * name.
 */
static bool is_dots(struct dirnames *w, const struct dirent_entry *e,
		    unsigned int slot)
{
	struct inodelist_dir *dir = &w->n->list.dirs[w->dir];
	uint64_t differs = e->ino ^ w->ino;
	bool named, another;

	if (w->item->blkoff || slot > 1)
		return false;
	named = is_name(e, slot ? ".." : ".");
	if (w->deleted)
		return named;
	if (!slot) {
		/*
		 * The block is another directory's: its first one, or a later
		 * one.  A flipped bit is not another directory.  "." is never
		 * removed, so what is not in use here is not that.
		 */
		another = !e->ino ? e->name_len && !named :
			  (differs & (differs - 1)) &&
			  (!named || inodelist_has_dir(&w->n->list, e->ino));
		if (differs)
			report_entry(w, another ? RULE_DIR_ANOTHER :
						  RULE_DIR_DOT,
				     e->offset, &w->ino, &e->ino);
		else if (!named)
			report_entry(w, RULE_DIR_DOT, e->offset, NULL, NULL);
		w->no_dot = !named && differs;
		return !w->no_dot;
	}
	if (!e->ino || !named) {
		/* A difference from such a block is not visible from its
		   entries. */
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

/* E, which is right by itself, says another type than the inode has. */
static int report_type(struct dirnames *w, struct context *cx,
		       const struct dirent_entry *e, uint8_t type)
{
	struct root *root = &w->n->root;
	uint64_t said = e->type, has = type;
	struct nilfs_inode inode;
	int ret = root_inode_bytes(root, cx, e->ino, &inode);

	if (ret > 0 && e->ino != NILFS_ROOT_INO)
		ret = inodetype_is_wrong(root->vol, cx, e->ino, &inode,
					 e->type);
	ret = damage_forgive(cx, ret);
	if (ret < 0)
		return ret;
	if (!ret)
		report_entry(w, RULE_DIR_TYPE_DIFFERS, e->offset, &has, &said);
	else
		names_report(w->n, &(struct finding){
			.rule = RULE_INODE_TYPE,
			.place = place_inode(root->cno, e->ino),
			.has_want = true,
			.has_got = true,
			.want = said,
			.got = has,
		}, w->item->vblocknr << 16 ^ e->offset);
	return 0;
}

static void name_dir(struct dirnames *w, const struct dirent_entry *e)
{
	struct inodelist *list = &w->n->list;
	size_t at = inodelist_find_dir(list, e->ino);
	struct inodelist_dir *child = &list->dirs[at];

	if (!child->parent && e->ino != NILFS_ROOT_INO) {
		child->parent = (uint32_t)w->dir + 1;
		list->dirs[w->dir].subdirs++;
		return;
	}
	report_entry(w, RULE_DIR_SECOND_NAME, e->offset, NULL, &e->ino);
	if (w->nothers < OTHERS_MAX)
		w->others[w->nothers++] = (struct other_name){
			(uint32_t)at, (uint32_t)w->dir };
}

/*
 * Of several directories with an entry for the same one, the parent is that
 * which its ".." names, or else the one read first.
 */
static void choose_parents(struct dirnames *w)
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

/*
 * Chooses parents, and determines by these what the open second entries of
 * directories are: a damaged "..", or a name.
 */
static void settle_parents(struct dirnames *w)
{
	struct inodelist *list = &w->n->list;
	size_t i;

	choose_parents(w);
	for (i = 0; w->nopen && i < list->ndirs; i++) {
		const struct blockbatch_item first = { .owner = i };
		struct inodelist_dir *dir = &list->dirs[i];
		struct inodelist_row row;
		struct dirent_entry e = {
			.ino = dir->dotdot, .offset = dirent_rec_len(1),
		};

		if (!dir->second_open)
			continue;
		w->nopen--;
		w->dir = i;
		w->ino = dir->ino;
		w->item = &first;
		if (inodelist_second_is_parent(list, dir)) {
			report_entry(w, RULE_DIR_DOTDOT, e.offset, NULL,
				     &e.ino);
		} else {
			row = inodelist_find(list, dir->dotdot);
			dir->dotdot = INODELIST_NONE;
			if (row.chunk->names[row.at] < UINT16_MAX)
				row.chunk->names[row.at]++;
			name_dir(w, &e);
		}
		w->item = NULL;
	}
	choose_parents(w);
}

/* A name, in an entry that breaks RULE of those of entries. */
static int take_name(struct dirnames *w, struct context *cx,
		     const struct dirent_entry *e, enum rule rule)
{
	struct inodelist_row row;
	uint8_t type;
	int err = 0;

	if (rule == RULE_DIR_PRIVATE_INO) {
		names_lose(w->n, w->ino);
		return 0;
	}
	row = inodelist_find(&w->n->list, e->ino);
	if (row.chunk && row.chunk->names[row.at] < UINT16_MAX)
		row.chunk->names[row.at]++;
	if (row.chunk)
		row.chunk->touched = true;
	if (!row.chunk || !row.chunk->links[row.at]) {
		report_entry(w, RULE_DIR_NO_INODE, e->offset, NULL, &e->ino);
		return 0;
	}
	type = row.chunk->kind[row.at] & INODELIST_TYPE;
	if (rule != RULE_DIR_TYPE && type != NILFS_FT_UNKNOWN &&
	    e->type != type)
		err = report_type(w, cx, e, type);
	if (type == NILFS_FT_DIR)
		name_dir(w, e);
	return err;
}

static int take_entry(struct dirnames *w, struct context *cx,
		      const struct dirent_entry *e, unsigned int slot)
{
	enum rule rule = dirent_check(e);
	bool dots = is_dots(w, e, slot);
	uint64_t is_dir = NILFS_FT_DIR, said = e->type;
	int err = 0;

	if (!e->ino)
		return 0;
	if (rule && !w->reported)
		report_entry(w, rule, e->offset, NULL, NULL);
	w->reported |= rule != RULE_OK;
	if (!dots)
		err = take_name(w, cx, e, rule);
	else if (!rule && said != is_dir)
		report_entry(w, RULE_DIR_TYPE_DIFFERS, e->offset, &is_dir,
			     &said);
	if (w->n->gone && !nameset_has(w->n->gone,
				       nameset_tag_in(w->ino, e->name,
						      e->name_len)))
		dupnames_reread(&w->n->dups);
	return err ? err : dupnames_add(&w->n->dups, cx, e);
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct dirnames *w = arg;
	struct inodelist_dir *dir;
	struct dirent_entry e;
	struct dirent_iter it;
	unsigned int slot;
	int ret = 0;

	w->item = item;
	if (item->owner != w->dir)
		ret = begin_dir(w, cx, item->owner);
	if (ret)
		return ret;
	if (!data) {
		if (damage_is_fatal(err))
			return err;
		names_lose(w->n, w->ino);
		names_report(w->n, &(struct finding){
			.rule = RULE_DIR_UNREADABLE,
			.place = place_name(w->n->root.cno, w->ino,
					    item->blkoff, 0),
			.detail = cx->failure,
		}, item->vblocknr);
		fail_clear(cx);
		return 0;
	}
	dir = &w->n->list.dirs[w->dir];
	w->reported = w->no_dot = false;
	dirent_iter_init(&it, data, w->n->root.vol->geo.block_size);
	for (slot = 0; !ret && dirent_iter_next(&it, &e); slot++)
		ret = take_entry(w, cx, &e, slot);
	if (it.verdict) {
		report_entry(w, it.verdict, it.offset, NULL, NULL);
		names_lose(w->n, w->ino);
	} else if (!item->blkoff && !w->deleted && !dir->dotdot) {
		dir->dotdot = INODELIST_NONE;
	}
	return ret;
}

/*
 * The blocks of all directories.  A map that is broken, or does not fit the
 * size, is reported by the pass over files; of a directory with links names are
 * missing then.
 */
static int add_all(struct names *n, struct context *cx,
		   struct blockbatch *batch)
{
	struct dirread b;
	size_t i;
	int err = 0;

	for (i = 0; i < n->list.ndirs && !err; i++) {
		uint64_t ino = n->list.dirs[i].ino;

		err = dirread_add(&n->root, cx, &n->list, i, false, batch,
				  &b);
		if (err || !has_links(n, ino))
			continue;
		if (b.broken || b.more || b.found != b.expected || !b.expected)
			names_lose(n, ino);
		if (!b.broken && !b.more && !b.expected)
			names_report(n, &(struct finding){
				.rule = RULE_DIR_DOT,
				.place = place_inode(n->root.cno, ino),
			}, 0);
	}
	return err;
}

int dirnames_read(struct names *n, struct context *cx, dirnames_source *source,
		  void *arg)
{
	struct dirnames w = { .n = n, .dir = n->list.ndirs };
	int err;

	err = blockbatch_open(&w.batch, cx, n->root.vol, take_block, &w);
	if (!err)
		err = source ? source(arg, cx, &w.batch) :
			       add_all(n, cx, &w.batch);
	if (!err)
		err = blockbatch_flush(&w.batch, cx);
	if (!err)
		err = begin_dir(&w, cx, n->list.ndirs);
	if (!err)
		settle_parents(&w);
	blockbatch_close(&w.batch);
	return err;
}
