// SPDX-License-Identifier: GPL-2.0-or-later
/* A metadata file and the array that knows what it must be. */
#include "log_model.h"

#include <stdlib.h>
#include <string.h>

#include "disk/bmap.h"

uint64_t model_draw(struct model *md, uint64_t below)
{
	md->random ^= md->random << 13;
	md->random ^= md->random >> 7;
	md->random ^= md->random << 17;
	return md->random % below;
}

static void check(struct model *md, bool good)
{
	md->bad += !good;
}

static uint64_t offset(const struct model *md, uint32_t key)
{
	return (uint64_t)key * md->spread;
}

/* The content that a block has at a version. */
static void make_content(uint32_t key, uint32_t version, void *buf)
{
	uint32_t words[2] = { key, version };

	memset(buf, (int)(version & 0xff), MODEL_BS);
	memcpy(buf, words, sizeof(words));
}

static bool has_content(const struct model *md, uint32_t key, const void *buf)
{
	uint8_t want[MODEL_BS];

	make_content(key, md->version[key], want);
	return !memcmp(buf, want, MODEL_BS);
}

void model_change(struct model *md, uint32_t key)
{
	static const uint8_t zeros[MODEL_BS];
	void *data = NULL;
	bool fresh = false;

	if (metafile_change(md->m, &md->cx, offset(md, key), &data, &fresh)) {
		check(md, false);
		return;
	}
	check(md, fresh == !md->version[key]);
	check(md, fresh ? !memcmp(data, zeros, MODEL_BS) :
			  has_content(md, key, data));
	make_content(key, ++md->version[key], data);
}

void model_replace(struct model *md, uint32_t key)
{
	static const uint8_t zeros[MODEL_BS];
	void *data = NULL;

	if (metafile_replace(md->m, &md->cx, offset(md, key), &data)) {
		check(md, false);
		return;
	}
	check(md, !memcmp(data, zeros, MODEL_BS));
	make_content(key, ++md->version[key], data);
}

void model_look(struct model *md, uint32_t key)
{
	const void *data = NULL;
	uint64_t ptr = 0;
	int found = metafile_look(md->m, &md->cx, offset(md, key), &data);

	check(md, found == (md->version[key] != 0));
	check(md, found != 1 || has_content(md, key, data));
	found = metafile_lookup(md->m, &md->cx, offset(md, key), &ptr);
	check(md, md->version[key] ? found >= 0 : !found);
	check(md, found != 1 || md->kind == METAFILE_DAT ||
		  md->f.given[ptr]);
	check(md, found || !md->version[key] || md->kind == METAFILE_DAT);
}

void model_truncate(struct model *md, uint32_t key)
{
	check(md, !metafile_truncate(md->m, &md->cx, offset(md, key)));
	for (; key < md->keys; key++)
		md->version[key] = 0;
}

void model_delete(struct model *md, uint32_t key)
{
	check(md, !metafile_delete(md->m, &md->cx, offset(md, key)));
	md->version[key] = 0;
}

uint32_t model_some_key(struct model *md)
{
	if (!model_draw(md, 8))
		md->at = (uint32_t)model_draw(md, md->keys);
	else if (model_draw(md, 2))
		md->at = (md->at + 1) % md->keys;
	return md->at;
}

static bool in_order(const struct metafile_block *b, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (b[i].level < b[i - 1].level ||
		    (b[i].level == b[i - 1].level && b[i].key <= b[i - 1].key))
			return false;
	return true;
}

void model_write_out(struct model *md, bool all, size_t keep)
{
	struct metafile_block *blocks = NULL;
	uint64_t *places;
	size_t n = 0, i, dirty = metafile_dirty(md->m);
	unsigned int rounds;
	const void *data;
	void *own;

	check(md, !metafile_collect(md->m, &md->cx, all, keep, &blocks, &n));
	check(md, in_order(blocks, n));
	check(md, all ? n == dirty : n <= dirty);
	check(md, all || !n || !blocks[n - 1].level);
	places = calloc(n + 1, sizeof(*places));
	for (rounds = model_draw(md, 4) ? 1 : 2; rounds; rounds--)
		for (i = 0; i < n; i++) {
			places[i] = fakedat_place(&md->f);
			check(md, !metafile_place(md->m, &md->cx, &blocks[i],
						  places[i]));
		}
	for (i = 0; i < n && !blocks[i].level; i += 1 + model_draw(md, 20))
		model_change(md, (uint32_t)(blocks[i].key / md->spread));
	check(md, metafile_dirty(md->m) == dirty);
	for (i = 0; i < n; i++)
		fakedat_write(&md->f, md->kind, &blocks[i], places[i]);
	for (i = 0; i < n; i++) {
		check(md, !metafile_take(md->m, &md->cx, &blocks[i], &own,
					 &data));
		free(own);
	}
	check(md, metafile_dirty(md->m) == dirty - n);
	free(places);
	free(blocks);
}

/* The walk over what is on the device. */
struct walk {
	struct model *md;
	uint8_t *met;		/* a pointer, once */
	uint64_t blocks;
	uint64_t next_key;	/* keys below it were met or are holes */
	unsigned int top;
};

static const void *visit(struct walk *w, uint64_t ptr)
{
	const void *block = fakedat_block(&w->md->f, w->md->kind, ptr);

	check(w->md, block && !w->met[ptr]);
	if (block)
		w->met[ptr] = 1;
	w->blocks++;
	return block;
}

static void visit_data(struct walk *w, uint64_t blkoff, uint64_t ptr)
{
	const struct model *md = w->md;
	const void *block = visit(w, ptr);
	uint64_t key = blkoff / md->spread;

	check(w->md, blkoff % md->spread == 0 && key >= w->next_key &&
		     key < md->keys);
	for (; w->next_key < key; w->next_key++)
		check(w->md, !md->version[w->next_key]);
	check(w->md, md->version[key] && block &&
		     has_content(md, (uint32_t)key, block));
	w->next_key = key + 1;
}

static void visit_node(struct walk *w, const struct bmap_node *node)
{
	uint32_t i;

	check(w->md, bmap_node_check_entries(node) == RULE_OK);
	/* As nilfs_btree_prepare_delete() expects it. */
	check(w->md, node->level == 1 || node->level == w->top ||
		     node->nchildren > 1);
	for (i = 0; i < node->nchildren; i++) {
		uint64_t key = bmap_node_key(node, i);
		uint64_t ptr = bmap_node_ptr(node, i);
		struct bmap_node child;
		const void *block;

		if (node->level == 1) {
			visit_data(w, key, ptr);
			continue;
		}
		block = visit(w, ptr);
		if (!block || bmap_node_check(MODEL_BS, block) != RULE_OK) {
			check(w->md, false);
			continue;
		}
		bmap_node_read(MODEL_BS, block, &child);
		check(w->md, child.level == node->level - 1 &&
			     bmap_node_key(&child, 0) == key);
		visit_node(w, &child);
	}
}

/* Everything written, the inode is all there is; returns the root's level. */
static unsigned int walk_device(struct model *md)
{
	struct walk w = { .md = md, .met = calloc(md->f.room, 1) };
	const le64 *map = md->inode.i_bmap;
	struct bmap_node root = { 0 };
	uint64_t key;

	if (bmap_is_btree(map)) {
		check(md, bmap_root_check(map) == RULE_OK);
		bmap_root_read(map, &root);
		w.top = root.level;
		visit_node(&w, &root);
	} else {
		for (key = 0; key < NILFS_DIRECT_NBLOCKS; key++)
			if (bmap_direct_ptr(map, key))
				visit_data(&w, key, bmap_direct_ptr(map, key));
	}
	for (; w.next_key < md->keys; w.next_key++)
		check(md, !md->version[w.next_key]);
	check(md, w.blocks == fakedat_live(&md->f, md->kind));
	check(md, le64_get(md->inode.i_blocks) == w.blocks * (MODEL_BS / 512));
	free(w.met);
	return root.level;
}

void model_reopen(struct model *md, const struct nilfs_inode *inode)
{
	metafile_close(md->m);
	check(md, !metafile_open(&md->m, &md->cx, &md->f.env, MODEL_BS, 4,
				 md->kind, inode));
}

unsigned int model_checkpoint(struct model *md)
{
	model_write_out(md, true, 0);
	metafile_inode(md->m, &md->inode);
	check(md, metafile_dirty(md->m) == 0);
	return walk_device(md);
}

struct model *model_new(enum metafile_kind kind, uint32_t keys,
			uint32_t spread)
{
	struct model *md = calloc(1, sizeof(*md));

	fakedat_init(&md->f, MODEL_BS);
	context_init(&md->cx);
	md->kind = kind;
	md->keys = keys;
	md->spread = spread;
	md->random = 88172645463325252ull + keys + spread;
	model_reopen(md, NULL);
	return md;
}

void model_free(struct model *md)
{
	metafile_close(md->m);
	fakedat_fini(&md->f);
	free(md);
}

