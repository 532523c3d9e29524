// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image or device that a command shows.
 *
 * All commands except `set` only read, so a mounted device is accepted: its
 * superblocks lead to a state that was complete when it was written, and the
 * kernel does not overwrite it at once.  A warning is printed.
 */
#include "dump/common/image.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/qcow2.h"

#define PATH_SHOWN 512

int image_open(struct dump_image *im, struct tool *tool, const char *path,
	       const struct volume_options *options)
{
	struct probe_use use;
	int err;

	*im = (struct dump_image){ .dev = NULL };
	if (probe_mounted(&tool->cx, path, &use))
		fail_clear(&tool->cx);
	else if (use.kind == PROBE_MOUNTED && !use.read_only)
		tool_warn(tool,
			  "%s: mounted on %s: it may change while it is read",
			  path, use.where);
	err = devfile_open(&im->file, &tool->cx, path, DEVFILE_READ);
	if (!err)
		err = qcow2_open(&im->dev, &tool->cx, im->file);
	if (err)
		return err;
	return volume_open(&im->vol, &tool->cx, im->dev, options);
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
	return root_open(&im->root, &tool->cx, im->vol, cno);
}

void image_close(struct dump_image *im)
{
	volume_close(im->vol);
	if (im->dev != im->file)
		dev_close(im->dev);
	dev_close(im->file);
	im->vol = NULL;
	im->dev = im->file = NULL;
}

int image_note(struct tool *tool, int *status, int err)
{
	if (!err)
		return 0;
	*status = err;
	if (err != -EINTR && *tool->cx.failure) {
		report_paragraph(&tool->report, "problem", tool->cx.failure);
		tool_failed(tool, NULL, err);
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

void image_describe(const struct dump_image *im, struct segmap_volume *v,
		    char label[VOLUME_LABEL_MAX])
{
	const struct nilfs_geometry *g = &im->vol->geo;

	*v = (struct segmap_volume){
		.label = volume_label(im->vol, label),
		.device_bytes = im->dev->size,
		.segment_bytes = (uint64_t)g->blocks_per_segment
				 << g->block_bits,
		.segments = g->nsegments,
		.checkpoint = im->vol->latest.cno,
	};
}
