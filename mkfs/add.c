// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding layers to an existing volume.
 *
 * The volume takes the place of the layer below the first one (content.c).  The logs of
 * all layers are in segments, or parts of them, that the volume does not use.  The
 * superblocks are written last and refer to the last log, so a power cut leaves the old
 * state or all layers.
 *
 * As many clean segments remain as the kernel reserves: with fewer, a mounted volume
 * could neither be written to nor cleaned.
 */
#include "mkfs/add.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "dev/devfile.h"
#include "dev/qcow2.h"
#include "dev/zoned.h"
#include "disk/reserve.h"
#include "log/newsupers.h"
#include "vol/owner.h"
#include "vol/sutable.h"
#include "vol/writable.h"

static void show_check(void *arg, uint64_t done, uint64_t total)
{
	struct progress *progress = arg;

	progress->total = total;
	progress_update(progress, total && done > total ? total : done);
}

/* -EUCLEAN if fsck.nilfs2 would find an error, or a name that misleads a merge. */
static int check_sound(struct tool *tool, struct dev *dev)
{
	struct progress *progress = &tool->progress;
	struct check c = {
		.dev = dev,
		.failed_reads = dev->stats.failed_reads,
		.progress = show_check,
		.progress_arg = progress,
	};
	const struct check_run run = { .counters = false };
	struct context *cx = &tool->cx;
	int ret = findings_open(&c.findings, cx, NULL, NULL, false);

	progress_begin(progress, "checking", 0, false);
	if (!ret)
		ret = check_volume(&c, cx, &run);
	progress_end(progress);
	if (!ret || (ret > 0 &&
		     (findings_count_severity(c.findings, RULE_ERROR) ||
		      findings_have(c.findings, RULE_MISNAMES))))
		ret = fail(cx, -EUCLEAN, "%s: is damaged; nothing was written; "
			   "fsck.nilfs2 -n lists the findings, "
			   "fsck.nilfs2 -y repairs them", dev->name);
	check_fini(&c);
	findings_close(c.findings);
	return ret < 0 ? ret : 0;
}

/* Opens the device of T, which is neither zoned nor of another format. */
static int open_device(struct context *cx, const struct mkfs_options *o,
		       struct target *t)
{
	struct owner owner;
	int ret = target_check_use(cx, t->path, o);

	if (!ret)
		ret = devfile_open(&t->file, cx, t->path,
				   o->dry_run ? DEVFILE_READ : DEVFILE_WRITE);
	if (ret)
		return ret;
	owner_find(&owner, cx, t->file);
	if (owner.foreign)
		return owner_fail(cx, t->file, &owner, "");
	if (!o->dry_run)
		owner_guard(t->file);
	ret = qcow2_open(&t->dev, cx, t->file);
	if (!ret && t->dev != t->file)
		return fail_said(cx, -EROFS, "%s: a qcow2 image can only be "
				 "read: qemu-img convert -O raw makes one of "
				 "it that can be written to", t->path);
	if (!ret)
		ret = zoned_open(&t->dev, cx, t->file, t->path);
	if (!ret && t->dev->zones)
		ret = fail_said(cx, -EOPNOTSUPP, "%s: --add: layers cannot be "
				"added to a volume on zones", t->path);
	return ret;
}

int add_open(struct add *a, struct tool *tool, const struct mkfs_options *o,
	     struct target *t)
{
	const struct nilfs_super_block *sb;
	struct context *cx = &tool->cx;
	struct nilfs_sufile_header header;
	int ret;

	memset(t, 0, sizeof(*t));
	t->path = tool->argv[0];
	if (!o->roots.count)
		return fail(cx, -EINVAL, "--add: needs a source (-d)");
	ret = open_device(cx, o, t);
	if (!ret)
		ret = volume_open(&a->vol, cx, t->dev, NULL);
	if (ret)
		return ret;
	check_raise_budget(cx, a->vol, tool->cli->max_memory);
	ret = writable_check(cx, a->vol);
	if (!ret)
		ret = check_sound(tool, t->dev);
	if (!ret)
		ret = sutable_header(a->vol, cx, &header);
	if (ret)
		return ret;
	sb = volume_super(a->vol);
	t->size = t->dev->size;
	a->clean = le64_get(header.sh_ncleansegs);
	a->reserved = reserve_segments(a->vol->geo.nsegments,
				       le32_get(sb->s_r_segments_percentage));
	a->base = (struct content_base){
		.dev = t->dev,
		.at = a->vol->latest,
	};
	return 0;
}

void add_close(struct add *a)
{
	volume_close(a->vol);
}

int add_plan(const struct add *a, struct context *cx,
	     const struct mkfs_options *o, struct plan *plan)
{
	const struct nilfs_super_block *sb = volume_super(a->vol);

	*plan = (struct plan){
		.g = a->vol->geo,
		.size = le64_get(sb->s_dev_size),
		.reserved = le32_get(sb->s_r_segments_percentage),
	};
	return plan_time(cx, o, cx->now, &plan->ctime);
}

int add_check_room(const struct add *a, struct context *cx, uint64_t segments)
{
	const struct nilfs_geometry *g = &a->vol->geo;
	uint64_t size = (uint64_t)g->blocks_per_segment << g->block_bits;
	uint64_t free = a->clean > a->reserved ? a->clean - a->reserved : 0;
	const char *name = a->vol->dev->name;

	if (segments <= free)
		return 0;
	return fail_said(cx, -ENOSPC, "%s: -d: %" PRIu64 " bytes are needed, %"
		    PRIu64 " are free and not reserved; the volume is "
		    "unchanged; gc.nilfs2 --free=%" PRIu64 " %s frees them",
		    name, segments * size, free * size,
		    segments + a->reserved - a->clean, name);
}

int add_begin(struct add *a, struct context *cx)
{
	const struct nilfs_super_block *sb = volume_super(a->vol);
	const struct writer_end end = {
		.cno = a->base.at.cno,
		.pseg = a->base.at.pseg_start,
		.seq = a->base.at.seq,
		.clean_segments = a->clean,
	};
	unsigned int state = le16_get(sb->s_state);

	if (a->vol->super_used == a->vol->choice.index &&
	    (state & NILFS_VALID_FS))
		return 0;
	return newsupers_name(cx, a->vol->dev, a->vol, &end,
			      le64_get(sb->s_wtime),
			      (uint16_t)(state | NILFS_VALID_FS));
}

int add_commit(struct add *a, struct context *cx, const struct content *c,
	       uint64_t time)
{
	unsigned int state = le16_get(volume_super(a->vol)->s_state);

	return newsupers_name(cx, a->vol->dev, a->vol, &c->end, time,
			      (uint16_t)(state | NILFS_VALID_FS));
}
