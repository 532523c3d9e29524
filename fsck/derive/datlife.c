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
#include "check/inodes/inodelist.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/datscan.h"
#include "vol/root.h"
#include "vol/translate.h"

/* Bytes of the directory of a set, at most, a share of the budget. */
#define DIRECTORY_SHARE 16

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

/*
 * The pointer at AT, or where there is none that to the block of the ifile with
 * the inode: 1, and AT is what leads there, 0 at the end.
 */
static int next_holder(struct volume *vol, struct context *cx, struct place *at,
		       uint64_t *ptr)
{
	int ret = damage_forgive(cx, datlife_pointer(vol, cx, at, ptr));

	if (!ret && !inode_is_metadata(at->ino)) {
		*at = place_map(
			at->cno, NILFS_IFILE_INO,
			palloc_entry_blkoff(&vol->ifile_palloc, at->ino), 0);
		ret = damage_forgive(cx, datlife_pointer(vol, cx, at, ptr));
	}
	at->level++;
	return ret;
}

int datlife_find(struct datlife *d, struct context *cx, const struct listing *l,
		 struct datlife_span *span)
{
	bool single = l->ino == NILFS_CPFILE_INO || l->ino == NILFS_SUFILE_INO;
	struct place at = place_map(0, l->ino, l->blkoff, 0);
	uint64_t latest = d->vol->latest.cno, ptr;
	struct nilfs_dat_entry de;
	size_t low, high = d->n, mid;
	int ret = !l->is_node ? 1 :
				blockmap_identify(d->vol, cx, l->blocknr,
						  &at.level, &at.blkoff);

	span->held = 0;
	if (ret <= 0)
		return damage_forgive(cx, ret);
	span->start = l->cno && l->cno <= latest ? l->cno : NILFS_CNO_MIN;
	/* Of these only the latest state counts. */
	if (single) {
		ret = datlife_pointer(d->vol, cx, &at, &ptr);
		span->end = span->most = ret > 0 && ptr == l->number ?
						 NILFS_CNO_MAX : span->start;
		return ret < 0 ? damage_forgive(cx, ret) : 1;
	}
	if (!d->known)
		return 0;
	low = search_lower_bound(d->cnos, d->n, span->start);
	while (low < high) {
		mid = low + (high - low) / 2;
		at.cno = d->cnos[mid];
		ret = datlife_pointer(d->vol, cx, &at, &ptr);
		if (ret < 0)
			return damage_forgive(cx, ret);
		if (ret && ptr == l->number)
			low = mid + 1;
		else
			high = mid;
	}
	span->end = span->start;
	if (low && d->cnos[low - 1] >= span->start)
		span->end = d->cnos[low - 1] + 1;
	span->most = low < d->n ? d->cnos[low] : latest;
	if (span->end > latest)
		span->end = span->most = NILFS_CNO_MAX;
	if (span->end > latest || span->end == span->start)
		return 1;
	/* It did not end before what leads to it, in the last checkpoint that
	   has it.  What has no end in the DAT does not count. */
	at.cno = span->end - 1;
	at.level++;
	do {
		span->held = 0;
		ret = next_holder(d->vol, cx, &at, &ptr);
		if (ret > 0)
			ret = translate_entry(d->vol, cx, ptr, &de) ?: 1;
		if (ret > 0)
			span->held = le64_get(de.de_end);
	} while (span->held == NILFS_CNO_MAX);
	ret = damage_forgive(cx, ret);
	return ret < 0 ? ret : 1;
}

uint64_t datlife_end(const struct datlife_span *span, uint64_t end)
{
	uint64_t least = span->end;

	if (span->held > least && span->held <= span->most)
		least = span->held;
	return end >= least && end <= span->most ? end : least;
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

int datlife_contradicted(struct sparse *set, struct context *cx,
			 const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	const struct plan_kind *maps = &plan->kinds[RULE_FIX_MAPS];
	struct volume *vol = c->vol;
	uint64_t end = vblocks_end(vol, cx);
	uint64_t most = cx->max_memory / DIRECTORY_SHARE / sizeof(uint64_t) *
			SPARSE_CHUNK_BITS;
	int ret = sparse_init(set, cx, end < most ? end : most);
	int is_newest = ret ? ret : datlife_is_newest(c, cx, &vol->cpfile);
	struct place at;
	uint64_t ptr;
	size_t i, j;

	ret = is_newest < 0 ? is_newest : 0;
	for (i = 0; i < kind->n && ret >= 0; i++) {
		at = kind->fixes[i].place;
		if (kind->fixes[i].rule != RULE_BMAP_LIFETIME ||
		    (!is_newest && at.ino == NILFS_CPFILE_INO))
			continue;
		/* The logs may have other blocks at places of that map. */
		for (j = 0; j < maps->n; j++)
			if (maps->fixes[j].rule == RULE_BMAP_PLACE &&
			    maps->fixes[j].place.cno == at.cno &&
			    maps->fixes[j].place.ino == at.ino)
				break;
		if (j < maps->n)
			continue;
		while (ret >= 0 && (ret = next_holder(vol, cx, &at, &ptr)) > 0)
			ret = damage_forgive(cx, damage_add(set, cx, ptr));
	}
	return ret < 0 ? ret : 0;
}

int datlife_files(struct volume *vol, struct context *cx, uint64_t cno,
		  const struct numlist *wanted, struct numlist *files)
{
	struct inodelist inodes = { .chunks = NULL };
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct root root;
	struct file file;
	bool whole;
	size_t i;
	int ret;

	if (!wanted->n)
		return 0;
	ret = root_open(&root, cx, vol, cno);
	if (!ret)
		ret = inodelist_fill(&root, cx, &inodes, &whole);
	for (i = 0; i < inodes.nchunks * INODELIST_CHUNK && !ret; i++) {
		const struct inodelist_chunk *chunk =
			inodes.chunks[i / INODELIST_CHUNK];
		uint64_t ino = chunk->first + i % INODELIST_CHUNK;

		if (!(chunk->kind[i % INODELIST_CHUNK] & INODELIST_THERE))
			continue;
		ret = context_cancelled(cx);
		if (!ret)
			ret = root_file(&root, cx, ino, &file);
		if (!ret && inode_has_bmap(&file.inode)) {
			ret = blockmap_cursor_open(&cur, cx, &file.map, 0,
						   true);
			while (!ret && (ret = blockmap_cursor_next(&cur, cx,
								   &item)) > 0)
				ret = numlist_has(wanted, item.ptr);
			blockmap_cursor_close(&cur);
		}
		/* A map that is broken has its own findings. */
		ret = ret > 0 ? numlist_add(files, cx, ino) :
				damage_forgive(cx, ret);
	}
	inodelist_fini(&inodes);
	return damage_forgive(cx, ret);
}

#define OWN UINT64_MAX	/* the map of the DAT, not one of its entries */

/* Entry NUMBER names a block: of these the first of the highest rank is
   right. */
static int claim_block(void *arg, struct context *cx, unsigned int worker,
		       uint64_t number, const struct nilfs_dat_entry *de)
{
	struct datlife_owners *o = arg;
	uint64_t start = le64_get(de->de_start), latest = o->c->vol->latest.cno;
	uint64_t blocknr = le64_get(de->de_blocknr);
	size_t i = search_lower_bound(o->shared.list, o->shared.n, blocknr);
	uint64_t rank = 1 + (start <= latest ? start : 0);

	(void)cx;
	(void)worker;
	if (sparse_test(&o->c->referenced, number))
		rank += latest + 1;
	if (number == OWN)
		rank = UINT64_MAX;
	if (number && i < o->shared.n && o->shared.list[i] == blocknr &&
	    rank > o->list[i].rank)
		o->list[i] = (struct datlife_owner){ number, rank };
	return 0;
}

static int claim_own(void *arg, struct context *cx,
		     const struct blockmap_item *item)
{
	const struct nilfs_dat_entry de = { .de_blocknr =
						    le64_make(item->ptr) };

	return claim_block(arg, cx, 0, OWN, &de);
}

int datlife_find_owners(struct datlife_owners *o, struct context *cx,
			const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	const struct datscan_visitor visitor = {
		.used = claim_block, .own_block = claim_own,
		.unreadable = check_skip_unreadable,
		.arg = o,
	};
	size_t i;
	int err = 0;

	o->c = c;
	for (i = 0; i < kind->n && !err; i++)
		if (kind->fixes[i].rule == RULE_DAT_DOUBLE)
			err = numlist_add(&o->shared, cx, kind->fixes[i].got);
	numlist_settle(&o->shared);
	if (err || !o->shared.n)
		return err;
	o->list = calloc(o->shared.n, sizeof(*o->list));
	if (!o->list)
		return fail(cx, -ENOMEM, "blocks that are claimed twice");
	return damage_forgive(cx, datscan_run_alone(c->vol, cx, &visitor));
}

bool datlife_is_others(const struct datlife_owners *o, uint64_t blocknr,
		       uint64_t number)
{
	const struct numlist *s = &o->shared;
	size_t i = search_lower_bound(s->list, s->n, blocknr);

	return i < s->n && s->list[i] == blocknr && o->list[i].rank &&
	       o->list[i].number != number;
}
