// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaying data that was synced before a crash.
 *
 * fdatasync() writes a log with only data blocks after the latest super root.
 * The next mount writes these blocks to their files, unless another log with a
 * super root follows by then; each round of a repair writes such a log. So a
 * repair replays the data first: the map of each file is rebuilt with the new
 * blocks. If metadata is broken, no file can be written; then the replay comes
 * last, when the sizes of files are known.
 *
 * The logs that are read must stay valid until the new log is complete, so
 * their segments are not allocated, regardless of their entries in the SUFILE.
 */
#include "fsck/apply/repair.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log/directwriter.h"
#include "log/inodes.h"
#include "log/remap.h"
#include "vol/blockmap.h"
#include "vol/salvage.h"

/* One file and its salvaged blocks. */
struct forward {
	struct volume *vol;
	struct writer *w;
	struct remap *map;
	const struct salvaged_block *next;
	uint64_t left;
	uint8_t *block;
};

bool forward_is_due(const struct volume *vol)
{
	return !(le16_get(volume_super(vol)->s_state) & NILFS_VALID_FS) &&
	       vol->latest.orphans_start && vol->latest.orphans_end;
}

/* Whether the super root, maps, DAT, cpfile and SUFILE are sound enough to
   write a log. */
static bool is_replay_possible(const struct check *c)
{
	int area;

	for (area = RULE_AREA_ROOT; area <= RULE_AREA_SEGMENTS; area++)
		if (findings_have_area(c->findings, (enum rule_area)area,
				       RULE_ERROR))
			return false;
	return true;
}

/* Writes the next salvaged block to the file. */
static int forward_put_block(struct forward *f, struct context *cx)
{
	int ret = volume_read_blocks(f->vol, cx, f->next->blocknr, 1,
				     f->block);

	if (!ret)
		ret = remap_put(f->map, cx, f->next->blkoff, f->block);
	f->next++;
	f->left--;
	return ret;
}

/*
 * Writes the salvaged blocks to their files, in a log after which nothing is to
 * be recovered, as nilfs_salvage_orphan_logs() does. The map of each file is
 * rebuilt in key order; a salvaged block replaces the map item with the same
 * key. The segments with the salvaged blocks are reused only after superblocks
 * that name the new log are on the device.
 */
static int write_files(struct fixer_job *job, struct context *cx)
{
	const struct rollforward *rf = job->synced;
	const struct salvaged_block *const end = rf->blocks + rf->count;
	struct forward f = {
		.vol = job->vol, .w = job->writer, .next = rf->blocks,
	};
	uint64_t ino, files = 0, blocks = 0;
	struct blockmap_cursor cur;
	struct blockmap_item item;
	struct nilfs_inode inode;
	struct blockmap map;
	bool is_kept;
	int ret = 0;

	f.block = malloc(f.vol->geo.block_size);
	if (!f.block)
		return fail(cx, -ENOMEM, "roll-forward");
	while (f.next < end && !ret) {
		ino = f.next->ino;
		for (f.left = 0; f.next + f.left < end &&
				 f.next[f.left].ino == ino; f.left++)
			;
		ret = inodes_read(f.w, cx, ino, &inode);
		/* A deleted file is skipped, as by the kernel. */
		if (ret == -ENOENT) {
			fail_clear(cx);
			ret = 0;
			f.next += f.left;
			continue;
		}
		blocks += f.left;
		files++;
		memset(&cur, 0, sizeof(cur));
		if (!ret)
			ret = blockmap_init(&map, cx, f.vol, ino, &inode);
		if (!ret)
			ret = remap_open(&f.map, cx, f.w, ino);
		if (!ret)
			ret = blockmap_cursor_open(&cur, cx, &map, 0, true);
		while (!ret &&
		       (ret = blockmap_cursor_next(&cur, cx, &item)) > 0) {
			is_kept = !item.level;
			ret = 0;
			while (!item.level && f.left &&
			       f.next->blkoff <= item.key && !ret) {
				is_kept = f.next->blkoff != item.key;
				ret = forward_put_block(&f, cx);
			}
			if (!ret && is_kept)
				ret = remap_keep(f.map, cx, item.key, item.ptr);
			else if (!ret)
				ret = directwriter_end(f.w, cx, item.ptr,
						       METAFILE_MULTI);
		}
		blockmap_cursor_close(&cur);
		while (!ret && f.left)
			ret = forward_put_block(&f, cx);
		if (!ret)
			ret = remap_finish(f.map, cx, &inode);
		if (!ret)
			ret = inodes_write(f.w, cx, ino, &inode);
		remap_close(f.map);
		f.map = NULL;
	}
	if (!ret)
		fixers_note(job, "%" PRIu64 " blocks of %" PRIu64
			    " files: recovered as synced before the crash",
			    blocks, files);
	free(f.block);
	return ret;
}

/* Writes the synced data unless the result is worse. */
static int write_synced(struct repair *r, struct context *cx)
{
	struct round round = {
		.job = trial_job(r, cx),
		.stage = RULE_STAGE_TREE,
		.begin = write_files,
		.recovered = true,
	};
	int ret = trial_attempt(r, cx, &round, IMPROVEMENT_OR_SAME);

	if (ret <= 0)
		return ret;
	rollforward_free(r->synced);
	r->synced = NULL;
	return 0;
}

int forward_first(struct repair *r, struct context *cx)
{
	struct look *l = trial_current(r);
	struct volume *vol = l->check.vol;
	bool sound;
	uint64_t i;
	int ret;

	/* A log would hide checkpoints that the chain of
	   logs does not reach. */
	if (r->asked_synced || !l->complete || trial_is_cut_off(l) ||
	    (findings_count(l->check.findings, RULE_LOG_CHAIN) &&
	     !r->fixer_failed[RULE_FIX_ROOT]) ||
	    !(forward_is_due(vol) || r->state.chosen))
		return 0;
	r->asked_synced = true;
	r->rollforward_base = vol->latest;
	sound = is_replay_possible(&l->check);
	ret = salvage_collect(vol, cx, &r->rollforward_base, sound ? vol : NULL,
			      &r->synced);
	r->no_orphan_data = !ret && !r->synced->count;
	if (!ret && r->synced->count)
		ret = bitmap_init(&r->awaited, cx, vol->geo.nsegments);
	for (i = 0; !ret && i < r->synced->count; i++)
		bitmap_set(&r->awaited, geometry_segment_of(
			&vol->geo, r->synced->blocks[i].blocknr));
	if (ret || r->no_orphan_data) {
		rollforward_free(r->synced);
		r->synced = NULL;
	}
	l->check.awaited = &r->awaited;
	if (ret || r->no_orphan_data)
		return trial_tolerate(r, cx, ret);
	return sound ? write_synced(r, cx) : 0;
}

int forward_last(struct repair *r, struct context *cx)
{
	const struct look *l = trial_current(r);
	struct fixer_job job = trial_job(r, cx);
	struct rollforward *rf;
	int ret = 0;

	/* If this repair writes no log, the next mount replays the data. */
	if (!r->synced || !l->complete ||
	    (l->check.vol->latest.orphans_start && !r->state.chosen))
		return 0;
	/* The data is collected again because the files are sound now. */
	if (is_replay_possible(&l->check)) {
		ret = salvage_collect(job.vol, cx, &r->rollforward_base, job.vol, &rf);
		if (!ret) {
			rollforward_free(r->synced);
			r->synced = rf;
			ret = write_synced(r, cx);
		} else {
			ret = trial_tolerate(r, cx, ret);
		}
	}
	if (r->synced)
		fixers_note(&job, "logs from block %" PRIu64 " to %" PRIu64
			    ": given up", r->rollforward_base.orphans_start,
			    r->rollforward_base.orphans_end);
	return ret;
}
