// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The pass over checkpoints: the entries of the cpfile.
 *
 * It checks the entries, the counts of each block and of the header, and the
 * list of snapshots.  The kernel keeps that list ordered by number, which is
 * the order of the file, so it is not walked: each snapshot must link to the
 * one before and the one after it, and the header to the first and the last.
 * So the check ends with any links.
 *
 * A deleted checkpoint leaves an invalid entry with its old content, and a
 * block whose checkpoints are all deleted becomes a hole.  Entries that were
 * never used are invalid too.
 *
 * The pass over trees checks the ifiles of the entries and the map of the
 * cpfile, and reports parts hidden by a broken map or DAT.
 */
#include "check/pass/passes.h"

#include <string.h>

#include "check/damage.h"
#include "disk/checkpoint.h"

struct survey {
	struct check *c;
	const struct nilfs_geometry *geo;
	uint64_t latest;		/* number of the latest checkpoint */
	struct nilfs_cpfile_header header;
	bool have_header, have_latest;
	bool hidden;			/* some entries could not be read */
	uint64_t valid, snapshots;	/* numbers of entries */
	/* The last snapshot, 0: the header; its next link; nothing was hidden
	   since. */
	uint64_t last, last_next;
	bool unbroken;
};

static struct place block_place(uint64_t blkoff)
{
	return place_map(0, NILFS_CPFILE_INO, blkoff, 0);
}

/* The place of checkpoint CNO, or of the header. */
static struct place place_of_checkpoint(uint64_t cno)
{
	return cno ? place_number(PLACE_CHECKPOINT, cno) : block_place(0);
}

static void expect_number(const struct survey *s, enum rule rule,
			  struct place place, uint64_t want, uint64_t got)
{
	if (want != got)
		findings_differ(s->c->findings, rule, place, want, got);
}

static void take_checkpoints_block(struct survey *s, uint64_t blkoff,
				   const char *block)
{
	const struct nilfs_geometry *geo = s->geo;
	uint32_t room = checkpoint_count(geo, blkoff), made = 0, i;
	uint32_t header = geo->block_size / geo->checkpoint_size - room;
	uint64_t first = checkpoint_first(geo, blkoff);
	const struct nilfs_snapshot_list *links;
	const struct nilfs_checkpoint *cp;
	uint32_t valid = 0, future = 0;
	enum rule rule;
	uint64_t cno;

	/* Number of checkpoints created so far that the block has room for. */
	if (blkoff <= checkpoint_blkoff(geo, s->latest))
		made = s->latest + 1 - first < room ?
			(uint32_t)(s->latest + 1 - first) : room;
	if (!blkoff) {
		memcpy(&s->header, block, sizeof(s->header));
		s->have_header = true;
		s->last_next = le64_get(s->header.ch_snapshot_list.ssl_next);
		s->unbroken = true;
	}
	for (i = 0; i < room; i++) {
		cp = (const void *)(block + (uint64_t)(header + i) *
						    geo->checkpoint_size);
		if (i >= made) {
			future += !checkpoint_is_invalid(cp);
			continue;
		}
		cno = first + i;
		rule = checkpoint_check(cp, cno);
		if (rule == RULE_CP_CNO)
			findings_differ(s->c->findings, rule,
					place_of_checkpoint(cno), cno,
					le64_get(cp->cp_cno));
		/* Wrong links are reported where the list is checked. */
		else if (rule != RULE_OK && rule != RULE_CP_SNAPSHOT_LIST)
			findings_broken(s->c->findings, rule,
					place_of_checkpoint(cno));
		if (checkpoint_is_invalid(cp)) {
			if (checkpoint_is_snapshot(cp))
				findings_broken(s->c->findings,
						RULE_CP_DELETED_SNAPSHOT,
						place_of_checkpoint(cno));
			continue;
		}
		valid++;
		s->have_latest |= cno == s->latest;
		if (!checkpoint_is_snapshot(cp))
			continue;
		s->snapshots++;
		links = &cp->cp_snapshot_list;
		if (s->unbroken) {
			expect_number(s, RULE_CP_SNAPSHOT_NEXT,
				      place_of_checkpoint(s->last), cno,
				      s->last_next);
			expect_number(s, RULE_CP_SNAPSHOT_PREV,
				      place_of_checkpoint(cno), s->last,
				      le64_get(links->ssl_prev));
		}
		s->last = cno;
		s->last_next = le64_get(links->ssl_next);
		s->unbroken = true;
	}
	s->valid += valid;
	cp = (const void *)block;
	if (blkoff && made)
		expect_number(s, RULE_CP_BLOCK_COUNT, block_place(blkoff),
			      valid, le32_get(cp->cp_checkpoints_count));
	if (future)
		findings_differ(s->c->findings, RULE_CP_FUTURE,
				block_place(blkoff), 0, future);
}

int pass_checkpoints(struct check *c, struct context *cx)
{
	struct findings *f = c->findings;
	struct survey s = {
		.c = c,
		.geo = &c->vol->geo,
		.latest = c->vol->latest.cno,
	};
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct cache *cache = c->vol->cache;
	const void *block;
	uint64_t blocknr;
	int ret, found, err = 0;

	c->work = checkpoint_blkoff(s.geo, s.latest) + 1;
	ret = blockmap_cursor_open(&cur, cx, &c->vol->cpfile.map, 0, false);
	while (!ret && !err &&
	       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
		check_progress(c, item.key + 1);
		ret = context_cancelled(cx);
		if (ret)
			break;
		found = blockmap_resolve(&c->vol->cpfile.map, cx, item.ptr,
					 &blocknr);
		err = found ? found : cache_get(cache, cx, blocknr, &block);
		if (!err) {
			take_checkpoints_block(&s, item.key, block);
			cache_put_spent(cache, block);
			continue;
		}
		/* An unreadable block hides entries. */
		s.hidden = true;
		s.unbroken = false;
		err = found ? damage_forgive(cx, err) :
			      check_damage(c->findings, cx, err, RULE_DEV_UNREADABLE,
					   block_place(item.key));
	}
	blockmap_cursor_close(&cur);
	if (damage_is(ret)) {
		fail_clear(cx);
		s.hidden = true;
		s.unbroken = false;
		ret = 0;
	}
	if (err || ret)
		return err ? err : ret;

	if (s.unbroken && s.have_header) {
		expect_number(&s, RULE_CP_SNAPSHOT_NEXT,
			      place_of_checkpoint(s.last), 0, s.last_next);
		expect_number(&s, RULE_CP_SNAPSHOT_PREV, place_of_checkpoint(0),
			      s.last,
			      le64_get(s.header.ch_snapshot_list.ssl_prev));
	}
	if (s.hidden)
		return 0;
	if (!s.have_latest)
		findings_broken(f, RULE_CP_LATEST,
				place_of_checkpoint(s.latest));
	if (!s.have_header) {
		findings_broken(f, RULE_CP_HEADER_MISSING, block_place(0));
		return 0;
	}
	expect_number(&s, RULE_CP_NCHECKPOINTS, block_place(0), s.valid,
		      le64_get(s.header.ch_ncheckpoints));
	expect_number(&s, RULE_CP_NSNAPSHOTS, block_place(0), s.snapshots,
		      le64_get(s.header.ch_nsnapshots));
	return 0;
}
