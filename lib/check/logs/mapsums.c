// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Comparison of maps and logs.
 *
 * A map places virtual block v at block k of a file, and so does the log that
 * contains the block.  Only this comparison finds a wrong key in a node: the
 * node is valid, and all its pointers are in use.
 *
 * A comparison block by block would need a table of all blocks.  Instead, each
 * side adds up a product for each block that is live now or in a snapshot, and
 * only the sums are compared.  If they differ although the numbers of blocks
 * are equal, the logs are read again for the files in question.
 */
#include "check/logs/mapsums.h"

#include "base/checked.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/dat.h"
#include "disk/inode.h"
#include "vol/root.h"
#include "vol/translate.h"

struct mapsearch {
	struct check *c;
	bool wanted[MAPSUMS];
	/* The last file that was opened, in checkpoint CNO; 0: none. */
	uint64_t ino, cno;
	struct file file;
	bool missing;		/* the file does not exist there */
};

/*
 * Whether the log that lists L is wrong and the map is right: 1 and *KEY, the
 * block's key in the map, 0.  The blocks of a file are listed in their order
 * and within its size, and no two have the same key.  If none of these rules is
 * broken, the log is right: its checksum was verified, and nodes have none.
 */
static int is_log_wrong(struct mapsearch *s, struct context *cx,
			const struct listing *l, uint64_t *key)
{
	uint64_t end = div_round_up(le64_get(s->file.inode.i_size),
				    s->c->vol->geo.block_size);
	uint64_t above = end, below = 0, vblocknr, blocknr;
	struct blockmap_item item;
	struct segsum_block own, b;
	bool by_map, by_log;
	int by, ret = blockmap_find_pointer(&s->file.map, cx, &l->number, 1,
					    false, &item);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	*key = item.key;

	/* Check the order in the list. */
	ret = listings_find_block(cx, s->c, l->blocknr, &own);
	for (by = -1; by <= 1 && ret > 0; by += 2) {
		ret = listings_find_block(cx, s->c, l->blocknr + (uint64_t)by, &b);
		ret = ret < 0 ? damage_forgive(cx, ret) : ret;
		if (ret > 0 && b.finfo == own.finfo && b.ino == own.ino &&
		    !b.is_node) {
			below = by < 0 ? b.blkoff + 1 : below;
			above = by > 0 && b.blkoff < end ? b.blkoff : above;
		}
		ret = ret < 0 ? ret : 1;
	}
	ret = damage_forgive(cx, ret < 0 ? ret : 0);
	if (ret)
		return ret;
	by_map = *key >= below && *key < above;
	by_log = l->blkoff >= below && l->blkoff < above;
	if (by_map != by_log)
		return by_map;

	/* Check whether map and log have another block with this key. */
	ret = blockmap_lookup(&s->file.map, cx, l->blkoff, &vblocknr);
	if (ret > 0) {
		ret = blockmap_resolve(&s->file.map, cx, vblocknr, &blocknr);
		ret = ret ? ret : 1;
	}
	if (ret > 0)
		ret = listings_find_block(cx, s->c, blocknr, &b);
	if (ret <= 0)
		return damage_forgive(cx, ret);
	return b.ino == l->ino && b.blkoff == l->blkoff &&
	       b.vblocknr == vblocknr && !b.is_node;
}

/* Visits a block of one of the files.  It is wrong if the newest checkpoint
   that must contain it does not have it at the key of the log. */
static int visit_listing(void *arg, struct context *cx,
			 const struct listing *l)
{
	struct mapsearch *s = arg;
	struct findings *f = s->c->findings;
	uint64_t latest = s->c->vol->latest.cno, cno, vblocknr, key;
	struct nilfs_dat_entry de;
	struct nilfs_inode inode;
	struct root root;
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
	if (s->ino != l->ino || s->cno != cno) {
		/* Files without links are included. */
		s->cno = 0;
		ret = root_open(&root, cx, s->c->vol, cno) ?:
		      root_inode_bytes(&root, cx, l->ino, &inode);
		s->missing = ret <= 0 || !inode_has_bmap(&inode);
		if (!s->missing)
			ret = file_init(&s->file, cx, s->c->vol, l->ino,
					&inode);
		s->missing |= ret < 0;
		ret = damage_forgive(cx, ret < 0 ? ret : 0);
		if (ret)
			return ret;
		s->ino = l->ino;
		s->cno = cno;
	}
	if (s->missing)
		return 0;
	ret = blockmap_lookup(&s->file.map, cx, l->blkoff, &vblocknr);
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (ret && vblocknr == l->number)
		return 0;

	ret = is_log_wrong(s, cx, l, &key);
	if (ret < 0)
		return ret;
	f->mark = cno == latest ? FINDINGS_NEWEST : FINDINGS_SNAPSHOTS;
	findings_got(f, ret ? RULE_LOG_PLACE : RULE_BMAP_PLACE,
		     place_map(cno, l->ino, ret ? key : l->blkoff, 0),
		     l->number);
	f->mark = FINDINGS_NEWEST;
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
