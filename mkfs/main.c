// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs.nilfs2: look, plan, refuse or write, report.
 *
 * Everything that can be refused is refused before the first change.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tool.h"
#include "dev/devfile.h"
#include "mkfs/announce.h"
#include "mkfs/badblocks.h"
#include "mkfs/format.h"
#include "mkfs/measure.h"
#include "mkfs/options.h"
#include "mkfs/target.h"

#define SPACE_AT_ONCE (128u << 20)

struct mkfs {
	struct tool *tool;
	const struct mkfs_options *o;
	struct target target;
	struct plan plan;
	struct badblocks badblocks;
	struct content content;
	struct entry_rules rules;
	struct walk_skip skip;		/* the image */
	char files[48];			/* for the line of progress */
};

static int make_plan(struct mkfs *m)
{
	struct context *cx = &m->tool->cx;
	struct plan_facts facts = {
		.name = m->target.path,
		.size = m->target.size,
		.sector_size = m->target.sector_size,
		.now = cx->now,
		.zones = m->target.zones,
	};
	int ret = options_uuid(cx, m->o, facts.uuid);

	return ret ? ret : plan_make(cx, m->o, &facts, &m->plan);
}

static void warn_of_pages(struct mkfs *m)
{
	long page_size = sysconf(_SC_PAGESIZE);

	if (m->plan.g.block_size > page_size)
		tool_warn(m->tool, "blocks of %u bytes cannot be mounted here, "
			  "where memory pages have %ld", m->plan.g.block_size,
			  page_size);
}

static int write_test(void *arg, struct context *cx, struct dev *dev)
{
	struct mkfs *m = arg;

	return badblocks_write(&m->badblocks, cx, dev);
}

static int settle(void *arg, struct context *cx, struct dev *dev,
		  const struct plan *plan)
{
	struct mkfs *m = arg;

	(void)dev;
	return target_settle(cx, &m->target, plan->size);
}

static void show_progress(void *arg, const struct populate_counts *counts,
			  uint64_t bytes)
{
	struct mkfs *m = arg;

	snprintf(m->files, sizeof(m->files), "filling (%" PRIu64 " files)",
		 counts->files);
	progress_update(&m->tool->progress, bytes);
}

/* What is put on the volume, as the options have it. */
static void choose_content(struct mkfs *m)
{
	const struct mkfs_options *o = m->o;
	struct content *c = &m->content;
	struct stat st;

	c->sources = o->roots.items;
	c->nsources = o->roots.count;
	c->walk.rules = &m->rules;
	c->walk.order = (enum walk_order)o->order;
	c->walk.one_file_system = o->one_file_system;
	if (!fstat(devfile_fd(m->target.file), &st)) {
		m->skip = (struct walk_skip){ st.st_dev, st.st_ino };
		c->walk.skip = &m->skip;
		c->walk.nskip = 1;
	}
	c->snapshots = (enum content_snapshots)o->snapshot;
	c->strict = o->strict;
	c->collect = o->collect;
	c->digest = options_uuid_of_content(o);
	c->progress = show_progress;
	c->arg = m;
}

static int write_volume(struct mkfs *m, struct context *cx)
{
	struct format_how how = {
		.blank = m->target.blank,
		.discard = !m->o->keep,
		.test = m->o->check > 1 ? write_test : NULL,
		.settle = m->plan.fit ? settle : NULL,
		.arg = m,
		.content = &m->content,
	};

	return format_run(cx, m->target.dev, &m->plan, &how);
}

/* One thread does for an empty volume, and no others need to be started. */
static int write_empty(struct mkfs *m)
{
	m->tool->cx.threads = 1;
	return write_volume(m, &m->tool->cx);
}

/*
 * Much is written that nobody reads soon.  Space is asked for in advance only
 * where nothing is left behind the logs that would have to stay.
 */
static void choose_output(struct mkfs *m)
{
	struct dev *file = m->target.file;
	bool free_behind = m->target.blank || !m->o->keep;

	if (devfile_direct(file) && !file->is_block_device && free_behind &&
	    !m->plan.zoned.zones)
		m->content.allocate = SPACE_AT_ONCE;
}

static int fill(struct mkfs *m)
{
	struct context *cx = &m->tool->cx;
	struct progress *progress = &m->tool->progress;
	uint64_t total = 0;
	int ret;

	choose_output(m);
	if (progress->fd >= 0)
		total = measure_sources(cx, m->content.sources,
					m->content.nsources);
	snprintf(m->files, sizeof(m->files), "filling");
	progress_begin(progress, m->files, total, true);
	ret = write_volume(m, cx);
	progress_end(progress);
	return ret;
}

static int format(struct mkfs *m)
{
	struct context *cx = &m->tool->cx;
	int ret = target_prepare(cx, &m->target);

	if (!ret)
		ret = options_entry_rules(cx, m->o, m->tool->source_date,
					  &m->rules);
	if (ret)
		return ret;
	if (m->plan.fit)
		plan_limit(&m->plan, m->target.size);
	m->badblocks.fd = devfile_fd(m->target.file);
	choose_content(m);
	ret = m->content.nsources ? fill(m) : write_empty(m);
	entry_rules_fini(&m->rules);
	return ret;
}

/* What the sources had and the volume has not. */
static void warn_of_losses(struct mkfs *m)
{
	const uint64_t *losses = m->content.counts.losses;
	unsigned int i;

	for (i = 0; i < ENTRY_LOSSES; i++) {
		if (losses[i])
			tool_warn(m->tool, "%s of %" PRIu64 " file%s: lost, "
				  "for NILFS2 cannot hold them",
				  entry_loss_name(i), losses[i],
				  losses[i] == 1 ? "" : "s");
	}
	if (m->content.notes.skipped)
		tool_note(m->tool, "%s: left out of itself", m->target.path);
}

static void announce(struct mkfs *m)
{
	struct report *r = &m->tool->report;
	bool written = !m->o->dry_run;

	if (m->tool->quiet && report_is_text(r))
		return;
	announce_plan(r, m->target.path, &m->plan, written);
	if (written && m->content.nsources)
		announce_content(r, &m->content, &m->plan.g);
}

/*
 * What cannot fit is refused before anything is lost, or where nothing is
 * written.  Patterns may leave out all that is large.
 */
static int check_room(struct mkfs *m)
{
	const struct mkfs_options *o = m->o;
	const struct nilfs_geometry *g = &m->plan.g;
	struct measure_how how = {
		.one_file_system = o->one_file_system,
		.block_size = g->block_size,
		.room = g->nsegments * g->blocks_per_segment << g->block_bits,
	};
	uint64_t bytes;
	struct stat st;

	if (m->plan.fit || o->exclude.count || !o->roots.count ||
	    (m->target.blank && !o->dry_run))
		return 0;
	if (!stat(m->target.path, &st))
		how.skip = (struct walk_skip){ st.st_dev, st.st_ino };
	bytes = measure_excess(&m->tool->cx, o->roots.items, o->roots.count,
			       &how);
	if (!bytes)
		return context_cancelled(&m->tool->cx);
	return fail(&m->tool->cx, -ENOSPC, "%s: -d: the files have %" PRIu64
		    " bytes, for which the volume has %" PRIu64
		    "; nothing was written", m->target.path, bytes, how.room);
}

static int look_and_format(struct mkfs *m)
{
	struct context *cx = &m->tool->cx;
	int ret = make_plan(m);

	if (!ret && !m->o->force)
		ret = target_check_empty(cx, &m->target);
	if (!ret)
		ret = content_check(cx, m->o->roots.items, m->o->roots.count);
	if (!ret)
		ret = check_room(m);
	if (!ret && m->o->check == 1 && m->target.dev)
		ret = badblocks_read(&m->badblocks, cx, m->target.dev);
	if (ret)
		return ret;
	warn_of_pages(m);
	if (!m->o->dry_run)
		ret = format(m);
	if (ret)
		return ret;
	warn_of_losses(m);
	announce(m);
	return 0;
}

static int run(struct tool *tool, const void *options)
{
	struct mkfs m = {
		.tool = tool,
		.o = options,
		.badblocks = { .progress = &tool->progress, .fd = -1 },
	};
	int ret = target_open(&tool->cx, tool->argv[0], m.o, &m.target);

	if (!ret)
		ret = look_and_format(&m);
	target_close(&m.target, ret);
	return ret;
}

static const struct cli_command command = {
	.summary = "make an NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.options_size = sizeof(struct mkfs_options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

static const struct cli_tool mkfs = {
	.name = "mkfs.nilfs2",
	.summary = "Make a NILFS2 volume, empty or filled, on a device or "
		   "image file.",
	.only = &command,
	.exit_failure = 1,
	.exit_usage = 1,
};

int main(int argc, char **argv)
{
	return tool_main(&mkfs, argc, argv);
}
