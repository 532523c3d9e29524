// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of the map of the DAT.  Its entries are derived afterwards
 * (derive/derive_dat.c).
 *
 * Every block of the DAT is listed, with its place in the file, by the log that
 * wrote it, and the newest log is right.  So the blocks stay in place and get a
 * new map.  The logs do not record that a block was removed from the file
 * because none of its entries was in use.  The allocator shows that: a group
 * whose descriptor has all entries free has no bitmap, and entries without a
 * bit in the bitmap need no block.
 *
 * If all logs can be read and no block is missing, the DAT is complete.
 * Otherwise, if the user allows it, missing blocks of groups are filled with
 * entries without content and bitmaps with all bits set, from which the next
 * derivation restores them.  The same is done for blocks missing in a valid
 * map.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numlist.h"
#include "check/logs/listings.h"
#include "log/directwriter.h"

bool fix_dat_is_rebuilt(const struct finding *fix)
{
	const struct place *at = &fix->place;

	if (at->ino != NILFS_DAT_INO)
		return false;
	if (fix->rule == RULE_DEV_UNREADABLE)
		return at->kind == PLACE_MAP && at->level;
	return (at->kind == PLACE_MAP || at->kind == PLACE_INODE) &&
	       rule_info(fix->rule)->scope != RULE_SCOPE_ENTRY;
}

struct rebuild {
	struct fixer_job *job;
	struct metafile *m;
	const struct palloc *p;
	struct listings own;
	size_t adopted, filled; /* numbers of blocks and groups */
	struct numlist wrong;	/* groups of which only the counts are wrong */
	char *descs;			/* the current block of descriptors */
	bool have_descs;
	uint8_t *bitmap;		/* bitmap of the current group */
};

/*
 * Adopts block BLKOFF, and reads it to BUF unless that is NULL: 1, 0 if no log
 * lists it or it cannot be read.
 */
static int dat_take_block(struct rebuild *r, struct context *cx,
			  uint64_t blkoff, void *buf)
{
	const struct listing *l = listings_find(&r->own, blkoff);
	int err = l && buf ? volume_read_blocks(r->job->vol, cx, l->blocknr, 1,
						buf) :
			     0;

	if (err == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (err || !l)
		return err;
	r->adopted++;
	err = metafile_adopt(r->m, cx, blkoff, l->blocknr);
	return err ? err : 1;
}

/* The number of entries of a group in the block of its entry AT. */
static uint32_t entries_from(const struct palloc *p, uint32_t at)
{
	uint32_t n = p->entries_per_group - at;

	return n < p->entries_per_block ? n : p->entries_per_block;
}

/* Fills block BLKOFF if it is a hole: with its content from the logs, else with
   bytes WITH. */
static int dat_fill_block(struct rebuild *r, struct context *cx,
			  uint64_t blkoff, int with)
{
	const struct listing *l = listings_find(&r->own, blkoff);
	uint64_t ptr;
	void *data;
	int ret = metafile_lookup(r->m, cx, blkoff, &ptr);

	if (ret)
		return ret < 0 ? ret : 0;
	/* Not adopted, because the map may have that block at another offset. */
	ret = metafile_replace(r->m, cx, blkoff, &data);
	if (!ret && l)
		ret = volume_read_blocks(r->job->vol, cx, l->blocknr, 1, data);
	if ((!ret && !l) || ret == -EIO) {
		fail_clear(cx);
		memset(data, with, r->p->block_size);
		ret = 0;
	}
	return ret;
}

/* Fills the holes of GROUP: descriptor, bitmap, blocks of entries that this marks. */
static int fill_group(struct rebuild *r, struct context *cx, uint64_t group)
{
	const struct palloc *p = r->p;
	uint64_t bitmap = palloc_bitmap_blkoff(p, group);
	uint64_t first = group << p->group_bits;
	size_t i = listings_from(&r->own, bitmap);
	bool had_blocks = i < r->own.n;
	struct palloc_block what;
	const void *bits;
	uint32_t at, n;
	int ret;

	/* The group may have had blocks: a log lists one, or, if some logs
	   cannot be read, one of a later group. */
	if (had_blocks && !r->own.partial) {
		palloc_locate(p, r->own.items[i].number, &what);
		had_blocks = what.group == group && what.kind != PALLOC_DESC;
	}
	if (!had_blocks)
		return numlist_add(&r->wrong, cx, group);
	r->filled++;
	ret = dat_fill_block(r, cx, palloc_desc_blkoff(p, group), 0) ?:
	      dat_fill_block(r, cx, bitmap, 0xff);
	for (at = 0; ret >= 0 && at < p->entries_per_group; at += n) {
		n = entries_from(p, at);
		ret = metafile_look(r->m, cx, bitmap, &bits);
		if (ret > 0 && palloc_count_range(bits, at, at + n))
			ret = dat_fill_block(
				r, cx, palloc_entry_blkoff(p, first + at), 0);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Adopts the listed blocks of GROUP, and fills it if some are missing.  Blocks
 * of entries without a bit in the bitmap are not needed.
 */
static int take_group(struct rebuild *r, struct context *cx, uint64_t group)
{
	const struct palloc *p = r->p;
	struct nilfs_palloc_group_desc desc;
	uint32_t in_use = 0, used, covered = 0, at, n;
	uint64_t first = group << p->group_bits;
	int have, ret = 0;

	if (r->have_descs) {
		memcpy(&desc, r->descs + palloc_desc_offset(p, group),
		       sizeof(desc));
		in_use = p->entries_per_group - le32_get(desc.pg_nfrees);
		if (!in_use)
			return 0;
	}
	have = dat_take_block(r, cx, palloc_bitmap_blkoff(p, group), r->bitmap);
	if (have < 0)
		return have;
	for (at = 0; at < p->entries_per_group && ret >= 0; at += n) {
		n = entries_from(p, at);
		used = have ? palloc_count_range(r->bitmap, at, at + n) : n;
		if (!used)
			continue;
		ret = dat_take_block(r, cx, palloc_entry_blkoff(p, first + at),
				     NULL);
		covered += ret > 0 ? used : 0;
	}
	if (ret < 0)
		return ret;
	used = have ? palloc_count(p, r->bitmap) : 0;
	if (have ? r->have_descs && used == in_use && used == covered :
		   !r->have_descs && !covered)
		return 0;
	return fill_group(r, cx, group);
}

/*
 * Adopts all listed blocks, one block of descriptors after the other.  Without
 * --rebuild, an incomplete DAT is a failure, and nothing is written.
 */
static int make_map(struct rebuild *r, struct context *cx)
{
	const struct palloc *p = r->p;
	struct palloc_block what;
	uint64_t group, end = 0;
	size_t i;
	int ret = 0;

	r->descs = malloc(2ul * p->block_size);
	if (!r->descs)
		return fail(cx, -ENOMEM, "blocks of the DAT");
	r->bitmap = (uint8_t *)r->descs + p->block_size;
	for (i = 0; i < r->own.n && !ret; i++) {
		if (!palloc_has_block(p, r->own.items[i].number))
			break;
		palloc_locate(p, r->own.items[i].number, &what);
		if (what.group < end)
			continue;
		group = what.group - what.group % p->groups_per_desc;
		end = group + p->groups_per_desc;
		ret = dat_take_block(r, cx, palloc_desc_blkoff(p, group),
				     r->descs);
		r->have_descs = ret > 0;
		for (; group < end && ret >= 0; group++)
			ret = take_group(r, cx, group);
		ret = ret < 0 ? ret : context_cancelled(cx);
	}
	if (ret)
		return ret;
	if (!r->adopted)
		return fail(cx, -EUCLEAN, "no log lists a block of the DAT");
	if (!r->job->rebuild && (r->filled || r->wrong.n || r->own.partial))
		return fail(cx, -EUCLEAN, "not all of the DAT is in the logs");
	fixers_note(r->job,
		    "DAT: map rebuilt from %zu blocks listed in the logs",
		    r->adopted);
	if (r->own.partial)
		fixers_note(r->job, "DAT: some logs cannot be read, so some "
				    "blocks may be outdated");
	return 0;
}

int fix_dat_count_groups(struct metafile *m, struct context *cx,
			 const struct palloc *p, struct numlist *groups)
{
	uint64_t group, end, blkoff;
	struct nilfs_palloc_group_desc *desc;
	const void *bitmap;
	uint32_t nfrees;
	void *data;
	size_t i;
	int ret = 0;

	numlist_settle(groups);
	for (i = 0; i < groups->n && ret >= 0; i++) {
		group = groups->list[i];
		end = group + 1;
		blkoff = palloc_desc_blkoff(p, group);
		ret = metafile_look(m, cx, blkoff, &bitmap);
		if (!ret) {
			group -= group % p->groups_per_desc;
			end = group + p->groups_per_desc;
		}
		for (; group < end && ret >= 0; group++) {
			nfrees = p->entries_per_group;
			ret = metafile_look(m, cx,
					    palloc_bitmap_blkoff(p, group),
					    &bitmap);
			if (ret > 0)
				nfrees -= palloc_count(p, bitmap);
			if (ret >= 0)
				ret = metafile_change(m, cx, blkoff, &data,
						      NULL);
			if (ret)
				break;
			desc = (void *)((char *)data +
					palloc_desc_offset(p, group));
			desc->pg_nfrees = le32_make(nfrees);
		}
	}
	return ret < 0 ? ret : 0;
}

int fix_dat(struct fixer_job *job, struct context *cx, const struct finding *fixes,
	    size_t n)
{
	struct rebuild r = {
		.job = job,
		.m = directwriter_file(job->writer, NILFS_DAT_INO),
		.p = &job->vol->dat_palloc,
		.own.of_file = NILFS_DAT_INO,
	};
	struct numlist lacking = { .n = 0 };
	struct palloc_block what;
	bool remap = !n;
	size_t i;
	int err = 0;

	for (i = 0; i < n; i++)
		remap |= fix_dat_is_rebuilt(&fixes[i]);
	/* For a valid map: the groups with missing blocks. */
	for (i = 0; i < n && !err && !remap; i++) {
		if (!rule_has(fixes[i].rule, RULE_HIDES_GROUPS))
			continue;
		what.group = fixes[i].place.number;
		if (fixes[i].place.kind != PLACE_GROUP)
			palloc_locate(r.p, fixes[i].place.blkoff, &what);
		err = numlist_add(&lacking, cx, what.group);
	}
	numlist_settle(&lacking);
	if (!err && (remap || lacking.n))
		err = listings_gather(&r.own, cx, job->check);
	if (!err && remap)
		err = make_map(&r, cx);
	for (i = 0; i < lacking.n && !err; i++)
		err = fill_group(&r, cx, lacking.list[i]);
	if (!err)
		err = fix_dat_count_groups(r.m, cx, r.p, &r.wrong);
	if (!err && r.filled)
		fixers_note(job, "DAT: missing blocks of %zu %s filled",
			    r.filled, r.filled == 1 ? "group" : "groups");
	if (!err && (remap || lacking.n))
		err = directwriter_changed(job->writer, cx);
	free(r.descs);
	free(r.wrong.list);
	free(lacking.list);
	listings_fini(&r.own);
	return err;
}
