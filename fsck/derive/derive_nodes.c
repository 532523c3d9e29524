// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deriving the block maps of files and ifiles.
 *
 * A node pointed to exactly those blocks of the file in its range of keys that
 * lived at least as long as it: changing one of them changes the node.  So a
 * node follows from the logs and the DAT, and the map in an inode from the
 * nodes that lived with the block of the ifile; that of an ifile itself, from
 * the nodes that lived in its checkpoint.  The latest state is a life without
 * an end.
 *
 * With an unreadable log blocks may be missing.  Then all valid pointers of the
 * old block must be in the new one as well.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "fsck/derive/derived.h"
#include "fsck/derive/holders.h"
#include "fsck/past/around.h"
#include "log/meta/bmapnode.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/translate.h"

/* Checkpoints that are asked for an inode at most. */
#define ASK_MOST 64u

struct numbers {
	uint64_t *list;		/* ascending, each once */
	size_t n, room;
};

struct nodes {
	struct derived *d;
	struct volume *vol;	/* with what was derived so far */
	struct holders h;
	struct pieces pieces;
	struct numbers inos;	/* whose maps are in doubt */
	struct numbers cnos;	/* checkpoints whose ifiles are */
	/* Virtual blocks with several pointers, and checkpoints with these. */
	struct numbers contested, contests;
	struct around around;
	/* The derived content of the current holder. */
	struct piece *children;
	size_t n, room;
	unsigned int level;	/* of the children */
	char *block;
};

static int add_number(struct numbers *s, struct context *cx, uint64_t number)
{
	size_t i = search_lower_bound(s->list, s->n, number);

	if (i < s->n && s->list[i] == number)
		return 0;
	if (array_reserve(cx, &s->list, &s->room, s->n + 1))
		return -ENOMEM;
	memmove(s->list + i + 1, s->list + i, (s->n - i) * sizeof(*s->list));
	s->list[i] = number;
	s->n++;
	return 0;
}

static bool has_number(const struct numbers *s, uint64_t number)
{
	size_t i = search_lower_bound(s->list, s->n, number);

	return i < s->n && s->list[i] == number;
}

/* Notes whose map may be wrong after FIX. */
static int doubt(struct nodes *v, struct context *cx, const struct check *c,
		 const struct fix *fix)
{
	uint64_t ino = fix->place.ino, blocknr;
	bool of_map = rule_info(fix->rule)->area == RULE_AREA_MAP ||
		      rule_has(fix->rule, RULE_DOUBTS_MAP);
	bool of_ifile = rule_has(fix->rule, RULE_DOUBTS_IFILE) ||
			(of_map && ino == NILFS_IFILE_INO);
	struct segsum_block b = { .ino = 0 };
	int ret = 0;

	if (of_ifile && fix->place.cno)
		ret = add_number(&v->cnos, cx, fix->place.cno);
	if (!ret && of_ifile)
		ret = add_number(&v->inos, cx, NILFS_IFILE_INO);
	if (!ret && of_map && ino && !inode_is_metadata(ino))
		ret = add_number(&v->inos, cx, ino);
	if (ret || !rule_has(fix->rule, RULE_CONTESTED) || !fix->has_got)
		return ret;
	/* The file that the log has the block for, whichever lead to it. */
	ret = translate_vblock(c->vol, cx, fix->got, &blocknr);
	if (!ret && geometry_has_block(&c->vol->geo, blocknr))
		ret = lifelogs_find_block(cx, c, blocknr, &b, NULL);
	if (ret > 0 && !inode_is_metadata(b.ino))
		ret = add_number(&v->inos, cx, b.ino);
	ret = ret > 0 ? 0 : damage_forgive(cx, ret);
	return ret ?: add_number(&v->contested, cx, fix->got) ?:
		      add_number(&v->contests, cx, fix->place.cno);
}

static int doubt_inode(void *arg, struct context *cx, uint64_t ino)
{
	struct nodes *v = arg;

	return add_number(&v->inos, cx, ino);
}

static int list_doubts(struct nodes *v, struct context *cx,
		       const struct check *c, const struct plan *plan)
{
	size_t i, j;
	int err = 0;

	for (i = 0; i < RULE_FIX_COUNT && !err; i++)
		for (j = 0; j < plan->kinds[i].n && !err; j++)
			err = doubt(v, cx, c, &plan->kinds[i].fixes[j]);
	for (i = 0; i < v->contests.n && !err; i++)
		err = holders_of(c->vol, cx, v->contests.list[i],
				 v->contested.list, v->contested.n,
				 doubt_inode, v);
	return err;
}

/* The holders in checkpoint CNO. */
static int look_at(struct nodes *v, struct context *cx, uint64_t cno)
{
	size_t i;
	int err = 0;

	for (i = 0; i < v->inos.n && !err; i++)
		err = holders_add(&v->h, cx, cno, v->inos.list[i],
				  v->inos.list[i] != NILFS_IFILE_INO ||
					  has_number(&v->cnos, cno));
	return err;
}

/* The holders in all checkpoints, and the places of wrong nodes. */
static int look_at_all(struct nodes *v, struct context *cx)
{
	uint64_t *cnos = NULL, latest = v->vol->latest.cno;
	size_t n = 0, i;
	int err = damage_forgive(cx, cptable_list(v->vol, cx, true, &cnos,
						  &n));

	/* Those that are doubted first: a node is looked at once. */
	for (i = 0; i < v->cnos.n && !err; i++)
		err = look_at(v, cx, v->cnos.list[i]);
	if (!err && !has_number(&v->cnos, latest))
		err = look_at(v, cx, latest);
	while (n-- && !err)
		if (cnos[n] != latest && !has_number(&v->cnos, cnos[n]))
			err = look_at(v, cx, cnos[n]);
	free(cnos);
	holders_settle(&v->h);
	/* A wrong node is where what leads to it says that it is. */
	for (i = 0; i < v->h.n && !err; i++) {
		const struct holder *h = &v->h.list[i];

		if (!h->is_inode && !h->suspect)
			pieces_place(&v->pieces, h->ino, h->vblocknr, h->level,
				     h->key);
	}
	pieces_settle(&v->pieces);
	return err;
}

static bool is_of(const struct piece *p, uint64_t ino, unsigned int level)
{
	return p->ino == ino && p->level == level;
}

/* Gathers what H held of LEVEL: 1, 0 where two are at the same place. */
static int gather_pointers(struct nodes *v, struct context *cx,
			   const struct holder *h, unsigned int level)
{
	const struct pieces *p = &v->pieces;
	size_t i = pieces_from(p, h->ino, level, h->key);

	v->n = 0;
	v->level = level;
	for (; i < p->n && is_of(&p->list[i], h->ino, level) &&
	       p->list[i].key < h->end; i++) {
		const struct piece *piece = &p->list[i];

		if (!lifetime_contains(&piece->life, &h->life))
			continue;
		if (v->n && v->children[v->n - 1].key == piece->key)
			return 0;
		if (array_reserve(cx, &v->children, &v->room, v->n + 1))
			return -ENOMEM;
		v->children[v->n++] = *piece;
	}
	return 1;
}

/* Whether what H may lead to is listed as a node and is none: its place is not
   known. */
static bool has_formless(const struct nodes *v, const struct holder *h)
{
	const struct pieces *p = &v->pieces;
	size_t i = pieces_from(p, h->ino, PIECES_FORMLESS, 0);

	for (; i < p->n && is_of(&p->list[i], h->ino, PIECES_FORMLESS); i++)
		if (p->list[i].ptr != h->vblocknr &&
		    lifetime_contains(&p->list[i].life, &h->life))
			return true;
	return false;
}

static bool is_below(const void *item, const void *key)
{
	const struct piece *c = item;

	return c->key < *(const uint64_t *)key;
}

static bool has_child(const struct nodes *v, const struct mapcheck_pointer *p)
{
	size_t i = search_first(v->children, v->n, sizeof(*v->children),
				is_below, &p->key);

	return i < v->n && v->children[i].key == p->key &&
	       v->children[i].ptr == p->ptr;
}

/* Whether the new block has all that is sound in NODE, as it is: 1, 0. */
static int has_sound(struct nodes *v, struct context *cx,
		     const struct holder *h, const struct bmap_node *node)
{
	struct vblock vb;
	uint32_t i;
	int ret;

	if (v->h.logs_whole)
		return 1;
	for (i = 0; i < node->nchildren; i++) {
		const struct mapcheck_pointer p = {
			.key = bmap_node_key(node, i),
			.ptr = bmap_node_ptr(node, i),
			.level = v->level,
			.within = h->life,
		};

		if (p.key < h->key || p.key >= h->end || !p.ptr)
			continue;
		ret = holders_judge(&v->h, cx, h->ino, &p, &vb);
		if (ret < 0)
			return ret;
		if (ret && !has_child(v, &p))
			return 0;
	}
	return 1;
}

static bool is_same_node(const struct nodes *v, const struct bmap_node *node)
{
	uint32_t i;

	if (node->nchildren != v->n || node->level != v->level + 1)
		return false;
	for (i = 0; i < v->n; i++)
		if (bmap_node_key(node, i) != v->children[i].key ||
		    bmap_node_ptr(node, i) != v->children[i].ptr)
			return false;
	return true;
}

/* Whether MAP leads to the children, and to nothing else. */
static bool is_same_map(const struct nodes *v, const le64 *map)
{
	struct bmap_node root;
	uint64_t key;
	size_t i = 0;

	if (bmap_is_btree(map)) {
		bmap_root_read(map, &root);
		return bmap_root_check(map) == RULE_OK &&
		       is_same_node(v, &root);
	}
	for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++) {
		bool here = i < v->n && v->children[i].key == key;

		if (bmap_direct_ptr(map, key) !=
		    (here ? v->children[i].ptr : 0))
			return false;
		i += here;
	}
	return i == v->n && !v->level;
}

/* The content of block BLOCKNR, or zeros: 1, 0. */
static int read_block(struct nodes *v, struct context *cx, uint64_t blocknr)
{
	uint32_t size = v->vol->geo.block_size;
	int err = dev_read(v->d->dev, cx, blocknr * size, v->block, size);

	if (err)
		memset(v->block, 0, size);
	return err ? damage_forgive(cx, err) : 1;
}

static int derive_node(struct nodes *v, struct context *cx,
		       const struct holder *h)
{
	uint32_t size = v->vol->geo.block_size;
	struct bmapnode node = bmapnode_block(size, v->block);
	struct derived_block block = {
		.blocknr = h->blocknr, .ino = h->ino, .blkoff = h->key,
		.level = (uint8_t)h->level,
	};
	struct bmap_node old;
	bool is_node;
	uint32_t i;
	int ret = gather_pointers(v, cx, h, h->level - 1);

	if (ret <= 0 || !v->n || v->n > node.max ||
	    v->children[0].key != h->key || (v->level && has_formless(v, h)))
		return ret < 0 ? ret : 0;
	ret = read_block(v, cx, h->blocknr);
	if (ret < 0)
		return ret;
	is_node = bmap_node_check(size, v->block) == RULE_OK;
	bmap_node_read(size, v->block, &old);
	if ((is_node && is_same_node(v, &old)) ||
	    (h->suspect && !v->h.logs_whole))
		return 0;
	ret = has_sound(v, cx, h, &old);
	if (ret <= 0)
		return ret;
	/* The node may be right and the DAT wrong where all that it points to
	   was once at that place of the file. */
	block.plausible = is_node && old.level == h->level;
	for (i = 0; i < old.nchildren && block.plausible; i++)
		block.plausible = pieces_has(&v->pieces, h->ino, v->level,
					     bmap_node_key(&old, i),
					     bmap_node_ptr(&old, i));
	bmapnode_init_block(&node, h->level);
	for (i = 0; i < v->n; i++)
		bmapnode_insert(&node, i, v->children[i].key,
				v->children[i].ptr);
	return derived_set(v->d, cx, &block, v->block, size);
}

/*
 * INODE has its own map again.  A checkpoint in which an inode has the same one
 * has the same file: if that is not what INODE says it is, then all else is
 * another's, too.
 */
static int take_inode(struct nodes *v, struct context *cx,
		      const struct holder *h, struct nilfs_inode *inode)
{
	unsigned int asked = 0;
	struct nilfs_inode other;
	struct root root;
	uint64_t cno;
	int ret = 0;

	around_begin(&v->around, h->life);
	while (asked++ < ASK_MOST && (ret = around_next(&v->around, cx,
							&cno)) > 0) {
		ret = root_open(&root, cx, v->vol, cno);
		if (!ret)
			ret = root_inode(&root, cx, h->ino, &other);
		if (damage_is_fatal(ret))
			return ret;
		if (ret || memcmp(other.i_bmap, inode->i_bmap,
				  sizeof(other.i_bmap)))
			continue;
		if (!inode_is_same_file(&other, inode))
			*inode = other;
		return 0;
	}
	fail_clear(cx);
	return ret < 0 && damage_is_fatal(ret) ? ret : 0;
}

/* The map in an inode, in the ifile or in the entry of a checkpoint. */
static int derive_map(struct nodes *v, struct context *cx,
		      const struct holder *h)
{
	const struct nilfs_geometry *geo = &v->vol->geo;
	struct derived_block block = {
		.blocknr = h->blocknr, .ino = NILFS_IFILE_INO,
		.blkoff = h->blkoff, .map_of = h->ino,
	};
	unsigned int level = NILFS_BTREE_LEVEL_MAX;
	bool is_entry = holder_is_entry(h);
	struct nilfs_inode *inode;
	size_t at;
	int ret;

	if (!v->h.logs_whole || has_formless(v, h))
		return 0;
	/* What an inode leads to are all of the highest level. */
	do {
		ret = gather_pointers(v, cx, h, --level);
	} while (ret > 0 && !v->n && level);
	/* Without any piece it never had a block, and has none. */
	at = pieces_from(&v->pieces, h->ino, 0, 0);
	if (ret > 0 && !v->n &&
	    (is_entry || v->pieces.partial ||
	     (at < v->pieces.n && v->pieces.list[at].ino == h->ino)))
		return 0;
	if (ret > 0 && is_entry) {
		block.ino = NILFS_CPFILE_INO;
		block.blkoff = checkpoint_blkoff(geo, h->cno);
		ret = damage_forgive(cx, file_lookup(&v->vol->cpfile, cx,
						     block.blkoff,
						     &block.blocknr));
	}
	if (ret > 0)
		ret = read_block(v, cx, block.blocknr);
	if (ret <= 0)
		return ret;
	if (is_entry)
		inode = (void *)(v->block + checkpoint_offset(geo, h->cno) +
				 offsetof(struct nilfs_checkpoint,
					  cp_ifile_inode));
	else
		inode = (void *)(v->block +
				 palloc_entry_offset(&v->vol->ifile_palloc,
						     h->ino));
	if (is_same_map(v, inode->i_bmap) ||
	    !pieces_put(v->children, v->n, v->level, inode->i_bmap))
		return 0;
	/* Many files have an empty map. */
	ret = is_entry || !v->n ? 0 : take_inode(v, cx, h, inode);
	return ret ? ret : derived_set(v->d, cx, &block, v->block,
				       geo->block_size);
}

static int derive_holders(struct nodes *v, struct context *cx,
			  const struct check *c)
{
	size_t i;
	int err;

	v->h.check = c;
	v->h.pieces = &v->pieces;
	v->h.logs_whole = listings_are_whole(c);
	v->block = malloc(v->vol->geo.block_size);
	err = v->block ? pieces_gather(&v->pieces, cx, c, v->inos.list,
				       v->inos.n) :
			 fail(cx, -ENOMEM, "block of a map");
	/* More than there is memory for: they stay as they are. */
	if (err == -EFBIG)
		fail_clear(cx);
	if (err)
		return err == -EFBIG ? 0 : err;
	err = holders_init(&v->h, cx);
	if (!err)
		err = around_open(&v->around, cx, v->vol);
	if (!err)
		err = look_at_all(v, cx);
	for (i = 0; i < v->h.n && !err; i++)
		err = v->h.list[i].is_inode ?
			      derive_map(v, cx, &v->h.list[i]) :
			      derive_node(v, cx, &v->h.list[i]);
	holders_fini(&v->h);
	return err;
}

int derive_nodes(struct derived *d, struct context *cx, const struct check *c,
		 const struct plan *plan)
{
	struct nodes v = { .d = d };
	struct check fresh = *c;
	int err = list_doubts(&v, cx, c, plan);

	if (!err && v.inos.n)
		err = damage_forgive(cx, volume_open_at(&v.vol, cx, d->dev,
							&c->vol->geo,
							&c->vol->latest));
	fresh.vol = v.vol;
	if (!err && v.vol)
		err = derive_holders(&v, cx, &fresh);
	if (!err)
		err = derived_seal(d, cx, c);
	free(v.block);
	free(v.children);
	free(v.inos.list);
	free(v.cnos.list);
	free(v.contested.list);
	free(v.contests.list);
	around_close(&v.around);
	pieces_fini(&v.pieces);
	volume_close(v.vol);
	return err;
}
