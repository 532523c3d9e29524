// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lifetime of a virtual block, from the checkpoints.
 *
 * The log that lists a block records its checkpoint, its file, and its place in
 * the file, so one lookup shows whether a checkpoint has the block. A file that
 * lost a block never gets it back, so a bisection of the checkpoints finds the
 * last one that has it. cpfile and SUFILE have only one state; their older
 * states are not visible.
 */
#include "fsck/derive/datlife.h"

#include <errno.h>

#include "base/search.h"
#include "check/damage.h"
#include "check/inodes/inodelist.h"
#include "check/vblocks.h"
#include "disk/inode.h"
#include "vol/root.h"
#include "vol/translate.h"

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
 * The pointer at AT, or if it does not exist the pointer to the block of the
 * ifile with the inode: 1, and AT is the place of that pointer's parent, 0 at
 * the end.
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
	/* Only the latest state of these files is used. */
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
	/* The block did not end before its parent in the last checkpoint that
	   has it. A parent without an end in the DAT is ignored. */
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

int datlife_is_newest(const struct check *c, struct context *cx,
		      struct file *file)
{
	struct listings l = { .of_file = file->ino };
	int ret = listings_gather(&l, cx, c) ?: 1;
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

/* Whether the log of the block of PTR lists it for another file than that of AT, or
   elsewhere in it: the pointer is wrong. 1, 0. */
static int is_misled(const struct check *c, struct context *cx,
		     const struct place *at, uint64_t ptr)
{
	struct segsum_block b;
	uint64_t blocknr;
	int ret = translate_vblock(c->vol, cx, ptr, &blocknr);

	if (!ret && geometry_has_block(&c->vol->geo, blocknr))
		ret = listings_find_block(cx, c, blocknr, &b);
	if (ret > 0)
		ret = b.vblocknr == ptr &&
		      (b.ino != at->ino || b.is_node != (at->level > 0) ||
		       (!b.is_node && b.blkoff != at->blkoff));
	return damage_forgive(cx, ret);
}

int datlife_contradicted(struct sparse *set, struct context *cx,
			 const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	const struct plan_kind *maps = &plan->kinds[RULE_FIX_MAPS];
	struct volume *vol = c->vol;
	int ret = sparse_init_ends(set, cx, vblocks_end(vol, cx));
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
		/* The logs may list other blocks at places of that map. */
		for (j = 0; j < maps->n; j++)
			if (maps->fixes[j].rule == RULE_BMAP_PLACE &&
			    maps->fixes[j].place.cno == at.cno &&
			    maps->fixes[j].place.ino == at.ino)
				break;
		if (j < maps->n)
			continue;
		ret = damage_forgive(cx, datlife_pointer(vol, cx, &at, &ptr));
		if (ret > 0)
			ret = is_misled(c, cx, &at, ptr);
		if (ret > 0)
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
	struct blockmap_item item;
	struct root root;
	struct file file;
	bool whole;
	size_t i;
	int ret;

	if (!wanted->n)
		return 0;
	ret = root_open(&root, cx, vol, cno) ?:
	      inodelist_fill(&root, cx, &inodes, &whole);
	for (i = 0; i < inodes.nchunks * INODELIST_CHUNK && !ret; i++) {
		const struct inodelist_chunk *chunk =
			inodes.chunks[i / INODELIST_CHUNK];
		uint64_t ino = chunk->first + i % INODELIST_CHUNK;

		if (!(chunk->kind[i % INODELIST_CHUNK] & INODELIST_EXISTS))
			continue;
		ret = context_cancelled(cx) ?:
		      root_file(&root, cx, ino, &file);
		if (!ret && inode_has_bmap(&file.inode))
			ret = blockmap_find_pointer(&file.map, cx, wanted->list,
						    wanted->n, true, &item);
		/* A broken map has its own findings. */
		ret = ret > 0 ? numlist_add(files, cx, ino) :
				damage_forgive(cx, ret);
	}
	inodelist_fini(&inodes);
	return damage_forgive(cx, ret);
}

int datlife_find_owners(struct datlife_owners *o, struct context *cx,
			const struct check *c, const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	uint64_t start, latest = c->vol->latest.cno;
	struct datlife_owner one, *last;
	struct nilfs_dat_entry de;
	size_t i;
	int err = 0;

	/*
	 * A finding has the first entry that names the block, 0 for the DAT
	 * itself, and another one. The first entry of the highest rank is the
	 * owner.
	 */
	for (i = 0; i < 2 * kind->n && !err; i++) {
		const struct finding *fix = &kind->fixes[i / 2];

		if (fix->rule != RULE_DAT_DOUBLE)
			continue;
		one = (struct datlife_owner){
			.blocknr = fix->got, .rank = UINT64_MAX,
			.number = i % 2 ? fix->place.number : fix->want,
		};
		if (one.number) {
			err = translate_entry(c->vol, cx, one.number, &de);
			if (err) {
				err = damage_forgive(cx, err);
				continue;
			}
			start = le64_get(de.de_start);
			one.rank = 1 + (start <= latest ? start : 0);
			if (sparse_test(&c->referenced, one.number))
				one.rank += latest + 1;
		}
		last = o->n ? &o->list[o->n - 1] : NULL;
		if (!last || last->blocknr != one.blocknr)
			err = array_push(cx, &o->list, &o->n, &o->room, one);
		else if (one.rank > last->rank)
			*last = one;
	}
	sort_in_place(o->list, o->n, sizeof(*o->list), sort_compare_number);
	return err;
}

bool datlife_is_of_other_file(const struct datlife_owners *o, uint64_t blocknr,
			      uint64_t number)
{
	size_t i = search_number(o->list, o->n, sizeof(*o->list), blocknr);

	return i < o->n && o->list[i].blocknr == blocknr &&
	       o->list[i].number != number;
}

int datlife_find_pointers(struct datlife_pointers *p, struct context *cx,
			  const struct plan *plan)
{
	const struct plan_kind *kind = &plan->kinds[RULE_FIX_DAT];
	size_t i;
	int err = 0;

	for (i = 0; i < kind->n && !err; i++) {
		const struct finding *fix = &kind->fixes[i];
		struct datlife_pointer one = {
			fix->got, fix->place.ino, fix->place.blkoff,
		};

		if (fix->rule == RULE_BMAP_VBLOCK_FREE && !fix->place.level)
			err = array_push(cx, &p->list, &p->n, &p->room, one);
	}
	sort_in_place(p->list, p->n, sizeof(*p->list), sort_compare_number);
	return err;
}

bool datlife_is_pointed(const struct datlife_pointers *p,
			const struct listing *l)
{
	size_t i = search_number(p->list, p->n, sizeof(*p->list), l->number);

	return i < p->n && p->list[i].number == l->number && !l->is_node &&
	       p->list[i].ino == l->ino && p->list[i].blkoff == l->blkoff;
}
