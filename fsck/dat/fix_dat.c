// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The DAT found again without its map.  Whatever else is wrong with it, its
 * entries, a derivation puts right (derive/derive_dat.c).
 *
 * Every block of the DAT is listed, with its place in the file, by the log it
 * was written to, and the newest log is right: a block of the DAT that is
 * moved or changed is written to a newer one.  So the blocks stay where they
 * are and get a new map.
 *
 * What the logs cannot say is that a block was taken out of the file.  That
 * happens to blocks of which nothing is in use any more, and the allocator
 * shows it: a group whose descriptor has all entries free has no bitmap, and
 * what a bitmap has no bit for has no block.
 *
 * If all logs can be read and no block is missing, the DAT is what it was.  If
 * not, and the user wants that, what groups lack is filled with blocks from
 * which the next derivation makes what they were: entries that say nothing, and
 * bitmaps in which all is in use.  So is what a sound map lacks.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check/logs/listings.h"
#include "fsck/dat/groupfix.h"
#include "log/repairwriter.h"

bool fix_dat_is_rebuilt(const struct fix *fix)
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
	struct groupfix g;		/* those that are not whole */
	struct listings own;
	bool tries;			/* changes nothing yet */
	size_t adopted;
	char *descs;			/* the current block of descriptors */
	bool have_descs;
	uint8_t *bitmap;		/* of the current group */
};

/* Reads what L lists: 1, 0 where it cannot be read. */
static int read_block(struct rebuild *r, struct context *cx,
		      const struct listing *l, void *buf)
{
	int err = volume_read_blocks(r->job->vol, cx, l->blocknr, 1, buf);

	if (err != -EIO)
		return err ? err : 1;
	fail_clear(cx);
	return 0;
}

/* Adopts block BLKOFF, and reads it to BUF unless that is NULL: 1, 0 where no
   log lists it, or it cannot be read. */
static int take_block(struct rebuild *r, struct context *cx, uint64_t blkoff,
		      void *buf)
{
	const struct listing *l = listings_find(&r->own, blkoff);
	int ret = l && buf ? read_block(r, cx, l, buf) : l != NULL;

	if (ret <= 0)
		return ret;
	r->adopted++;
	ret = r->tries ? 0 : metafile_adopt(r->g.m, cx, blkoff, l->blocknr);
	return ret ? ret : 1;
}

/*
 * The blocks of entries of GROUP, of which a bitmap without the bits for it
 * needs none: how many entries they have that are needed, or a failure.
 */
static int64_t take_entries(struct rebuild *r, struct context *cx,
			    uint64_t group, bool have_bitmap)
{
	const struct palloc *p = r->g.p;
	uint32_t at, n, used;
	int64_t covered = 0;
	uint64_t first;
	int ret = 0;

	for (at = 0; at < p->entries_per_group && ret >= 0; at += n) {
		n = p->entries_per_group - at;
		if (n > p->entries_per_block)
			n = p->entries_per_block;
		used = have_bitmap ?
			       palloc_count_range(r->bitmap, at, at + n) : n;
		if (!used)
			continue;
		first = (group << p->group_bits) + at;
		ret = take_block(r, cx, palloc_entry_blkoff(p, first), NULL);
		covered += ret > 0 ? used : 0;
	}
	return ret < 0 ? ret : covered;
}

/* What is listed of GROUP; notes whether that is all of it. */
static int take_group(struct rebuild *r, struct context *cx, uint64_t group)
{
	const struct palloc *p = r->g.p;
	struct nilfs_palloc_group_desc desc;
	uint32_t in_use = 0, used;
	int64_t covered;
	int have;

	if (r->have_descs) {
		memcpy(&desc, r->descs + palloc_desc_offset(p, group),
		       sizeof(desc));
		in_use = p->entries_per_group - le32_get(desc.pg_nfrees);
		if (!in_use)
			return 0;
	}
	have = take_block(r, cx, palloc_bitmap_blkoff(p, group), r->bitmap);
	if (have < 0)
		return have;
	used = have ? palloc_count(p, r->bitmap) : 0;
	covered = take_entries(r, cx, group, have);
	if (covered < 0)
		return (int)covered;
	if (have ? r->have_descs && used == in_use && used == covered :
		   !r->have_descs && !covered)
		return 0;
	return groupfix_add(&r->g, cx, group);
}

/* Goes through all that is listed, a block of descriptors after the other. */
static int take_all(struct rebuild *r, struct context *cx, bool tries)
{
	const struct palloc *p = r->g.p;
	struct palloc_block what;
	uint64_t group, end = 0;
	size_t i;
	int ret = 0;

	r->tries = tries;
	r->adopted = r->g.n = 0;
	for (i = 0; i < r->own.n && !ret; i++) {
		if (!palloc_has_block(p, r->own.items[i].number))
			break;
		palloc_locate(p, r->own.items[i].number, &what);
		if (what.group < end)
			continue;
		group = what.group - what.group % p->groups_per_desc;
		end = group + p->groups_per_desc;
		ret = take_block(r, cx, palloc_desc_blkoff(p, group), r->descs);
		r->have_descs = ret > 0;
		for (; group < end && ret >= 0; group++)
			ret = take_group(r, cx, group);
		ret = ret < 0 ? ret : context_cancelled(cx);
	}
	return ret;
}

/*
 * Fills block BLKOFF where it is a hole: with what the logs have, else with
 * bytes WITH.
 */
static int fill_block(struct rebuild *r, struct context *cx, uint64_t blkoff,
		      int with)
{
	const struct listing *l = listings_find(&r->own, blkoff);
	uint64_t ptr;
	void *data;
	int ret = metafile_lookup(r->g.m, cx, blkoff, &ptr);

	if (ret)
		return ret < 0 ? ret : 0;
	/* Not adopted: the map may lead to that block by another offset. */
	ret = metafile_replace(r->g.m, cx, blkoff, &data);
	if (!ret && l)
		ret = read_block(r, cx, l, data);
	if (!ret)
		memset(data, with, r->g.p->block_size);
	return ret < 0 ? ret : 0;
}

/* Fills the holes of GROUP: descriptor, bitmap, entries that this has. */
static int fill_group(struct rebuild *r, struct context *cx, uint64_t group)
{
	const struct palloc *p = r->g.p;
	uint64_t bitmap = palloc_bitmap_blkoff(p, group), first;
	const void *bits;
	uint32_t at, n;
	int ret = fill_block(r, cx, palloc_desc_blkoff(p, group), 0);

	if (!ret)
		ret = fill_block(r, cx, bitmap, 0xff);
	for (at = 0; ret >= 0 && at < p->entries_per_group; at += n) {
		n = p->entries_per_group - at;
		if (n > p->entries_per_block)
			n = p->entries_per_block;
		first = (group << p->group_bits) + at;
		ret = metafile_look(r->g.m, cx, bitmap, &bits);
		if (ret > 0 && palloc_count_range(bits, at, at + n))
			ret = fill_block(r, cx, palloc_entry_blkoff(p, first),
					 0);
	}
	return ret < 0 ? ret : 0;
}

/* Fills the groups; of those that are nothing but a wrong descriptor only that. */
static int fill_groups(struct rebuild *r, struct context *cx)
{
	struct groupfix empty = { .m = r->g.m, .p = r->g.p };
	struct palloc_block what;
	size_t i, at, n = 0;
	bool had_blocks;
	int err = 0;

	groupfix_sort(&r->g);
	for (i = 0; i < r->g.n && !err; i++) {
		uint64_t group = r->g.groups[i];

		/* It may have had blocks: a log lists one, or, where some logs
		   cannot be read, one of a group after it. */
		at = listings_from(&r->own, palloc_bitmap_blkoff(r->g.p, group));
		had_blocks = at < r->own.n;
		if (had_blocks && !r->own.partial) {
			palloc_locate(r->g.p, r->own.items[at].number, &what);
			had_blocks = what.group == group &&
				     what.kind != PALLOC_DESC;
		}
		n += had_blocks;
		err = had_blocks ? fill_group(r, cx, group) :
				   groupfix_add(&empty, cx, group);
	}
	if (!err)
		err = groupfix_count(&empty, cx);
	groupfix_fini(&empty);
	if (!err && n)
		fixers_note(r->job, "DAT: missing blocks of %zu %s filled", n,
			    n == 1 ? "group" : "groups");
	return err ? err : repairwriter_changed(r->job->writer, cx);
}

/* An incomplete DAT is only used with --rebuild. */
static int make_map(struct rebuild *r, struct context *cx)
{
	uint32_t size = r->job->vol->geo.block_size;
	int err;

	r->descs = malloc(size);
	r->bitmap = malloc(size);
	if (!r->descs || !r->bitmap)
		return fail(cx, -ENOMEM, "blocks of the DAT");
	err = take_all(r, cx, true);
	if (err)
		return err;
	if (!r->adopted) {
		fixers_note(r->job, "DAT: left, no log lists any block of it");
		return 0;
	}
	if (!r->job->rebuild && (r->g.n || r->own.partial)) {
		fixers_note(r->job, "DAT: left, not all of it is in the logs");
		return 0;
	}
	err = take_all(r, cx, false);
	if (err)
		return err;
	fixers_note(r->job, "DAT: map rebuilt over %zu blocks that the logs "
		    "list", r->adopted);
	if (r->own.partial)
		fixers_note(r->job, "DAT: some logs cannot be read, so older "
			    "blocks of it may have come back");
	return fill_groups(r, cx);
}

/* REMAP: the map is rebuilt, else what it lacks is filled. */
static int rebuild_dat(struct fixer_job *job, struct context *cx,
		       const struct fix *fixes, size_t n, bool remap)
{
	struct rebuild r = {
		.job = job,
		.g = {
			.m = repairwriter_file(job->writer, NILFS_DAT_INO),
			.p = &job->vol->dat_palloc,
		},
	};
	size_t i;
	int err = 0;

	/* The groups of which a block is missing, from a sound map. */
	for (i = 0; i < n && !err && !remap; i++) {
		if (!rule_has(fixes[i].rule, RULE_HIDES_GROUPS))
			continue;
		err = fixes[i].place.kind == PLACE_GROUP ?
			      groupfix_add(&r.g, cx, fixes[i].place.number) :
			      groupfix_add_block(&r.g, cx,
						 fixes[i].place.blkoff);
	}
	if (!err && (remap || r.g.n))
		err = listings_of_file(&r.own, cx, job->check, NILFS_DAT_INO);
	if (!err && remap)
		err = make_map(&r, cx);
	else if (!err && r.g.n)
		err = fill_groups(&r, cx);
	free(r.descs);
	free(r.bitmap);
	groupfix_fini(&r.g);
	listings_fini(&r.own);
	return err;
}

int fix_dat(struct fixer_job *job, struct context *cx,
	    const struct fix *fixes, size_t n)
{
	bool remap = false;
	size_t i;

	for (i = 0; i < n; i++)
		remap |= fix_dat_is_rebuilt(&fixes[i]);
	return rebuild_dat(job, cx, fixes, n, remap);
}

int fix_dat_map(struct fixer_job *job, struct context *cx,
		const struct fix *fixes, size_t n)
{
	return rebuild_dat(job, cx, fixes, n, true);
}
