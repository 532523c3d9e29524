// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A log from a former life of a segment, after the logs of this one.  It lists
 * a block of a file and one of the DAT, and has the number of the latest log,
 * as after a rollback: neither those who look for a file nor those who look for
 * a virtual block may take it for what was written last.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/logs/listings.h"
#include "check/pass/passes.h"
#include "disk/segusage.h"
#include "vol/root.h"
#include "vol/sutable.h"

#include "fsck_volume.h"
#include "tap.h"

#define STALE_BLOCKS 3u

struct rig {
	struct log_volume v;
	struct check check;
	uint64_t segnum;	/* whose logs do not fill it */
	uint64_t stale;		/* block of the log after them */
	uint64_t ino, vblocknr;	/* a file of checkpoint 1, its block 0 */
};

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

static void look(struct rig *r)
{
	struct context *cx = &r->v.cx;

	r->check = (struct check){ .dev = r->v.dev };
	is_int(findings_open(&r->check.findings, cx, ignore, NULL, false), 0,
	       "a look");
	is_int(pass_super(&r->check, cx), 0, "superblocks");
	is_int(pass_segments(&r->check, cx), 0, "segments");
}

static void look_away(struct rig *r)
{
	findings_close(r->check.findings);
	check_fini(&r->check);
}

/* A segment in use, not the latest, with room after its logs. */
static void choose(struct rig *r)
{
	struct volume *vol = r->check.vol;
	struct nilfs_segment_usage_ext su;
	uint64_t segnum;

	for (segnum = 1; segnum < r->v.g.nsegments && !r->stale; segnum++) {
		if (segnum == vol->latest.segnum ||
		    sutable_read(vol, &r->v.cx, segnum, &su) ||
		    !le32_get(su.su.su_nblocks) ||
		    le32_get(su.su.su_nblocks) + STALE_BLOCKS >
			    r->v.g.blocks_per_segment)
			continue;
		r->segnum = segnum;
		r->stale = geometry_segment_start(&r->v.g, segnum) +
			   le32_get(su.su.su_nblocks);
	}
	ok(r->stale, "a segment has room for one more log");
}

/* A file that checkpoint 2 has left as it was. */
static void choose_file(struct rig *r)
{
	struct root root;
	struct file file;

	r->ino = r->v.files[2].ino;
	is_int(root_open(&root, &r->v.cx, r->check.vol, 0), 0, "a checkpoint");
	is_int(root_file(&root, &r->v.cx, r->ino, &file), 0, "a file of it");
	is_int(blockmap_lookup(&file.map, &r->v.cx, 0, &r->vblocknr), 1,
	       "and a block of that");
}

static void write_stale(struct rig *r)
{
	struct {
		struct nilfs_segment_summary ss;
		struct nilfs_finfo file;
		struct nilfs_binfo_v block;
		struct nilfs_finfo dat;
		le64 dat_block;
	} s = {
		.ss = {
			.ss_magic = le32_make(NILFS_SEGSUM_MAGIC),
			.ss_bytes = le16_make(sizeof(s.ss)),
			.ss_flags = le16_make(NILFS_SS_LOGBGN |
					      NILFS_SS_LOGEND),
			.ss_seq = le64_make(r->check.vol->latest.seq),
			.ss_next = le64_make(geometry_segment_start(
				&r->v.g, r->check.vol->latest.nextnum)),
			.ss_nblocks = le32_make(STALE_BLOCKS),
			.ss_nfinfo = le32_make(2),
			.ss_sumbytes = le32_make(sizeof(s)),
			.ss_cno = le64_make(LOG_VOLUME_TIME),
		},
		.file = {
			.fi_ino = le64_make(r->ino),
			.fi_nblocks = le32_make(1),
			.fi_ndatablk = le32_make(1),
		},
		.block = { .bi_vblocknr = le64_make(r->vblocknr) },
		.dat = {
			.fi_ino = le64_make(NILFS_DAT_INO),
			.fi_nblocks = le32_make(1),
			.fi_ndatablk = le32_make(1),
		},
	};
	char *block = calloc(1, r->v.g.block_size);
	struct segsum_crc crc;

	memcpy(block, &s, sizeof(s));
	segsum_crc_init(&crc, SEGSUM_SUMSUM, &r->v.g, &s.ss);
	segsum_crc_update(&crc, block, r->v.g.block_size);
	s.ss.ss_sumsum = le32_make(crc.sum);
	memcpy(block, &s, sizeof(s));
	dev_write(r->v.dev, &r->v.cx, r->stale << r->v.g.block_bits, block,
		  r->v.g.block_size);
	free(block);
}

static bool is_stale(const struct rig *r, uint64_t blocknr)
{
	return blocknr - r->stale < STALE_BLOCKS;
}

/* Which logs of the segment are of which life. */
static void test_lives(struct rig *r, unsigned int wanted, const char *what)
{
	unsigned int present = 0, former = 0;
	struct listings_walk l;
	struct logindex_log log;
	int ret = listings_open(&l, &r->v.cx, &r->check, r->segnum);

	while (ret > 0 && (ret = listings_next(&l, &r->v.cx, &log)) > 0) {
		present += !l.is_former;
		former += l.is_former;
		if (log.pseg == r->stale)
			ok(l.is_former, "%s: the stale log is known", what);
	}
	ok(!ret && former == 1, "%s: there is one such log", what);
	ok(wanted ? present > 0 : !present, "%s: %u of this life", what,
	   present);
}

struct newest {
	struct listing block;
	unsigned int n, stale;
	const struct rig *r;
};

static int take(void *arg, struct context *cx, const struct listing *b)
{
	struct newest *newest = arg;

	(void)cx;
	if (b->ino != newest->r->ino || b->is_node || b->blkoff)
		return 0;
	newest->stale += is_stale(newest->r, b->blocknr);
	if (!newest->n++ || listing_is_older(&newest->block, b))
		newest->block = *b;
	return 0;
}

static void test_visit(struct rig *r, const char *what)
{
	struct newest newest = { .r = r };

	is_int(listings_visit(&r->check, &r->v.cx, take, &newest), 0, what);
	is_int(newest.stale, 1, "the stale block is listed");
	is_int(newest.n, 2, "the other one too");
	ok(!is_stale(r, newest.block.blocknr), "and is the newest");
}

static void test_listings(struct rig *r, const char *what)
{
	const struct listing *l;
	struct sparse wanted = { 0 };
	struct listings list = { .wanted = &wanted };

	is_int(sparse_init(&wanted, &r->v.cx, 1u << 20), 0, what);
	sparse_add(&wanted, &r->v.cx, r->vblocknr);
	is_int(listings_gather(&list, &r->v.cx, &r->check), 0,
	       "listings of a virtual block");
	l = listings_find(&list, r->vblocknr);
	ok(l && !is_stale(r, l->blocknr), "not the stale one");
	listings_fini(&list);
	sparse_fini(&wanted);
	list.of_file = NILFS_DAT_INO;
	is_int(listings_gather(&list, &r->v.cx, &r->check), 0,
	       "listings of the DAT");
	l = listings_find(&list, 0);
	ok(l && !is_stale(r, l->blocknr), "not the stale one");
	listings_fini(&list);
}

/* How many reads a search through all logs takes. */
static uint64_t count_reads(struct rig *r)
{
	uint64_t before = r->v.dev->stats.reads;
	struct listings list = { .of_file = NILFS_DAT_INO };

	listings_gather(&list, &r->v.cx, &r->check);
	listings_fini(&list);
	return r->v.dev->stats.reads - before;
}

/* No segment is read twice, whether it has logs or none. */
static void test_reads(struct rig *r)
{
	uint64_t first = count_reads(r);

	ok(first >= r->v.g.nsegments, "%" PRIu64 " segments: %" PRIu64 " reads",
	   r->v.g.nsegments, first);
	is_int(count_reads(r), 0, "and none by the next search");
}

/* The logs of this life, which had the facts. */
static void wipe_logs(struct rig *r)
{
	uint64_t start = geometry_segment_start(&r->v.g, r->segnum);
	size_t len = (r->stale - start) << r->v.g.block_bits;
	void *zeros = calloc(1, len);

	dev_write(r->v.dev, &r->v.cx, start << r->v.g.block_bits, zeros, len);
	free(zeros);
}

int main(void)
{
	struct rig r = { .segnum = 0 };

	is_int(fsck_volume_make(&r.v, NULL), 0, "a volume");
	look(&r);
	choose(&r);
	choose_file(&r);
	write_stale(&r);
	test_reads(&r);
	test_lives(&r, 1, "after the others");
	test_visit(&r, "a file looked for");
	test_listings(&r, "virtual blocks looked for");
	wipe_logs(&r);
	look_away(&r);
	look(&r);
	test_lives(&r, 0, "alone");
	test_visit(&r, "a file looked for");
	test_listings(&r, "virtual blocks looked for");
	look_away(&r);
	log_volume_fini(&r.v);
	return tap_done();
}
