// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening a volume without the metadata that is damaged.
 *
 * A mount requires that the checksum of the log with the super root is right.  If a
 * block of that log is damaged, its super root, which has a checksum of its own, and
 * most of the metadata can still be read.
 */
#include "dump/history/damaged.h"

#include <errno.h>

#include "disk/superroot.h"
#include "dump/history/logitems.h"

/* The newest log with a whole super root, in *AT; without one only the newest
   checkpoint that a log names. */
static int find_super_root(struct volume *bare, struct context *cx,
			   struct recovery *at)
{
	const struct nilfs_geometry *geo = &bare->geo;
	const struct nilfs_super_block *sb = volume_super(bare);
	struct logitems logs;
	struct recovery found = { .cno = 0 };
	uint64_t newest = 0;
	const void *block;
	bool whole;
	int ret = logitems_open(&logs, cx, bare);

	while (!ret && (ret = logitems_next_log(&logs, cx)) > 0) {
		const struct logindex_log *log = &logs.at.log;
		const uint64_t end = log->pseg + log->nblocks;

		ret = 0;
		if (log->cno > newest)
			newest = log->cno;
		if (!(log->flags & NILFS_SS_SR) || log->seq < found.seq)
			continue;
		ret = cache_get(bare->cache, cx, end - 1, &block);
		whole = !ret && superroot_check(geo, block) == RULE_OK;
		cache_put(bare->cache, ret ? NULL : block);
		ret = damage_forgive(cx, ret);
		if (!whole)
			continue;
		found = (struct recovery){
			.cno = log->cno ? log->cno : le64_get(sb->s_last_cno),
			.super_root = end - 1,
			.pseg_start = log->pseg,
			.seq = log->seq,
			.segnum = geometry_segment_of(geo, log->pseg),
			.ctime = log->create,
		};
		found.nextnum = found.segnum;
		found.offset = end - geometry_segment_start(geo, found.segnum);
	}
	logitems_close(&logs);
	*at = found;
	if (!found.super_root)
		at->cno = newest ? newest : le64_get(sb->s_last_cno);
	return ret;
}

/*
 * Opens the volume at the newest super root, if this is newer than that of a mount or
 * there is none for a mount; WHY is the failure of that, or 0.
 */
static int open_newest(struct dump_image *im, struct tool *tool,
		       const char *path, int why, bool *broken)
{
	const struct nilfs_inode empty = { .i_size = le64_make(0) };
	struct context *cx = &tool->cx, quiet;
	struct volume *vol = im->vol, *bare;
	struct recovery at;
	int err;

	context_child(cx, &quiet);
	if (volume_open_bare(&bare, &quiet, im->dev))
		return why;
	if (why)
		tool_failed(tool, path, why);
	err = find_super_root(bare, cx, &at);
	if (err || (vol && (at.seq < vol->latest.seq ||
			    (at.seq == vol->latest.seq &&
			     at.pseg_start <= vol->latest.pseg_start)))) {
		volume_close(bare);
		if (!err)
			image_warn_older(vol, tool, path);
		return err;
	}
	*broken = true;
	if (vol)
		tool_warn(tool, "%s: checkpoint %llu is shown, whose log at block "
			  "%llu is damaged; a mount would use checkpoint %llu",
			  path, (unsigned long long)at.cno,
			  (unsigned long long)at.pseg_start,
			  (unsigned long long)vol->latest.cno);
	else
		tool_warn(tool, "%s: checkpoint %llu is shown, the newest one of "
			  "which %s was found", path,
			  (unsigned long long)at.cno,
			  at.super_root ? "the super root" : "a log");
	image_close_volume(im);
	im->vol = bare;
	if (at.super_root) {
		volume_close(bare);
		return volume_open_at(&im->vol, cx, im->dev, NULL, &at);
	}
	bare->latest = at;
	err = file_init(&bare->dat, cx, bare, NILFS_DAT_INO, &empty);
	return err ? err : file_init(&bare->cpfile, cx, bare, NILFS_CPFILE_INO,
				     &empty);
}

int damaged_open(struct dump_image *im, struct tool *tool, const char *path,
		 uint64_t cno, bool *broken)
{
	const struct nilfs_inode empty = { .i_size = le64_make(0) };
	struct context *cx = &tool->cx;
	int err = image_open_damaged(im, tool, path, NULL);

	/* The kernel has found the mounted state to be whole. */
	if (!im->live && im->dev && (!err || err == -EUCLEAN || err == -EIO))
		err = open_newest(im, tool, path, err, broken);
	if (err)
		return err;
	err = image_root(&im->root, cx, im->vol, cno);
	/* Without a cpfile, or for the latest state, the entry is damaged. */
	if (err == -ENOENT && (im->root.cno == im->vol->latest.cno ||
			       !im->vol->latest.super_root))
		err = fail_said(cx, -EUCLEAN, "its entry is lost");
	if (err != -EUCLEAN && err != -EIO)
		return err;
	image_checkpoint_failed(tool, im->root.cno, err);
	*broken = true;
	return file_init(&im->root.ifile, cx, im->vol, NILFS_IFILE_INO, &empty);
}
