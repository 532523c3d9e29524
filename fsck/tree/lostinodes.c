// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What names and logs know of inodes that are gone.
 *
 * A directory entry repeats the type of its inode, so that readers need not
 * read that.  Where an inode has lost its type any entry that names it knows
 * it still; all directories of its checkpoint are read for that, once.
 *
 * The logs list the blocks of a file with its number, and the DAT knows which
 * of them the checkpoint has: that is its map.  They are read once, too.
 */
#include "fsck/tree/lostinodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/names/dirread.h"
#include "disk/dirent.h"
#include "disk/inode.h"
#include "fsck/tree/inoderepair.h"

struct search {
	const struct lostinodes *lost;
	struct root root;
	struct inodelist list;
};

static bool is_below(const void *item, const void *key)
{
	const struct nametype *type = item;

	return type->ino < *(const uint64_t *)key;
}

static struct nametype *find_type(const struct lostinodes *c, uint64_t ino)
{
	size_t at = search_first(c->types, c->n, sizeof(*c->types), is_below,
				 &ino);

	return at < c->n && c->types[at].ino == ino ? &c->types[at] : NULL;
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct search *s = arg;
	struct dirent_entry entry;
	struct dirent_iter it;
	struct nametype *type;

	(void)cx;
	(void)item;
	if (!data)
		return damage_is_fatal(err) ? err : 0;
	dirent_iter_init(&it, data, s->root.vol->geo.block_size);
	while (dirent_iter_next(&it, &entry)) {
		type = find_type(s->lost, entry.ino);
		if (type && type->type == NILFS_FT_UNKNOWN &&
		    entry.type < NILFS_FT_MAX)
			type->type = entry.type;
	}
	return 0;
}

static int read_names(struct lostinodes *c, struct context *cx, uint64_t cno)
{
	struct search s = { .lost = c };
	bool whole;
	size_t i;
	int err;

	for (i = 0; i < c->n; i++)
		c->types[i].type = NILFS_FT_UNKNOWN;
	c->cno = cno;
	err = root_open(&s.root, cx, c->job->vol, cno);
	if (err)
		return damage_is_fatal(err) ? err : damage_forgive(cx, err);
	err = inodelist_fill(&s.root, cx, &s.list, &whole);
	if (!err)
		err = dirread_run(&s.root, cx, &s.list, 0, s.list.ndirs,
				  take_block, &s);
	inodelist_fini(&s.list);
	if (!err)
		fail_clear(cx);
	return err;
}

int lostinodes_type(struct lostinodes *c, struct context *cx, uint64_t cno,
		    uint64_t ino, uint8_t *type)
{
	const struct nametype *known = find_type(c, ino);
	int err = known && c->cno != cno ? read_names(c, cx, cno) : 0;

	*type = known && !err ? known->type : NILFS_FT_UNKNOWN;
	return err;
}

int lostinodes_add(struct lostinodes *c, struct context *cx,
		   const struct palloc *p, uint64_t blkoff)
{
	struct palloc_block what;
	uint64_t ino;
	int err;

	palloc_locate(p, blkoff, &what);
	err = array_reserve(cx, &c->types, &c->room, c->n + what.count);
	for (ino = what.first; ino < what.first + what.count && !err; ino++)
		if (!inode_is_private(ino))
			c->types[c->n++] = (struct nametype){ .ino = ino };
	return err;
}

/* What the logs list of the inodes, unless that is too much. */
static int read_logs(struct lostinodes *c, struct context *cx)
{
	uint64_t *inos = calloc(c->n ? c->n : 1, sizeof(*inos));
	size_t i;
	int err;

	if (!inos)
		return fail(cx, -ENOMEM, "%zu inodes", c->n);
	for (i = 0; i < c->n; i++)
		inos[i] = c->types[i].ino;
	err = pieces_gather(&c->pieces, cx, c->job->check, inos, c->n);
	free(inos);
	c->listed = true;
	c->many = err == -EFBIG;
	if (!c->many)
		return err;
	fail_clear(cx);
	pieces_fini(&c->pieces);
	return 0;
}

int lostinodes_map(struct lostinodes *c, struct context *cx, uint64_t cno,
		   uint64_t ino, struct nilfs_inode *inode, uint64_t *end)
{
	struct nilfs_inode derived = *inode;
	int ret = c->listed ? 0 : read_logs(c, cx);

	if (!ret)
		ret = pieces_map(c->job->check, cx,
				 c->many ? NULL : &c->pieces, ino, cno,
				 &derived, end);
	if (ret > 0)
		*inode = derived;
	return ret;
}

int lostinodes_make(struct lostinodes *c, struct context *cx, uint64_t cno,
		    uint64_t ino, struct nilfs_inode *inode, uint64_t end)
{
	struct nilfs_inode made = {
		.i_blocks = inode->i_blocks,
		.i_size = le64_make(end << c->job->vol->geo.block_bits),
		.i_ctime = le64_make(c->job->time),
		.i_mtime = le64_make(c->job->time),
		.i_links_count = le16_make(1),
	};
	uint8_t type;
	int ret = lostinodes_type(c, cx, cno, ino, &type);

	if (ret)
		return ret;
	made.i_mode = le16_make(type == NILFS_FT_DIR ? 0700 : 0600);
	memcpy(made.i_bmap, inode->i_bmap, sizeof(made.i_bmap));
	if (type != NILFS_FT_UNKNOWN)
		inoderepair_set_type(type, &made);
	ret = inoderepair_fields(c->job->vol, cx, ino, type, &made);
	if (ret > 0)
		*inode = made;
	return ret;
}

void lostinodes_fini(struct lostinodes *c)
{
	pieces_fini(&c->pieces);
	free(c->types);
	*c = (struct lostinodes){ .job = c->job };
}
