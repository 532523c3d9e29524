// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The entry of a checkpoint that no block of the cpfile has any more, and the
 * map of an inode of one.
 *
 * A file of a checkpoint is what lived then of all its pieces (pieces.h), and
 * so is its ifile: without nodes its map is direct, else the root holds the
 * nodes of the highest level.  The rest of the entry follows from the log with
 * its super root, or is the same in all checkpoints.
 */
#include "fsck/derive/derive_checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "disk/segsum.h"
#include "log/meta/bmapnode.h"

#define SECTOR 512u
#define DIRECT_MAX (NILFS_INODE_BMAP_SIZE - 1)

struct map {
	const struct check *c;
	struct volume *vol;
	uint64_t ino, cno;
	uint64_t blocks, end;		/* how many; past the last of data */
	unsigned int level;		/* the highest one; 0: data */
	struct piece top[DIRECT_MAX];	/* its blocks, ascending by key */
	unsigned int ntop;		/* may be more than TOP has room for */
};

/* Adds P if it lived: false where the map cannot be determined. */
static bool add_piece(struct map *f, const struct piece *p)
{
	if (p->life.start > f->cno || p->life.end <= f->cno)
		return true;
	if (p->level == PIECES_FORMLESS)
		return false;
	f->blocks++;
	if (!p->level && p->key >= f->end)
		f->end = p->key + 1;
	if (p->level > f->level) {
		f->level = p->level;
		f->ntop = 0;
	}
	if (p->level == f->level && f->ntop++ < DIRECT_MAX)
		f->top[f->ntop - 1] = *p;
	return true;
}

/* Whether all that P has of the file makes one map. */
static bool add_pieces(struct map *f, const struct pieces *p)
{
	size_t i = pieces_from(p, f->ino, 0, 0);
	bool whole = !p->partial;

	for (; whole && i < p->n && p->list[i].ino == f->ino; i++)
		whole = add_piece(f, &p->list[i]);
	return whole;
}

/* 1 where all pieces of the file make one map, 0, or a failure. */
static int gather_blocks(struct map *f, struct context *cx)
{
	struct pieces p = { .list = NULL };
	int ret = pieces_gather(&p, cx, f->c, &f->ino, 1);

	if (!ret)
		ret = add_pieces(f, &p);
	pieces_fini(&p);
	if (ret != -EFBIG)
		return ret;
	fail_clear(cx);
	return 0;
}

/* The root of the map; false where it has no room for all. */
static bool make_root(const struct map *f, le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct bmapnode root = bmapnode_root(map);
	bool direct;
	unsigned int i;

	if (!f->ntop || f->ntop > DIRECT_MAX)
		return false;
	direct = !f->level && f->top[f->ntop - 1].key < DIRECT_MAX;
	if (!direct)
		bmapnode_init_root(&root, f->level + 1);
	for (i = 0; i < f->ntop; i++) {
		if (direct)
			map[1 + f->top[i].key] = le64_make(f->top[i].ptr);
		else if (i < root.max)
			bmapnode_insert(&root, i, f->top[i].key, f->top[i].ptr);
		else
			return false;
	}
	return true;
}

/* When the log with the super root was made: 1, 0 where it is gone. */
static int find_time(struct map *f, struct context *cx, uint64_t segnum,
		     uint64_t *time)
{
	struct lifelogs l;
	struct logindex_log log;
	int ret = lifelogs_open(&l, cx, f->c, segnum);
	bool found = false;

	while (ret > 0 && !found && (ret = lifelogs_next(&l, cx, &log)) > 0) {
		found = log.cno == f->cno && (log.flags & NILFS_SS_SR);
		if (found)
			*time = log.create;
	}
	return ret < 0 ? ret : found;
}

static int make_entry(struct map *f, struct context *cx,
		      struct nilfs_checkpoint *cp)
{
	struct nilfs_inode *inode = &cp->cp_ifile_inode;
	uint64_t segnum, time = f->vol->latest.ctime;
	int ret = f->cno == f->vol->latest.cno;

	for (segnum = 0; segnum < f->vol->geo.nsegments && !ret; segnum++)
		ret = find_time(f, cx, segnum, &time);
	cp->cp_cno = le64_make(f->cno);
	cp->cp_create = le64_make(time);
	inode->i_mode = le16_make(S_IFREG);
	inode->i_links_count = le16_make(1);
	inode->i_blocks = le64_make(f->blocks *
				    (f->vol->geo.block_size / SECTOR));
	return ret < 0 ? ret : 1;
}

int derive_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      struct nilfs_checkpoint *cp)
{
	struct map f = {
		.c = c, .vol = c->vol, .ino = NILFS_IFILE_INO, .cno = cno,
	};
	int ret = gather_blocks(&f, cx);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	memset(cp, 0, sizeof(*cp));
	if (!make_root(&f, cp->cp_ifile_inode.i_bmap))
		return 0;
	return make_entry(&f, cx, cp);
}

int derive_checkpoint_map(const struct check *c, struct context *cx,
			  const struct pieces *p, uint64_t ino, uint64_t cno,
			  struct nilfs_inode *inode, uint64_t *end)
{
	struct map f = { .c = c, .vol = c->vol, .ino = ino, .cno = cno };
	int ret = p ? add_pieces(&f, p) : gather_blocks(&f, cx);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	memset(inode->i_bmap, 0, sizeof(inode->i_bmap));
	inode->i_blocks = le64_make(f.blocks *
				    (f.vol->geo.block_size / SECTOR));
	*end = f.end;
	return make_root(&f, inode->i_bmap);
}
