// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A writer whose caller changes metadata directly.
 *
 * It differs from the usual writer only in how it begins.  Metadata files can
 * begin empty, the first log need not follow the latest one, and the caller
 * decides which segments may be allocated.  Allocations are entered in the
 * bitmaps at once, because the caller changes the same blocks.
 *
 * A log after the latest one is placed in the rest of its segment and in the
 * next segment that it names.  If that is impossible, two segments are
 * allocated when the first log begins, and only superblocks point to it.
 *
 * On zoned devices each segment is reset when it is allocated or begun.
 */
#include "log/directwriter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "disk/checkpoint.h"
#include "disk/dat.h"
#include "disk/segusage.h"
#include "log/tables/segzones.h"
#include "log/writer_parts.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define NSEC_PER_SEC 1000000000u
#define OFF_CHAIN_CLEAN 8	/* clean segments, so that one more does not matter */
#define ATTEMPTS 1024		/* of one job, with numbers of their own */

/* Segments that W writes or is about to write must not be allocated either. */
static bool is_segment_unusable(void *arg, uint64_t segnum)
{
	const struct writer *w = arg;

	return (segnum == w->latest_segnum && !w->known.elsewhere) ||
	       segnum == w->appender.segnum ||
	       segnum == w->appender.nextnum ||
	       (w->known.unusable &&
		w->known.unusable(w->known.arg, segnum));
}

/* Resets the zones of SEGNUM, whose old content is not needed. */
static int empty_zones(void *arg, struct context *cx, uint64_t segnum)
{
	struct writer *w = arg;
	uint64_t n, end;
	int ret = 0;

	segzones_range(w->dev->zones, &w->g, segnum, &n, &end);
	for (; n < end && !ret; n++) {
		struct zone zone = zone_at(w->dev->zones, n);

		if (zone.kind == ZONE_SEQUENTIAL)
			ret = dev_zone_change(w->dev, cx, zone.start, zone.size, false);
	}
	return ret;
}

/* Whether SEGNUM may be written to, as far as its entry can be read. */
static bool is_writable(struct writer *w, struct context *cx, uint64_t segnum,
			struct nilfs_segment_usage *su)
{
	const void *data;
	int ret = metafile_look(w->sufile, cx, segusage_blkoff(&w->g, segnum),
				&data);

	memset(su, 0, sizeof(*su));
	if (ret < 0)
		fail_clear(cx);
	if (ret > 0)
		memcpy(su, (const char *)data +
		       segusage_offset(&w->g, segnum), sizeof(*su));
	return ret >= 0 && !segusage_is_error(su);
}

/*
 * Counts the segments, and chooses the position of the first log.  A segment can be
 * the next one if it is not known to have content.
 */
static int find_log_position(struct writer *w, struct context *cx,
			     struct volume *vol)
{
	const struct recovery *latest = &vol->latest;
	bool orphans = latest->orphans_start != 0;
	bool taken = w->known.next_taken;
	uint64_t nextnum = latest->nextnum;
	struct segments *s = &w->segments;
	struct appender *a = &w->appender;
	struct nilfs_sufile_header header;
	struct nilfs_segment_usage su;
	bool next;
	int ret;

	s->unusable = is_segment_unusable;
	s->taken = w->o.sequential && w->dev->zones ? empty_zones : NULL;
	s->arg = w;
	s->front = w->known.front;
	s->last_alloc = latest->segnum;
	if (!sutable_header(vol, cx, &header) &&
	    le64_get(header.sh_last_alloc) < w->g.nsegments)
		s->last_alloc = le64_get(header.sh_last_alloc);
	ret = segments_recount(s, cx);
	w->counted = !ret;
	if (!w->counted || w->known.rebuilt || w->known.elsewhere ||
	    sutable_is_exact(vol, cx) <= 0)
		s->stale = true;
	if (ret && ret != -EUCLEAN && ret != -EIO)
		return ret;
	fail_clear(cx);
	w->known.fresh_segment |= w->known.off_chain && s->nclean >= OFF_CHAIN_CLEAN;
	next = (!orphans || w->known.orphans_go) && !taken &&
	       nextnum < w->g.nsegments && nextnum != latest->segnum &&
	       !(w->known.unusable &&
		 w->known.unusable(w->known.arg, nextnum)) &&
	       is_writable(w, cx, nextnum, &su) && !le32_get(su.su_nblocks);
	a->segnum = latest->segnum;
	a->nextnum = next ? nextnum : APPENDER_ANY;
	a->seq = latest->seq;
	a->offset = (uint32_t)latest->offset;
	if ((next || taken) && !orphans && !w->known.fresh_segment &&
	    is_writable(w, cx, latest->segnum, &su)) {
		w->named = w->known.elsewhere || taken ? NULL : vol;
		return 0;
	}
	a->offset = (uint32_t)(geometry_segment_end(&w->g, a->segnum) -
			       geometry_segment_start(&w->g, a->segnum));
	/*
	 * No chain of logs leads there, nor may that of a kernel that goes on from the
	 * latest log if the superblocks do not come to name this one: it rewrites all
	 * segments before it reaches the number.  Logs of another attempt do not follow.
	 */
	if (orphans)
		a->seq = latest->last_seq + 1;
	a->seq += (w->g.nsegments + 1) * (1 + w->o.time % ATTEMPTS);
	if (w->known.seq)
		a->seq = w->known.seq - 1;
	return 0;
}

void directwriter_plain(struct nilfs_inode *inode)
{
	if (!S_ISREG(le16_get(inode->i_mode)))
		inode->i_mode = le16_make(S_IFREG);
	if (le64_get(inode->i_size) > INT64_MAX)
		inode->i_size = le64_make(0);
	if (!le16_get(inode->i_links_count) ||
	    le16_get(inode->i_links_count) > NILFS_LINK_MAX)
		inode->i_links_count = le16_make(1);
	if (le32_get(inode->i_ctime_nsec) >= NSEC_PER_SEC)
		inode->i_ctime_nsec = le32_make(0);
	if (le32_get(inode->i_mtime_nsec) >= NSEC_PER_SEC)
		inode->i_mtime_nsec = le32_make(0);
}

int directwriter_open(struct writer **wp, struct context *cx,
		      struct volume *vol, const struct writer_options *options,
		      const struct directwriter_known *known)
{
	bool no_dat = known->rebuilt & DIRECTWRITER_FILE(NILFS_DAT_INO);
	bool no_ifile = known->rebuilt & DIRECTWRITER_FILE(NILFS_IFILE_INO);
	struct nilfs_checkpoint cp = { 0 };
	struct root root;
	struct writer *w;
	int ret = writer_make(&w, cx, vol->dev, &vol->geo, vol->latest.cno + 1,
			      options);

	*wp = NULL;
	if (ret)
		return ret;
	w->direct = true;
	w->known = *known;
	w->known.from = NULL;
	w->latest_segnum = vol->latest.segnum;
	if (known->from) {
		cp = *known->from;
	} else {
		ret = root_open(&root, cx, vol, 0);
		if (!ret)
			cp = root.cp;
	}
	/*
	 * Missing entries may be readable with a rebuilt DAT, or not be needed.
	 */
	if (ret && (no_dat ? ret == -EUCLEAN || ret == -EIO : no_ifile)) {
		fail_clear(cx);
		w->waits = !no_ifile;
		ret = 0;
	}
	if (!ret)
		ret = inherit_metadata(w, cx, vol, &cp, known->rebuilt);
	if (ret)
		goto out;
	directwriter_plain(&w->super_root.sr_dat);
	directwriter_plain(&w->super_root.sr_cpfile);
	directwriter_plain(&w->super_root.sr_sufile);
	directwriter_plain(&w->ifile_inode);
	w->dat.numbers.through = true;
	w->inos.through = true;
	/* Read the flags of all entries, since the list may be broken. */
	ret = cptable_list(vol, cx, true, &w->dat.snapshots,
			   &w->dat.nsnapshots);
	if (ret == -EUCLEAN || ret == -EIO) {
		fail_clear(cx);
		w->dat.nsnapshots = 0;
		w->segments.stale = true;
		ret = 0;
	}
	if (!ret)
		ret = find_log_position(w, cx, vol);
out:
	if (ret)
		writer_close(w);
	else
		*wp = w;
	return ret;
}

struct metafile *directwriter_file(struct writer *w, uint64_t ino)
{
	switch (ino) {
	case NILFS_DAT_INO:
		return w->dat_file;
	case NILFS_CPFILE_INO:
		return w->cpfile;
	case NILFS_SUFILE_INO:
		return w->sufile;
	case NILFS_IFILE_INO:
		return w->ifile;
	default:
		return NULL;
	}
}

void directwriter_recount(struct writer *w, uint64_t ino, uint64_t nblocks)
{
	struct metafile *m = directwriter_file(w, ino);
	uint64_t before = metafile_facts(m).nblocks;

	if (directwriter_is_rebuilt(w, ino))
		return;
	metafile_recount(m, nblocks);
	if (ino == NILFS_IFILE_INO)
		w->ifile_blocks += metafile_facts(m).nblocks - before;
}

bool directwriter_is_rebuilt(const struct writer *w, uint64_t ino)
{
	return w->direct && ino < 32 &&
	       (w->known.rebuilt & DIRECTWRITER_FILE(ino));
}

/* Reads the current entry of CNO in the cpfile: 1, 0 if there is none. */
static int look_up_checkpoint(struct writer *w, struct context *cx,
			      uint64_t cno, struct nilfs_checkpoint *cp)
{
	const void *data;
	int ret = metafile_look(w->cpfile, cx,
				checkpoint_blkoff(&w->g, cno), &data);

	if (ret > 0)
		memcpy(cp, (const char *)data +
		       checkpoint_offset(&w->g, cno), sizeof(*cp));
	return ret;
}

/* Reads the ascending list of snapshots to its end. */
static int follow_list(struct writer *w, struct context *cx, uint64_t **cnos,
		       size_t *n)
{
	struct nilfs_cpfile_header header;
	struct nilfs_checkpoint cp;
	uint64_t cno, last = 0;
	size_t room = 0;
	const void *data;
	int ret = metafile_look(w->cpfile, cx, 0, &data);

	if (ret <= 0)
		return ret ? ret : -EUCLEAN;
	memcpy(&header, data, sizeof(header));
	cno = le64_get(header.ch_snapshot_list.ssl_next);
	for (; cno; last = cno, cno = le64_get(cp.cp_snapshot_list.ssl_next)) {
		if (cno <= last || cno >= w->cno)
			return -EUCLEAN;
		ret = look_up_checkpoint(w, cx, cno, &cp);
		if (ret <= 0 || !checkpoint_is_snapshot(&cp))
			return ret < 0 ? ret : -EUCLEAN;
		ret = array_push(cx, cnos, n, &room, cno);
		if (ret)
			return ret;
	}
	return 0;
}

int directwriter_changed(struct writer *w, struct context *cx)
{
	struct nilfs_checkpoint cp;
	uint64_t *cnos = NULL;
	size_t n = 0;
	int ret;

	/*
	 * Inherit from the latest checkpoint once the rebuilt DAT leads to it.
	 */
	if (w->waits) {
		ret = look_up_checkpoint(w, cx, w->cno - 1, &cp);
		if (ret < 0)
			return ret;
		if (!ret || checkpoint_is_invalid(&cp))
			return fail(cx, -EUCLEAN,
				    "checkpoint %llu: does not exist",
				    (unsigned long long)(w->cno - 1));
		ret = inherit_ifile(w, cx, &cp);
		w->inos.through = true;
		w->waits = ret;
		if (ret)
			return ret;
	}
	numbers_forget(&w->dat.numbers);
	numbers_forget(&w->inos);
	/* Another set of snapshots keeps other blocks: the counts are stale. */
	ret = follow_list(w, cx, &cnos, &n);
	if (ret || n != w->dat.nsnapshots ||
	    (n && memcmp(cnos, w->dat.snapshots, n * sizeof(*cnos))))
		w->segments.stale = true;
	if (!ret) {
		free(w->dat.snapshots);
		w->dat.snapshots = cnos;
		w->dat.nsnapshots = n;
	} else {
		free(cnos);
		if (ret == -EUCLEAN || ret == -EIO) {
			fail_clear(cx);
			ret = 0;
		}
	}
	if (!ret)
		ret = segments_recount(&w->segments, cx);
	w->counted = !ret;
	return ret;
}

void directwriter_exact(struct writer *w)
{
	w->segments.stale = false;
}

void directwriter_counts(struct writer *w, uint64_t inodes, uint64_t blocks)
{
	w->inodes_count = inodes;
	w->blocks_count = blocks;
}

void directwriter_count_inodes(struct writer *w, int64_t more)
{
	w->inodes_count += (uint64_t)more;
}

bool directwriter_has_snapshot(const struct writer *w, uint64_t start,
			       uint64_t end)
{
	return dattable_has_snapshot(&w->dat, start, end);
}

int directwriter_end(struct writer *w, struct context *cx, uint64_t vblocknr,
		     enum metafile_kind kind)
{
	struct nilfs_dat_entry de = { 0 };
	int ret = vblocknr ? numbers_test(&w->dat.numbers, cx, vblocknr) : 0;

	if (ret > 0)
		ret = dattable_read(&w->dat, cx, vblocknr, &de);
	if (ret < 0)
		return ret;
	/* An unused entry is all zero, so it is not live either. */
	if (!dat_is_current(&de))
		return fail(cx, -EUCLEAN,
			    "virtual block %llu: not live in the DAT",
			    (unsigned long long)vblocknr);
	return dattable_end(&w->dat, cx, vblocknr, 1, kind);
}

int directwriter_set_end(struct writer *w, struct context *cx,
			 uint64_t vblocknr, uint64_t end)
{
	return dattable_set_end(&w->dat, cx, vblocknr, end);
}

/*
 * Logs are not changed, and the number of a block is not reused: a cleaner
 * would move both blocks with the same number, possibly the older one last.
 * The entry of a checkpoint in the cpfile, however, can be changed.
 *
 * A cleaner (nilfs_vdesc_is_live()) handles the new block as the old one: it
 * was written with the same checkpoint, and is kept for the same snapshots.
 * The lifetime of the old one ends with the checkpoint that it was written for,
 * so it is always dead, and never moved together with the new one, which the
 * kernel would treat as a conflict (nilfs_ioctl_move_inode_block()).
 */
int directwriter_replace(struct writer *w, struct context *cx,
			 const struct directwriter_block *b, const void *data,
			 uint64_t *number)
{
	struct loglayout_run run = {
		.ino = b->ino,
		.kind = b->is_node ? LOGLAYOUT_NODE : LOGLAYOUT_DATA,
		.blkoff = b->is_node ? 0 : b->blkoff,
		.count = 1,
	};
	int ret = b->vblocknr ?
		numbers_test(&w->dat.numbers, cx, b->vblocknr) : 0;

	if (!ret)
		return fail(cx, -EUCLEAN, "virtual block %llu: not in use",
			    (unsigned long long)b->vblocknr);
	if (ret > 0)
		ret = dattable_succeed(&w->dat, cx, b->vblocknr, number,
				       &run.cno);
	run.vblocknr = *number;
	if (!ret)
		ret = flush_add(w, cx, &run, data);
	return ret ? ret : flush_if_due(w, cx);
}

int directwriter_add_node(struct writer *w, struct context *cx, uint64_t ino,
			  uint64_t start, uint64_t end, const void *data,
			  uint64_t *number)
{
	struct loglayout_run run = {
		.ino = ino, .kind = LOGLAYOUT_NODE, .cno = start, .count = 1,
	};
	int ret = dattable_add_ended(&w->dat, cx, start, end, number);

	run.vblocknr = *number;
	if (!ret)
		ret = flush_add(w, cx, &run, data);
	return ret ? ret : flush_if_due(w, cx);
}
