// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks that get other virtual numbers while they are moved.
 *
 * A number stands in one more place, the node of a B-tree or the inode that
 * leads to the block.  Where that moves along it can be changed on its way, and
 * keeps its own number: so nothing above it changes, and every checkpoint that
 * has it finds the block by the new number.
 *
 * Pointers are looked up among the old numbers, in whatever has some.  None of
 * another block can be met: a block that lives has pointers to blocks that live
 * as long as it does.  What inodes that are not in use still say does not
 * matter.
 */
#include "gc/renumber.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "disk/palloc.h"

void renumber_init(struct renumber *r, const struct volume *vol)
{
	*r = (struct renumber){ .vol = vol };
}

void renumber_fini(struct renumber *r)
{
	free(r->pairs);
	tally_fini(&r->avoided);
	*r = (struct renumber){ 0 };
}

int renumber_add(struct renumber *r, struct context *cx, uint64_t vblocknr)
{
	struct renumber_pair *grown = array_grow(cx, r->pairs, &r->room,
						 r->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->pairs = grown;
	grown[r->n++] = (struct renumber_pair){ vblocknr, vblocknr };
	return 0;
}

int renumber_leave(struct renumber *r, struct context *cx, uint64_t blkoff)
{
	r->nleft++;
	return tally_add(&r->avoided, cx, blkoff, 1);
}

static int compare(const void *a, const void *b)
{
	const struct renumber_pair *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* New numbers in the order of the old ones: what was in a row stays so. */
int renumber_take(struct renumber *r, struct context *cx, struct writer *w)
{
	size_t i;
	int ret = 0;

	sort_in_place(r->pairs, r->n, sizeof(*r->pairs), compare);
	for (i = 0; i < r->n && !ret; i++)
		ret = move_renumber(w, cx, r->pairs[i].from, &r->pairs[i].to);
	return ret;
}

static bool is_below(const void *item, const void *key)
{
	return ((const struct renumber_pair *)item)->from <
	       *(const uint64_t *)key;
}

static uint64_t number_now(const struct renumber *r, uint64_t vblocknr)
{
	size_t i = search_first(r->pairs, r->n, sizeof(*r->pairs), is_below,
				&vblocknr);

	return i < r->n && r->pairs[i].from == vblocknr ? r->pairs[i].to :
							  vblocknr;
}

struct move_run renumber_part(const struct renumber *r,
			      const struct move_run *run, uint32_t skip)
{
	uint64_t old = run->vblocknr + skip;
	struct move_run part = *run;

	part.vblocknr = number_now(r, old);
	part.blkoff += skip;
	part.count = 1;
	while (skip + part.count < run->count &&
	       number_now(r, old + part.count) == part.vblocknr + part.count)
		part.count++;
	return part;
}

static void change(const struct renumber *r, le64 *ptrs, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		ptrs[i] = le64_make(number_now(r, le64_get(ptrs[i])));
}

/* NODE was read from the words from FIRST on. */
static void change_node(const struct renumber *r, le64 *first,
			const struct bmap_node *node)
{
	change(r, first + (node->ptrs - first), node->nchildren);
}

static void change_inode(const struct renumber *r, struct nilfs_inode *inode)
{
	struct bmap_node root;

	if (!inode_has_bmap(inode))
		return;
	if (bmap_is_btree(inode->i_bmap)) {
		bmap_root_read(inode->i_bmap, &root);
		change_node(r, inode->i_bmap, &root);
	} else {
		change(r, inode->i_bmap + 1, NILFS_DIRECT_NBLOCKS);
	}
}

static void change_inodes(const struct renumber *r, uint64_t blkoff,
			  char *block)
{
	const struct palloc *p = &r->vol->ifile_palloc;
	struct palloc_block what;
	struct nilfs_inode inode;
	uint64_t i;

	palloc_locate(p, blkoff, &what);
	if (what.kind != PALLOC_ENTRIES)
		return;
	for (i = 0; i < what.count; i++, block += p->entry_size) {
		memcpy(&inode, block, sizeof(inode));
		change_inode(r, &inode);
		memcpy(block, &inode, sizeof(inode));
	}
}

void renumber_block(const struct renumber *r, const struct move_run *run,
		    uint32_t at, void *block)
{
	struct bmap_node node;

	if (run->node) {
		bmap_node_read(r->vol->geo.block_size, block, &node);
		change_node(r, block, &node);
	} else if (run->ino == NILFS_IFILE_INO) {
		change_inodes(r, run->blkoff + at, block);
	}
}
