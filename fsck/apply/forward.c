// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rolling forward.
 *
 * fdatasync() writes a log that has data blocks only (fsync() makes a
 * checkpoint).  After a crash the next mount writes these blocks into their
 * files again; until then they are in no file.  Here the same is done without a
 * kernel.  The map of each file is rebuilt: blocks that have new content get
 * it, all others stay where they are.
 *
 * The logs that are read must outlive the writing of the new one, as a power
 * cut in between has to leave all to the kernel.  So their segments cannot be
 * taken, whatever the SUFILE says of them.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bitmap.h"
#include "dev/overlay.h"
#include "find/finding.h"
#include "fsck/apply/round.h"
#include "log/inodes.h"
#include "log/repairwriter.h"
#include "log/remap.h"
#include "vol/blockmap.h"
#include "vol/salvage.h"
#include "vol/volume.h"

struct forward {
	struct volume *vol;
	struct writer *w;
	const struct rollforward *rf;
	const struct bitmap *needed;	/* segments of the logs that are read */
	const struct repairwriter_known *known;	/* other segments that must not
						 * be used */
	uint8_t *block;
	uint64_t files, blocks;		/* done */
};

bool forward_is_due(const struct volume *vol)
{
	return !(le16_get(volume_super(vol)->s_state) & NILFS_VALID_FS) &&
	       vol->latest.orphans_start && vol->latest.orphans_end;
}

bool forward_is_possible(const struct check *c)
{
	const struct rule_info *rule;
	size_t i;

	for (i = 0; (rule = rule_at(i)); i++)
		if (rule->severity >= RULE_ERROR && rule_is_of_metadata(rule) &&
		    findings_count(c->findings, rule->rule))
			return false;
	return true;
}

static bool is_unusable(void *arg, uint64_t segnum)
{
	const struct forward *f = arg;

	return bitmap_test(f->needed, segnum) ||
	       (f->known->unusable &&
		f->known->unusable(f->known->arg, segnum));
}

/* The blocks of one file that were salvaged. */
struct salvage {
	const struct salvaged_block *next;
	uint64_t left;
};

/* Puts the next one in its place. */
static int put_block(struct forward *f, struct context *cx, struct remap *r,
		     struct salvage *s)
{
	int ret = volume_read_blocks(f->vol, cx, s->next->blocknr, 1,
				     f->block);

	if (!ret)
		ret = remap_put(r, cx, s->next->blkoff, f->block);
	s->next++;
	s->left--;
	f->blocks++;
	return ret;
}

/* One item of the map as it was; what was salvaged before it comes first. */
static int take_block(struct forward *f, struct context *cx, struct remap *r,
		      struct salvage *s, const struct blockmap_item *item)
{
	bool is_kept = !item->level;
	int ret = 0;

	while (!item->level && s->left && s->next->blkoff <= item->key &&
	       !ret) {
		is_kept = s->next->blkoff != item->key;
		ret = put_block(f, cx, r, s);
	}
	if (ret)
		return ret;
	return is_kept ? remap_keep(r, cx, item->key, item->ptr) :
			 repairwriter_end(f->w, cx, item->ptr, METAFILE_MULTI);
}

static int merge_blocks(struct forward *f, struct context *cx, struct remap *r,
			struct salvage *s, const struct blockmap *map)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	int ret = blockmap_cursor_open(&cur, cx, map, 0, true);

	while (!ret && (ret = blockmap_cursor_next(&cur, cx, &item)) > 0)
		ret = take_block(f, cx, r, s, &item);
	blockmap_cursor_close(&cur);
	while (!ret && s->left)
		ret = put_block(f, cx, r, s);
	return ret;
}

static int rebuild_map(struct forward *f, struct context *cx, uint64_t ino,
		       struct nilfs_inode *inode, struct salvage *s)
{
	struct remap *r = NULL;
	struct blockmap map;
	int ret = blockmap_init(&map, cx, f->vol, ino, inode);

	if (!ret)
		ret = remap_open(&r, cx, f->w, ino);
	if (!ret)
		ret = merge_blocks(f, cx, r, s, &map);
	if (!ret)
		ret = remap_finish(r, cx, inode);
	if (!ret)
		ret = inodes_write(f->w, cx, ino, inode);
	remap_close(r);
	return ret;
}

/* A file that does not exist any more is skipped, as by the kernel. */
static int take_files(struct forward *f, struct context *cx)
{
	const struct rollforward *rf = f->rf;
	struct nilfs_inode inode;
	uint64_t i, n, ino;
	int ret = 0;

	for (i = 0; i < rf->count && !ret; i += n) {
		struct salvage s = { .next = &rf->blocks[i] };

		ino = s.next->ino;
		for (n = 1; i + n < rf->count; n++)
			if (rf->blocks[i + n].ino != ino)
				break;
		s.left = n;
		ret = inodes_read(f->w, cx, ino, &inode);
		if (ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
			continue;
		}
		if (!ret)
			ret = rebuild_map(f, cx, ino, &inode, &s);
		f->files++;
	}
	return ret;
}

static int write_log(struct forward *f, struct fixer_job *job,
		     struct context *cx)
{
	static const bool none[RULE_FIX_COUNT];
	const struct writer_options options =
		writer_options_on(job->vol, job->time);
	struct repairwriter_known known, believed;
	struct writer_end end;
	int ret;

	writerhints_fill(&believed, job->check, job->plan, none);
	f->known = &believed;
	known = believed;
	known.unusable = is_unusable;
	known.arg = f;
	ret = repairwriter_open(&f->w, cx, f->vol, &options, &known);
	if (!ret)
		ret = take_files(f, cx);
	if (!ret)
		ret = writer_commit(f->w, cx, &end);
	if (!ret)
		ret = round_name(job, cx, &end, true);
	writer_close(f->w);
	return ret;
}

int forward_collect(struct volume *vol, struct context *cx,
		    const struct recovery *rec, struct volume *files,
		    struct rollforward **rfp, struct bitmap *needed)
{
	int ret = salvage_collect(vol, cx, rec, files, rfp);
	uint64_t i;

	if (!ret && (*rfp)->count)
		ret = bitmap_init(needed, cx, vol->geo.nsegments);
	if (!ret && (*rfp)->count) {
		for (i = 0; i < (*rfp)->count; i++)
			bitmap_set(needed, geometry_segment_of(
				&vol->geo, (*rfp)->blocks[i].blocknr));
		return 1;
	}
	rollforward_free(*rfp);
	*rfp = NULL;
	return ret;
}

int forward_run(struct fixer_job *job, struct context *cx,
		const struct rollforward *rf, const struct bitmap *needed)
{
	struct forward f = { .vol = job->vol, .rf = rf, .needed = needed };
	int ret;

	f.block = malloc(f.vol->geo.block_size);
	ret = f.block ? write_log(&f, job, cx) :
			fail(cx, -ENOMEM, "roll-forward");
	if (!ret)
		fixers_note(job, "%" PRIu64 " blocks of %" PRIu64
			    " files: as they were synced before the crash",
			    f.blocks, f.files);
	free(f.block);
	return ret;
}

/*
 * Data that was synced before a crash, and a repair.
 *
 * It lies in logs after the latest super root, which the next mount puts into
 * their files, unless there is another log with a super root by then: each
 * round of a repair writes one.  So it comes first.  Where metadata is broken
 * no file can be written to; then its segments are not taken by any round, and
 * it comes last, when the sizes of files are known.
 */

static void forget_forward(struct repair *r)
{
	rollforward_free(r->synced);
	r->synced = NULL;
}

/* Writes it, if that makes nothing worse. */
static int write_synced(struct repair *r, struct context *cx)
{
	struct repair_point from = repair_point(r);
	struct fixer_job job = repair_job(r, cx);
	int ret = forward_run(&job, cx, r->synced, &r->awaited);

	if (!ret)
		ret = repair_look(r, cx, IMPROVEMENT_OR_SAME);
	if (ret > 0) {
		forget_forward(r);
		return 0;
	}
	repair_back(r, &from);
	return repair_tolerate(r, cx, ret);
}

/* A log would hide newer checkpoints that the chain does not lead to. */
static bool hides_checkpoints(const struct repair *r, const struct look *l)
{
	return findings_count(l->check.findings, RULE_LOG_CHAIN) &&
	       !r->given_up[RULE_FIX_ROOT];
}

int forward_first(struct repair *r, struct context *cx)
{
	struct look *l = repair_current(r);
	struct volume *vol = l->check.vol;
	bool sound;
	int ret;

	if (r->asked_synced || !l->complete || repair_is_cut_off(l) ||
	    hides_checkpoints(r, l) ||
	    !(forward_is_due(vol) || r->state.chosen))
		return 0;
	r->asked_synced = true;
	r->behind = vol->latest;
	sound = forward_is_possible(&l->check);
	ret = forward_collect(vol, cx, &r->behind, sound ? vol : NULL,
			      &r->synced, &r->awaited);
	r->no_data_behind = !ret;
	l->check.awaited = &r->awaited;
	if (ret <= 0)
		return repair_tolerate(r, cx, ret);
	return sound ? write_synced(r, cx) : 0;
}

/* Collects it again, now that the files are sound, and writes it. */
static int write_last(struct repair *r, struct context *cx)
{
	struct volume *vol = repair_current(r)->check.vol;
	struct rollforward *rf;
	int ret = salvage_collect(vol, cx, &r->behind, vol, &rf);

	if (ret)
		return repair_tolerate(r, cx, ret);
	forget_forward(r);
	r->synced = rf;
	return write_synced(r, cx);
}

int forward_last(struct repair *r, struct context *cx)
{
	const struct look *l = repair_current(r);
	struct fixer_job job = repair_job(r, cx);
	int ret = 0;

	/* Without a log of this repair the next mount does it. */
	if (!r->synced || !l->complete ||
	    (l->check.vol->latest.orphans_start && !r->state.chosen))
		return 0;
	if (forward_is_possible(&l->check))
		ret = write_last(r, cx);
	if (r->synced)
		fixers_note(&job, "logs from block %" PRIu64 " to %" PRIu64
			    ": given up", r->behind.orphans_start,
			    r->behind.orphans_end);
	return ret;
}
