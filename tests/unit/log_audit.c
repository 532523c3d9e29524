// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A volume's books, each compared with another: logs with the SUFILE, the DAT
 * with the logs, maps with the DAT, bitmaps with counts, the checkpoint with
 * its inodes.  What a rule of lib/disk can say is said by it.
 */
#include "log_volume.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "disk/dat.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "vol/cptable.h"
#include "vol/liveness.h"
#include "vol/logcheck.h"
#include "vol/logscan.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/translate.h"

#define OF_DAT UINT64_MAX	/* a block of the DAT itself */

struct audit {
	struct context *cx;
	struct volume *vol;
	const struct nilfs_geometry *g;
	uint64_t *owner;	/* by block: the virtual one listed there */
	struct bitmap referred;	/* virtual blocks that some map has */
	struct bitmap listed;	/* and that some log has: one only */
	struct bitmap single;	/* of these, of cpfile and SUFILE */
	uint64_t references;
	uint64_t current;	/* entries of the DAT without an end */
	uint64_t inodes, blocks;
	bool good;
};

__attribute__((format(printf, 3, 4))) static void expect(struct audit *a,
							 bool cond,
							 const char *fmt, ...)
{
	va_list ap;

	if (cond)
		return;
	a->good = false;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void audit_listed(struct audit *a, const struct log *log)
{
	uint32_t bs = a->g->block_size;
	size_t len = (size_t)segsum_nsumblk(a->g, &log->ss) * bs;
	uint32_t listed = segsum_nsumblk(a->g, &log->ss);
	struct segsum_block b;
	struct segsum_iter it;
	uint8_t *buf = malloc(len);

	expect(a, !dev_read(a->vol->dev, a->cx, log->pseg * bs, buf, len),
	       "summary at %" PRIu64, log->pseg);
	segsum_iter_init(&it, a->g, buf, len);
	while (segsum_iter_next(&it, &b)) {
		a->owner[log->pseg + b.index] = b.is_virtual ? b.vblocknr :
							       OF_DAT;
		listed++;
		if (!b.is_virtual)
			continue;
		expect(a, !bitmap_test(&a->listed, b.vblocknr),
		       "virtual %" PRIu64 " was written twice", b.vblocknr);
		bitmap_set(&a->listed, b.vblocknr);
		if (b.ino == NILFS_CPFILE_INO || b.ino == NILFS_SUFILE_INO)
			bitmap_set(&a->single, b.vblocknr);
	}
	listed += segsum_has_super_root(&log->ss);
	expect(a, it.verdict == RULE_OK && listed == log->nblocks,
	       "log at %" PRIu64 " lists %u of %u blocks", log->pseg, listed,
	       log->nblocks);
	free(buf);
}

static void audit_segment(struct audit *a, uint64_t segnum,
			  const struct nilfs_segment_usage_ext *su)
{
	uint32_t nblocks = le32_get(su->su.su_nblocks), seen = 0;
	struct nilfs_segment_summary ss;
	struct logscan scan;
	struct log log;

	expect(a, segusage_check(a->g, &su->su) == RULE_OK,
	       "segment %" PRIu64, segnum);
	if (!nblocks || logscan_open(&scan, a->cx, a->vol, segnum, nblocks))
		return;
	while (logscan_next(&scan, a->cx, &log) > 0) {
		expect(a, !logcheck_read(a->vol, a->cx, log.pseg,
					 le64_get(log.ss.ss_seq), &ss),
		       "log at %" PRIu64 ": %s", log.pseg, a->cx->failure);
		expect(a, segsum_check_links(a->g, &log.ss) == RULE_OK,
		       "links of the log at %" PRIu64, log.pseg);
		audit_listed(a, &log);
		seen += log.nblocks;
	}
	expect(a, seen == nblocks,
	       "segment %" PRIu64 ": logs of %u blocks, su_nblocks %u",
	       segnum, seen, nblocks);
}

static void audit_segments(struct audit *a)
{
	uint64_t clean = 0, dirty = 0, segnum;
	struct nilfs_sufile_header header;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct liveness *live = NULL;

	expect(a, !liveness_count(a->vol, a->cx, UINT64_MAX, &live),
	       "live blocks: %s", a->cx->failure);
	if (!live)
		return;
	sutable_cursor_open(&cur, a->cx, a->vol, true);
	while (sutable_cursor_next(&cur, a->cx, &segnum, &su) > 0) {
		struct liveness_counts n = liveness_of(live, segnum);

		clean += segusage_is_clean(&su.su);
		dirty += segusage_is_dirty(&su.su);
		audit_segment(a, segnum, &su);
		if (!a->g->has_live_blks)
			continue;
		expect(a, le32_get(su.su_nlive_blks) ==
				  n.current + n.snapshot &&
			  le32_get(su.su_nsnapshot_blks) == n.snapshot,
		       "segment %" PRIu64 ": %u live, %u for snapshots; "
		       "counted %u and %u", segnum,
		       le32_get(su.su_nlive_blks),
		       le32_get(su.su_nsnapshot_blks), n.current, n.snapshot);
	}
	sutable_cursor_close(&cur);
	liveness_free(live);
	sutable_header(a->vol, a->cx, &header);
	expect(a, le64_get(header.sh_ncleansegs) == clean &&
		  le64_get(header.sh_ndirtysegs) == dirty,
	       "SUFILE: %" PRIu64 " clean, %" PRIu64 " dirty", clean, dirty);
	sutable_read(a->vol, a->cx, a->vol->latest.segnum, &su);
	expect(a, segusage_is_dirty(&su.su), "the current segment is dirty");
	sutable_read(a->vol, a->cx, a->vol->latest.nextnum, &su);
	expect(a, segusage_is_dirty(&su.su) && !le32_get(su.su.su_nblocks) &&
		  a->vol->latest.nextnum != a->vol->latest.segnum,
	       "the next segment is dirty and empty");
}

static void audit_entry(struct audit *a, uint64_t v)
{
	struct nilfs_dat_entry de;
	uint64_t blocknr;

	if (!v)
		return;
	expect(a, !translate_entry(a->vol, a->cx, v, &de),
	       "entry of %" PRIu64, v);
	blocknr = le64_get(de.de_blocknr);
	expect(a, dat_check(a->g, &de, a->vol->latest.cno) == RULE_OK &&
		  blocknr, "entry of %" PRIu64 " (block %" PRIu64 ")", v,
	       blocknr);
	if (blocknr < a->g->nblocks)
		expect(a, a->owner[blocknr] == v,
		       "virtual %" PRIu64 " at %" PRIu64 ", where the log has %"
		       PRIu64, v, blocknr, a->owner[blocknr]);
	a->current += dat_is_current(&de);
	expect(a, dat_is_current(&de) || !bitmap_test(&a->single, v) ||
		  !memcmp(&de.de_start, &de.de_end, sizeof(de.de_end)),
	       "virtual %" PRIu64 " of cpfile or SUFILE has a life", v);
	expect(a, dat_is_current(&de) == bitmap_test(&a->referred, v),
	       "virtual %" PRIu64 ": current or referred to, not both", v);
}

/* Calls VISIT for all numbers in use of FILE; checks counts and bitmaps. */
static void audit_palloc(struct audit *a, struct file *file,
			 const struct palloc *p,
			 void (*visit)(struct audit *a, uint64_t nr))
{
	const void *desc, *bitmap;
	uint64_t group;
	uint32_t i;

	for (group = 0; file_block(file, a->cx, palloc_desc_blkoff(p, group),
				   &desc) > 0; group++) {
		const struct nilfs_palloc_group_desc *d = (const void *)(
			(const char *)desc + palloc_desc_offset(p, group));

		if (file_block(file, a->cx, palloc_bitmap_blkoff(p, group),
			       &bitmap) > 0) {
			expect(a, le32_get(d->pg_nfrees) ==
					  p->entries_per_group -
						  palloc_count(p, bitmap),
			       "inode %" PRIu64 ": count of group %" PRIu64,
			       file->ino, group);
			for (i = 0; i < p->entries_per_group; i++) {
				if (palloc_bit(bitmap, i))
					visit(a, group * p->entries_per_group +
							 i);
			}
			file_put(file, bitmap);
		} else {
			expect(a, le32_get(d->pg_nfrees) ==
					  p->entries_per_group,
			       "group %" PRIu64 " without a bitmap", group);
			file_put(file, desc);
			break;
		}
		file_put(file, desc);
	}
}

/* Blocks of FILE, nodes included; each virtual one may be in one map only. */
static uint64_t audit_map(struct audit *a, struct file *file)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	uint64_t n = 0;
	int ret;

	ret = blockmap_cursor_open(&cur, a->cx, &file->map, 0, true);
	while (!ret && (ret = blockmap_cursor_next(&cur, a->cx, &item)) > 0) {
		n++;
		ret = 0;
		if (file->map.physical) {
			expect(a, a->owner[item.ptr] == OF_DAT,
			       "block %" PRIu64 ": no log has it for the DAT",
			       item.ptr);
			continue;
		}
		expect(a, !bitmap_test(&a->referred, item.ptr),
		       "virtual %" PRIu64 " is in two maps", item.ptr);
		bitmap_set(&a->referred, item.ptr);
		a->references++;
	}
	blockmap_cursor_close(&cur);
	expect(a, ret == 0, "map of inode %" PRIu64 ": %s", file->ino,
	       a->cx->failure);
	expect(a, le64_get(file->inode.i_blocks) ==
			  n * (a->g->block_size / 512),
	       "inode %" PRIu64 ": i_blocks %" PRIu64 " for %" PRIu64
	       " blocks", file->ino, le64_get(file->inode.i_blocks), n);
	return n;
}

static void audit_inode(struct audit *a, uint64_t ino)
{
	struct root root;
	struct file file;

	if (root_open(&root, a->cx, a->vol, 0))
		return;
	a->inodes++;
	if (!ino || inode_is_metadata(ino))
		return;
	expect(a, !root_file(&root, a->cx, ino, &file), "inode %" PRIu64 ": %s",
	       ino, a->cx->failure);
	expect(a, inode_check(a->g, &file.inode, ino) == RULE_OK,
	       "inode %" PRIu64, ino);
	if (inode_has_bmap(&file.inode))
		a->blocks += audit_map(a, &file);
}

/* The list of snapshots, there and back. */
static void audit_snapshots(struct audit *a, const uint64_t *cnos, size_t n,
			    const struct nilfs_cpfile_header *header)
{
	const struct nilfs_snapshot_list *list = &header->ch_snapshot_list;
	uint64_t next = le64_get(list->ssl_next), prev = 0;
	struct nilfs_checkpoint cp;
	size_t i;

	for (i = 0; i < n; i++) {
		expect(a, next == cnos[i] &&
			  !cptable_read(a->vol, a->cx, next, &cp) &&
			  le64_get(cp.cp_snapshot_list.ssl_prev) == prev,
		       "snapshot %" PRIu64 " in the list", cnos[i]);
		next = le64_get(cp.cp_snapshot_list.ssl_next);
		prev = cnos[i];
	}
	expect(a, !next && le64_get(list->ssl_prev) == prev,
	       "the list of snapshots ends");
}

static void audit_checkpoints(struct audit *a, const struct root *root)
{
	struct nilfs_cpfile_header header;
	uint64_t *cnos, n = a->inodes - a->g->first_ino + 1;
	size_t count, snapshots;

	expect(a, le64_get(root->cp.cp_inodes_count) == n &&
		  le64_get(root->cp.cp_blocks_count) == a->blocks,
	       "checkpoint: %" PRIu64 " inodes, %" PRIu64 " blocks; counted %"
	       PRIu64 " and %" PRIu64, le64_get(root->cp.cp_inodes_count),
	       le64_get(root->cp.cp_blocks_count), n, a->blocks);
	cptable_header(a->vol, a->cx, &header);
	cptable_list(a->vol, a->cx, false, &cnos, &count);
	free(cnos);
	cptable_list(a->vol, a->cx, true, &cnos, &snapshots);
	audit_snapshots(a, cnos, snapshots, &header);
	free(cnos);
	expect(a, le64_get(header.ch_ncheckpoints) == count &&
		  le64_get(header.ch_nsnapshots) == snapshots,
	       "cpfile: %zu checkpoints, %zu snapshots", count, snapshots);
}

static void audit_files(struct audit *a)
{
	struct root root;

	if (root_open(&root, a->cx, a->vol, 0)) {
		expect(a, false, "%s", a->cx->failure);
		return;
	}
	audit_palloc(a, &root.ifile, &a->vol->ifile_palloc, audit_inode);
	a->blocks += audit_map(a, &root.ifile);
	audit_map(a, &a->vol->cpfile);
	audit_map(a, &a->vol->sufile);
	audit_map(a, &a->vol->dat);
	audit_checkpoints(a, &root);
	audit_palloc(a, &a->vol->dat, &a->vol->dat_palloc, audit_entry);
}

bool log_audit(struct context *cx, struct volume *vol)
{
	struct audit a = {
		.cx = cx, .vol = vol, .g = &vol->geo, .good = true,
	};

	a.owner = calloc(vol->geo.nblocks, sizeof(*a.owner));
	if (bitmap_init(&a.referred, cx, 8 * vol->geo.nblocks + 65536) ||
	    bitmap_init(&a.listed, cx, 8 * vol->geo.nblocks + 65536) ||
	    bitmap_init(&a.single, cx, 8 * vol->geo.nblocks + 65536))
		return false;
	audit_segments(&a);
	audit_files(&a);
	expect(&a, a.references == a.current,
	       "%" PRIu64 " virtual blocks in maps, %" PRIu64 " in the DAT",
	       a.references, a.current);
	bitmap_fini(&a.single);
	bitmap_fini(&a.listed);
	bitmap_fini(&a.referred);
	free(a.owner);
	return a.good;
}
