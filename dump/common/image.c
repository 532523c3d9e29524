// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image, device or mounted volume that a command shows.
 *
 * All commands except `set` only read.  A directory is the volume mounted there:
 * everything in memory is written first, and the lock of its cleaner is held as long
 * as it is read.  The kernel overwrites only segments that a cleaner has freed, so the
 * state that is read then does not change, however much is written meanwhile.
 *
 * A mounted device is accepted, too: its superblocks lead to a state that was complete
 * when it was written, and the kernel does not overwrite it at once.  A warning is
 * printed.
 */
#include "dump/common/image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "cli/moment.h"
#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/qcow2.h"
#include "live/cleanerlock.h"
#include "live/live.h"
#include "vol/cptable.h"

#define PATH_SHOWN 512

/* Seconds to wait for another cleaner, which holds the lock for one batch. */
#define CLEANER_WAIT 30

/*
 * Opens the volume mounted on the directory PATH, writes what is in memory to the
 * checkpoint *CNO, and holds off its cleaner if possible.
 */
static int open_mounted(struct dump_image *im, struct tool *tool,
			const char *path, uint64_t *cno)
{
	struct context *cx = &tool->cx;
	int err = live_open(&im->live, cx, path);

	if (err)
		return err;
	err = cleanerlock_take(&im->lock, cx, im->live, CLEANER_WAIT);
	if (err == -EACCES || err == -EBUSY) {
		tool_failed(tool, NULL, err);
		tool_warn(tool, "%s: blocks may be overwritten while they are read",
			  path);
		err = 0;
	}
	err = err ? err : live_sync(im->live, cx, cno);
	/* The latest checkpoint of a full or failing device can be read. */
	if (err == -ENOSPC || err == -EIO || err == -EROFS) {
		tool_failed(tool, NULL, err);
		tool_warn(tool, "%s: changes that are only in memory are not shown", path);
		*cno = 0;
		err = 0;
	}
	return err;
}

/* Borrows the image of a shell; only a volume with other OPTIONS is opened. */
static int image_share(struct dump_image *im, struct context *cx,
		       struct dump_image *shared,
		       const struct volume_options *options)
{
	struct volume **vol = &im->vol;
	int err = 0;

	*im = *shared;
	im->shared = shared;
	im->vol = NULL;
	if (!options || !options->roll_forward)
		vol = &shared->vol;
	if (!*vol)
		err = volume_open(vol, cx, im->dev, options);
	im->vol = *vol;
	return err;
}

int image_open_damaged(struct dump_image *im, struct tool *tool, const char *path,
		       const struct volume_options *options)
{
	uint64_t cno = 0;	/* at least this one has to be found */
	struct probe_use use;
	int err;

	*im = (struct dump_image){ .dev = NULL };
	if (tool->shell)
		return image_share(im, &tool->cx, tool->shell->shared, options);
	if (live_is_directory(path)) {
		err = open_mounted(im, tool, path, &cno);
		if (err)
			return err;
		path = im->live->device;
	} else if (probe_mounted(&tool->cx, path, NULL, &use)) {
		fail_clear(&tool->cx);
	} else if (use.kind == PROBE_MOUNTED && !use.read_only) {
		tool_warn(tool,
			  "%s: mounted on %s: it may change while it is read; "
			  "give this directory to read one state of it",
			  path, use.where);
	}
	err = devfile_open(&im->file, &tool->cx, path, DEVFILE_READ);
	if (!err)
		err = qcow2_open(&im->dev, &tool->cx, im->file);
	if (!err)
		err = volume_open(&im->vol, &tool->cx, im->dev, options);
	if (!err && im->vol->latest.cno < cno)
		err = fail_said(&tool->cx, -ESTALE, "%s: checkpoint %llu was "
				"written, but cannot be found on %s",
				im->live->dir, (unsigned long long)cno, path);
	return err;
}

int image_open(struct dump_image *im, struct tool *tool, const char *path,
	       const struct volume_options *options)
{
	int err = image_open_damaged(im, tool, path, options);
	char text[FAILURE_TEXT_MAX];
	struct volume *supers;
	struct context quiet;

	if (!err && !im->live && !im->shared)
		image_warn_older(im->vol, tool, path);
	if (err != -EUCLEAN || im->shared)
		return err;
	/* It is one, and its latest state is damaged. */
	context_child(&tool->cx, &quiet);
	if (volume_open_bare(&supers, &quiet, im->dev))
		return err;
	volume_close(supers);
	memcpy(text, tool->cx.failure, sizeof(text));
	return fail(&tool->cx, err, "%s: %.320s; fsck.nilfs2 -n lists the damage, "
		    "dump.nilfs2 export --inodes saves what is left", path, text);
}

void image_warn_older(const struct volume *vol, struct tool *tool, const char *path)
{
	char time[VALUE_TEXT_MAX];
	uint64_t last = 0, cno;
	int i;

	for (i = 0; i < 2; i++) {
		cno = le64_get(vol->super[i].s_last_cno);
		if (vol->choice.verdict[i] == RULE_OK && cno > last)
			last = cno;
	}
	/* A mount does the same, without a word, too. */
	if (last > vol->latest.cno)
		tool_warn(tool, "%s: the log of checkpoint %llu is damaged: the "
			  "latest state shown is checkpoint %llu of %s; "
			  "fsck.nilfs2 -n lists the damage, -y repairs it", path,
			  (unsigned long long)last,
			  (unsigned long long)vol->latest.cno,
			  value_time_text(tool->out, (int64_t)vol->latest.ctime,
					  time));
}

int image_open_root(struct dump_image *im, struct tool *tool,
		    const char *path, uint64_t cno, bool recover)
{
	const struct volume_options options = { .roll_forward = recover };
	int err;

	*im = (struct dump_image){ .dev = NULL };
	if (recover && cno)
		return tool_usage(tool,
				  "--recover: not with --checkpoint, it shows the latest state");
	err = image_open(im, tool, path, &options);
	if (err)
		return err;
	return image_root(&im->root, &tool->cx, im->vol, cno);
}

int image_root(struct root *root, struct context *cx, struct volume *vol,
	       uint64_t moment)
{
	uint64_t cno = moment, *cnos = NULL;
	struct context quiet;
	char before[24] = "", after[24] = "";
	size_t count = 0, i;
	int err = 0;

	if (moment & MOMENT_TIME)
		err = cptable_at(vol, cx, (int64_t)(moment & ~MOMENT_TIME),
				 &cno);
	if (err)
		return err;
	err = root_open(root, cx, vol, cno);
	context_child(cx, &quiet);
	if (err != -ENOENT || cptable_list(vol, &quiet, false, &cnos, &count))
		return err;
	i = search_lower_bound(cnos, count, cno);
	if (i)
		snprintf(before, sizeof(before), "%llu",
			 (unsigned long long)cnos[i - 1]);
	if (i < count)
		snprintf(after, sizeof(after), "%llu",
			 (unsigned long long)cnos[i]);
	if (count && (i == count || cnos[i] != cno))
		err = fail_said(cx, -ENOENT, "checkpoint %llu: does not exist; "
				"the nearest %s %s%s%s",
				(unsigned long long)cno,
				i && i < count ? "are" : "is", before,
				i && i < count ? " and " : "", after);
	free(cnos);
	return err;
}

void image_close_volume(struct dump_image *im)
{
	if (!im->shared || im->vol != im->shared->vol)
		volume_close(im->vol);
	im->vol = NULL;
}

void image_close(struct dump_image *im)
{
	image_close_volume(im);
	if (!im->shared) {
		if (im->dev != im->file)
			dev_close(im->dev);
		dev_close(im->file);
		cleanerlock_release(im->lock);
		live_close(im->live);
	}
	*im = (struct dump_image){ .dev = NULL };
}

int image_note(struct tool *tool, int *status, int err)
{
	if (!err)
		return 0;
	*status = err;
	if (err != -EINTR && *tool->cx.failure) {
		report_paragraph(&tool->report, "problem", tool->cx.failure);
		/* Several parts may need the same damaged metadata. */
		if (!strcmp(tool->noted, tool->cx.failure)) {
			fail_clear(&tool->cx);
		} else {
			strcpy(tool->noted, tool->cx.failure);
			tool_failed(tool, NULL, err);
		}
		*status = 1;
	}
	return *status < 0 ? *status : 0;
}

/* A path may be long and contain any bytes: it is escaped and truncated. */
void image_file_failed(struct tool *tool, const char *path, size_t len,
		       int err)
{
	char text[PATH_SHOWN];

	text_escape(text, sizeof(text), path, len);
	tool_failed(tool, text, err);
}

void image_checkpoint_failed(struct tool *tool, uint64_t cno, int err)
{
	char text[64];

	snprintf(text, sizeof(text), "checkpoint %llu",
		 (unsigned long long)cno);
	tool_failed(tool, text, err);
}

void image_describe(const struct dump_image *im, struct segmap_volume *v)
{
	const struct nilfs_geometry *g = &im->vol->geo;

	*v = (struct segmap_volume){
		.device_bytes = im->dev->size,
		.segment_bytes = (uint64_t)g->blocks_per_segment
				 << g->block_bits,
		.segments = g->nsegments,
		.checkpoint = im->vol->latest.cno,
	};
	volume_label(im->vol, v->label);
}
