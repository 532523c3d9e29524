// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A map says that block k of a file is virtual block v, and so does the log
 * that has the block.  A wrong key in a node is seen by nothing else: the node
 * is sound, and all that it points to is in use.
 *
 * Comparing them one by one would take a table of all blocks.  Instead each
 * side adds up a product for each block that lives now or in a snapshot, and
 * only the sums are compared.  Where they differ though the blocks are as many,
 * the logs are read again for the files in question.
 */
#include "check/logs/mapsums.h"

#include "base/checked.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "disk/dat.h"
#include "disk/inode.h"
#include "vol/root.h"
#include "vol/translate.h"

struct mapsearch {
	struct check *c;
	bool wanted[MAPSUMS];
	/* The file that was looked at last, in checkpoint CNO; 0: none. */
	uint64_t ino, cno;
	struct file file;
	bool missing;		/* it is not there */
};

/* A block as its log lists it, and the key that the map has for it. */
struct dispute {
	const struct listing *l;
	uint64_t key;
	uint64_t below, above;	/* of its neighbours in the list; as wide as
				   can be where it has none */
};

/* The key of the block that is BY blocks after that of D in its list: 1, 0. */
static int find_neighbour(struct mapsearch *s, struct context *cx,
			  const struct dispute *d, int by, uint64_t *key)
{
	struct segsum_block b, own;
	int ret = lifelogs_find_block(cx, s->c, d->l->blocknr, &own, NULL);

	if (ret > 0)
		ret = lifelogs_find_block(cx, s->c,
					  d->l->blocknr + (uint64_t)by, &b,
					  NULL);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	*key = b.blkoff;
	return b.finfo == own.finfo && b.ino == own.ino && !b.is_node;
}

/* Whether block KEY of the file can be there in the list. */
static bool can_be(const struct mapsearch *s, const struct dispute *d,
		   uint64_t key)
{
	uint64_t bytes = le64_get(s->file.inode.i_size);

	return key >= d->below && key < d->above &&
	       key < div_round_up(bytes, s->c->vol->geo.block_size);
}

/*
 * Whether the log is wrong, and the map is right: 1 and d->key, 0.  The blocks
 * of a file are in a log in their order, and within its size; and no two are at
 * one place.  Where none of that shows anything the log is right: its checksum
 * was verified, which that of a node is not.
 */
static int is_log_wrong(struct mapsearch *s, struct context *cx,
			struct dispute *d)
{
	const struct listing *l = d->l;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct segsum_block b;
	uint64_t vblocknr, blocknr;
	bool found = false;
	int ret = blockmap_cursor_open(&cur, cx, &s->file.map, 0, false);

	while (!ret && !found &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		found = item.ptr == l->number;
		ret = context_cancelled(cx);
	}
	blockmap_cursor_close(&cur);
	ret = damage_forgive(cx, ret < 0 ? ret : 0);
	if (ret || !found)
		return ret;
	d->key = item.key;

	ret = find_neighbour(s, cx, d, -1, &d->below);
	d->below = ret > 0 ? d->below + 1 : 0;
	if (ret >= 0)
		ret = find_neighbour(s, cx, d, 1, &d->above);
	if (ret < 0)
		return ret;
	if (!ret)
		d->above = UINT64_MAX;
	if (can_be(s, d, d->key) != can_be(s, d, l->blkoff))
		return can_be(s, d, d->key);

	/* Whether the map has a block at the place, and the log of that too. */
	ret = blockmap_lookup(&s->file.map, cx, l->blkoff, &vblocknr);
	if (ret > 0) {
		ret = blockmap_resolve(&s->file.map, cx, vblocknr, &blocknr);
		ret = ret ? ret : 1;
	}
	if (ret > 0)
		ret = lifelogs_find_block(cx, s->c, blocknr, &b, NULL);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	return b.ino == l->ino && b.blkoff == l->blkoff &&
	       b.vblocknr == vblocknr && !b.is_node;
}

/* Goes to the file, which has no block where it is missing. */
static int open_file(struct mapsearch *s, struct context *cx, uint64_t cno,
		     uint64_t ino)
{
	struct nilfs_inode inode;
	struct root root;
	int ret;

	if (s->ino == ino && s->cno == cno)
		return 0;
	s->cno = 0;
	ret = root_open(&root, cx, s->c->vol, cno);
	/* Also one without links. */
	if (!ret)
		ret = root_inode_bytes(&root, cx, ino, &inode);
	s->missing = ret <= 0 || !inode_has_bmap(&inode);
	if (!s->missing)
		ret = file_init(&s->file, cx, s->c->vol, ino, &inode);
	s->missing |= ret < 0;
	ret = damage_forgive(cx, ret < 0 ? ret : 0);
	if (ret)
		return ret;
	s->ino = ino;
	s->cno = cno;
	return 0;
}

/* A block of one of the files, which the newest checkpoint that has to have it
   may not have where the log has it. */
static int visit_listing(void *arg, struct context *cx,
			 const struct listing *l)
{
	struct mapsearch *s = arg;
	struct findings *f = s->c->findings;
	uint64_t latest = s->c->vol->latest.cno, cno, vblocknr;
	struct dispute d = { .l = l };
	struct nilfs_dat_entry de;
	int ret;

	if (l->is_node || !s->wanted[l->ino % MAPSUMS] ||
	    inode_is_metadata(l->ino))
		return 0;
	ret = translate_entry(s->c->vol, cx, l->number, &de);
	if (ret)
		return damage_forgive(cx, ret);
	cno = dat_is_current(&de) ? latest :
		check_snapshot_of(s->c, le64_get(de.de_start),
				  le64_get(de.de_end));
	if (le64_get(de.de_blocknr) != l->blocknr || !cno)
		return 0;
	ret = open_file(s, cx, cno, l->ino);
	if (ret || s->missing)
		return ret;
	ret = blockmap_lookup(&s->file.map, cx, l->blkoff, &vblocknr);
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (ret && vblocknr == l->number)
		return 0;

	ret = is_log_wrong(s, cx, &d);
	if (ret < 0)
		return ret;
	findings_snapshots(f, cno != latest);
	findings_add(f, &(struct finding){
		.rule = ret ? RULE_LOG_PLACE : RULE_BMAP_PLACE,
		.place = place_map(cno, l->ino, ret ? d.key : l->blkoff, 0),
		.has_got = true, .got = l->number,
	});
	findings_snapshots(f, false);
	s->wanted[l->ino % MAPSUMS] = false;
	return 0;
}

int mapsums_check(struct check *c, struct context *cx)
{
	struct mapsearch s = { .c = c };
	const struct mapsum *listed, *mapped;
	bool any = false;
	size_t i;

	for (i = 0; c->sums && i < MAPSUMS; i++) {
		listed = &c->sums->listed[i];
		mapped = &c->sums->mapped[i];
		s.wanted[i] = listed->blocks == mapped->blocks &&
			      listed->sum != mapped->sum;
		any |= s.wanted[i];
	}
	return any ? listings_visit(c, cx, visit_listing, &s) : 0;
}
