// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deriving the DAT.
 *
 * Its map may be damaged, so each block is read at its newest listing; unless the
 * map leads to a segment with unreadable logs: then that listing is older, and
 * its content is the fallback if the newest one is invalid.
 *
 * An entry in use is right if the newest listing of its virtual block is at the
 * position in the entry, and was written with the checkpoint in which the
 * entry's life begins, and no pointer of a map contradicts its life.  All others
 * are set to their newest listing and live without an end at first, so that every
 * tree can be read through the patched volume.  Then each of them gets the life
 * that follows from the checkpoints (datlife.h).
 *
 * An entry that no checkpoint has keeps its number for as long as a log in use
 * lists it: a cleaner frees it together with the segment (claims.c).  An entry
 * whose log cannot be read is not changed.  Bitmaps follow from the entries,
 * counts of free entries from the bitmaps.
 */
#include "fsck/derive/derived.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/damage.h"
#include "check/logs/lifelogs.h"
#include "check/logs/listings.h"
#include "disk/dat.h"
#include "fsck/derive/datlife.h"
#include "vol/sutable.h"
#include "vol/translate.h"

/* An entry that was set to its newest listing. */
struct doubt {
	struct listing listing;
	uint64_t end;		/* that it had; 0: of no use */
	bool was_freed;		/* as its content says, not the bitmap */
	bool contradicted;	/* no more than its life may be wrong */
	bool is_placed;		/* no more than its end is */
};

struct derive {
	struct derived *d;
	struct check *c;
	struct volume *vol;
	const struct palloc *p;
	uint32_t block_size;
	bool knows_used;		/* which segments are in use */
	bool bits_doubted;		/* of the group: not as many as counted */
	struct sparse contradicted;	/* by pointers: their lives */
	struct listings own;		/* blocks of the DAT */
	struct listings band;		/* virtual blocks below BAND_END */
	uint64_t band_end;
	struct doubt *doubts;
	size_t ndoubts, doubt_room;
	/* Buffers of a block each, as read and as derived. */
	char *desc, *bitmap, *entries, *new_desc, *new_bitmap, *new_entries;
};

/* Whether L lacks logs of the segment of block BLOCKNR. */
static bool is_unread(const struct derive *v, const struct listings *l,
		      uint64_t blocknr)
{
	return bitmap_test(&l->partial_segments,
			   geometry_segment_of(&v->vol->geo, blocknr));
}

/*
 * Reads block BLKOFF of the DAT, which is at *BLOCKNR, into BUF: 1, also where
 * it cannot be read and BUF is zeros; 0 for a hole, as only the map shows that a
 * block was deleted.
 */
static int read_block(struct derive *v, struct context *cx, uint64_t blkoff,
		      uint64_t *blocknr, char *buf)
{
	const struct listing *l = listings_find(&v->own, blkoff);
	int ret = file_lookup(&v->vol->dat, cx, blkoff, blocknr);
	bool mapped = ret > 0;

	if (damage_forgive(cx, ret) < 0)
		return ret;
	if (ret && l && !(mapped && is_unread(v, &v->own, *blocknr))) {
		v->d->dat_stale |= mapped && *blocknr != l->blocknr;
		*blocknr = l->blocknr;
		mapped = true;
	}
	ret = !mapped ? -ENOENT :
	      dev_read(v->d->dev, cx, *blocknr * v->block_size, buf,
		       v->block_size);
	if (ret)
		memset(buf, 0, v->block_size);
	ret = damage_forgive(cx, ret);
	return ret ? ret : mapped;
}

/* Block BLKOFF is a hole, and is needed: the map is stale if a log has it. */
static void note_lack(struct derive *v, uint64_t blkoff)
{
	v->d->dat_stale |= listings_find(&v->own, blkoff) != NULL;
}

/*
 * Block BLKOFF, at BLOCKNR, is nothing of the DAT: puts what was there before
 * into BUF.  1, 0 where there is no older version.
 */
static int read_older(const struct derive *v, struct context *cx,
		      uint64_t blkoff, uint64_t blocknr, char *buf)
{
	const struct listing *l = listings_find(&v->own, blkoff);
	int err;

	if (!l || l->blocknr == blocknr)
		return 0;
	err = dev_read(v->d->dev, cx, l->blocknr * v->block_size, buf,
		       v->block_size);
	return err ? damage_forgive(cx, err) : 1;
}

static int set_block(struct derive *v, struct context *cx, uint64_t blkoff,
		     uint64_t blocknr, const char *content)
{
	const struct derived_block block = {
		.blocknr = blocknr, .ino = NILFS_DAT_INO, .blkoff = blkoff,
	};

	return derived_set(v->d, cx, &block, content, v->block_size);
}

/* The listing of virtual block NUMBER in *L or NULL; reads the logs for it. */
static int find_listing(struct derive *v, struct context *cx, uint64_t number,
			const struct listing **l)
{
	int err = 0;

	if (number >= v->band_end) {
		listings_fini(&v->band);
		v->band_end = UINT64_MAX;
		err = bitmap_init(&v->band.partial_segments, cx,
				  v->vol->geo.nsegments);
		if (!err)
			err = listings_of_range(&v->band, cx, v->c, number,
						&v->band_end);
	}
	*l = err ? NULL : listings_find(&v->band, number);
	return err;
}

/* Whether DE, in use, is what listing L makes of it, and the trees. */
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

/* Whether the segment of BLOCKNR is known to be free. */
static bool is_unused(const struct derive *v, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&v->vol->geo, blocknr);

	return v->knows_used && !bitmap_test(&v->c->used_segments, segnum);
}

/*
 * Whether entry NUMBER, DE, is wrong and not a log: 1, 0.  The block that it
 * names is something else by its log.  If no entry of the DAT agrees with that
 * log, and L is in no segment in use, the log may as well be what is wrong; if
 * two logs in use list the number, either.
 */
static int is_contradicted(struct derive *v, struct context *cx,
			   uint64_t number, const struct nilfs_dat_entry *de,
			   const struct listing *l)
{
	uint64_t blocknr = le64_get(de->de_blocknr);
	struct nilfs_dat_entry other;
	struct segsum_block b;
	int ret;

	if (dat_is_unwritten(de) ||
	    dat_check(&v->vol->geo, de, v->vol->latest.cno) != RULE_OK ||
	    is_unused(v, blocknr))
		return 1;
	ret = lifelogs_find_block(cx, v->c, blocknr, &b, NULL);
	if (ret < 0)
		return ret;
	/* A log that cannot be read may list it. */
	if (!ret)
		return !is_unread(v, &v->band, blocknr);
	if (!b.is_virtual)
		return 1;
	if (b.vblocknr == number)
		return !l || blocknr == l->blocknr || !v->knows_used ||
		       is_unused(v, blocknr);
	if (l && l->is_used && v->knows_used)
		return 1;
	ret = translate_entry(v->vol, cx, b.vblocknr, &other);
	return ret ? damage_forgive(cx, ret) :
		     le64_get(other.de_blocknr) == blocknr;
}

/* Free as nilfs_dat_commit_free() leaves it, or never used. */
static bool is_free_form(const struct nilfs_dat_entry *de)
{
	return !le64_get(de->de_blocknr) &&
	       le64_get(de->de_start) == le64_get(de->de_end) &&
	       le64_get(de->de_start) <= NILFS_CNO_MIN;
}

static void set_bit(char *bitmap, uint32_t bit, bool used)
{
	uint8_t *byte = (uint8_t *)bitmap + bit / 8, mask = 1u << bit % 8;

	*byte = used ? *byte | mask : *byte & (uint8_t)~mask;
}

/* Free, or USED and not written yet, as nilfs_dat_commit_alloc() leaves it. */
static void make_blank(struct nilfs_dat_entry *de, bool used)
{
	de->de_blocknr = le64_make(0);
	de->de_start = le64_make(NILFS_CNO_MIN);
	de->de_end = le64_make(used ? NILFS_CNO_MAX : NILFS_CNO_MIN);
}

/* Sets DE to listing L, to live without an end for now. */
static int doubt_entry(struct derive *v, struct context *cx,
		       const struct listing *l, struct nilfs_dat_entry *de)
{
	/* The end of an entry that is right for the rest may be right, too. */
	bool placed = le64_get(de->de_blocknr) == l->blocknr;
	bool dated = le64_get(de->de_start) == l->cno;

	if (array_reserve(cx, &v->doubts, &v->doubt_room, v->ndoubts + 1))
		return -ENOMEM;
	v->doubts[v->ndoubts++] = (struct doubt){
		.listing = *l,
		.end = placed || dated ? le64_get(de->de_end) : 0,
		.was_freed = !l->is_used || v->bits_doubted ||
			     (is_free_form(de) && le64_get(de->de_start)),
		.contradicted = sparse_test(&v->contradicted, l->number),
		.is_placed = placed && dated,
	};
	de->de_blocknr = le64_make(l->blocknr);
	de->de_start = le64_make(l->cno && l->cno <= v->vol->latest.cno ?
					 l->cno : NILFS_CNO_MIN);
	de->de_end = le64_make(NILFS_CNO_MAX);
	v->d->entries++;
	v->d->ended += placed && dated;
	return 0;
}

/*
 * Entry NUMBER is DE, and its bit is USED: what they must be.  A number is
 * free once its segment is, and then the entry keeps what it said
 * (nilfs_palloc_freev()).
 */
static int derive_entry(struct derive *v, struct context *cx, uint64_t number,
			struct nilfs_dat_entry *de, bool *used)
{
	const struct listing *l;
	bool free_form = is_free_form(de), right, listed;
	bool needed = sparse_test(&v->c->referenced, number);
	uint64_t blocknr;
	int err;

	/* Number 0 means none, and is never given out. */
	*used |= !number;
	if (!number || (free_form && !*used && !needed && !v->bits_doubted))
		return 0;
	err = find_listing(v, cx, number, &l);
	if (err)
		return err;
	listed = l && l->is_used;
	right = !free_form && agrees_with_listing(v, de, l);
	*used |= listed && (v->bits_doubted || (right && v->knows_used));
	if (!*used && needed) {
		/* What it says is of a former life if the segment is free. */
		blocknr = le64_get(de->de_blocknr);
		if (!geometry_has_block(&v->vol->geo, blocknr) ||
		    is_unused(v, blocknr))
			make_blank(de, true);
		*used = true;
		return 0;
	}
	if (!*used || (right && listed))
		return 0;
	if (!free_form && !right) {
		err = is_contradicted(v, cx, number, de, l);
		if (err <= 0)
			return err;
	}
	if (l)
		return doubt_entry(v, cx, l, de);
	v->d->lost += !free_form;
	*used = needed;
	make_blank(de, needed);
	return 0;
}

/* Whether most of COUNT entries from FIRST on that are in use cannot be. */
static bool are_garbage(const struct derive *v, uint64_t first, uint32_t count)
{
	uint32_t bit = palloc_group_offset(v->p, first);
	const struct nilfs_dat_entry *de;
	uint32_t i, used = 0, wrong = 0;

	for (i = 0; i < count; i++) {
		de = (const void *)(v->entries + (size_t)i * v->p->entry_size);
		used += palloc_bit(v->bitmap, bit + i);
		wrong += palloc_bit(v->bitmap, bit + i) &&
			 (is_free_form(de) ||
			  dat_check(&v->vol->geo, de, v->vol->latest.cno));
	}
	return 2 * wrong > used;
}

/* No block of COUNT entries is there from FIRST on: those to which no pointer
   leads, and which no log in use lists, are free. */
static int derive_missing(struct derive *v, struct context *cx, uint64_t first,
			  uint32_t count)
{
	uint32_t bit = palloc_group_offset(v->p, first), i;
	const struct listing *l = NULL;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		bool known = sparse_test(&v->c->referenced, first + i);

		if (!palloc_bit(v->bitmap, bit + i))
			continue;
		if (!known) {
			err = find_listing(v, cx, first + i, &l);
			known = l && l->is_used;
		}
		if (known)
			note_lack(v, palloc_entry_blkoff(v->p, first));
		else if (!err)
			set_bit(v->new_bitmap, bit + i, false);
	}
	return err;
}

/* The block of entries from FIRST on. */
static int derive_entries(struct derive *v, struct context *cx, uint64_t first)
{
	size_t first_doubt = v->ndoubts, wrong = 0, n;
	uint32_t first_bit = palloc_group_offset(v->p, first), bit;
	uint64_t blkoff = palloc_entry_blkoff(v->p, first), blocknr, i;
	struct palloc_block what;
	int ret = read_block(v, cx, blkoff, &blocknr, v->entries);

	palloc_locate(v->p, blkoff, &what);
	if (!ret)
		return derive_missing(v, cx, first, (uint32_t)what.count);
	if (ret < 0)
		return ret;
	memcpy(v->new_entries, v->entries, v->block_size);
	if (is_unread(v, &v->own, blocknr) && are_garbage(v, first, what.count))
		ret = read_older(v, cx, blkoff, blocknr, v->new_entries);
	for (i = 0, ret = ret < 0 ? ret : 0; i < what.count && !ret; i++) {
		struct nilfs_dat_entry *de = (struct nilfs_dat_entry *)(
			v->new_entries + i * v->p->entry_size);
		bool used;

		bit = first_bit + (uint32_t)i;
		used = palloc_bit(v->bitmap, bit);
		de->de_rsv = le64_make(0);
		ret = derive_entry(v, cx, first + i, de, &used);
		set_bit(v->new_bitmap, bit, used);
	}
	/* Where most entries of the block were wrong, no end in it counts. */
	n = palloc_count_range((const uint8_t *)v->new_bitmap, first_bit,
			       first_bit + (uint32_t)what.count);
	for (i = first_doubt; i < v->ndoubts; i++)
		wrong += !v->doubts[i].contradicted;
	for (i = first_doubt; wrong > n - wrong + 1 && i < v->ndoubts; i++)
		v->doubts[i].end = 0;
	if (!ret && memcmp(v->entries, v->new_entries, v->block_size))
		ret = set_block(v, cx, blkoff, blocknr, v->new_entries);
	return ret ? ret : context_cancelled(cx);
}

static void count_group(struct derive *v, uint64_t group, char *desc,
			const char *bitmap)
{
	struct nilfs_palloc_group_desc *gd = (struct nilfs_palloc_group_desc *)(
		desc + palloc_desc_offset(v->p, group));

	gd->pg_nfrees = le32_make(v->p->entries_per_group -
				  (bitmap ? palloc_count(v->p, bitmap) : 0));
}

static int derive_group(struct derive *v, struct context *cx, uint64_t group)
{
	const struct nilfs_palloc_group_desc *gd = (const void *)(
		v->desc + palloc_desc_offset(v->p, group));
	uint32_t nfrees = le32_get(gd->pg_nfrees), i;
	uint64_t blkoff = palloc_bitmap_blkoff(v->p, group), blocknr;
	uint64_t first = group << v->p->group_bits;
	int ret = read_block(v, cx, blkoff, &blocknr, v->bitmap);
	int older = 0;

	if (!ret && nfrees != v->p->entries_per_group)
		note_lack(v, blkoff);
	if (ret <= 0) {
		count_group(v, group, v->new_desc, NULL);
		return ret;
	}
	v->bits_doubted = nfrees != v->p->entries_per_group -
					    palloc_count(v->p, v->bitmap);
	if (v->bits_doubted && is_unread(v, &v->own, blocknr))
		older = read_older(v, cx, blkoff, blocknr, v->bitmap);
	if (older < 0)
		return older;
	memcpy(v->new_bitmap, v->bitmap, v->block_size);
	for (i = 0, ret = 0; i < v->p->entries_per_group && !ret;
	     i += v->p->entries_per_block)
		ret = derive_entries(v, cx, first + i);
	if (!ret && (older ||
		     memcmp(v->bitmap, v->new_bitmap, v->block_size)))
		ret = set_block(v, cx, blkoff, blocknr, v->new_bitmap);
	count_group(v, group, v->new_desc, v->new_bitmap);
	return ret;
}

/* Places, group by group, for as long as there are descriptors. */
static int derive_places(struct derive *v, struct context *cx)
{
	uint64_t group = 0, blkoff, blocknr;
	uint32_t i;
	int ret;

	for (;;) {
		blkoff = palloc_desc_blkoff(v->p, group);
		ret = read_block(v, cx, blkoff, &blocknr, v->desc);
		/* A block of descriptors is never deleted. */
		if (!ret)
			note_lack(v, blkoff);
		if (ret <= 0)
			return ret;
		memcpy(v->new_desc, v->desc, v->block_size);
		for (i = 0, ret = 0; i < v->p->groups_per_desc && !ret; i++)
			ret = derive_group(v, cx, group + i);
		if (!ret && memcmp(v->desc, v->new_desc, v->block_size))
			ret = set_block(v, cx, blkoff, blocknr, v->new_desc);
		if (ret)
			return ret;
		group += v->p->groups_per_desc;
	}
}

/* Whether BLOCKNR is in use by the SUFILE of VOL, if that can be read: 1, 0. */
static int is_kept(struct volume *vol, struct context *cx, uint64_t blocknr)
{
	uint64_t segnum = geometry_segment_of(&vol->geo, blocknr);
	uint64_t at = blocknr - geometry_segment_start(&vol->geo, segnum);
	struct nilfs_segment_usage_ext su;
	int err;

	if (segnum == vol->latest.segnum)
		return at < vol->latest.offset;
	err = sutable_read(vol, cx, segnum, &su);
	if (err)
		return damage_forgive(cx, err);
	return segusage_is_dirty(&su.su) && at < le32_get(su.su.su_nblocks);
}

/* Gives the entry of DOUBT its life SPAN, by what leads to it in VOL; or frees
   it, if no checkpoint has it and it did not look as if any had. */
static int settle_entry(struct derive *v, struct context *cx,
			struct volume *vol, const struct doubt *doubt,
			const struct datlife_span *span)
{
	uint64_t number = doubt->listing.number, blocknr;
	uint64_t group = palloc_group(v->p, number);
	uint64_t blkoff = palloc_entry_blkoff(v->p, number);
	bool is_free = doubt->was_freed && span->start == span->end;
	struct nilfs_dat_entry *de;
	int ret = is_free ? is_kept(vol, cx, doubt->listing.blocknr) : 0;

	is_free &= !ret;
	if (ret >= 0)
		ret = read_block(v, cx, blkoff, &blocknr, v->entries);
	if (ret <= 0)
		return ret;
	de = (struct nilfs_dat_entry *)(v->entries +
					palloc_entry_offset(v->p, number));
	de->de_start = le64_make(span->start);
	de->de_end = le64_make(datlife_end(span, doubt->end));
	if (doubt->contradicted && le64_get(de->de_end) == doubt->end) {
		v->d->entries--;
		v->d->ended -= doubt->is_placed;
	}
	if (is_free)
		make_blank(de, false);
	ret = set_block(v, cx, blkoff, blocknr, v->entries);
	if (ret || !is_free)
		return ret;
	blkoff = palloc_bitmap_blkoff(v->p, group);
	ret = read_block(v, cx, blkoff, &blocknr, v->bitmap);
	if (ret <= 0)
		return ret;
	set_bit(v->bitmap, palloc_group_offset(v->p, number), false);
	ret = set_block(v, cx, blkoff, blocknr, v->bitmap);
	blkoff = palloc_desc_blkoff(v->p, group);
	if (!ret)
		ret = read_block(v, cx, blkoff, &blocknr, v->desc);
	if (ret <= 0)
		return ret;
	count_group(v, group, v->desc, v->bitmap);
	return set_block(v, cx, blkoff, blocknr, v->desc);
}

/* Gives each doubtful entry its life, by what leads to it now. */
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
	ret = datlife_init(&life, cx, vol);
	for (i = 0; i < v->ndoubts && ret >= 0; i++) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = datlife_find(&life, cx, &v->doubts[i].listing,
					   &span);
		if (ret > 0)
			ret = settle_entry(v, cx, vol, &v->doubts[i], &span);
	}
	datlife_fini(&life);
	volume_close(vol);
	return ret < 0 ? ret : 0;
}

int derive_dat(struct derived *d, struct context *cx, struct check *c,
	       const struct plan *plan)
{
	struct derive v = {
		.d = d, .c = c, .vol = c->vol, .p = &c->vol->dat_palloc,
		.block_size = c->vol->geo.block_size,
	};
	char **buffers[] = { &v.desc, &v.bitmap, &v.entries, &v.new_desc,
			     &v.new_bitmap, &v.new_entries };
	size_t i, n = sizeof(buffers) / sizeof(buffers[0]);
	char *all = malloc(n * v.block_size);
	int ret = all ? 0 : fail(cx, -ENOMEM, "blocks of the DAT");

	d->dat_stale = false;
	for (i = 0; i < n && all; i++)
		*buffers[i] = all + i * v.block_size;
	/* An older version of the SUFILE looks sound, and has other segments in
	   use.  A DAT that is wrong may lead to one. */
	c->sufile_doubted = true;
	if (!ret) {
		ret = datlife_is_newest(c, cx, &c->vol->sufile);
		c->sufile_doubted = ret <= 0;
	}
	if (ret >= 0)
		ret = datlife_contradicted(&v.contradicted, cx, c, plan);
	v.knows_used = c->used_segments.bits && check_knows_sufile(c);
	if (!ret)
		ret = bitmap_init(&v.own.partial_segments, cx,
				  v.vol->geo.nsegments);
	if (!ret)
		ret = listings_of_file(&v.own, cx, c, NILFS_DAT_INO);
	if (!ret)
		ret = derive_places(&v, cx);
	if (!ret && v.ndoubts)
		ret = derive_lives(&v, cx);
	if (!ret)
		ret = derived_seal(d, cx, c);
	free(all);
	free(v.doubts);
	listings_fini(&v.own);
	sparse_fini(&v.contradicted);
	listings_fini(&v.band);
	c->sufile_doubted = false;
	return ret;
}
