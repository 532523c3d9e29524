// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of an archive.
 *
 * A name takes a node of 32 bytes, its bytes, and a slot of a hash table: about 60
 * bytes in all.  Nodes, directories and names are stored in chunks that never move.
 * The names of a directory are a list, sorted on demand.
 */
#include "mkfs/tar/nametree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/ondisk.h"
#include "mkfs/source/listing.h"

#define BOARD_ITEMS 4096u
#define TEXT_BYTES ((size_t)256 << 10)
#define SLOTS_MIN 1024u
#define NO_MEMORY "names of an archive"

struct text_board {
	struct text_board *next;
	char bytes[];
};

/* Adds one item, all zero. */
static int shelf_add(struct nametree_shelf *s, struct context *cx, size_t size)
{
	uint32_t board = s->count / BOARD_ITEMS;

	if (s->count == NAMETREE_NONE)
		return fail(cx, -E2BIG, NO_MEMORY);
	if (s->count % BOARD_ITEMS == 0) {
		if (array_reserve(cx, &s->boards, &s->room, board + 1))
			return -ENOMEM;
		s->boards[board] = calloc(BOARD_ITEMS, size);
		if (!s->boards[board])
			return fail(cx, -ENOMEM, NO_MEMORY);
	}
	s->count++;
	return 0;
}

static void shelf_fini(struct nametree_shelf *s)
{
	uint32_t i;

	for (i = 0; i < s->count; i += BOARD_ITEMS)
		free(s->boards[i / BOARD_ITEMS]);
	free(s->boards);
	*s = (struct nametree_shelf){ 0 };
}

struct nametree_node *nametree_node(const struct nametree *t, uint32_t node)
{
	struct nametree_node *board = t->nodes.boards[node / BOARD_ITEMS];

	return &board[node % BOARD_ITEMS];
}

struct nametree_dir *nametree_dir(const struct nametree *t, uint32_t dir)
{
	struct nametree_dir *board = t->dirs.boards[dir / BOARD_ITEMS];

	return &board[dir % BOARD_ITEMS];
}

int nametree_init(struct nametree *t, struct context *cx)
{
	int ret;

	memset(t, 0, sizeof(*t));
	t->slots = malloc(SLOTS_MIN * sizeof(*t->slots));
	if (!t->slots)
		return fail(cx, -ENOMEM, NO_MEMORY);
	memset(t->slots, 0xff, SLOTS_MIN * sizeof(*t->slots));
	t->nslots = SLOTS_MIN;
	ret = shelf_add(&t->nodes, cx, sizeof(struct nametree_node));
	return ret ? ret : nametree_make_dir(t, cx, NAMETREE_TOP);
}

void nametree_fini(struct nametree *t)
{
	struct text_board *board;

	while (t->texts) {
		board = t->texts;
		t->texts = board->next;
		free(board);
	}
	shelf_fini(&t->nodes);
	shelf_fini(&t->dirs);
	free(t->slots);
	free(t->names);
	memset(t, 0, sizeof(*t));
}

/*
 * The slot of the name, or the free slot for it.  The hash is FNV-1a over the directory
 * and the name, with a final mix of its bits.
 */
static uint32_t nametree_find_slot(const struct nametree *t, uint32_t parent,
				   const char *name, size_t len)
{
	uint64_t h = (0xcbf29ce484222325 ^ parent) * 0x100000001b3;
	const struct nametree_node *n;
	uint32_t slot;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3;
	slot = (uint32_t)(h ^ h >> 32) & (t->nslots - 1);
	for (; t->slots[slot] != NAMETREE_NONE;
	     slot = (slot + 1) & (t->nslots - 1)) {
		n = nametree_node(t, t->slots[slot]);
		if (n->parent == parent && n->len == len &&
		    !memcmp(n->name, name, len))
			break;
	}
	return slot;
}

uint32_t nametree_find(const struct nametree *t, uint32_t parent,
		       const char *name, size_t len)
{
	return t->slots[nametree_find_slot(t, parent, name, len)];
}

/* Keeps the table at most three quarters full. */
static int grow_slots(struct nametree *t, struct context *cx)
{
	uint32_t *slots = t->slots, n = t->nslots, i;

	if (t->nodes.count < n / 4 * 3)
		return 0;
	if (n > UINT32_MAX / 2)
		return fail(cx, -ENOMEM, NO_MEMORY);
	t->slots = malloc(2ull * n * sizeof(*slots));
	if (!t->slots) {
		t->slots = slots;
		return fail(cx, -ENOMEM, NO_MEMORY);
	}
	t->nslots = 2 * n;
	memset(t->slots, 0xff, 2ull * n * sizeof(*slots));
	for (i = 0; i < n; i++) {
		const struct nametree_node *node;

		if (slots[i] == NAMETREE_NONE)
			continue;
		node = nametree_node(t, slots[i]);
		t->slots[nametree_find_slot(t, node->parent, node->name, node->len)] =
			slots[i];
	}
	free(slots);
	return 0;
}

/* Makes room for LEN bytes of text, at most TEXT_BYTES. */
static int nametree_reserve(struct nametree *t, struct context *cx, size_t len)
{
	struct text_board *board;

	if (len <= t->left)
		return 0;
	board = malloc(sizeof(*board) + TEXT_BYTES);
	if (!board)
		return fail(cx, -ENOMEM, NO_MEMORY);
	board->next = t->texts;
	t->texts = board;
	t->text = board->bytes;
	t->left = TEXT_BYTES;
	return 0;
}

int nametree_add(struct nametree *t, struct context *cx, uint32_t parent,
		 const char *name, size_t len, uint32_t *node)
{
	struct nametree_dir *dir;
	struct nametree_node *n;
	int ret;

	*node = nametree_find(t, parent, name, len);
	if (*node != NAMETREE_NONE)
		return 0;
	ret = grow_slots(t, cx);
	if (!ret)
		ret = nametree_reserve(t, cx, len);
	if (ret)
		return ret;
	ret = shelf_add(&t->nodes, cx, sizeof(*n));
	if (ret)
		return ret;
	*node = t->nodes.count - 1;
	dir = nametree_dir(t, nametree_node(t, parent)->dir);
	n = nametree_node(t, *node);
	memcpy(t->text, name, len);
	n->name = t->text;
	t->text += len;
	t->left -= len;
	n->len = (uint8_t)len;
	n->parent = parent;
	n->next = dir->first;
	dir->first = *node;
	dir->count++;
	t->slots[nametree_find_slot(t, parent, name, len)] = *node;
	return 0;
}

int nametree_make_dir(struct nametree *t, struct context *cx, uint32_t node)
{
	struct nametree_node *n = nametree_node(t, node);
	struct nametree_dir *dir;
	int ret = shelf_add(&t->dirs, cx, sizeof(*dir));

	if (ret)
		return ret;
	n->type = NILFS_FT_DIR;
	n->dir = t->dirs.count - 1;
	dir = nametree_dir(t, n->dir);
	dir->node = node;
	dir->first = NAMETREE_NONE;
	return 0;
}

int nametree_set_target(struct nametree *t, struct context *cx, uint32_t node,
			const char *target, size_t len)
{
	struct nametree_node *n = nametree_node(t, node);
	int ret = nametree_reserve(t, cx, n->len + len + 1);

	if (ret)
		return ret;
	memcpy(t->text, n->name, n->len);
	memcpy(t->text + n->len, target, len);
	t->text[n->len + len] = '\0';
	n->name = t->text;
	t->text += n->len + len + 1;
	t->left -= n->len + len + 1;
	return 0;
}

const char *nametree_target(const struct nametree *t, uint32_t node)
{
	const struct nametree_node *n = nametree_node(t, node);

	return n->name + n->len;
}

int nametree_list(struct nametree *t, struct context *cx, uint32_t dir,
		  const struct populate_name **names, size_t *n)
{
	const struct nametree_dir *d = nametree_dir(t, dir);
	uint32_t i;

	*names = NULL;
	*n = 0;
	if (!d->count)
		return 0;
	if (array_reserve(cx, &t->names, &t->names_room, d->count))
		return -ENOMEM;
	for (i = d->first; i != NAMETREE_NONE; i = nametree_node(t, i)->next) {
		const struct nametree_node *node = nametree_node(t, i);

		t->names[(*n)++] = (struct populate_name){
			.name = node->name,
			.len = node->len,
			.type = node->type,
			.ino = node->ino,
		};
	}
	sort_in_place(t->names, *n, sizeof(*t->names), listing_by_name);
	*names = t->names;
	return 0;
}
