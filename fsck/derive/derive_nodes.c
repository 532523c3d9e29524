// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deriving the block maps of files and ifiles.
 *
 * A node points to exactly the file blocks in its range of keys whose lifetimes
 * include that of the node, because a change of one of them changes the node.
 * So a node follows from the logs and the DAT, the map in an inode from the
 * nodes that existed with the block of the ifile, and the map of an ifile from
 * the nodes that existed in its checkpoint.
 *
 * Each node, and each block of an ifile with a root, is examined once (struct
 * mapnode). The lifetimes of its children must include its own, and the logs must
 * list them as in its pointers. If findings show missing blocks and no error is
 * visible, all of them are suspect and compared with the logs. With an unreadable
 * log blocks may be missing; then all valid pointers of the old block must also be
 * in the new one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numlist.h"
#include "base/sort.h"
#include "base/sparse.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/checkpoint.h"
#include "disk/inode.h"
#include "fsck/derive/datlife.h"
#include "fsck/derive/derived.h"
#include "fsck/derive/fileblocks.h"
#include "fsck/snapshots/snapblocks.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/translate.h"

/* A node, or the block of the ifile that has the inode. The inode of an ifile
   is in the entry of its checkpoint, which is not a virtual block. */
struct mapnode {
	struct listed_block at; /* for the inode: level and key 0, and the lifetime of the
			    ifile's block; PTR 0: no block */
	uint64_t cno;	 /* a checkpoint that has it */
	uint64_t blocknr;
	uint64_t blkoff; /* for the inode: its block in the ifile */
	uint64_t end;	 /* for a node: keys are below END */
	bool is_inode;
	bool suspect; /* no error is visible in it */
};

struct nodes {
	struct derived *d;
	const struct check *check; /* of VOL: */
	struct volume *vol;	/* with the blocks derived so far */
	bool logs_whole;
	struct fileblocks fileblocks;
	struct numlist inos;	/* inodes whose maps are in doubt */
	struct numlist cnos;	/* checkpoints whose ifiles are in doubt */
	/* Virtual blocks with several pointers, and checkpoints with these. */
	struct numlist disputed, disputed_cps;
	struct mapnode *list; /* those that are wrong or suspect */
	size_t n, room;
	bool doubts;	    /* the walked map is in doubt */
	struct sparse seen; /* nodes that were examined */
	struct vblocks vblocks[2];
	struct nearcps nearby;
	char *block, *made; /* present content, and derived content */
};

static bool is_entry(const struct mapnode *h)
{
	return h->is_inode && h->at.ino == NILFS_IFILE_INO;
}

/* Notes the inodes and checkpoints whose maps may be wrong because of FIX. */
static int note_doubtful_map(struct nodes *v, struct context *cx, const struct check *c,
			     const struct finding *fix)
{
	uint64_t ino = fix->place.ino, blocknr;
	bool of_map = rule_info(fix->rule)->area == RULE_AREA_MAP ||
		      rule_has(fix->rule, RULE_DOUBTS_MAP);
	bool of_ifile = rule_has(fix->rule, RULE_DOUBTS_IFILE) ||
			(of_map && ino == NILFS_IFILE_INO);
	struct segsum_block b = { .ino = 0 };
	int ret = 0;

	if (of_ifile && fix->place.cno)
		ret = numlist_add(&v->cnos, cx, fix->place.cno);
	if (!ret && of_ifile)
		ret = numlist_add(&v->inos, cx, NILFS_IFILE_INO);
	if (!ret && of_map && ino && !inode_is_metadata(ino))
		ret = numlist_add(&v->inos, cx, ino);
	if (ret || !rule_has(fix->rule, RULE_CONTESTED) || !fix->has_got)
		return ret;
	/* The file of the block by its log, independently of the pointers. */
	ret = translate_vblock(c->vol, cx, fix->got, &blocknr);
	if (!ret && geometry_has_block(&c->vol->geo, blocknr))
		ret = listings_find_block(cx, c, blocknr, &b);
	if (ret > 0 && !inode_is_metadata(b.ino))
		ret = numlist_add(&v->inos, cx, b.ino);
	ret = ret > 0 ? 0 : damage_forgive(cx, ret);
	return ret						?:
		       numlist_add(&v->disputed, cx, fix->got) ?:
		       numlist_add(&v->disputed_cps, cx, fix->place.cno);
}

/* Whether no log lists the block at BLOCKNR as another one than data block P of
   inode INO: 1, 0, or a failure. */
static int may_be_child(struct nodes *v, struct context *cx, uint64_t ino,
			const struct mapcheck_pointer *p, uint64_t blocknr)
{
	struct segsum_block b;
	int ret = listings_find_block(cx, v->check, blocknr, &b);

	if (ret > 0)
		return b.ino == ino && !b.is_node && b.blkoff == p->key &&
		       b.vblocknr == p->ptr;
	return ret < 0 ? damage_forgive(cx, ret) : 1;
}

/* Whether pointer I of NODE can belong to H, so that the block lives as long as
   H: 1, with the block in *P and its entry in *VB, 0, or a failure. */
static int check_child(struct nodes *v, struct context *cx, const struct mapnode *h,
		       const struct bmap_node *node, uint32_t i,
		       struct mapcheck_pointer *p, struct vblock *vb)
{
	int state;

	p->key = bmap_node_key(node, i);
	p->ptr = bmap_node_ptr(node, i);
	p->level = node->level - 1u;
	state = vblocks_find(&v->vblocks[p->level > 0], cx, p->ptr, vb);
	if (state < 0)
		return state;
	if (state != VBLOCKS_USED ||
	    !geometry_has_block(&v->vol->geo, vb->blocknr) ||
	    !lifetime_contains(&vb->life, &h->at.life))
		return 0;
	/* An unlisted node is reported when it is read. An unreadable log may
	   list the block, unless another one does. */
	if (p->level ||
	    fileblocks_has(&v->fileblocks, h->at.ino, 0, p->key, p->ptr))
		return 1;
	return v->logs_whole ? 0 :
	       may_be_child(v, cx, h->at.ino, p, vb->blocknr);
}

/* Adds H; a SUSPECT one only if the map is in doubt. */
static int add_mapnode(struct nodes *v, struct context *cx,
		      const struct mapnode *h, bool suspect)
{
	struct mapnode one = *h;

	if (suspect && !v->doubts)
		return 0;
	one.suspect = suspect;
	return array_push(cx, &v->list, &v->n, &v->room, one);
}

static int derive_walk_node(struct nodes *v, struct context *cx,
			    const struct mapnode *h);

/* Walks the children of NODE, which is H or in it. */
static int derive_walk_children(struct nodes *v, struct context *cx,
				const struct mapnode *h, const struct bmap_node *node)
{
	struct mapcheck_pointer p;
	bool bad = false;
	struct vblock vb;
	uint32_t i;
	int ret;

	for (i = 0; i < node->nchildren; i++) {
		ret = check_child(v, cx, h, node, i, &p, &vb);
		if (ret > 0 && p.level) {
			const struct mapnode below = {
				.at = {
					.ino = h->at.ino, .ptr = p.ptr,
					.life = vb.life,
					.level = (uint8_t)p.level, .key = p.key,
				},
				.cno = h->cno, .blocknr = vb.blocknr,
				.end = i + 1u < node->nchildren ?
					       bmap_node_key(node, i + 1) :
					       h->end,
			};

			ret = derive_walk_node(v, cx, &below);
		}
		if (ret < 0)
			return ret;
		bad |= !ret;
	}
	return add_mapnode(v, cx, h, !bad);
}

/*
 * Whether the parent of H has a wrong key, and not NODE at H: no other node is
 * at the key that NODE has, none is missing at the key in the parent, and all
 * pointers of NODE are correct. 1, 0.
 */
static int has_wrong_parent_key(struct nodes *v, struct context *cx,
				const struct mapnode *h, const struct bmap_node *node)
{
	uint64_t first = bmap_node_key(node, 0);
	uint64_t last = bmap_node_key(node, node->nchildren - 1u);
	struct mapcheck_pointer p;
	struct vblock vb;
	uint32_t i;
	int ret = 1;

	if ((first != h->at.key &&
	     fileblocks_has_other(&v->fileblocks, &h->at, h->at.level, first,
			      first + 1)) ||
	    fileblocks_has_other(&v->fileblocks, &h->at, h->at.level - 1, h->at.key,
			     first) ||
	    (last >= h->end && fileblocks_has_other(&v->fileblocks, &h->at, h->at.level,
						h->end, h->end + 1)))
		return 0;
	for (i = 0; i < node->nchildren && ret > 0; i++) {
		ret = check_child(v, cx, h, node, i, &p, &vb);
		if (ret > 0)
			ret = fileblocks_has(&v->fileblocks, h->at.ino, p.level, p.key,
					 p.ptr);
	}
	return ret;
}

/* Walks the node H: 1, also if it is wrong and must be derived; 0 if the
   pointer to it is wrong. */
static int derive_walk_node(struct nodes *v, struct context *cx,
			    const struct mapnode *h)
{
	uint32_t size = v->vol->geo.block_size;
	struct cache *cache = v->vol->cache;
	struct segsum_block b;
	struct bmap_node node;
	bool is_node, fits;
	const void *block = NULL;
	int ret = cache_get(cache, cx, h->blocknr, &block);

	if (ret && ret != -EIO)
		return ret;
	fail_clear(cx);
	is_node = !ret && bmap_node_check(size, block) == RULE_OK;
	if (is_node) {
		bmap_node_read(size, block, &node);
		is_node = node.level == h->at.level &&
			  bmap_node_check_entries(&node) == RULE_OK;
	}
	fits = is_node && bmap_node_key(&node, 0) == h->at.key &&
	       bmap_node_key(&node, node.nchildren - 1u) < h->end;
	if (fits) {
		ret = v->logs_whole &&
		      !fileblocks_has(&v->fileblocks, h->at.ino, h->at.level, h->at.key,
				  h->at.ptr);
	} else if (is_node) {
		ret = has_wrong_parent_key(v, cx, h, &node);
	} else {
		/* Its log may list the block for another file, or not as a
		   node. */
		ret = listings_find_block(cx, v->check, h->blocknr, &b);
		if (ret > 0)
			ret = b.ino != h->at.ino || !b.is_node ||
			      b.vblocknr != h->at.ptr;
	}
	if (ret > 0) {
		ret = 0;
	} else if (!ret) {
		ret = damage_add(&v->seen, cx, h->at.ptr);
		if (ret > 0)
			ret = fits ? derive_walk_children(v, cx, h, &node) :
				     add_mapnode(v, cx, h, false);
		ret = ret < 0 ? ret : 1;
	}
	if (block)
		cache_put(cache, block);
	return ret;
}

/* Adds the wrong nodes of the map of inode INO in checkpoint CNO; with DOUBTS
   also those without a visible error, as suspects. */
static int derive_walk_map(struct nodes *v, struct context *cx, uint64_t cno,
			   uint64_t ino, bool doubts)
{
	struct mapnode h = {
		.at = { .ino = ino, .life = { cno, cno + 1 } },
		.cno = cno, .is_inode = true, .end = UINT64_MAX,
		.blkoff = palloc_entry_blkoff(&v->vol->ifile_palloc, ino),
	};
	le64 buf[2 * NILFS_DIRECT_NBLOCKS];
	struct nilfs_inode inode;
	struct bmap_node node;
	struct vblock vb = { 0 };
	struct root root;
	int ret = is_entry(&h) ? cptable_read(v->vol, cx, cno, &root.cp) :
				 root_open(&root, cx, v->vol, cno);

	v->doubts = doubts;
	if (!ret && is_entry(&h)) {
		inode = root.cp.cp_ifile_inode;
		ret = 1;
	} else if (!ret) {
		/* Includes an inode that is deleted in an older block. */
		ret = root_inode_bytes(&root, cx, ino, &inode);
		if (ret > 0)
			ret = blockmap_lookup(&root.ifile.map, cx, h.blkoff,
					      &h.at.ptr);
		if (ret > 0)
			ret = vblocks_find(&v->vblocks[0], cx, h.at.ptr, &vb);
		h.blocknr = vb.blocknr;
		h.at.life = vb.life;
		if (ret >= 0)
			ret = ret == VBLOCKS_USED && lifetime_has(&vb.life, cno) &&
			      geometry_has_block(&v->vol->geo, vb.blocknr);
	}
	if (ret > 0 && inode_has_bmap(&inode))
		ret = fileblocks_read_map(inode.i_bmap, &node, buf) ?
			      derive_walk_children(v, cx, &h, &node) :
			      add_mapnode(v, cx, &h, false);
	ret = damage_forgive(cx, ret);
	return ret < 0 ? ret : context_cancelled(cx);
}

/* By inode and level, because nodes are derived before their parents. */
static int compare_mapnode(const void *a, const void *b)
{
	const struct mapnode *x = a, *y = b;

	return sort_order(x->at.ino, y->at.ino) ?:
	       sort_order(x->is_inode, y->is_inode) ?:
	       sort_order(x->at.level, y->at.level) ?:
	       sort_order(x->at.ptr, y->at.ptr) ?:
	       (is_entry(x) ? sort_order(x->cno, y->cno) : 0);
}

/*
 * Collects the nodes and roots in all checkpoints. Doubted checkpoints come first,
 * because a node is examined once; the others from the latest one back. Then
 * adds the places of wrong nodes.
 */
static int collect_mapnodes(struct nodes *v, struct context *cx)
{
	uint64_t *cnos = NULL, cno;
	size_t n = 0, i, j, first = v->cnos.n;
	bool doubted, wrong;
	int err = damage_forgive(cx, cptable_list(v->vol, cx, true, &cnos, &n));

	for (i = 0; i <= first + n && !err; i++) {
		cno = i < first ? v->cnos.list[i] :
		      i > first ? cnos[n - (i - first)] : v->vol->latest.cno;
		doubted = numlist_has(&v->cnos, cno);
		for (j = 0; j < v->inos.n && !err && (i < first || !doubted);
		     j++)
			err = derive_walk_map(v, cx, cno, v->inos.list[j],
					      doubted || v->inos.list[j] !=
								 NILFS_IFILE_INO);
	}
	free(cnos);
	/* A block of the ifile that several checkpoints share is visited for
	   each one. In a map with actual errors suspects are removed. */
	sort_in_place(v->list, v->n, sizeof(*v->list), compare_mapnode);
	for (i = n = 0; i < v->n; i = j) {
		wrong = false;
		for (j = i; j < v->n && v->list[j].at.ino == v->list[i].at.ino;
		     j++)
			wrong |= !v->list[j].suspect;
		for (; i < j; i++)
			if (!(wrong && v->list[i].suspect) &&
			    (!n ||
			     compare_mapnode(&v->list[n - 1], &v->list[i])))
				v->list[n++] = v->list[i];
	}
	v->n = n;
	/* A wrong node has the place that its parent records. */
	for (i = 0; i < v->n && !err; i++) {
		const struct mapnode *h = &v->list[i];

		for (j = v->fileblocks.n; !h->is_inode && !h->suspect && j--;) {
			struct listed_block *p = &v->fileblocks.list[j];

			if (p->ino != h->at.ino || p->ptr != h->at.ptr ||
			    !p->level)
				continue;
			p->level = h->at.level;
			p->key = h->at.key;
			break;
		}
	}
	fileblocks_settle(&v->fileblocks);
	return err;
}

static bool is_same_node(const struct bmap_node *a, const struct bmap_node *b)
{
	size_t size = a->nchildren * sizeof(*a->keys);

	return a->nchildren == b->nchildren && a->level == b->level &&
	       !memcmp(a->keys, b->keys, size) &&
	       !memcmp(a->ptrs, b->ptrs, size);
}

/* Reads block BLOCKNR into V->block: 1, or 0 with zeros. */
static int read_node_block(struct nodes *v, struct context *cx, uint64_t blocknr)
{
	uint32_t size = v->vol->geo.block_size;
	int err = dev_read(v->d->dev, cx, blocknr * size, v->block, size);

	if (err)
		memset(v->block, 0, size);
	return err ? damage_forgive(cx, err) : 1;
}

static int derive_node(struct nodes *v, struct context *cx,
		       const struct mapnode *h)
{
	uint32_t size = v->vol->geo.block_size, i;
	struct derived_block block = {
		.blocknr = h->blocknr, .ino = h->at.ino, .blkoff = h->at.key,
		.level = h->at.level,
	};
	struct bmap_node old, new;
	struct mapcheck_pointer p;
	struct vblock vb;
	bool is_node;
	int ret, at;

	if (!fileblocks_node(&v->fileblocks, &h->at, h->end, size, v->made))
		return 0;
	ret = read_node_block(v, cx, h->blocknr);
	if (ret < 0)
		return ret;
	is_node = bmap_node_check(size, v->block) == RULE_OK;
	bmap_node_read(size, v->block, &old);
	bmap_node_read(size, v->made, &new);
	if ((is_node && is_same_node(&old, &new)) || (h->suspect && !v->logs_whole))
		return 0;
	/*
	 * The new block keeps all sound pointers of the old one. If all its
	 * pointers were once at that place of the file, it may be correct and
	 * the DAT wrong.
	 */
	block.plausible = is_node && old.level == h->at.level;
	old.level = h->at.level;
	for (i = 0; i < old.nchildren; i++) {
		ret = v->logs_whole ? 0 : check_child(v, cx, h, &old, i, &p, &vb);
		p.key = bmap_node_key(&old, i);
		p.ptr = bmap_node_ptr(&old, i);
		if (ret < 0)
			return ret;
		at = bmap_node_search(&new, p.key);
		if (ret && p.key >= h->at.key && p.key < h->end && p.ptr &&
		    (at < 0 || bmap_node_key(&new, at) != p.key ||
		     bmap_node_ptr(&new, at) != p.ptr))
			return 0;
		block.plausible = block.plausible &&
				  fileblocks_has(&v->fileblocks, h->at.ino,
					     h->at.level - 1, p.key, p.ptr);
	}
	return derived_set(v->d, cx, &block, v->made, size);
}

/* Derives the map in an inode, in the ifile or in the entry of a checkpoint. */
static int derive_map(struct nodes *v, struct context *cx,
		      const struct mapnode *h)
{
	const struct nilfs_geometry *geo = &v->vol->geo;
	struct derived_block block = {
		.blocknr = h->blocknr, .ino = NILFS_IFILE_INO,
		.blkoff = h->blkoff, .map_of = h->at.ino,
	};
	bool is_cp = is_entry(h);
	le64 buf[4 * NILFS_DIRECT_NBLOCKS];
	struct nilfs_inode *inode, other;
	struct bmap_node old, new;
	struct fileblocks_root root;
	uint32_t offset;
	int ret = 1;

	if (!v->logs_whole ||
	    !fileblocks_root(&v->fileblocks, h->at.ino, &h->at.life, &root) ||
	    root.twice)
		return 0;
	/* A file without any listed block never had a block. */
	if (!root.blocks && (is_cp || v->fileblocks.partial || root.any_data))
		return 0;
	offset = palloc_entry_offset(&v->vol->ifile_palloc, h->at.ino);
	if (is_cp) {
		block.ino = NILFS_CPFILE_INO;
		block.blkoff = checkpoint_blkoff(geo, h->cno);
		offset = checkpoint_offset(geo, h->cno) +
			 offsetof(struct nilfs_checkpoint, cp_ifile_inode);
		ret = damage_forgive(cx,
				     file_lookup(&v->vol->cpfile, cx,
						 block.blkoff, &block.blocknr));
	}
	if (ret > 0)
		ret = read_node_block(v, cx, block.blocknr);
	if (ret <= 0)
		return ret;
	inode = (struct nilfs_inode *)(v->block + offset);
	if (fileblocks_read_map(inode->i_bmap, &old, buf) &&
	    fileblocks_read_map(root.map, &new, buf + 2 * NILFS_DIRECT_NBLOCKS) &&
	    is_same_node(&old, &new))
		return 0;
	memcpy(inode->i_bmap, root.map, sizeof(root.map));
	/*
	 * If an inode has the same map in another checkpoint, it is the same
	 * file there. If the inode differs there, the rest of it belongs to
	 * another file too. But many files have an empty map.
	 */
	nearcps_begin(&v->nearby, h->at.life);
	ret = is_cp || !root.blocks ? 0 :
				      nearcps_find_same_map(&v->nearby, cx, v->vol,
						  h->at.ino, inode, &other);
	if (ret > 0 && !inode_is_same_file(&other, inode))
		*inode = other;
	return ret < 0 ?
		       ret :
		       derived_set(v->d, cx, &block, v->block, geo->block_size);
}

int derive_nodes(struct derived *d, struct context *cx, const struct check *c,
		 const struct plan *plan)
{
	struct check fresh = *c;
	struct nodes v = {
		.d = d, .check = &fresh,
		.logs_whole = listings_are_whole(c),
	};
	uint32_t size = c->vol->geo.block_size;
	size_t i, j;
	int err = 0;

	for (i = 0; i < RULE_FIX_COUNT; i++)
		for (j = 0; j < plan->kinds[i].n && !err; j++)
			err = note_doubtful_map(&v, cx, c, &plan->kinds[i].fixes[j]);
	numlist_settle(&v.disputed);
	numlist_settle(&v.disputed_cps);
	for (i = 0; i < v.disputed_cps.n && !err; i++)
		err = datlife_files(c->vol, cx, v.disputed_cps.list[i],
				    &v.disputed, &v.inos);
	numlist_settle(&v.inos);
	numlist_settle(&v.cnos);
	if (!err && v.inos.n)
		err = damage_forgive(cx, volume_open_at(&v.vol, cx, d->dev,
							&c->vol->geo,
							&c->vol->latest));
	fresh.vol = v.vol;
	vblocks_init(&v.vblocks[0], v.vol, NULL);
	vblocks_init(&v.vblocks[1], v.vol, NULL);
	if (err || !v.vol)
		goto out;
	v.block = malloc(2ul * size);
	v.made = v.block + size;
	err = v.block ? fileblocks_gather(&v.fileblocks, cx, &fresh, v.inos.list,
				      v.inos.n) :
			fail(cx, -ENOMEM, "block of a map");
	/* The blocks exceed the memory budget: the maps are not changed. */
	if (err == -EFBIG) {
		fail_clear(cx);
		err = 0;
		goto out;
	}
	if (!err)
		err = sparse_init_ends(&v.seen, cx, vblocks_end(v.vol, cx)) ?:
		      nearcps_open(&v.nearby, cx, v.vol) ?:
		      collect_mapnodes(&v, cx);
	for (i = 0; i < v.n && !err; i++)
		err = v.list[i].is_inode ? derive_map(&v, cx, &v.list[i]) :
					   derive_node(&v, cx, &v.list[i]);
out:
	if (!err)
		err = derived_seal(d, cx, c);
	vblocks_fini(&v.vblocks[0]);
	vblocks_fini(&v.vblocks[1]);
	free(v.block);
	free(v.list);
	free(v.inos.list);
	free(v.cnos.list);
	free(v.disputed.list);
	free(v.disputed_cps.list);
	sparse_fini(&v.seen);
	nearcps_close(&v.nearby);
	fileblocks_fini(&v.fileblocks);
	volume_close(v.vol);
	return err;
}
