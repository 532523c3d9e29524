// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options, warnings, progress and cost of the jobs that move blocks.
 *
 * All of these report the same values.  Blocks written are of three kinds:
 * data, which are moved blocks of files; metadata, moved or rebuilt; and the
 * summaries that list both.  Amplification is the number of blocks written per
 * block moved.
 */
#include "gc/moving.h"

#include <inttypes.h>

#include "vol/volume.h"

struct collector_options moving_options(const struct tool *tool,
					const struct options *o)
{
	return (struct collector_options){
		.protect = o->protect,
		.batch.time = (uint64_t)tool->cx.now,
		.batch.sums = o->sums,
		/* Not if a later job reads the content of moved directories. */
		.batch.forecast = o->dry_run && !o->defrag.count,
	};
}

struct clean_options moving_clean_options(const struct tool *tool,
					  const struct options *o)
{
	return (struct clean_options){
		.policy = o->policy.policy,
		.metadata_weight = o->policy.weight,
		.max_search = o->max_search,
		.min_dead = o->min_reclaimable,
		.how = moving_options(tool, o),
	};
}

struct online_options moving_online_options(const struct options *o)
{
	return (struct online_options){
		.policy = o->policy.policy,
		.metadata_weight = o->policy.weight,
		.max_search = o->max_search,
		.min_dead = o->min_reclaimable,
		.protect = o->protect,
		.since = o->since,
		.lock = o->lock,
		.latency = o->latency,
		.verify = !o->no_verify,
		.forecast = o->dry_run,
	};
}

int moving_geometry(struct context *cx, struct dev *dev, struct nilfs_geometry *g)
{
	struct volume *vol;
	int ret = volume_open_bare(&vol, cx, dev);

	if (!ret)
		*g = vol->geo;
	volume_close(vol);
	return ret;
}

static void warn_skipped(void *arg, uint64_t segnum, const char *why)
{
	struct moving *m = arg;

	tool_warn(m->tool, "%s: segment %" PRIu64 ": skipped: %s",
		  m->tool->argv[0], segnum, why);
}

static void show_moved(void *arg, uint64_t moved, uint64_t to_move)
{
	struct moving *m = arg;
	struct progress *p = &m->tool->progress;

	if (!m->begun)
		progress_begin(p, "moving", to_move, false);
	m->begun = true;
	progress_update(p, moved);
}

static void announce_deletion(void *arg, const uint64_t *cnos, size_t n)
{
	struct moving *m = arg;

	if (!report_is_text(&m->tool->report))
		return;
	tool_note(m->tool, "%s: up to %zu plain checkpoint%s of %" PRIu64 "..%" PRIu64
		  ", older than --protect, are deleted; what only they have "
		  "cannot be restored any more", m->tool->argv[0], n,
		  n == 1 ? "" : "s", cnos[0], cnos[n - 1]);
}

void moving_begin(struct moving *m, struct tool *tool,
		  struct collector_options *options)
{
	*m = (struct moving){ .tool = tool };
	options->left = warn_skipped;
	options->moving = show_moved;
	options->deleting = announce_deletion;
	options->arg = m;
}

void moving_put(struct report *r, const struct batch_totals *totals,
		uint64_t began)
{
	const struct batch_totals *t = totals;

	report_u64(r, "blocks_moved", "Blocks moved", t->moved);
	report_u64(r, "blocks_written", "Blocks written", t->written);
	report_u64(r, "written_data", "  of data", t->moved_data);
	report_u64(r, "written_metadata", "  of metadata",
		   t->written - t->moved_data - t->summaries);
	report_u64(r, "written_summaries", "  of summaries", t->summaries);
	report_value(r, VALUE_PERCENT, "written_per_moved",
		     "Blocks written / moved", value_percent(t->written, t->moved));
	report_u64(r, "blocks_forgotten", "Virtual blocks freed", t->forgotten);
	report_u64(r, "bits_corrected", "Flipped bits corrected", t->corrected);
	report_u64(r, "checkpoints_deleted", "Old checkpoints deleted",
		   t->checkpoints);
	report_u64(r, "batches", "Batches", t->batches);
	report_u64(r, "elapsed_ms", "Time in milliseconds", tool_clock() - began);
}
