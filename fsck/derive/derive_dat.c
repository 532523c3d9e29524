// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deriving the DAT.
 *
 * Its map may be damaged, so each block is read at its newest listing. An entry
 * in use is correct if its position and first checkpoint agree with the newest
 * listing of its virtual block, and no pointer of a map contradicts its
 * lifetime. All other entries are set to their newest listing, at first without
 * an end, so that every tree can be read through the patched volume. Then each
 * entry gets the lifetime that follows from the checkpoints (datlife.h).
 *
 * An entry with an unreadable log is not changed, unless others name its block
 * (datlife_is_of_other_file()). An entry that no checkpoint has keeps its number as
 * long as a log in use lists it (claims.c). Bitmaps follow from the entries,
 * counts of free entries from the bitmaps.
 *
 * If no repair of the logs succeeds, the logs are trusted: a segment was written
 * again, and the blocks that only the DAT has there are lost.
 */
#include "fsck/derive/derived.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/dat.h"
#include "fsck/derive/datlife.h"
#include "vol/cptable.h"
#include "vol/sutable.h"
#include "vol/translate.h"

/* An entry that was set to its newest listing. */
struct doubt {
	struct listing listing;
	uint64_t end;		/* the former end; 0: not usable */
	bool was_freed;		/* according to the entry, not the bitmap */
	bool contradicted;	/* only its lifetime may be wrong */
	bool is_placed;		/* only its end may be wrong */
};

/* A block of the DAT: its present and its derived content. */
struct block {
	uint64_t blkoff, blocknr;
	char *old, *new;
};

struct derive {
	struct derived *d;
	struct check *c;
	struct volume *vol;
	const struct palloc *p;
	bool knows_used;		/* the segments in use are known */
	bool bits_doubted;		/* the bitmap of the group disagrees with its
					   count */
	struct sparse contradicted;	/* virtual blocks whose lifetimes pointers
					   contradict */
	struct listings own;		/* blocks of the DAT */
	struct listings band;		/* virtual blocks of a range */
	struct doubt *doubts;
	size_t ndoubts, doubt_room;
	struct block desc, bitmap, entries;
	struct datlife_owners owners;
	struct datlife_pointers pointers;
};

/* Whether L lacks logs of the segment of block BLOCKNR. */
static bool lacks_segment_logs(const struct derive *v, const struct listings *l,
			       uint64_t blocknr)
{
	return bitmap_test(&l->partial_segments,
			   geometry_segment_of(&v->vol->geo, blocknr));
}

/*
 * Reads block BLKOFF of the DAT: 1, or 0 for a hole; only the map shows that a
 * block was deleted. An unreadable block is zeros. The map is stale if a hole
 * is NEEDED and a log has the block.
 */
static int read_dat_block(struct derive *v, struct context *cx, struct block *b,
			  uint64_t blkoff, bool needed)
{
	const struct listing *l = listings_find(&v->own, blkoff);
	int ret = file_lookup(&v->vol->dat, cx, blkoff, &b->blocknr);
	bool mapped = ret > 0;

	b->blkoff = blkoff;
	if (damage_forgive(cx, ret) < 0)
		return ret;
	if (!ret)
		v->d->dat_stale |= needed && l;
	else if (l && !(mapped && lacks_segment_logs(v, &v->own, b->blocknr))) {
		v->d->dat_stale |= mapped && b->blocknr != l->blocknr;
		b->blocknr = l->blocknr;
		mapped = true;
	}
	ret = !mapped ? -ENOENT :
			dev_read(v->d->dev, cx, b->blocknr * v->p->block_size,
				 b->old, v->p->block_size);
	if (ret)
		memset(b->old, 0, v->p->block_size);
	memcpy(b->new, b->old, v->p->block_size);
	ret = damage_forgive(cx, ret);
	return ret ? ret : mapped;
}

/* B is not a block of the DAT: uses an older version, if one exists. */
static int read_older(const struct derive *v, struct context *cx,
		      struct block *b)
{
	const struct listing *l = listings_find(&v->own, b->blkoff);

	if (!l || l->blocknr == b->blocknr)
		return 0;
	return damage_forgive(cx, dev_read(v->d->dev, cx,
					   l->blocknr * v->p->block_size,
					   b->new, v->p->block_size));
}

static int set_block(struct derive *v, struct context *cx,
		     const struct block *b)
{
	const struct derived_block block = {
		.blocknr = b->blocknr, .ino = NILFS_DAT_INO,
		.blkoff = b->blkoff,
	};

	if (!memcmp(b->old, b->new, v->p->block_size))
		return 0;
	return derived_set(v->d, cx, &block, b->new, v->p->block_size);
}

/* Sets *L to the listing of virtual block NUMBER, or NULL; reads the logs if
   necessary. */
static int find_listing(struct derive *v, struct context *cx, uint64_t number,
			const struct listing **l)
{
	int err = 0;

	if (number >= v->band.end) {
		listings_fini(&v->band);
		v->band.from = number;
		v->band.end = UINT64_MAX;
		err = bitmap_init(&v->band.partial_segments, cx,
				  v->vol->geo.nsegments) ?:
		      listings_gather(&v->band, cx, v->c);
	}
	*l = err ? NULL : listings_find(&v->band, number);
	return err;
}

/* Whether the segment of BLOCKNR is known to be free. */
static bool is_unused(const struct derive *v, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&v->vol->geo, blocknr);

	return v->knows_used && !bitmap_test(&v->c->used_segments, segnum);
}

/*
 * Whether entry NUMBER, DE, is wrong, and not a log: 1, 0. A log lists the
 * block of the entry as another one. The log may be the wrong one if no entry
 * of the DAT agrees with it and L is in no segment in use, or if two logs in
 * use list the number.
 */
static int is_contradicted(struct derive *v, struct context *cx,
			   uint64_t number, const struct nilfs_dat_entry *de,
			   const struct listing *l)
{
	uint64_t blocknr = le64_get(de->de_blocknr);
	bool trusts = v->d->trusts_logs;
	struct nilfs_dat_entry other;
	struct segsum_block b;
	int ret;

	if (dat_is_unwritten(de) ||
	    dat_check(&v->vol->geo, de, v->vol->latest.cno) != RULE_OK ||
	    is_unused(v, blocknr))
		return 1;
	ret = listings_find_block(cx, v->c, blocknr, &b);
	if (ret < 0)
		return ret;
	/* An unreadable log may list the block, unless it belongs to another
	   entry. But a pointer to such an entry would lead to no block. */
	if (!ret)
		return !lacks_segment_logs(v, &v->band, blocknr) ||
		       (trusts && listings_has_log(v->c, cx, blocknr)) ||
		       (((l && l->is_used) ||
			 !sparse_test(&v->c->referenced, number)) &&
			datlife_is_of_other_file(&v->owners, blocknr, number));
	if (!b.is_virtual)
		return 1;
	if (b.vblocknr == number)
		return !l || blocknr == l->blocknr || !v->knows_used ||
		       is_unused(v, blocknr);
	if (trusts || (l && l->is_used && v->knows_used))
		return 1;
	/* Two logs and a pointer say the same. */
	if (l && l->is_used && sparse_test(&v->contradicted, number))
		return 1;
	/* No pointer needs the entry: the summary has a checksum. */
	if (!v->c->tree_broken && !sparse_test(&v->c->referenced, number))
		return 1;
	ret = translate_entry(v->vol, cx, b.vblocknr, &other);
	return ret ? damage_forgive(cx, ret) :
		     le64_get(other.de_blocknr) == blocknr;
}

/* Whether DE is free as nilfs_dat_commit_free()
   leaves it, or was never used. */
static bool is_free_form(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr) &&
	       le64_get(de->de_start) == le64_get(de->de_end) &&
	       le64_get(de->de_start) <= NILFS_CNO_MIN;
}

static void set_bitmap_bit(char *bitmap, uint32_t bit, bool used)
{
	uint8_t *byte = (uint8_t *)bitmap + bit / 8, mask = 1u << bit % 8;

	*byte = used ? *byte | mask : *byte & (uint8_t)~mask;
}

/* Makes DE a free entry, or if USED one that is not written yet, as
   nilfs_dat_commit_alloc() leaves it. */
static void make_blank(struct nilfs_dat_entry *de, bool used)
{
	de->de_blocknr = le64_make(0);
	de->de_start = le64_make(NILFS_CNO_MIN);
	de->de_end = le64_make(used ? NILFS_CNO_MAX : NILFS_CNO_MIN);
}

/* Whether DE, in use, agrees with listing L and the trees. */
static bool agrees_with_listing(const struct derive *v,
				const struct nilfs_dat_entry *de,
				const struct listing *l)
{
	uint64_t start = le64_get(de->de_start);

	return l && le64_get(de->de_blocknr) == l->blocknr &&
	       !sparse_test(&v->contradicted, l->number) &&
	       (!dat_is_current(de) || v->c->tree_broken || v->c->dat_broken ||
		!check_is_leaked(v->c, l->number)) &&
	       dat_check(&v->vol->geo, de, v->vol->latest.cno) == RULE_OK &&
	       (!l->cno || start == l->cno ||
		((l->ino == NILFS_CPFILE_INO || l->ino == NILFS_SUFILE_INO) &&
		 start && start < l->cno));
}

/*
 * Derives entry NUMBER, in DE, and its bit in *USED. The number is freed together
 * with the segment of its block, and the entry then keeps its content
 * (nilfs_palloc_freev()). The lifetime of a block that a log lists has no end at
 * first.
 */
static int derive_entry(struct derive *v, struct context *cx, uint64_t number,
			struct nilfs_dat_entry *de, bool *used)
{
	bool free_form = is_free_form(de), right, listed, placed, dated;
	bool needed = sparse_test(&v->c->referenced, number);
	uint64_t blocknr = le64_get(de->de_blocknr);
	const struct listing *l;
	int ret;

	/* Number 0 is reserved and never allocated. */
	*used |= !number;
	if (!number || (free_form && !*used && !needed && !v->bits_doubted))
		return 0;
	ret = find_listing(v, cx, number, &l);
	if (ret)
		return ret;
	listed = l && l->is_used;
	right = !free_form && agrees_with_listing(v, de, l);
	*used |= listed && (v->bits_doubted || (right && v->knows_used) ||
			    datlife_is_pointed(&v->pointers, l));
	if (!*used && needed) {
		/* The entry is of a former use if the segment is free. */
		if (!geometry_has_block(&v->vol->geo, blocknr) ||
		    is_unused(v, blocknr))
			make_blank(de, true);
		*used = true;
		return 0;
	}
	if (!*used || (right && listed))
		return 0;
	ret = free_form || right ? 1 : is_contradicted(v, cx, number, de, l);
	if (ret <= 0)
		return ret;
	if (!l) {
		v->d->lost += !free_form;
		*used = needed;
		make_blank(de, needed);
		return 0;
	}
	/* If the other fields of an entry are correct, its end may be too. */
	placed = blocknr == l->blocknr;
	dated = le64_get(de->de_start) == l->cno;
	v->d->entries++;
	v->d->ended += placed && dated;
	ret = array_push(
		cx, &v->doubts, &v->ndoubts, &v->doubt_room,
		(struct doubt){
			.listing = *l,
			.end = placed || dated ? le64_get(de->de_end) : 0,
			.was_freed =
				!l->is_used || v->bits_doubted ||
				(is_free_form(de) && le64_get(de->de_start)),
			.contradicted =
				sparse_test(&v->contradicted, l->number),
			.is_placed = placed && dated,
		});
	de->de_blocknr = le64_make(l->blocknr);
	de->de_start = le64_make(l->cno && l->cno <= v->vol->latest.cno ?
					 l->cno : NILFS_CNO_MIN);
	de->de_end = le64_make(NILFS_CNO_MAX);
	return ret;
}

/* Derives the block of entries from FIRST on. */
static int derive_entries(struct derive *v, struct context *cx, uint64_t first)
{
	struct block *b = &v->entries;
	size_t first_doubt = v->ndoubts, wrong = 0, n = 0, i;
	uint32_t first_bit = palloc_group_offset(v->p, first), bit;
	uint64_t blkoff = palloc_entry_blkoff(v->p, first);
	const struct listing *l = NULL;
	struct nilfs_dat_entry *de;
	struct palloc_block what;
	int there = read_dat_block(v, cx, b, blkoff, false), ret = 0;
	bool used;

	if (there < 0)
		return there;
	palloc_locate(v->p, blkoff, &what);
	for (i = 0; i < what.count && there; i++) {
		de = (void *)(b->new + i * v->p->entry_size);
		used = palloc_bit(v->bitmap.new, first_bit + (uint32_t)i);
		n += used;
		wrong += used &&
			 (is_free_form(de) ||
			  dat_check(&v->vol->geo, de, v->vol->latest.cno));
	}
	/* Most of the entries in use are impossible. */
	if (there && lacks_segment_logs(v, &v->own, b->blocknr) && 2 * wrong > n)
		ret = read_older(v, cx, b);
	for (i = 0; i < what.count && !ret; i++) {
		bit = first_bit + (uint32_t)i;
		used = palloc_bit(v->bitmap.new, bit);
		de = (void *)(b->new + i * v->p->entry_size);
		if (there) {
			de->de_rsv = le64_make(0);
			ret = derive_entry(v, cx, first + i, de, &used);
		} else if (used && !sparse_test(&v->c->referenced, first + i)) {
			/* No pointer leads there, so the entry is free if no
			   log in use lists it. */
			ret = find_listing(v, cx, first + i, &l);
			used = ret || (l && l->is_used);
		}
		if (!there && used)
			v->d->dat_stale |=
				listings_find(&v->own, blkoff) != NULL;
		set_bitmap_bit(v->bitmap.new, bit, used);
	}
	/* If most entries of the block were wrong, all
	   ends in it are ignored. */
	n = palloc_count_range((const uint8_t *)v->bitmap.new, first_bit,
			       first_bit + (uint32_t)what.count);
	for (wrong = 0, i = first_doubt; i < v->ndoubts; i++)
		wrong += !v->doubts[i].contradicted;
	for (i = first_doubt; wrong > n - wrong + 1 && i < v->ndoubts; i++)
		v->doubts[i].end = 0;
	if (!ret && there)
		ret = set_block(v, cx, b);
	return ret ? ret : context_cancelled(cx);
}

/* Sets the count of GROUP in the block of descriptors from the bitmap, which
   may be missing. */
static void derive_count_group(struct derive *v, uint64_t group, bool have_bitmap)
{
	struct nilfs_palloc_group_desc *gd =
		(void *)(v->desc.new + palloc_desc_offset(v->p, group));

	gd->pg_nfrees = le32_make(
		v->p->entries_per_group -
		(have_bitmap ? palloc_count(v->p, v->bitmap.new) : 0));
}

/* Derives GROUP, whose block of descriptors has been read. */
static int derive_group(struct derive *v, struct context *cx, uint64_t group)
{
	const struct nilfs_palloc_group_desc *gd =
		(const void *)(v->desc.new + palloc_desc_offset(v->p, group));
	uint32_t most = v->p->entries_per_group, i;
	uint32_t used = most - le32_get(gd->pg_nfrees);
	int there = read_dat_block(v, cx, &v->bitmap,
				   palloc_bitmap_blkoff(v->p, group), used != 0);
	int ret = there < 0 ? there : 0;

	if (there > 0) {
		v->bits_doubted = used != palloc_count(v->p, v->bitmap.new);
		if (v->bits_doubted && lacks_segment_logs(v, &v->own, v->bitmap.blocknr))
			ret = read_older(v, cx, &v->bitmap);
		for (i = 0; i < most && !ret; i += v->p->entries_per_block)
			ret = derive_entries(v, cx,
					     (group << v->p->group_bits) + i);
		if (!ret)
			ret = set_block(v, cx, &v->bitmap);
	}
	derive_count_group(v, group, there > 0);
	return ret;
}

/* Sets the lifetime SPAN of the entry of DOUBT, by the pointers to it in VOL.
   Frees the entry if no checkpoint has it and it did not look used by any. */
static int settle_entry(struct derive *v, struct context *cx,
			struct volume *vol, const struct doubt *doubt,
			const struct datlife_span *span)
{
	uint64_t number = doubt->listing.number;
	uint64_t group = palloc_group(v->p, number);
	uint64_t segnum =
		geometry_segment_of(&vol->geo, doubt->listing.blocknr);
	uint64_t at = doubt->listing.blocknr -
		      geometry_segment_start(&vol->geo, segnum);
	uint64_t limit, end = span->end;
	bool is_free = doubt->was_freed && span->start == span->end;
	struct nilfs_segment_usage_ext su;
	struct nilfs_dat_entry *de;
	int ret = 0;

	/* Not if the SUFILE has the segment in use, if it can be read. */
	limit = vol->latest.offset;
	if (is_free && segnum != vol->latest.segnum) {
		ret = sutable_read(vol, cx, segnum, &su);
		limit = !ret && segusage_is_dirty(&su.su) ?
				le32_get(su.su.su_nblocks) : 0;
		ret = damage_forgive(cx, ret);
	}
	is_free &= at >= limit;
	if (ret >= 0)
		ret = read_dat_block(v, cx, &v->entries,
				     palloc_entry_blkoff(v->p, number), false);
	if (ret <= 0)
		return ret;
	de = (void *)(v->entries.new + palloc_entry_offset(v->p, number));
	/* The former end if possible, which may have been a checkpoint that was
	   deleted since; else the smallest possible end. */
	if (span->held > span->end && span->held <= span->most)
		end = span->held;
	if (doubt->end >= end && doubt->end <= span->most)
		end = doubt->end;
	de->de_start = le64_make(span->start);
	de->de_end = le64_make(end);
	if (doubt->contradicted && end == doubt->end) {
		v->d->entries--;
		v->d->ended -= doubt->is_placed;
	}
	if (is_free)
		make_blank(de, false);
	ret = set_block(v, cx, &v->entries);
	if (ret || !is_free)
		return ret;
	ret = read_dat_block(v, cx, &v->bitmap, palloc_bitmap_blkoff(v->p, group),
			     false);
	if (ret <= 0)
		return ret;
	set_bitmap_bit(v->bitmap.new, palloc_group_offset(v->p, number), false);
	ret = set_block(v, cx, &v->bitmap) ?:
	      read_dat_block(v, cx, &v->desc,
			     palloc_desc_blkoff(v->p, group), false);
	if (ret <= 0)
		return ret;
	derive_count_group(v, group, true);
	return set_block(v, cx, &v->desc);
}

/* Sets the lifetime of each doubtful entry, by the present pointers to it. */
static int derive_lives(struct derive *v, struct context *cx)
{
	struct datlife life = { 0 };
	struct datlife_span span = { .start = 0 };
	struct volume *vol;
	size_t i;
	int ret = derived_seal(v->d, cx, v->c);

	if (ret)
		return ret;
	ret = volume_open_at(&vol, cx, v->d->dev, &v->vol->geo,
			     &v->vol->latest);
	if (ret)
		return damage_forgive(cx, ret);
	ret = cptable_list(vol, cx, false, &life.cnos, &life.n);
	life.vol = vol;
	life.known = !ret;
	ret = damage_forgive(cx, ret);
	for (i = 0; i < v->ndoubts && ret >= 0; i++) {
		ret = context_cancelled(cx) ?:
		      datlife_find(&life, cx, &v->doubts[i].listing,
				   &span);
		if (ret > 0)
			ret = settle_entry(v, cx, vol, &v->doubts[i], &span);
	}
	free(life.cnos);
	volume_close(vol);
	return ret < 0 ? ret : 0;
}

int derive_dat(struct derived *d, struct context *cx, struct check *c,
	       const struct plan *plan)
{
	struct derive v = {
		.d = d, .c = c, .vol = c->vol, .p = &c->vol->dat_palloc,
		.own.of_file = NILFS_DAT_INO,
	};
	struct block *blocks[] = { &v.desc, &v.bitmap, &v.entries };
	char *all = malloc(6ul * v.p->block_size);
	uint64_t group;
	size_t i;
	int ret = all ? 0 : fail(cx, -ENOMEM, "blocks of the DAT");

	d->dat_stale = false;
	for (i = 0; i < 3 && all; i++) {
		blocks[i]->old = all + 2 * i * v.p->block_size;
		blocks[i]->new = blocks[i]->old + v.p->block_size;
	}
	/* An older version of the SUFILE looks sound, but has other segments in
	   use. A wrong DAT may lead to one. */
	c->sufile_doubted = true;
	if (!ret) {
		ret = datlife_is_newest(c, cx, &c->vol->sufile);
		c->sufile_doubted = ret <= 0;
	}
	if (ret >= 0)
		ret = datlife_contradicted(&v.contradicted, cx, c, plan);
	if (!ret)
		ret = datlife_find_owners(&v.owners, cx, c, plan) ?:
		      datlife_find_pointers(&v.pointers, cx, plan);
	v.knows_used = c->used_segments.bits && check_knows_sufile(c);
	if (!ret)
		ret = bitmap_init(&v.own.partial_segments, cx,
				  v.vol->geo.nsegments) ?:
		      listings_gather(&v.own, cx, c);
	/* Groups are visited as long as descriptors exist; no block of
	   descriptors is ever deleted. */
	for (group = 0; !ret;) {
		ret = read_dat_block(&v, cx, &v.desc,
				     palloc_desc_blkoff(v.p, group), true);
		if (ret <= 0)
			break;
		for (i = 0, ret = 0; i < v.p->groups_per_desc && !ret; i++)
			ret = derive_group(&v, cx, group++);
		if (!ret)
			ret = set_block(&v, cx, &v.desc);
	}
	if (!ret && v.ndoubts)
		ret = derive_lives(&v, cx);
	if (!ret)
		ret = derived_seal(d, cx, c);
	free(all);
	free(v.doubts);
	free(v.owners.list);
	free(v.pointers.list);
	listings_fini(&v.own);
	sparse_fini(&v.contradicted);
	listings_fini(&v.band);
	c->sufile_doubted = false;
	return ret;
}
