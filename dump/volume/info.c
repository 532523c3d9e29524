// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.nilfs2 info: an overview of the volume: a summary, or with -v, and in
 * JSON, all values that can be read fast.
 *
 * The superblocks are read independently of the volume, so that they are shown
 * even if they lead to no super root; the following sections are shown as far
 * as the volume can be read.
 */
#include "dump/volume/info.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/uuidtext.h"
#include "check/beyond.h"
#include "cli/tool.h"
#include "dev/probe.h"
#include "dev/zone.h"
#include "dev/zoned.h"
#include "disk/reserve.h"
#include "disk/segusage.h"
#include "dump/common/commands.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "vol/cptable.h"
#include "vol/rollforward.h"
#include "vol/sutable.h"
#include "vol/volume.h"

/*
 * The volume after the superblocks.  The SUFILE and two headers are read, not the
 * DAT.  Free space is counted as statfs(2) of a mounted volume does.
 */

#define TEXT_MAX (FAILURE_TEXT_MAX + 64)

/* Segments that only a cleaner may use. */
static uint64_t reserved_segments(const struct volume *vol)
{
	return reserve_segments(
		vol->geo.nsegments,
		le32_get(volume_super(vol)->s_r_segments_percentage));
}

/* Reports the sizes of blocks, segments, the device and the reserve. */
static void report_geometry(struct volume *vol, struct report *r)
{
	const struct nilfs_geometry *g = &vol->geo;
	uint64_t segment = (uint64_t)g->blocks_per_segment << g->block_bits;

	report_begin(r, "geometry", "Geometry");
	report_size(r, "device_bytes", "Device", vol->dev->size);
	report_size(r, "block_bytes", "Block", g->block_size);
	report_size(r, "segment_bytes", "Segment", segment);
	report_u64(r, "blocks_per_segment", "Blocks per segment",
		   g->blocks_per_segment);
	report_u64(r, "segments", "Segments", g->nsegments);
	report_u64(r, "reserved_segments", "Reserved segments",
		   reserved_segments(vol));
	report_u64(r, "first_data_block", "First data block",
		   g->first_data_block);
	report_size(r, "unused_bytes", "Unused tail",
		    vol->dev->size > g->nsegments * segment ?
		    vol->dev->size - g->nsegments * segment : 0);
	report_size(r, "inode_bytes", "Inode", g->inode_size);
	report_size(r, "dat_entry_bytes", "DAT entry", g->dat_entry_size);
	report_size(r, "checkpoint_bytes", "Checkpoint",
		   g->checkpoint_size);
	report_size(r, "segment_usage_bytes", "Segment usage",
		   g->segment_usage_size);
	report_end(r);
}

/* The recovery that an ordinary mount would do first. */
struct mount {
	char text[TEXT_MAX];
	uint64_t blocks, files;	/* to be replayed */
};

static int find_mount(struct volume *vol, struct context *cx, struct mount *m)
{
	const struct nilfs_super_block *first = &vol->super[vol->choice.index];
	bool valid = le16_get(volume_super(vol)->s_state) & NILFS_VALID_FS;
	struct rollforward *rf = NULL;
	uint64_t i;
	int err = rollforward_collect(vol, cx, &vol->latest, &rf);

	*m = (struct mount){ .text = "mounts normally" };
	if (err && err != -EUCLEAN)
		return err;
	m->blocks = rf ? rf->count : 0;
	/* They are sorted by inode. */
	for (i = 0; i < m->blocks; i++)
		m->files += !i || rf->blocks[i].ino != rf->blocks[i - 1].ino;
	if (refusal_find(first, vol->dev->size, m->text, sizeof(m->text)))
		;
	else if (err)
		snprintf(m->text, sizeof(m->text), "refused: %s",
			 cx->failure);
	else if (m->blocks)
		snprintf(m->text, sizeof(m->text),
			 "recovers %llu block%s of %llu file%s",
			 (unsigned long long)m->blocks,
			 m->blocks == 1 ? "" : "s",
			 (unsigned long long)m->files,
			 m->files == 1 ? "" : "s");
	else if (!valid || vol->super_used != vol->choice.index)
		snprintf(m->text, sizeof(m->text),
			 "finds the latest checkpoint; no data to recover");
	fail_clear(cx);
	rollforward_free(rf);
	return 0;
}

/* Reports the location of the latest state and how a mount would find it. */
static int report_latest(struct volume *vol, struct context *cx,
			 struct report *r)
{
	const struct recovery *rec = &vol->latest;
	struct mount m;
	int err;

	report_begin(r, "latest", "Latest state");
	report_u64(r, "checkpoint", "Checkpoint", rec->cno);
	report_time(r, "written", "Written", rec->ctime);
	report_u64(r, "super_root", "Super root at block", rec->super_root);
	report_u64(r, "log", "Log at block", rec->pseg_start);
	report_u64(r, "sequence", "Sequence", rec->seq);
	report_u64(r, "segment", "Segment", rec->segnum);
	report_u64(r, "segment_used", "Blocks used of it", rec->offset);
	report_u64(r, "next_segment", "Next segment", rec->nextnum);
	report_u64(r, "passed", "Newer than superblock", rec->passed);
	report_value(r, VALUE_U64, "orphans_first", "First log after it",
		     value_nonzero(rec->orphans_start));
	report_value(r, VALUE_U64, "orphans_last", "Last log after it",
		     value_nonzero(rec->orphans_end));
	err = find_mount(vol, cx, &m);
	if (!err)
		report_string(r, "mount", "On mount", m.text);
	if (!err && !report_is_text(r)) {
		report_u64(r, "roll_forward_blocks", "", m.blocks);
		report_u64(r, "roll_forward_files", "", m.files);
	}
	report_end(r);
	return err;
}

struct usage {
	uint64_t clean, dirty, error, written;
	uint64_t stale;		/* segments with invalid live counts */
};

static int count_segments(struct volume *vol, struct context *cx,
			  struct usage *u)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum, seen = 0;
	int ret;

	ret = sutable_cursor_open(&cur, cx, vol, false);
	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		ret = context_cancelled(cx);
		seen++;
		u->clean += segusage_is_clean(&su.su);
		u->dirty += segusage_is_dirty(&su.su);
		u->error += segusage_is_error(&su.su);
		u->written += le32_get(su.su.su_nblocks);
		/*
		 * Marks that mainline kernels leave: a reused segment has no
		 * counts of live blocks, a freed one still has its old ones.
		 */
		u->stale += vol->geo.has_live_blks &&
			    (segusage_check_ext(&su) != RULE_OK ||
			     (segusage_is_dirty(&su.su) &&
			      le32_get(su.su.su_nblocks) &&
			      !le64_get(su.su_nlive_lastmod)));
	}
	sutable_cursor_close(&cur);
	u->clean += vol->geo.nsegments - seen;
	return ret;
}

static int info_report_counts(struct volume *vol, struct context *cx,
			      struct report *r, struct usage *u)
{
	uint64_t segment = (uint64_t)vol->geo.blocks_per_segment
			   << vol->geo.block_bits;
	uint64_t reserve = reserved_segments(vol);
	struct nilfs_sufile_header sufile;
	struct nilfs_cpfile_header cpfile;
	struct nilfs_checkpoint cp;
	int err = sutable_header(vol, cx, &sufile);

	if (!err)
		err = count_segments(vol, cx, u);
	if (err)
		return err;
	report_u64(r, "clean_segments", "Clean segments", u->clean);
	report_u64(r, "dirty_segments", "Segments in use", u->dirty);
	report_u64(r, "error_segments", "Erroneous segments", u->error);
	report_u64(r, "sh_ncleansegs", "Clean, as recorded",
		   le64_get(sufile.sh_ncleansegs));
	report_u64(r, "sh_ndirtysegs", "In use, as recorded",
		   le64_get(sufile.sh_ndirtysegs));
	report_size(r, "written_bytes", "Written",
		    u->written << vol->geo.block_bits);
	report_size(r, "free_bytes", "Free", u->clean * segment);
	report_size(r, "available_bytes", "Available",
		    u->clean > reserve ? (u->clean - reserve) * segment : 0);
	err = cptable_header(vol, cx, &cpfile);
	if (err)
		return err;
	report_u64(r, "checkpoints", "Checkpoints",
		   le64_get(cpfile.ch_ncheckpoints));
	report_u64(r, "snapshots", "Snapshots",
		   le64_get(cpfile.ch_nsnapshots));
	err = cptable_read(vol, cx, vol->latest.cno, &cp);
	if (err)
		return err;
	report_u64(r, "inodes", "Inodes", le64_get(cp.cp_inodes_count));
	report_u64(r, "blocks", "Blocks of files",
		   le64_get(cp.cp_blocks_count));
	return 0;
}

/*
 * Reports the numbers of segments, bytes, checkpoints and inodes, and the state of
 * the counts of live blocks.  Reads the SUFILE.  -EUCLEAN, -EIO, after all
 * readable values were reported.
 */
static int report_usage(struct volume *vol, struct context *cx,
			struct report *r)
{
	uint64_t compat = le64_get(volume_super(vol)->s_feature_compat);
	bool present = vol->geo.has_live_blks, exact;
	struct usage u = { .clean = 0 };
	int err;

	report_begin(r, "usage", "Usage");
	err = info_report_counts(vol, cx, r, &u);
	report_end(r);
	exact = !err && sutable_is_exact(vol, cx) == 1;
	report_begin(r, "live_counts", report_is_text(r) && !present ? NULL :
		     "Counts of live blocks");
	report_bool(r, "present", "Live block counts", present);
	if (present) {
		report_bool(r, "tracked", "Kept up to date",
			    compat & NILFS_FEATURE_COMPAT_TRACK_LIVE_BLKS);
		report_bool(r, "exact", "Marked as exact", exact);
		report_value(r, VALUE_U64, "stale_segments",
			     "Segments with impossible counts",
			     err ? value_absent() : value_u64(u.stale));
	}
	report_end(r);
	return err;
}

/* Prints the zones of DEV, opened from PATH, if it has any. */
static int report_zones(struct context *cx, const char *path, struct dev *dev,
			struct report *r)
{
	static const char *const models[] = {
		[PROBE_ZONES_NONE] = "none",
		[PROBE_ZONES_HOST_AWARE] = "host-aware",
		[PROBE_ZONES_HOST_MANAGED] = "host-managed",
	};
	static const struct zones nothing;
	const struct zones *z;
	enum probe_zone_model model;
	struct dev *disk = dev;
	int err = probe_zoned(cx, path, &model);

	if (!err && !dev->is_block_device) {
		err = zoned_open(&disk, cx, dev, path);
	} else if (!err && model != PROBE_ZONES_NONE) {
		err = zonedisk_open(&disk, cx, dev);
		if (err)
			disk = dev;
		if (err == -EOPNOTSUPP) {	/* a build without libzbd */
			fail_clear(cx);
			err = 0;
		}
	}
	if (err)
		return err;
	z = disk->zones ? disk->zones : &nothing;
	if (disk->zones || model != PROBE_ZONES_NONE || !report_is_text(r)) {
		report_begin(r, "zones", "Zones");
		report_string(r, "model", "Model",
			      disk->zones && !dev->is_block_device ?
				      "image" : models[model]);
		report_size(r, "zone_bytes", "Zone", z->size);
		report_size(r, "capacity_bytes", "Least capacity", z->capacity);
		report_u64(r, "zones", "Zones", z->count);
		report_u64(r, "conventional", "Conventional at start",
			   z->count && z->kinds[0] == ZONE_CONVENTIONAL ?
				   zone_run_end(z, 0) : 0);
		report_bool(r, "last_conventional", "Conventional at end",
			    z->count && z->kinds[z->count - 1] ==
						ZONE_CONVENTIONAL);
		report_u64(r, "max_active", "Active at most", z->max_active);
		report_end(r);
	}
	if (disk != dev)
		dev_close(disk);
	return 0;
}

int info_report(struct tool *tool, const struct info_super *s,
		struct volume *vol, uint64_t dev_size)
{
	struct report *r = &tool->report;
	struct context *cx = &tool->cx;
	const struct nilfs_super_block *sb;
	int used = vol ? vol->super_used : s->choice.index;
	int status = 0, err;
	char text[TEXT_MAX];

	if (s->choice.index >= 0 && report_is_text(r) &&
	    refusal_find(&s->copy[s->choice.index], dev_size, text,
			 sizeof(text)))
		report_text(r, "A mount would be %s", text);
	info_super_report_fields(s, r);
	info_super_report_choice(s, r, cx, vol);
	if (used < 0)
		return 0;
	sb = &s->copy[used];
	info_super_report_features(sb, r);
	info_super_report_state(sb, r);
	if (!vol)
		return 0;
	report_geometry(vol, r);
	err = image_note(tool, &status, report_latest(vol, cx, r));
	if (!err)
		err = image_note(tool, &status, report_usage(vol, cx, r));
	if (!err)
		err = image_note(tool, &status, report_zones(cx, tool->argv[0],
							     vol->dev, r));
	return err ? err : status;
}

/* The names of the features of SB in TEXT. */
static const char *name_features(const struct nilfs_super_block *sb, char *text,
				 size_t size)
{
	const uint64_t words[] = {
		[SUPER_COMPAT] = le64_get(sb->s_feature_compat),
		[SUPER_COMPAT_RO] = le64_get(sb->s_feature_compat_ro),
		[SUPER_INCOMPAT] = le64_get(sb->s_feature_incompat),
	};
	const struct super_feature *f;
	size_t len = 0;

	snprintf(text, size, "none");
	for (f = super_features; f->name; f++)
		if (words[f->set] & f->bit && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s",
						len ? "," : "", f->name);
	return text;
}

/*
 * The most important values, except those that need a pass over the DAT; all others only
 * with -v.
 */
static int summarize_volume(struct tool *tool, const struct info_super *s,
			    const struct dump_image *im)
{
	struct volume *vol = im->vol;
	struct report *r = &tool->report;
	const struct nilfs_super_block *sb =
		&s->copy[vol ? vol->super_used : s->choice.index];
	size_t label = strnlen(sb->s_volume_name, sizeof(sb->s_volume_name));
	unsigned int state = le16_get(sb->s_state);
	char text[TEXT_MAX], features[FIELDS_TEXT_MAX], uuid[UUIDTEXT_MAX];
	char sizes[3][VALUE_TEXT_MAX];
	struct mount m = { .blocks = 0 };
	struct nilfs_checkpoint cp;
	struct usage u = { .clean = 0 };
	uint64_t segment;
	int err = 0;

	report_value(r, VALUE_STRING, "label", "Label", label ?
		     value_bytes(sb->s_volume_name, label) : value_absent());
	report_string(r, "uuid", "UUID",
		      uuidtext_format(sb->s_uuid, uuid));
	snprintf(text, sizeof(text), "%s by %s",
		 value_time_text(r->out, (int64_t)le64_get(sb->s_ctime), sizes[0]),
		 fields_format(field_find(field_table_find("super_block"),
					  "s_creator_os"),
			       sb, r->out, features));
	report_string(r, "created", "Created", text);
	name_features(sb, features, sizeof(features));
	value_size_text(r->out, im->dev->size, sizes[0]);
	if (vol)
		err = find_mount(vol, &tool->cx, &m);
	else
		refusal_find(sb, im->dev->size, m.text, sizeof(m.text));
	if (vol) {
		segment = (uint64_t)vol->geo.blocks_per_segment
			  << vol->geo.block_bits;
		err = err ? err : count_segments(vol, &tool->cx, &u);
		value_size_text(r->out, u.dirty * segment, sizes[1]);
		value_size_text(r->out, u.clean * segment, sizes[2]);
		snprintf(text, sizeof(text), err ? "%s" :
			 "%s: segments in use %s, free %s", sizes[0], sizes[1],
			 sizes[2]);
		report_string(r, "size", "Size", text);
		value_size_text(r->out, segment, sizes[1]);
		value_size_text(r->out, vol->geo.block_size, sizes[2]);
		snprintf(text, sizeof(text), "%llu segments of %s, blocks of %s; "
			 "features: %s", (unsigned long long)vol->geo.nsegments,
			 sizes[1], sizes[2], features);
		report_string(r, "layout", "Layout", text);
	} else {
		report_string(r, "size", "Size", sizes[0]);
		report_string(r, "features", "Features", features);
	}
	value_time_text(r->out, (int64_t)le64_get(sb->s_wtime), sizes[0]);
	snprintf(text, sizeof(text), "%s, last written %s",
		 state & NILFS_ERROR_FS ? "the kernel found errors" :
		 im->live ? "mounted" : state & NILFS_VALID_FS ?
		 "unmounted cleanly" : "not unmounted cleanly", sizes[0]);
	report_string(r, "state", "State", text);
	if (*m.text)
		report_string(r, "mount", "On mount", m.text);
	if (vol && !err)
		err = cptable_read(vol, &tool->cx, vol->latest.cno, &cp);
	if (vol && !err)
		report_u64(r, "inodes", "Files", le64_get(cp.cp_inodes_count));
	return err;
}

/*
 * Reports the use of the space: lines of the summary, with -v and in JSON all numbers.
 * Ends the section of the summary.  Returns the exit status, or a failure.
 */
static int report_space(struct tool *tool, struct volume *vol)
{
	struct report *r = &tool->report;
	struct occupancy u = { .latest = 0 };
	int status = 0, dates, counts = -EUCLEAN;
	bool text = report_is_text(r);

	/* A pass over the DAT of a large volume takes a while. */
	if (text)
		out_flush(r->out);
	dates = occupancy_dates(&u, &tool->cx, vol);
	if (text && !dates)
		occupancy_summarize_dates(&u, r);
	counts = image_note(tool, &status, dates);
	if (!counts)
		counts = occupancy_count(&u, tool, vol);
	if (text && !counts)
		occupancy_summarize(&u, tool, vol);
	else if (text)
		report_string(r, "unknown", "Space usage",
			      "unknown, as metadata is damaged; fsck.nilfs2 -n "
			      "has the details");
	if (text)
		report_end(r);
	if (!text || tool->verbose)
		occupancy_report(&u, r, vol, !dates, !counts);
	counts = image_note(tool, &status, counts);
	return counts ? counts : status;
}

static int info_run(struct tool *tool, const void *options)
{
	struct dump_image im;
	struct info_super s;
	int err, status = 0;
	struct beyond beyond;
	bool text, summary;

	(void)options;
	err = image_open(&im, tool, tool->argv[0], NULL);
	if (err && !im.dev)
		goto out;
	info_super_read(&s, &tool->cx, im.dev);
	if (err && !s.shown[0] && !s.shown[1])
		goto out;
	err = image_note(tool, &status, err);
	text = report_is_text(&tool->report);
	if (!err && (tool->verbose || !text || s.choice.index < 0))
		err = image_note(tool, &status,
				 info_report(tool, &s, im.vol, im.dev->size));
	summary = text && s.choice.index >= 0;
	if (summary)
		report_begin(&tool->report, "summary", NULL);
	if (!err && summary)
		err = image_note(tool, &status, summarize_volume(tool, &s, &im));
	if (!err && im.vol)
		err = image_note(tool, &status, report_space(tool, im.vol));
	else if (summary)
		report_end(&tool->report);
	if (!err)
		err = beyond_find(&beyond, &tool->cx, im.dev);
	if (err > 0)
		beyond_report(&beyond, &tool->report);
	err = err < 0 ? err : 0;
out:
	image_close(&im);
	return err ? err : status;
}

const struct cli_command info_command = {
	.name = "info",
	.summary = "label, size, state and usage of the volume",
	.synopsis = "IMAGE",
	.about = "Shows label, size and state of the volume, the recovery by a "
		 "mount, and the\ncheckpoints; what holds the space, and what "
		 "cleaning would free.\nWith -v also: all of it in single "
		 "numbers, both superblocks, which of them is\nused and why, and "
		 "the state that they lead to.",
	.min_args = 1,
	.max_args = 1,
	.run = info_run,
};
