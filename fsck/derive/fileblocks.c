// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of files, by their place in the file.
 *
 * A log records the file of each of its blocks, and the offset of a data block;
 * a node begins with its first key. The DAT records how long the block was part
 * of the file. So all versions of a map are one sorted list of blocks, and the
 * map of a checkpoint has those that lived then: without nodes it is direct,
 * else the root holds the nodes of the highest level. The same holds for the
 * ifile. The rest of the entry of a checkpoint follows from the log with its
 * super root, or is the same in all entries.
 */
#include "fsck/derive/fileblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/bmap.h"
#include "log/meta/bmapnode.h"

#define SECTOR 512u

static int fileblocks_compare(const void *a, const void *b)
{
	const struct listed_block *x = a, *y = b;

	return sort_order(x->ino, y->ino) ?: sort_order(x->level, y->level) ?:
	       sort_order(x->key, y->key);
}

void fileblocks_settle(struct fileblocks *p)
{
	sort_in_place(p->list, p->n, sizeof(*p->list), fileblocks_compare);
}

int fileblocks_gather(struct fileblocks *p, struct context *cx, const struct check *c,
		  const uint64_t *inos, size_t n)
{
	uint64_t most = (uint64_t)INT64_MAX >> c->vol->geo.block_bits;
	uint32_t size = c->vol->geo.block_size;
	struct listings l = { .inos = inos, .ninos = n };
	struct vblocks vblocks;
	struct bmap_node node;
	struct vblock vb;
	const void *block;
	size_t i;
	int ret = n ? listings_gather(&l, cx, c) : 0;

	vblocks_init(&vblocks, c->vol, NULL);
	for (i = 0; i < l.n && ret >= 0; i++) {
		const struct listing *at = &l.items[i];
		struct listed_block listed = {
			.ino = at->ino, .key = at->blkoff, .ptr = at->number,
			.level = at->is_node ? FILEBLOCKS_NOT_A_NODE : 0,
		};

		ret = vblocks_find(&vblocks, cx, at->number, &vb);
		p->partial |= ret == VBLOCKS_UNKNOWN;
		/* Only blocks that the DAT has at the same place. */
		if (ret != VBLOCKS_USED || vb.blocknr != at->blocknr)
			continue;
		/* The offset exceeds the maximum of a file. */
		if (!at->is_node && at->blkoff >= most)
			continue;
		listed.life = vb.life;
		if (at->is_node)
			ret = cache_get(c->vol->cache, cx, at->blocknr, &block);
		if (!ret && at->is_node) {
			bmap_node_read(size, block, &node);
			if (bmap_node_check(size, block) == RULE_OK &&
			    bmap_node_check_entries(&node) == RULE_OK) {
				listed.level = node.level;
				listed.key = bmap_node_key(&node, 0);
			}
			cache_put(c->vol->cache, block);
		}
		ret = damage_forgive(cx, ret) ?:
		      array_push(cx, &p->list, &p->n, &p->room, listed);
	}
	vblocks_fini(&vblocks);
	listings_fini(&l);
	fileblocks_settle(p);
	return ret < 0 ? ret : context_cancelled(cx);
}

void fileblocks_fini(struct fileblocks *p)
{
	free(p->list);
	*p = (struct fileblocks){ .list = NULL };
}

static bool is_piece_below(const void *item, const void *key)
{
	return fileblocks_compare(item, key) < 0;
}

size_t fileblocks_from(const struct fileblocks *p, uint64_t ino, unsigned int level,
		   uint64_t key)
{
	const struct listed_block at = {
		.ino = ino, .key = key, .level = (uint8_t)level,
	};

	return search_first(p->list, p->n, sizeof(at), is_piece_below, &at);
}

bool fileblocks_has(const struct fileblocks *p, uint64_t ino, unsigned int level,
		uint64_t key, uint64_t ptr)
{
	const struct listed_block at = {
		.ino = ino, .key = key, .level = (uint8_t)level,
	};
	size_t i = fileblocks_from(p, ino, level, key);

	for (; i < p->n && !fileblocks_compare(&p->list[i], &at); i++)
		if (p->list[i].ptr == ptr)
			return true;
	return false;
}

bool fileblocks_has_other(const struct fileblocks *p, const struct listed_block *self,
		      unsigned int level, uint64_t key, uint64_t end)
{
	size_t i = fileblocks_from(p, self->ino, level, key);

	for (; i < p->n; i++) {
		const struct listed_block *at = &p->list[i];

		if (at->ino != self->ino || at->level != level ||
		    at->key >= end)
			break;
		if (at->ptr != self->ptr && at->life.start < self->life.end &&
		    self->life.start < at->life.end)
			return true;
	}
	return false;
}

bool fileblocks_node(const struct fileblocks *p, const struct listed_block *self, uint64_t end,
		 uint32_t block_size, void *block)
{
	struct bmapnode node = bmapnode_block(block_size, block);
	unsigned int level = self->level - 1u;
	const struct listed_block *at;
	uint32_t n = 0;
	size_t i;

	bmapnode_init(&node, self->level);
	for (i = fileblocks_from(p, self->ino, level, self->key); i < p->n; i++) {
		at = &p->list[i];
		if (at->ino != self->ino || at->level != level ||
		    at->key >= end)
			break;
		if (!lifetime_contains(&at->life, &self->life))
			continue;
		if (n == node.max ||
		    (n && le64_get(node.keys[n - 1]) == at->key))
			return false;
		bmapnode_insert(&node, n++, at->key, at->ptr);
	}
	/* The place of a block that is listed as a node but is not one is
	   unknown. */
	i = level ? fileblocks_from(p, self->ino, FILEBLOCKS_NOT_A_NODE, 0) : p->n;
	for (; i < p->n && p->list[i].ino == self->ino; i++)
		if (p->list[i].ptr != self->ptr &&
		    lifetime_contains(&p->list[i].life, &self->life))
			return false;
	return n && le64_get(node.keys[0]) == self->key;
}

bool fileblocks_root(const struct fileblocks *p, uint64_t ino,
		 const struct lifetime *life, struct fileblocks_root *root)
{
	struct bmapnode node = bmapnode_root(root->map);
	const struct listed_block *top[NILFS_DIRECT_NBLOCKS], *last = NULL;
	size_t i = fileblocks_from(p, ino, 0, 0);
	unsigned int n = 0;
	bool direct;

	*root = (struct fileblocks_root){ .blocks = 0 };
	for (; i < p->n && p->list[i].ino == ino; i++) {
		const struct listed_block *listed = &p->list[i];

		root->any_data |= !listed->level;
		if (!lifetime_contains(&listed->life, life))
			continue;
		if (listed->level == FILEBLOCKS_NOT_A_NODE)
			return false;
		if (last && last->level != listed->level) {
			n = 0;
			root->twice = false;
		}
		root->twice |= n && last->key == listed->key;
		if (n < NILFS_DIRECT_NBLOCKS)
			top[n] = listed;
		n++;
		last = listed;
		root->blocks++;
		if (!listed->level)
			root->end = listed->key + 1;
	}
	direct = !last || (!last->level && last->key < NILFS_DIRECT_NBLOCKS);
	if (n > (direct ? NILFS_DIRECT_NBLOCKS : node.max))
		return false;
	if (!direct)
		bmapnode_init(&node, last->level + 1u);
	for (i = 0; i < n; i++) {
		if (direct)
			root->map[1 + top[i]->key] = le64_make(top[i]->ptr);
		else
			bmapnode_insert(&node, i, top[i]->key, top[i]->ptr);
	}
	return true;
}

bool fileblocks_read_map(const le64 *map, struct bmap_node *node,
		     le64 buf[2 * NILFS_DIRECT_NBLOCKS])
{
	le64 *ptrs = buf + NILFS_DIRECT_NBLOCKS;
	uint64_t key;

	if (bmap_is_btree(map)) {
		bmap_root_read(map, node);
		return bmap_root_check(map) == RULE_OK &&
		       bmap_node_check_entries(node) == RULE_OK;
	}
	*node = (struct bmap_node){ .level = 1, .keys = buf, .ptrs = ptrs };
	for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++) {
		if (!bmap_direct_ptr(map, key))
			continue;
		buf[node->nchildren] = le64_make(key);
		ptrs[node->nchildren++] = le64_make(bmap_direct_ptr(map, key));
	}
	return true;
}

int fileblocks_map(const struct check *c, struct context *cx,
	       const struct fileblocks *p, uint64_t ino, uint64_t cno,
	       struct nilfs_inode *inode, uint64_t *end)
{
	const struct lifetime life = { cno, cno + 1 };
	struct fileblocks own = { .list = NULL };
	struct fileblocks_root root;
	bool known;
	int err = p ? 0 : fileblocks_gather(&own, cx, c, &ino, 1);

	p = p ? p : &own;
	known = !err && !p->partial && fileblocks_root(p, ino, &life, &root) &&
		root.blocks;
	fileblocks_fini(&own);
	if (err == -EFBIG) {
		fail_clear(cx);
		return 0;
	}
	if (!known)
		return damage_forgive(cx, err);
	memcpy(inode->i_bmap, root.map, sizeof(root.map));
	inode->i_blocks =
		le64_make(root.blocks * (c->vol->geo.block_size / SECTOR));
	*end = root.end;
	return 1;
}

int fileblocks_checkpoint(const struct check *c, struct context *cx, uint64_t cno,
		      uint64_t earlier, struct nilfs_checkpoint *cp)
{
	uint64_t segnum, end, time = le64_get(volume_super(c->vol)->s_ctime);
	struct nilfs_inode *inode = &cp->cp_ifile_inode;
	bool found = cno == c->vol->latest.cno;
	struct logindex_log log;
	struct listings_walk l;
	int ret;

	memset(cp, 0, sizeof(*cp));
	ret = fileblocks_map(c, cx, NULL, NILFS_IFILE_INO, cno, inode, &end);
	if (ret <= 0)
		return ret;
	/* The time of the log with its super root; without it, of the last
	   one before. */
	if (earlier > time)
		time = earlier;
	if (found)
		time = c->vol->latest.ctime;
	for (segnum = 0; segnum < c->vol->geo.nsegments && !found; segnum++) {
		ret = listings_open(&l, cx, c, segnum);
		while (ret > 0 && !found &&
		       (ret = listings_next(&l, cx, &log)) > 0) {
			found = log.cno == cno && (log.flags & NILFS_SS_SR);
			if (found || (log.cno && log.cno <= cno &&
				      log.create > time))
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
