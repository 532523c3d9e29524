// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs.nilfs2: examine, plan, refuse or write, report; for a new volume, or for layers
 * that are added to one.
 *
 * All checks are made before the first change.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/uuidtext.h"
#include "cli/tool.h"
#include "dev/devfile.h"
#include "disk/super.h"
#include "mkfs/add.h"
#include "mkfs/badblocks.h"
#include "mkfs/format.h"
#include "mkfs/plan/options.h"
#include "mkfs/target.h"

#define SPACE_AT_ONCE (128u << 20)

struct mkfs {
	struct tool *tool;
	const struct mkfs_options *o;
	struct target target;
	struct add add;			/* the volume, if it exists */
	struct plan plan;
	struct badblocks badblocks;
	struct content content;
	struct entry_rules rules;
	struct walk_skip skip;		/* the image */
	uint64_t least_size;		/* bytes; 0: not forecast */
	off_t input;	/* start of standard input; -1: not a file */
	const char *doing;		/* for the progress line */
	char files[48];			/* text of the progress line */
};

static void begin_progress(struct mkfs *m, const char *doing, uint64_t bytes)
{
	m->doing = doing;
	snprintf(m->files, sizeof(m->files), "%s", doing);
	progress_begin(&m->tool->progress, m->files, bytes, true);
}

static void mkfs_show_progress(void *arg, const struct populate_counts *counts,
			       uint64_t bytes)
{
	struct mkfs *m = arg;

	snprintf(m->files, sizeof(m->files), "%s (%" PRIu64 " files)",
		 m->doing, counts->files);
	progress_update(&m->tool->progress, bytes);
}

/* Excludes the image file, which may be inside its own source. */
static void skip_target(struct mkfs *m)
{
	struct stat st;

	if (!m->target.file || fstat(devfile_fd(m->target.file), &st))
		return;
	m->skip = (struct walk_skip){ st.st_dev, st.st_ino };
	m->content.walk.skip = &m->skip;
}

static bool can_read_twice(const struct mkfs *m)
{
	const struct option_list *roots = &m->o->roots;
	size_t i;

	for (i = 0; i < roots->count && m->input < 0; i++)
		if (!strcmp(roots->items[i], "-"))
			return false;
	return true;
}

static void rewind_input(const struct mkfs *m)
{
	if (m->input >= 0)
		lseek(STDIN_FILENO, m->input, SEEK_SET);
}

/* Sets the least size with which the content of a new volume can be written. */
static int forecast(struct mkfs *m, struct forecast *f)
{
	const bool zoned = m->plan.zoned.zones != NULL;
	struct context *cx = &m->tool->cx;
	int ret;

	begin_progress(m, "measuring", 0);
	rewind_input(m);
	ret = content_forecast(f, cx, &m->plan, &m->content);
	if (ret == -ENOSPC && (zoned || m->o->add) && can_read_twice(m)) {
		/* The required size if each zone holds one segment. */
		struct plan room = m->plan;

		room.zoned.zones = NULL;
		if (m->o->add)
			plan_limit(&room, CONTENT_ROOM);
		fail_clear(cx);
		rewind_input(m);
		ret = content_forecast(f, cx, &room, &m->content);
		if (zoned)
			f->nsegments *= m->plan.zoned.per_zone;
		if (!ret && f->nsegments <= m->plan.g.nsegments)
			f->nsegments = m->plan.g.nsegments + 1;
	}
	rewind_input(m);
	progress_end(&m->tool->progress);
	if (!ret && !m->o->add)
		m->least_size = plan_min_size(&f->plan.g, f->nsegments);
	return ret;
}

static int no_room(struct mkfs *m, const char *what)
{
	return fail(&m->tool->cx, -ENOSPC, "%s: -d: %" PRIu64 " bytes are "
		    "needed, it has %" PRIu64 "; %s", m->target.path,
		    m->least_size, m->plan.size, what);
}

/* A source archive that is also the target would be overwritten while it is read. */
static int check_sources(const struct mkfs *m)
{
	const struct option_list *roots = &m->o->roots;
	struct stat to, from;
	size_t i;

	if (!m->target.file || fstat(devfile_fd(m->target.file), &to))
		return 0;
	for (i = 0; i < roots->count; i++) {
		if (strcmp(roots->items[i], "-") ?
			    stat(roots->items[i], &from) :
			    fstat(STDIN_FILENO, &from))
			continue;
		if (S_ISBLK(to.st_mode) ?
			    S_ISBLK(from.st_mode) &&
				    from.st_rdev == to.st_rdev :
			    from.st_dev == to.st_dev &&
				    from.st_ino == to.st_ino)
			return fail(&m->tool->cx, -EINVAL, "%s: is also a "
				    "source (-d); nothing was written",
				    m->target.path);
	}
	return 0;
}

/* Without figures. */
static int added_too_much(struct mkfs *m)
{
	return fail_said(&m->tool->cx, -ENOSPC, "%s: -d: no space for the "
		    "content; the volume is unchanged", m->target.path);
}

/* Whether layers fit into the volume that exists. */
static int check_added(struct mkfs *m)
{
	struct forecast f;
	int ret;

	if (!can_read_twice(m) && !m->o->dry_run)
		return 0;
	ret = forecast(m, &f);
	if (ret == -ENOSPC)
		return added_too_much(m);
	if (!ret)
		ret = add_check_room(&m->add, &m->tool->cx, m->add.clean +
				     f.plan.g.nsegments - m->plan.g.nsegments -
				     f.content.end.clean_segments);
	if (!ret && m->o->dry_run)
		m->content = f.content;
	return ret;
}

/* Makes all checks of the content before anything is lost. */
static int check_content(struct mkfs *m)
{
	const struct mkfs_options *o = m->o;
	struct forecast f;
	int ret;

	if (o->add)
		return check_added(m);
	if (o->dry_run ? !o->roots.count && !m->plan.fit :
			 !o->roots.count || m->target.blank ||
				 !can_read_twice(m))
		return 0;
	ret = forecast(m, &f);
	if (ret == -ENOSPC)
		return fail(&m->tool->cx, ret, "%s: -d: too small for the "
					       "content; nothing was written",
			    m->target.path);
	if (!ret && !m->plan.fit && f.nsegments > m->plan.g.nsegments)
		return no_room(m, "nothing was written");
	if (!ret && m->plan.fit)
		ret = target_check_limit(&m->target, &m->tool->cx,
					 f.plan.size);
	if (ret || !o->dry_run)
		return ret;
	m->content = f.content;
	m->plan = m->plan.fit ? f.plan : m->plan;
	return 0;
}

/* Makes the plan and all checks.  Nothing is changed yet. */
static int prepare(struct mkfs *m)
{
	const struct mkfs_options *o = m->o;
	struct context *cx = &m->tool->cx;
	struct plan_facts facts = {
		.name = m->target.path,
		.size = m->target.size,
		.sector_size = m->target.sector_size,
		.now = cx->now,
		.zones = m->target.zones,
	};
	long page_size = sysconf(_SC_PAGESIZE);
	int ret = o->add ? add_plan(&m->add, cx, o, &m->plan) :
			   options_uuid(cx, o, facts.uuid);

	if (!ret && !o->add)
		ret = plan_make(cx, o, &facts, &m->plan);
	if (!ret && !o->add && !o->force)
		ret = target_check_empty(cx, &m->target);
	if (!ret)
		ret = content_check(cx, o->roots.items, o->roots.count);
	if (!ret)
		ret = check_sources(m);
	if (ret)
		return ret;

	m->content = (struct content){
		.base = o->add ? &m->add.base : NULL,
		.sources = o->roots.items,
		.nsources = o->roots.count,
		.walk = {
			.rules = &m->rules,
			.order = (enum walk_order)o->order,
			.one_file_system = o->one_file_system,
		},
		.snapshots = (enum content_snapshots)o->snapshot,
		.redundant = o->redundant,
		.strict = o->strict,
		.collect = o->collect,
		.digest = options_uuid_of_content(o),
		.progress = mkfs_show_progress,
		.arg = m,
	};
	skip_target(m);
	ret = options_entry_rules(cx, o, m->tool->source_date, &m->rules);
	if (!ret)
		ret = check_content(m);
	if (!ret && o->check == 1 && m->target.dev)
		ret = badblocks_test(&m->badblocks, cx, m->target.dev, false);
	if (!ret && (int64_t)m->plan.g.block_size > page_size)
		tool_warn(m->tool, "blocks of %u bytes cannot be mounted here, "
			  "where memory pages have %ld", m->plan.g.block_size,
			  page_size);
	return ret;
}

static int format(struct mkfs *m)
{
	struct progress *progress = &m->tool->progress;
	struct target *t = &m->target;
	struct content *c = &m->content;
	struct context *cx = &m->tool->cx;
	struct format_how how = {
		.discard = !m->o->keep,
		.test = m->o->check > 1 ? &m->badblocks : NULL,
		.settle = m->plan.fit ? t : NULL,
		.content = c,
	};
	uint64_t total = 0;
	int ret = target_prepare(cx, t);

	if (ret)
		return ret;
	if (m->plan.fit)
		plan_limit(&m->plan, t->size);
	how.blank = t->blank;
	m->badblocks.fd = devfile_fd(t->file);
	skip_target(m);
	if (c->nsources) {
		/*
		 * Written data is not read soon: bypass the page cache.  Space is
		 * preallocated only if nothing after the logs must be kept.
		 */
		if (devfile_direct(t->file) && !t->file->is_block_device &&
		    (t->blank || !m->o->keep) && !m->plan.zoned.zones)
			c->allocate = SPACE_AT_ONCE;
		if (progress->fd >= 0)
			total = content_measure(c, cx);
		begin_progress(m, "filling", total);
		ret = format_run(cx, t->dev, &m->plan, &how);
		progress_end(progress);
	} else {
		/* An empty volume needs one thread only. */
		cx->threads = 1;
		ret = format_run(cx, t->dev, &m->plan, &how);
	}
	return ret ? ret : target_finish(cx, t);
}

/* Adds the layers.  Until the last write the volume is unchanged. */
static int add(struct mkfs *m)
{
	struct progress *progress = &m->tool->progress;
	struct context *cx = &m->tool->cx;
	struct content *c = &m->content;
	int ret = add_begin(&m->add, cx);

	if (ret)
		return ret;
	begin_progress(m, "filling",
		       progress->fd >= 0 ? content_measure(c, cx) : 0);
	ret = content_write(c, cx, m->target.dev, &m->plan);
	progress_end(progress);
	if (ret == -ENOSPC)
		return added_too_much(m);
	/* A source that is a pipe was not measured. */
	if (!ret)
		ret = add_check_room(&m->add, cx, m->add.clean -
				     c->end.clean_segments);
	return ret ? ret : add_commit(&m->add, cx, c, m->plan.ctime);
}

/* Reports the required size, if it can still be determined. */
static int explain_full(struct mkfs *m)
{
	struct context *cx = &m->tool->cx;
	size_t len = strlen(m->target.path);
	char text[FAILURE_TEXT_MAX];
	struct forecast f;

	memcpy(text, cx->failure, sizeof(text));
	if (can_read_twice(m) && !m->plan.fit && !m->plan.zoned.zones &&
	    !forecast(m, &f) && f.nsegments > m->plan.g.nsegments)
		return no_room(m, "the device has no volume now");
	if (!strncmp(text, m->target.path, len) && text[len] == ':')
		return fail(cx, -ENOSPC, "%s", text);
	return fail(cx, -ENOSPC, "%s: %s", m->target.path, text);
}

static void put_zones(struct report *r, const struct plan *plan)
{
	const struct zoneplan *zoned = &plan->zoned;
	const struct zones *zones = zoned->zones;

	report_begin(r, "zones", "Zones");
	report_bool(r, "emulated", "Emulated", zones->emulated);
	report_string(r, "recipe", "Recipe", zoneplan_recipe(plan));
	report_bool(r, "second_superblock", "Second superblock", plan->super2);
	report_size(r, "zone_size", "Zone", zones->size);
	report_size(r, "zone_capacity", "Minimum capacity", zones->capacity);
	report_u64(r, "zones", "Zones", zones->count);
	report_u64(r, "conventional", "Conventional",
		   zone_count(zones, ZONE_CONVENTIONAL));
	report_u64(r, "sequential", "Sequential",
		   zone_count(zones, ZONE_SEQUENTIAL));
	report_u64(r, "unwritable", "Offline or read-only",
		   zone_count(zones, ZONE_UNWRITABLE));
	report_u64(r, "max_open", "Open zones (0: no limit)", zones->max_open);
	report_u64(r, "max_active", "Active zones (0: no limit)",
		   zones->max_active);
	report_u64(r, "usable_segments", "Usable segments",
		   plan->g.nsegments - zoned->unusable);
	report_u64(r, "error_segments", "Segments flagged as bad",
		   zoned->unusable);
	report_size(r, "lost_bytes", "Unused capacity", zoned->lost);
	report_end(r);
}

/* Puts PLAN for the device PATH on R.  WRITTEN is false in a dry run. */
static void announce_plan(struct report *r, const char *path,
			  const struct plan *plan, bool written)
{
	size_t label = strnlen(plan->label, sizeof(plan->label));
	const struct features *f = &plan->features;
	const struct nilfs_geometry *g = &plan->g;
	const struct super_feature *sf;
	char names[128] = "none", uuid[UUIDTEXT_MAX];
	size_t len = 0;

	report_begin(r, "volume",
		     written ? "New volume" : "Planned volume");
	report_string(r, "device", "Device", path);
	report_bool(r, "written", "Written", written);
	report_size(r, "s_dev_size", "Size", plan->size);
	report_size(r, "block_size", "Block size", g->block_size);
	report_u64(r, "s_blocks_per_segment", "Blocks per segment",
		   g->blocks_per_segment);
	report_u64(r, "s_nsegments", "Segments", g->nsegments);
	report_u64(r, "s_r_segments_percentage", "Reserved segments (%)",
		   plan->reserved);
	report_u64(r, "s_first_data_block", "First block of segment 0",
		   g->first_data_block);
	report_value(r, VALUE_HEX, "s_crc_seed", "Checksum seed",
		     value_u64(g->crc_seed));
	report_value(r, VALUE_STRING, "s_volume_name", "Label",
		     value_bytes(plan->label, label));
	report_string(r, "s_uuid", "UUID",
		      uuidtext_format(plan->uuid, uuid));
	report_time(r, "s_ctime", "Creation time", plan->ctime);
	for (sf = super_features; sf->name; sf++) {
		uint64_t word = sf->set == SUPER_COMPAT    ? f->compat :
				sf->set == SUPER_COMPAT_RO ? f->compat_ro :
							     f->incompat;

		if (!(word & sf->bit))
			continue;
		snprintf(names + len, sizeof(names) - len, "%s%s",
			 len ? "," : "", sf->name);
		len = strlen(names);
	}
	report_string(r, "features", "Features", names);
	report_end(r);
	if (plan->zoned.zones)
		put_zones(r, plan);
}

/*
 * Reports the content C of the volume of PLAN.  A forecast also reports LEAST_SIZE,
 * the minimum size of the device in bytes; it is 0 otherwise.
 */
static void announce_content(struct report *r, const struct content *c,
			     const struct plan *plan, uint64_t least_size)
{
	static const char *const keys[ENTRY_LOSSES] = {
		[ENTRY_XATTR] = "xattrs",
		[ENTRY_ACL] = "acls",
		[ENTRY_CAPABILITY] = "capabilities",
		[ENTRY_FLAGS] = "flags",
	};
	const struct populate_counts *counts = &c->counts;
	uint64_t clean = c->end.clean_segments;
	unsigned int i;

	/* A forecast is made on a device of any size. */
	if (c->forecast && !c->base && !plan->zoned.zones && !plan->fit)
		clean = plan->g.nsegments - c->end.used_segments;
	report_begin(r, "content", "Content");
	report_u64(r, "layers", "Layers", c->nsources);
	report_u64(r, "last_cno", "Last checkpoint", c->end.cno);
	report_u64(r, "files", "Files", counts->files);
	report_u64(r, "directories", "Directories", counts->directories);
	report_u64(r, "symlinks", "Symbolic links", counts->symlinks);
	report_u64(r, "specials", "Special files", counts->specials);
	report_u64(r, "links", "Additional hard links", counts->links);
	report_size(r, "bytes", "Size of files", counts->bytes);
	report_size(r, "written_bytes", "Written",
		    c->written * plan->g.block_size);
	if (c->redundant) {
		report_size(r, "redundant_bytes", "Of it, metadata again",
			    c->redundant_blocks * plan->g.block_size);
		report_u64(r, "redundant_blocks", "Blocks of that",
			   c->redundant_blocks);
		report_value(r, VALUE_PERCENT, "redundant_share",
			     "Share of the rest",
			     value_percent(c->redundant_blocks,
					   c->written - c->redundant_blocks));
	}
	report_u64(r, "clean_segments", "Clean segments", clean);
	if (least_size)
		report_size(r, "least_size", "Minimum size",
			    least_size);
	if (!report_is_text(r)) {
		report_begin(r, "lost", NULL);
		for (i = 0; i < ENTRY_LOSSES; i++)
			report_u64(r, keys[i], entry_loss_name(i),
				   counts->losses[i]);
		report_end(r);
	}
	report_end(r);
}

static void report(struct mkfs *m)
{
	const struct populate_counts *counts = &m->content.counts;
	struct report *r = &m->tool->report;
	bool written = !m->o->dry_run;
	struct plan short_plan = m->plan;
	char sizes[2][VALUE_TEXT_MAX];
	unsigned int i;

	/* Attributes of the sources that were lost. */
	for (i = 0; i < ENTRY_LOSSES; i++)
		if (counts->losses[i])
			tool_warn(m->tool, "%s of %" PRIu64 " file%s: lost, as "
					   "NILFS2 cannot store them",
				  entry_loss_name(i), counts->losses[i],
				  counts->losses[i] == 1 ? "" : "s");
	if (counts->whiteouts)
		tool_warn(m->tool, "whiteouts (.wh.*) are written as files: %"
				   PRIu64 "; with --oci those of archives "
				   "remove names of lower layers",
			  counts->whiteouts);
	if (counts->replaced_links)
		tool_warn(m->tool, "directories replace %" PRIu64 " symbolic "
				   "link%s of lower layers",
			  counts->replaced_links,
			  counts->replaced_links == 1 ? "" : "s");
	if (m->content.notes.skipped)
		tool_note(m->tool, "%s: the image itself was skipped", m->target.path);
	/* The fewest segments that a mount can write to are most of a small image. */
	short_plan.g.blocks_per_segment = 64;
	if (m->plan.fit && !m->plan.zoned.zones &&
	    m->plan.g.blocks_per_segment == options_defaults.blocks_per_segment) {
		plan_settle(&short_plan, m->content.written / 64 + 2);
		if (short_plan.size <= m->plan.size / 2)
			tool_note(m->tool, "%s: shorter segments (-B 64) make it "
				  "about %s instead of %s", m->target.path,
				  value_size_text(r->out, short_plan.size, sizes[0]),
				  value_size_text(r->out, m->plan.size, sizes[1]));
	}
	if (m->tool->quiet && report_is_text(r))
		return;
	if (!m->o->add)
		announce_plan(r, m->target.path, &m->plan, written);
	if (m->content.nsources || (m->content.redundant && m->content.written))
		announce_content(r, &m->content, &m->plan,
				 written ? 0 : m->least_size);
}

static int run_mkfs(struct tool *tool, const void *options)
{
	struct mkfs m = {
		.tool = tool,
		.o = options,
		.badblocks = { .progress = &tool->progress, .fd = -1 },
		.input = lseek(STDIN_FILENO, 0, SEEK_CUR),
	};
	int ret = m.o->add ? add_open(&m.add, tool, m.o, &m.target) :
			     target_open(&tool->cx, tool->argv[0], m.o,
					 &m.target);

	if (!ret)
		ret = prepare(&m);
	if (!ret && !m.o->dry_run) {
		ret = m.o->add ? add(&m) : format(&m);
		if (ret == -ENOSPC && !m.o->add)
			ret = explain_full(&m);
	}
	if (!ret)
		report(&m);
	entry_rules_fini(&m.rules);
	add_close(&m.add);
	target_close(&m.target, ret);
	return ret;
}

static const struct cli_heading headings[] = {
	{ "Layout",
	  "block-size blocks-per-segment reserved features size" },
	{ "Name and identity",
	  "label uuid creation-time" },
	{ "Zones",
	  "zoned zone-size zone-capacity conventional-zones" },
	{ "Existing content of the device",
	  "add force check keep dry-run" },
	{ "Content",
	  "root oci exclude one-file-system snapshot redundant sort sparse "
	  "strict collect" },
	{ "Owners and times of files",
	  "owner uid-map gid-map mtime clamp-mtime" },
	{ "Output and resources", "" },
	{ NULL, NULL },
};

static const struct cli_command command = {
	.summary = "create a NILFS2 volume",
	.synopsis = "DEVICE",
	.options = options_rows,
	.headings = headings,
	.options_size = sizeof(struct mkfs_options),
	.defaults = &options_defaults,
	.min_args = 1,
	.max_args = 1,
	.run = run_mkfs,
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
