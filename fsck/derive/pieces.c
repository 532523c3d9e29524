// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of files, by the place that they have there.
 *
 * A log says whose each of its blocks is, and of data where in the file; a node
 * begins with its first key.  The DAT says how long the block was part of the
 * file.  So all versions of a map are a sorted list of these, and the map of a
 * checkpoint is what lived then: without nodes it is direct, else the root holds
 * the nodes of the highest level.  That is so of the ifile as well.  The rest of
 * the entry of a checkpoint follows from the log with its super root, or is the
 * same in all of them.
 */
#include "fsck/derive/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/bmap.h"
#include "disk/segsum.h"
#include "log/meta/bmapnode.h"

#define SECTOR 512u

static int compare_piece(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->level != y->level)
		return (int)x->level - (int)y->level;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Level and first key of the node at BLOCKNR. */
static int read_node(struct volume *vol, struct context *cx, uint64_t blocknr,
		     struct piece *piece)
{
	struct bmap_node node;
	const void *block;
	int err = cache_get(vol->cache, cx, blocknr, &block);

	piece->level = PIECES_FORMLESS;
	if (err)
		return damage_forgive(cx, err);
	bmap_node_read(vol->geo.block_size, block, &node);
	if (bmap_node_check(vol->geo.block_size, block) == RULE_OK &&
	    bmap_node_check_entries(&node) == RULE_OK) {
		piece->level = node.level;
		piece->key = bmap_node_key(&node, 0);
	}
	cache_put(vol->cache, block);
	return 0;
}

/* Adds what L lists, where the DAT agrees. */
static int add_piece(struct pieces *p, struct context *cx,
		     struct vblocks *vblocks, const struct listing *l)
{
	struct piece piece = {
		.ino = l->ino, .key = l->blkoff, .ptr = l->number,
	};
	struct vblock vb;
	int ret = vblocks_find(vblocks, cx, l->number, &vb);

	if (ret < 0)
		return ret;
	p->partial |= ret == VBLOCKS_UNKNOWN;
	if (ret != VBLOCKS_USED || vb.blocknr != l->blocknr)
		return 0;
	/* No file has a place for it. */
	if (!l->is_node &&
	    l->blkoff >= (uint64_t)INT64_MAX >> vblocks->vol->geo.block_bits)
		return 0;
	piece.life = (struct lifetime){ vb.start, vb.end };
	ret = l->is_node ? read_node(vblocks->vol, cx, l->blocknr, &piece) : 0;
	if (ret)
		return ret;
	if (array_reserve(cx, &p->list, &p->room, p->n + 1))
		return -ENOMEM;
	p->list[p->n++] = piece;
	return 0;
}

void pieces_settle(struct pieces *p)
{
	sort_in_place(p->list, p->n, sizeof(*p->list), compare_piece);
}

int pieces_gather(struct pieces *p, struct context *cx, const struct check *c,
		  const uint64_t *inos, size_t n)
{
	struct listings l = { 0 };
	struct vblocks vblocks;
	size_t i;
	int err = listings_of_inodes(&l, cx, c, inos, n);

	vblocks_init(&vblocks, c->vol, NULL);
	for (i = 0; i < l.n && !err; i++)
		err = add_piece(p, cx, &vblocks, &l.items[i]);
	vblocks_fini(&vblocks);
	listings_fini(&l);
	pieces_settle(p);
	return err ? err : context_cancelled(cx);
}

void pieces_fini(struct pieces *p)
{
	free(p->list);
	*p = (struct pieces){ .list = NULL };
}

static bool is_below(const void *item, const void *key)
{
	return compare_piece(item, key) < 0;
}

size_t pieces_from(const struct pieces *p, uint64_t ino, unsigned int level,
		   uint64_t key)
{
	const struct piece at = {
		.ino = ino, .key = key, .level = (uint8_t)level,
	};

	return search_first(p->list, p->n, sizeof(at), is_below, &at);
}

bool pieces_has(const struct pieces *p, uint64_t ino, unsigned int level,
		uint64_t key, uint64_t ptr)
{
	const struct piece at = {
		.ino = ino, .key = key, .level = (uint8_t)level,
	};
	size_t i = pieces_from(p, ino, level, key);

	for (; i < p->n && !compare_piece(&p->list[i], &at); i++)
		if (p->list[i].ptr == ptr)
			return true;
	return false;
}

void pieces_place(struct pieces *p, uint64_t ino, uint64_t ptr,
		  unsigned int level, uint64_t key)
{
	size_t i = p->n;

	while (i-- && (p->list[i].ino != ino || p->list[i].ptr != ptr ||
		       !p->list[i].level))
		;
	if (i >= p->n)
		return;
	p->list[i].level = (uint8_t)level;
	p->list[i].key = key;
}

bool pieces_put(const struct piece *list, size_t n, unsigned int level,
		le64 map[NILFS_INODE_BMAP_SIZE])
{
	struct bmapnode root = bmapnode_root(map);
	bool direct = !level && (!n || list[n - 1].key < NILFS_DIRECT_NBLOCKS);
	uint32_t i;

	if (!direct && n > root.max)
		return false;
	memset(map, 0, NILFS_INODE_BMAP_SIZE * sizeof(*map));
	if (!direct)
		bmapnode_init_root(&root, level + 1);
	for (i = 0; i < n; i++) {
		if (direct)
			map[1 + list[i].key] = le64_make(list[i].ptr);
		else
			bmapnode_insert(&root, i, list[i].key, list[i].ptr);
	}
	return true;
}

/* What a map of a checkpoint has. */
struct map {
	uint64_t blocks, end;		/* how many; past the last of data */
	unsigned int level;		/* the highest one; 0: data */
	struct piece top[NILFS_DIRECT_NBLOCKS];	/* its blocks, ascending by key */
	unsigned int ntop;		/* may be more than TOP has room for */
};

/* Fills M with what P has of INO in CNO: false where that cannot be known. */
static bool take_living(struct map *m, const struct pieces *p, uint64_t ino,
			uint64_t cno)
{
	size_t i = pieces_from(p, ino, 0, 0);

	if (p->partial)
		return false;
	for (; i < p->n && p->list[i].ino == ino; i++) {
		const struct piece *piece = &p->list[i];

		if (piece->life.start > cno || piece->life.end <= cno)
			continue;
		if (piece->level == PIECES_FORMLESS)
			return false;
		m->blocks++;
		if (!piece->level)
			m->end = piece->key + 1;
		if (piece->level > m->level) {
			m->level = piece->level;
			m->ntop = 0;
		}
		if (m->ntop++ < NILFS_DIRECT_NBLOCKS)
			m->top[m->ntop - 1] = *piece;
	}
	return true;
}

int pieces_map(const struct check *c, struct context *cx,
	       const struct pieces *p, uint64_t ino, uint64_t cno,
	       struct nilfs_inode *inode, uint64_t *end)
{
	struct pieces own = { .list = NULL };
	struct map m = { .blocks = 0 };
	bool known;
	int err = p ? 0 : pieces_gather(&own, cx, c, &ino, 1);

	known = !err && take_living(&m, p ? p : &own, ino, cno);
	pieces_fini(&own);
	if (err == -EFBIG) {
		fail_clear(cx);
		return 0;
	}
	if (!known)
		return damage_forgive(cx, err);
	inode->i_blocks = le64_make(m.blocks *
				    (c->vol->geo.block_size / SECTOR));
	*end = m.end;
	return m.ntop && m.ntop <= NILFS_DIRECT_NBLOCKS &&
	       pieces_put(m.top, m.ntop, m.level, inode->i_bmap);
}

int pieces_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      struct nilfs_checkpoint *cp)
{
	uint64_t segnum, end, time = c->vol->latest.ctime;
	struct nilfs_inode *inode = &cp->cp_ifile_inode;
	bool found = cno == c->vol->latest.cno;
	struct logindex_log log;
	struct lifelogs l;
	int ret;

	memset(cp, 0, sizeof(*cp));
	ret = pieces_map(c, cx, NULL, NILFS_IFILE_INO, cno, inode, &end);
	if (ret <= 0)
		return ret;
	/* When the log with its super root was made, unless that is gone. */
	for (segnum = 0; segnum < c->vol->geo.nsegments && !found; segnum++) {
		ret = lifelogs_open(&l, cx, c, segnum);
		while (ret > 0 && !found &&
		       (ret = lifelogs_next(&l, cx, &log)) > 0) {
			found = log.cno == cno && (log.flags & NILFS_SS_SR);
			if (found)
				time = log.create;
		}
		if (ret < 0)
			return ret;
	}
	cp->cp_cno = le64_make(cno);
	cp->cp_create = le64_make(time);
	inode->i_mode = le16_make(S_IFREG);
	inode->i_links_count = le16_make(1);
	return 1;
}
