// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of a virtual block, from the checkpoints.
 *
 * The log that lists a block says with which checkpoint it was written, whose
 * it is, and where in that file; so each checkpoint can be asked, by one
 * lookup, whether it has the block.  A file that has lost a block never gets
 * it back, so a bisection of the checkpoints finds the last one that has it.
 * Of cpfile and SUFILE there is but one state, and nothing of an older one is
 * ever seen.
 */
#include "fsck/dat/datlife.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "vol/blockmap.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/translate.h"

/* Bytes of the directory of a set, at most, a share of the budget. */
#define DIRECTORY_SHARE 16

int datlife_init(struct datlife *d, struct context *cx, struct volume *vol)
{
	int ret = cptable_list(vol, cx, false, &d->cnos, &d->n);

	d->vol = vol;
	d->known = !ret;
	return damage_forgive(cx, ret);
}

void datlife_fini(struct datlife *d)
{
	free(d->cnos);
	d->cnos = NULL;
}

int datlife_map(struct volume *vol, struct context *cx, uint64_t cno,
		uint64_t ino, struct blockmap *map)
{
	struct file file;
	struct root root;
	int err = 0;

	if (ino == NILFS_CPFILE_INO || ino == NILFS_SUFILE_INO) {
		*map = ino == NILFS_CPFILE_INO ? vol->cpfile.map :
						 vol->sufile.map;
		return 1;
	}
	err = root_open(&root, cx, vol, cno);
	if (!err && ino != NILFS_IFILE_INO) {
		err = root_file(&root, cx, ino, &file);
		*map = file.map;
	} else if (!err) {
		*map = root.ifile.map;
	}
	if (err != -ENOENT)
		return err ? err : 1;
	fail_clear(cx);
	return 0;
}

int datlife_pointer(struct volume *vol, struct context *cx,
		    const struct place *at, uint64_t *ptr)
{
	struct blockmap map;
	int ret = datlife_map(vol, cx, at->cno, at->ino, &map);

	return ret <= 0 ? ret : blockmap_lookup_at_level(&map, cx, at->blkoff,
							 at->level, ptr);
}

struct question {
	const struct listing *l;
	uint64_t ino, key;
	unsigned int level;
};

/* 1 where checkpoint CNO has the block, 0 where not, a failure. */
static int has_block(struct datlife *d, struct context *cx, uint64_t cno,
		     const struct question *q)
{
	const struct place at = place_map(cno, q->ino, q->key, q->level);
	uint64_t ptr;
	int ret = datlife_pointer(d->vol, cx, &at, &ptr);

	return ret <= 0 ? ret : ptr == q->l->number;
}

/* Checkpoints from START on that have the block: up to index *END, from 0. */
static int find_end(struct datlife *d, struct context *cx, uint64_t start,
		    const struct question *q, size_t *end)
{
	size_t low = search_lower_bound(d->cnos, d->n, start), high = d->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int ret = has_block(d, cx, d->cnos[mid], q);

		if (ret < 0)
			return ret;
		if (ret)
			low = mid + 1;
		else
			high = mid;
	}
	*end = low;
	return 0;
}

/* Of cpfile and SUFILE only the latest state counts. */
static int find_single(struct datlife *d, struct context *cx,
		       const struct question *q, struct datlife_span *span)
{
	int ret = has_block(d, cx, 0, q);

	span->end = span->most = ret > 0 ? NILFS_CNO_MAX : span->start;
	return ret < 0 ? ret : 1;
}

/* Whether CNO has something that leads to what Q asks for; makes Q that. */
static int go_up(struct datlife *d, struct context *cx, uint64_t cno,
		 struct question *q, uint64_t *ptr)
{
	struct place at;
	int ret;

	q->level++;
	at = place_map(cno, q->ino, q->key, q->level);
	ret = datlife_pointer(d->vol, cx, &at, ptr);
	if (ret || q->ino == NILFS_IFILE_INO)
		return ret;
	q->key = palloc_entry_blkoff(&d->vol->ifile_palloc, q->ino);
	q->ino = NILFS_IFILE_INO;
	q->level = 0;
	at = place_map(cno, q->ino, q->key, 0);
	return datlife_pointer(d->vol, cx, &at, ptr);
}

/*
 * When what leads to it in CNO, the last checkpoint that has it, ended: not
 * after it.  What has no end in the DAT does not count.  0: not known.
 */
static int find_holder(struct datlife *d, struct context *cx, uint64_t cno,
		       struct question q, uint64_t *end)
{
	struct nilfs_dat_entry de;
	uint64_t ptr;
	int ret;

	*end = 0;
	while ((ret = go_up(d, cx, cno, &q, &ptr)) > 0) {
		ret = translate_entry(d->vol, cx, ptr, &de);
		if (ret)
			break;
		*end = le64_get(de.de_end);
		if (*end != NILFS_CNO_MAX)
			return 0;
	}
	*end = 0;
	return damage_forgive(cx, ret);
}

static int find_life(struct datlife *d, struct context *cx,
		     const struct question *q, struct datlife_span *span)
{
	uint64_t latest = d->vol->latest.cno;
	size_t i;
	int ret;

	span->start = q->l->cno && q->l->cno <= latest ? q->l->cno :
							 NILFS_CNO_MIN;
	if (q->l->ino == NILFS_CPFILE_INO || q->l->ino == NILFS_SUFILE_INO)
		return find_single(d, cx, q, span);
	if (!d->known)
		return 0;
	ret = find_end(d, cx, span->start, q, &i);
	if (ret)
		return ret;
	span->end = span->start;
	if (i && d->cnos[i - 1] >= span->start)
		span->end = d->cnos[i - 1] + 1;
	span->most = i < d->n ? d->cnos[i] : latest;
	if (span->end > latest)
		span->end = span->most = NILFS_CNO_MAX;
	else if (span->end > span->start)
		ret = find_holder(d, cx, span->end - 1, *q, &span->held);
	return ret < 0 ? ret : 1;
}

int datlife_find(struct datlife *d, struct context *cx,
		 const struct listing *l, struct datlife_span *span)
{
	struct question q = { .l = l, .ino = l->ino, .key = l->blkoff };
	int ret = l->is_node ? blockmap_identify(d->vol, cx, l->blocknr,
						 &q.level, &q.key) : 1;

	span->held = 0;
	if (ret > 0)
		ret = find_life(d, cx, &q, span);
	return damage_forgive(cx, ret);
}

uint64_t datlife_end(const struct datlife_span *span, uint64_t end)
{
	uint64_t least = span->end;

	if (span->held > least && span->held <= span->most)
		least = span->held;
	return end >= least && end <= span->most ? end : least;
}

/* Adds what the map leads to at AT to SET: 1, 0 where nothing can be found. */
static int add_pointer(struct sparse *set, struct context *cx,
		       struct volume *vol, const struct place *at)
{
	uint64_t vblocknr;
	int ret = datlife_pointer(vol, cx, at, &vblocknr), err;

	if (ret > 0) {
		err = damage_add(set, cx, vblocknr);
		ret = err < 0 ? err : 1;
	}
	return ret < 0 ? damage_forgive(cx, ret) : ret;
}

/* The pointer at AT, and what leads to it: nodes, and the block with the inode,
   by its map in turn. */
static int add_holders(struct sparse *set, struct context *cx,
		       struct volume *vol, struct place at)
{
	int ret = 1;

	for (;;) {
		for (; ret > 0; at.level++)
			ret = add_pointer(set, cx, vol, &at);
		if (ret || inode_is_metadata(at.ino))
			return ret;
		at = place_map(at.cno, NILFS_IFILE_INO,
			       palloc_entry_blkoff(&vol->ifile_palloc, at.ino),
			       0);
		ret = 1;
	}
}

/* Whether FILE has the block of L where L says: 1, 0, or a failure. */
static int is_there(struct file *file, struct context *cx,
		    const struct listing *l)
{
	uint64_t blocknr;
	int ret = file_lookup(file, cx, l->number, &blocknr);

	return ret > 0 ? blocknr == l->blocknr : damage_forgive(cx, ret);
}

int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file)
{
	struct listings l = { 0 };
	int ret = listings_of_file(&l, cx, c, file->ino);
	size_t i;

	for (i = 0, ret = ret ? ret : 1; i < l.n && ret > 0; i++)
		ret = is_there(file, cx, &l.items[i]);
	listings_fini(&l);
	return ret;
}

/* Makes S a set of numbers below END, as far as the budget goes. */
static int init_set(struct sparse *s, struct context *cx, uint64_t end)
{
	uint64_t most = cx->max_memory / DIRECTORY_SHARE / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;

	return sparse_init(s, cx, end < most ? end : most);
}

/* Whether the logs have other blocks at places of the map that FIX is about. */
static bool is_misplaced(const struct plan *plan, const struct fix *fix)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_MAPS];
	size_t i;

	for (i = 0; i < kind->n; i++)
		if (kind->fixes[i].rule == RULE_BMAP_PLACE &&
		    kind->fixes[i].place.cno == fix->place.cno &&
		    kind->fixes[i].place.ino == fix->place.ino)
			return true;
	return false;
}

int datlife_contradicted(struct sparse *set, struct context *cx,
			 const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	struct volume *vol = c->vol;
	int err = init_set(set, cx, vblocks_end(vol, cx));
	int is_newest = err ? err : datlife_is_newest(c, cx, &vol->cpfile);
	size_t i;

	err = is_newest < 0 ? is_newest : 0;
	for (i = 0; i < kind->n && !err; i++)
		if (kind->fixes[i].rule == RULE_BMAP_LIFETIME &&
		    !is_misplaced(plan, &kind->fixes[i]) &&
		    (is_newest || kind->fixes[i].place.ino != NILFS_CPFILE_INO))
			err = add_holders(set, cx, vol, kind->fixes[i].place);
	return err;
}
