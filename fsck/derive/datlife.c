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
#include "fsck/derive/datlife.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "check/damage.h"
#include "check/vblocks.h"
#include "disk/inode.h"
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

/* Makes AT, of a file, that of the block of the ifile with its inode. */
static void go_to_inode(const struct volume *vol, struct place *at)
{
	*at = place_map(at->cno, NILFS_IFILE_INO,
			palloc_entry_blkoff(&vol->ifile_palloc, at->ino), 0);
}

/*
 * When what leads to the block at AT, in the last checkpoint that has it, ended:
 * not after it.  What has no end in the DAT does not count.  0: not known.
 */
static int find_holder(struct datlife *d, struct context *cx, struct place at,
		       uint64_t *end)
{
	struct nilfs_dat_entry de;
	uint64_t ptr;
	int ret;

	for (;;) {
		*end = 0;
		at.level++;
		ret = datlife_pointer(d->vol, cx, &at, &ptr);
		if (!ret && at.ino != NILFS_IFILE_INO) {
			go_to_inode(d->vol, &at);
			ret = datlife_pointer(d->vol, cx, &at, &ptr);
		}
		if (ret > 0)
			ret = translate_entry(d->vol, cx, ptr, &de) ?: 1;
		if (ret <= 0)
			return damage_forgive(cx, ret);
		*end = le64_get(de.de_end);
		if (*end != NILFS_CNO_MAX)
			return 0;
	}
}

/* As datlife_find(), of what is at AT, but for the checkpoint. */
static int find_life(struct datlife *d, struct context *cx,
		     const struct listing *l, struct place *at,
		     struct datlife_span *span)
{
	bool single = l->ino == NILFS_CPFILE_INO || l->ino == NILFS_SUFILE_INO;
	uint64_t latest = d->vol->latest.cno, ptr;
	size_t low, high = d->n, mid;
	int ret;

	span->start = l->cno && l->cno <= latest ? l->cno : NILFS_CNO_MIN;
	/* Of these only the latest state counts. */
	if (single) {
		ret = datlife_pointer(d->vol, cx, at, &ptr);
		span->end = span->most = ret > 0 && ptr == l->number ?
						 NILFS_CNO_MAX : span->start;
		return ret < 0 ? ret : 1;
	}
	if (!d->known)
		return 0;
	low = search_lower_bound(d->cnos, d->n, span->start);
	while (low < high) {
		mid = low + (high - low) / 2;
		at->cno = d->cnos[mid];
		ret = datlife_pointer(d->vol, cx, at, &ptr);
		if (ret < 0)
			return ret;
		if (ret && ptr == l->number)
			low = mid + 1;
		else
			high = mid;
	}
	span->end = span->start;
	if (low && d->cnos[low - 1] >= span->start)
		span->end = d->cnos[low - 1] + 1;
	span->most = low < d->n ? d->cnos[low] : latest;
	if (span->end > latest) {
		span->end = span->most = NILFS_CNO_MAX;
	} else if (span->end > span->start) {
		at->cno = span->end - 1;
		ret = find_holder(d, cx, *at, &span->held);
		return ret < 0 ? ret : 1;
	}
	return 1;
}

int datlife_find(struct datlife *d, struct context *cx,
		 const struct listing *l, struct datlife_span *span)
{
	struct place at = place_map(0, l->ino, l->blkoff, 0);
	int ret = !l->is_node ? 1 :
		  blockmap_identify(d->vol, cx, l->blocknr, &at.level,
				    &at.blkoff);

	span->held = 0;
	if (ret > 0)
		ret = find_life(d, cx, l, &at, span);
	return damage_forgive(cx, ret);
}

uint64_t datlife_end(const struct datlife_span *span, uint64_t end)
{
	uint64_t least = span->end;

	if (span->held > least && span->held <= span->most)
		least = span->held;
	return end >= least && end <= span->most ? end : least;
}

/* Adds to SET the pointer at AT, and what leads to it: nodes, and the block with
   the inode, by its map in turn. */
static int add_holders(struct sparse *set, struct context *cx,
		       struct volume *vol, struct place at)
{
	uint64_t vblocknr;
	int ret;

	for (;;) {
		ret = datlife_pointer(vol, cx, &at, &vblocknr);
		if (ret > 0)
			ret = damage_add(set, cx, vblocknr) ?: 1;
		ret = damage_forgive(cx, ret);
		if (ret < 0)
			return ret;
		if (ret)
			at.level++;
		else if (!inode_is_metadata(at.ino))
			go_to_inode(vol, &at);
		else
			return 0;
	}
}

int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file)
{
	struct listings l = { 0 };
	int ret = listings_of_file(&l, cx, c, file->ino) ?: 1;
	uint64_t blocknr;
	size_t i;

	for (i = 0; i < l.n && ret > 0; i++) {
		ret = file_lookup(file, cx, l.items[i].number, &blocknr);
		if (ret > 0)
			ret = blocknr == l.items[i].blocknr;
	}
	listings_fini(&l);
	return damage_forgive(cx, ret);
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
	uint64_t end = vblocks_end(vol, cx);
	uint64_t most = cx->max_memory / DIRECTORY_SHARE / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;
	int err = sparse_init(set, cx, end < most ? end : most);
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
