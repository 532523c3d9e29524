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
#include "check/mapsums.h"

#include <errno.h>

#include "check/check.h"
#include "check/damage.h"
#include "check/listings.h"
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

static int open_file(struct mapsearch *s, struct context *cx, uint64_t cno,
		     uint64_t ino)
{
	struct root root;
	int err;

	if (s->ino == ino && s->cno == cno)
		return 0;
	s->cno = 0;
	err = root_open(&root, cx, s->c->vol, cno);
	if (!err)
		err = root_file(&root, cx, ino, &s->file);
	s->missing = err;
	err = damage_forgive(cx, err);
	if (err)
		return err;
	s->ino = ino;
	s->cno = cno;
	return 0;
}

/* Whether the file has the block of L where L has it: 1, also where that
   cannot be determined, 0. */
static int has_block(struct mapsearch *s, struct context *cx,
		     const struct listing *l)
{
	uint64_t vblocknr;
	int ret;

	if (s->missing)
		return 1;
	ret = blockmap_lookup(&s->file.map, cx, l->blkoff, &vblocknr);
	if (ret < 0) {
		ret = damage_forgive(cx, ret);
		return ret ? ret : 1;
	}
	return ret && vblocknr == l->number;
}

/* The newest checkpoint that has to have the block of L: 1 and *CNO, 0. */
static int find_life(const struct mapsearch *s, struct context *cx,
		     const struct listing *l, uint64_t *cno)
{
	struct nilfs_dat_entry de;
	int err = translate_entry(s->c->vol, cx, l->number, &de);

	if (err == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return damage_forgive(cx, err);
	if (le64_get(de.de_blocknr) != l->blocknr)
		return 0;
	*cno = dat_is_current(&de) ? s->c->vol->latest.cno :
		check_snapshot_of(s->c, le64_get(de.de_start),
				  le64_get(de.de_end));
	return *cno != 0;
}

/* Reports that the map of the file, as of CNO, does not have L. */
static void report_place(struct mapsearch *s, const struct listing *l,
			 uint64_t cno)
{
	struct findings *f = s->c->findings;

	findings_snapshots(f, cno != s->c->vol->latest.cno);
	findings_add(f, &(struct finding){
		.rule = RULE_BMAP_PLACE,
		.place = place_map(cno, l->ino, l->blkoff, 0),
		.has_want = true, .want = l->number,
	});
	findings_snapshots(f, false);
	s->wanted[l->ino % MAPSUMS] = false;
}

static int visit_listing(void *arg, struct context *cx,
			 const struct listing *l)
{
	struct mapsearch *s = arg;
	uint64_t cno = 0;
	int ret;

	if (l->is_node || !s->wanted[l->ino % MAPSUMS] ||
	    inode_is_metadata(l->ino))
		return 0;
	ret = find_life(s, cx, l, &cno);
	if (ret <= 0)
		return ret;
	ret = open_file(s, cx, cno, l->ino);
	if (!ret)
		ret = has_block(s, cx, l);
	if (!ret)
		report_place(s, l, cno);
	return ret < 0 ? ret : 0;
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
	return any ? listings_visit(c, cx, LISTINGS_ALL, visit_listing, &s) : 0;
}
