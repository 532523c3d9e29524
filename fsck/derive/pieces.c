// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks of files, by the place that they have there.
 *
 * A log says whose each of its blocks is, and of data where in the file; a node
 * begins with its first key.  The DAT says how long the block was part of the
 * file.  So all versions of a map are a sorted list of these.
 */
#include "fsck/derive/pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/bmap.h"

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
