// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparing links with names, and checking the tree of directories.
 *
 * A file has as many links as names.  A directory has one name and two links,
 * for that and its ".", and one more for the ".." of each directory in it
 * (nilfs_mkdir()); the root has its own ".." instead of a name.
 *
 * A file without links and names was deleted and not freed yet: the pass over
 * files reports it if necessary.
 *
 * An unreadable block with names would make thousands of inodes look lost:
 * links are compared only if all names were read.
 */

#include "base/bitmap.h"
#include "check/names/names.h"
#include "disk/dirent.h"

static void report_inode(struct names *n, enum rule rule, uint64_t ino,
			 const uint64_t *want, const uint64_t *got)
{
	struct finding f = {
		.rule = rule,
		.place = place_inode(n->root.cno, ino),
		.has_want = want != NULL,
		.has_got = got != NULL,
		.want = want ? *want : 0,
		.got = got ? *got : 0,
	};

	names_report(n, &f, f.want << 32 ^ f.got);
}

static uint16_t names_of(struct inodelist *list, uint64_t ino)
{
	struct inodelist_row row = inodelist_find(list, ino);

	return row.chunk->names[row.at];
}

/*
 * ".." of a directory with one name, or of the root.  The kernel needs it only
 * to move the directory, in the latest checkpoint, and refuses that without it
 * (nilfs_dotdot()).
 */
static void check_parent(struct names *n, const struct inodelist_dir *dir)
{
	uint64_t want = NILFS_ROOT_INO;
	struct finding f = {
		.rule = RULE_DIR_DOTDOT,
		.place = place_name(n->root.cno, dir->ino, 0,
				    dirent_rec_len(1)),
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

/*
 * Follows parents from directory I to one whose path is known, and records the
 * result for all on the way; reports a loop.
 */
static void follow_parents(struct names *n, struct bitmap *known,
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
			report_inode(n, RULE_DIR_LOOP, dirs[first].ino, NULL,
				     NULL);
	}
	for (at = i; !bitmap_test(known, at); at = dirs[at].parent - 1) {
		bitmap_set(known, at);
		if (!dirs[at].parent)
			break;
	}
}

/* An inode whose links differ from its names, or which has neither. */
static void judge_inode(struct names *n, uint64_t ino, uint8_t kind,
			uint64_t links,
			uint64_t names, const struct inodelist_dir *dir)
{
	uint64_t want = dir ? 2 + (uint64_t)dir->subdirs : names;
	bool is_root = ino == NILFS_ROOT_INO;

	if (!(kind & INODELIST_TYPE) || !links)
		return;
	if (!names && (ino == NILFS_SKETCH_INO || kind & INODELIST_MKFS))
		return;
	if (!names && !is_root) {
		if (!(kind & INODELIST_ALLOCATED))
			return;
		report_inode(n, RULE_INODE_UNREACHABLE, ino, NULL, NULL);
	}
	if (links != want && (dir || names))
		report_inode(n, RULE_INODE_LINKS_NAMES, ino, &want, &links);
}

/* DIR is the index of the first directory in CHUNK. */
static void judge_chunk(struct names *n, const struct inodelist_chunk *chunk,
			size_t dir)
{
	unsigned int i;

	for (i = 0; i < INODELIST_CHUNK; i++) {
		bool is_dir = inodelist_is_dir(chunk->kind[i]);

		/* A name whose inode has no links was reported, unless the
		   entry was not read. */
		if (!chunk->links[i])
			n->doubts += chunk->names[i] != 0;
		if (!chunk->kind[i])
			continue;
		if (is_dir || !chunk->names[i] ||
		    chunk->links[i] != chunk->names[i])
			judge_inode(n, chunk->first + i, chunk->kind[i],
				    chunk->links[i], chunk->names[i],
				    is_dir ? &n->list.dirs[dir] : NULL);
		dir += is_dir;
	}
}

int linkcount_run(struct names *n, struct context *cx, bool touched)
{
	struct inodelist *list = &n->list;
	struct bitmap known = { .words = NULL }, way = { .words = NULL };
	size_t i, dir, end;
	int err = bitmap_init(&known, cx, list->ndirs);

	if (!err)
		err = bitmap_init(&way, cx, list->ndirs);
	for (i = 0; i < list->nchunks && !err; i++) {
		uint64_t first = list->chunks[i]->first;

		if (touched && !list->chunks[i]->touched)
			continue;
		dir = inodelist_first_dir(list, first);
		end = inodelist_first_dir(list, first + INODELIST_CHUNK);
		for (; dir < end; dir++) {
			check_parent(n, &list->dirs[dir]);
			follow_parents(n, &known, &way, dir);
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
			judge_chunk(n, list->chunks[i], inodelist_first_dir(
					    list, list->chunks[i]->first));
	return err;
}
