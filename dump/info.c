// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 info: an overview of the volume.
 *
 * The superblocks are read independently of the volume, so that they are shown
 * even if they lead nowhere; each section after that is shown as far as the
 * volume can be read.
 */
#include <errno.h>

#include "dump/commands.h"
#include "dump/image.h"
#include "dump/info.h"
#include "dump/info_super.h"
#include "dump/info_volume.h"

static int note(struct tool *tool, int err, int *status)
{
	if (!err)
		return 0;
	*status = image_complain(tool, err);
	return *status < 0 ? *status : 0;
}

static int report_volume(struct tool *tool, struct volume *vol)
{
	struct report *r = &tool->report;
	struct context *cx = &tool->cx;
	int status = 0, err;

	info_volume_report_geometry(vol, r);
	err = note(tool, info_volume_report_latest(vol, cx, r), &status);
	if (!err)
		err = note(tool, info_volume_report_usage(vol, cx, r),
			   &status);
	if (!err)
		err = note(tool, info_volume_report_zones(cx, tool->argv[0],
							  r), &status);
	return err ? err : status;
}

int info_report(struct tool *tool, const struct info_super *s,
		struct volume *vol, uint64_t dev_size)
{
	const struct nilfs_super_block *sb;
	int used = vol ? vol->super_used : s->choice.index;

	if (used >= 0)
		info_super_report_refusal(&s->copy[used], dev_size,
					  &tool->report);
	info_super_report_fields(s, &tool->report);
	info_super_report_choice(s, &tool->report, &tool->cx, vol);
	if (used < 0)
		return 0;
	sb = &s->copy[used];
	info_super_report_features(sb, &tool->report);
	info_super_report_state(sb, &tool->report);
	return vol ? report_volume(tool, vol) : 0;
}

static int info_run(struct tool *tool, const void *options)
{
	struct dump_image im;
	struct info_super s;
	int err, status = 0;

	(void)options;
	err = image_open(&im, tool, tool->argv[0], NULL);
	if (err && !im.dev)
		goto out;
	info_super_read(&s, &tool->cx, im.dev);
	if (err && !s.shown[0] && !s.shown[1])
		goto out;
	err = note(tool, err, &status);
	if (!err)
		err = info_report(tool, &s, im.vol, im.dev->size);
out:
	image_close(&im);
	return err ? err : status;
}

const struct cli_command info_command = {
	.name = "info",
	.summary = "superblocks, geometry, state and usage",
	.synopsis = "IMAGE",
	.about = "Shows both superblocks, which of them is used and why, and "
		 "what they lead to.",
	.min_args = 1,
	.max_args = 1,
	.run = info_run,
};
