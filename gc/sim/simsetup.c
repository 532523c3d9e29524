// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From options to a run.
 *
 * Defaults follow from the other options: a run of ten times the data, of which
 * the first half only ages the volume; and as few clean segments as the logs
 * and one step of the cleaner need.
 */
#include "gc/sim/simsetup.h"

#include <errno.h>
#include <inttypes.h>

#include "base/checked.h"
#include "base/wide.h"

#define SAMPLES 240u

/* No time is longer, in blocks: sums of some do not overflow. */
#define BLOCKS_MAX (UINT64_MAX / 8)

static bool has_metadata(const struct simoptions *o)
{
	return o->nodes || o->dat;
}

/* The fewest clean segments with which no step runs out of them. */
static uint64_t least_clean(const struct simoptions *o)
{
	uint64_t logs = 1 + (o->placement != SIMVOL_ONE_LOG) + o->metadata_log;

	/* Each moved block may dirty a node and two blocks of the DAT. */
	return logs + o->step * (has_metadata(o) ? 4ull : 1ull) +
	       (has_metadata(o) ? 2 : 0);
}

static bool has_past(const struct simsetup *s)
{
	return s->options->snapshot_every || s->options->snapshot_seconds ||
	       s->options->protect ||
	       (s->input->image && s->input->image->held);
}

static int check_times(struct context *cx, const struct simoptions *o)
{
	const uint64_t times[] = {
		o->writes, o->warm_up.blocks, o->flush_every, o->snapshot_every,
		o->protect, o->check_every,
	};
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (times[i] > BLOCKS_MAX)
			return fail(cx, -EINVAL, "options: %" PRIu64 " are "
				    "more blocks than can be counted",
				    times[i]);
	return 0;
}

static int check_percents(struct context *cx, const struct simoptions *o)
{
	const struct {
		const char *option;
		uint64_t percent;
	} shares[] = {
		{ "fill", o->fill },
		{ "hot", o->hot },
		{ "hot-writes", o->hot_writes },
		{ "sequential", o->sequential },
		{ "trims", o->trims },
		{ "min-reclaimable", o->min_reclaimable },
		{ "mc-min-reclaimable",
		  o->mc_min_reclaimable == SIMOPTIONS_SAME ?
			  0 : o->mc_min_reclaimable },
	};
	size_t i;

	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (shares[i].percent > 100)
			return fail(cx, -EINVAL, "--%s: %" PRIu64 " is more "
				    "than 100 percent", shares[i].option,
				    shares[i].percent);
	return 0;
}

/* What is said of a workload by texts. */
static int read_work(struct context *cx, const struct simoptions *o,
		     struct simwork_config *c)
{
	int err = 0;

	c->skew = 1;
	c->size = (struct simdist){ SIMDIST_FIXED, o->file_blocks, 0 };
	c->lifetime = (struct simdist){ SIMDIST_EXPONENTIAL, (double)c->data,
					0 };
	if (o->skew)
		err = simdist_number(cx, "--skew", o->skew, 0, 100, &c->skew);
	if (!err && o->file_size)
		err = simdist_parse(cx, "--file-size", o->file_size, &c->size);
	if (!err && o->lifetime)
		err = simdist_parse(cx, "--lifetime", o->lifetime,
				    &c->lifetime);
	return err;
}

static int check_simoptions(struct context *cx, const struct simoptions *o)
{
	int err;

	if (!o->block_size || !o->segment_size ||
	    o->segment_size / o->block_size > UINT32_MAX / 2)
		return fail(cx, -EINVAL, "volume: invalid sizes");
	if (o->block_size > UINT32_MAX)
		return fail(cx, -EINVAL, "volume: invalid block size");
	if (o->trims == 100)
		return fail(cx, -EINVAL, "--trims: nothing would be written");
	err = read_work(cx, o, &(struct simwork_config){ .data = 1 });
	if (!err)
		err = check_percents(cx, o);
	return err ? err : check_times(cx, o);
}

static const struct simtrace_volume *trace_volume(const struct simsetup *s)
{
	return simtrace_volume(s->input->trace, s->input->volume);
}

/*
 * The segments for all DATA of a trace, at least as many as the cleaner needs
 * beside it.
 */
static uint64_t segments_for(const struct simoptions *o, uint64_t data,
			     uint32_t blocks)
{
	uint64_t least = div_round_up(data, blocks) + least_clean(o) + 1;
	uint64_t n = div_round_up(100 * data, (uint64_t)blocks * o->fill);

	return n > least ? n : least;
}

/* Blocks of the trace that take the place of hot ones of the image. */
static uint64_t old_blocks(const struct simsetup *s)
{
	uint64_t hot = s->input->image ? s->input->image->nhot : 0;
	uint64_t all = trace_volume(s)->blocks;

	return hot < all ? hot : all;
}

/* The others, which the image does not have yet. */
static uint64_t new_blocks(const struct simsetup *s)
{
	return trace_volume(s)->blocks - old_blocks(s);
}

/* Blocks of data, and the segments for them. */
static void size_volume(const struct simsetup *s, struct simvol_config *c)
{
	const struct simoptions *o = s->options;

	c->blocks = (uint32_t)(o->segment_size / o->block_size);
	c->nsegments = o->segments ? o->segments : SIMOPTIONS_SEGMENTS;
	c->data = (uint64_t)c->nsegments * c->blocks * o->fill / 100;
	if (o->data)
		c->data = o->data;
	if (s->input->trace) {
		c->data = trace_volume(s)->blocks;
		if (!o->segments)
			c->nsegments = (uint32_t)segments_for(o, c->data,
							      c->blocks);
	}
	if (s->input->image) {
		c->blocks = s->input->image->blocks;
		c->nsegments = s->input->image->nsegments;
		c->data = s->input->image->data;
		if (s->input->trace)
			c->data += new_blocks(s);
	}
}

static int open_volume(struct simsetup *s, struct context *cx)
{
	const struct simoptions *o = s->options;
	struct simvol_config c = {
		.node_fanout = o->nodes,
		.dat_fanout = o->dat,
		.summary_span = o->summaries,
		.placement = (enum simvol_placement)o->placement,
		.counts = (enum simvol_counts)o->counts,
		.metadata_log = o->metadata_log,
		.moves_change_nodes = o->moves_change_nodes,
		.frees_dead = o->frees_dead,
		.second = o->second,
		.clocked = o->clock == SIMOPTIONS_TIME,
		.history = has_past(s),
	};
	int ret;

	size_volume(s, &c);
	c.hot = c.data * o->hot / 100;
	if (o->hot_files.count)
		c.hot = s->input->image->nhot;
	ret = simvol_open(&s->vol, cx, &c);
	if (!ret && s->input->image)
		ret = simimage_put(s->input->image, cx, &s->vol);
	return ret;
}

static int open_cleaner(struct simsetup *s, struct context *cx,
			const struct simpolicy *policy)
{
	const struct simoptions *o = s->options;
	uint64_t low = o->low ? o->low : least_clean(o);
	uint64_t high = o->high > low ? o->high : low;
	struct simclean_config c = {
		.policy = policy->policy,
		.env.max_search = o->max_search,
		.env.metadata_weight = policy->weight,
		.low = (uint32_t)low,
		.high = (uint32_t)high,
		.step = o->step,
		.mc_step = o->mc_step,
		.min_reclaimable = o->min_reclaimable,
		.mc_min_reclaimable = o->mc_min_reclaimable,
	};

	if (c.mc_min_reclaimable == SIMOPTIONS_SAME)
		c.mc_min_reclaimable = c.min_reclaimable;
	if (o->second && policy->policy != policy_find("timestamp"))
		return fail(cx, -EINVAL, "cleaner: --second is for the policy "
			    "timestamp");
	if (high > s->vol.config.nsegments)
		return fail(cx, -EINVAL, "cleaner: %" PRIu64 " clean segments "
			    "are more than all", high);
	/* As gc.nilfs2 has it. */
	c.env.scarce = s->input->image ? s->input->image->nsegments / 20 :
					 o->scarce;
	return simclean_open(&s->cleaner, cx, &s->vol, &c);
}

static int open_work(struct simsetup *s, struct context *cx)
{
	const struct simoptions *o = s->options;
	struct simwork_config c = {
		.kind = o->workload,
		.data = s->vol.config.data,
		.hot = s->vol.config.hot,
		.hot_writes = o->hot_writes,
		.file_blocks = o->file_blocks,
		.sequential = o->sequential,
		.trims = o->trims,
		.seed = o->seed,
	};
	int err;

	if (s->input->trace)
		return simreplay_open(&s->replay, cx, s->input->trace,
				      s->input->volume);
	err = read_work(cx, o, &c);
	return err ? err : simwork_open(&s->work, cx, &c);
}

/* How often contradictions are looked for: in a build for that always. */
static uint64_t check_every(const struct simsetup *s)
{
#ifdef __SANITIZE_ADDRESS__
	if (!s->options->check_every)
		return s->vol.nplaces;
#endif
	return s->options->check_every;
}

/* Blocks of the warm-up, of which ALL is what a share is of. */
static uint64_t warm_up(const struct simoptions *o, uint64_t all)
{
	return o->warm_up.percent ? wide_mul_div(all, o->warm_up.percent, 0, 100) :
				    o->warm_up.blocks;
}

static bool has_warm_up(const struct simoptions *o)
{
	return o->warm_up.percent || o->warm_up.blocks;
}

/* What comes before the measurement: all data once, and age. */
static uint64_t blocks_before(const struct simsetup *s)
{
	const struct simoptions *o = s->options;
	uint64_t data = s->vol.config.data, all;

	if (s->input->trace)
		return warm_up(o, trace_volume(s)->written);
	all = o->writes ? o->writes : 5 * data;
	if (s->input->image)
		return warm_up(o, all);
	return data + (has_warm_up(o) || o->writes ? warm_up(o, all) :
						     5 * data);
}

/* What is measured: all that is left of a trace, or so much of it. */
static uint64_t blocks_measured(const struct simsetup *s)
{
	uint64_t asked = s->options->writes, all;

	if (!s->input->trace)
		return asked ? asked : 5 * s->vol.config.data;
	all = trace_volume(s)->written - s->before;
	return asked && asked < all ? asked : all;
}

static int open_run(struct simsetup *s, struct context *cx)
{
	const struct simoptions *o = s->options;
	struct simrun_config c = {
		.flush_every = o->flush_every,
		.snapshot_every = o->snapshot_every,
		.snapshot_time = o->snapshot_seconds * UINT64_C(1000000),
		.snapshots = o->snapshots,
		.protect = o->protect,
		.dirty_pages = o->dirty_pages,
		.check_every = check_every(s),
	};

	s->before = blocks_before(s);
	if (s->input->trace && s->before >= trace_volume(s)->written)
		return fail(cx, -EINVAL, "--warm-up: the trace writes %" PRIu64
			    " blocks, of which nothing is left",
			    trace_volume(s)->written);
	s->asked = blocks_measured(s);
	if (o->curve || o->svg)
		c.sample_every = s->asked / SAMPLES + 1;
	return simrun_open(&s->run, cx, &s->vol, &s->cleaner, &c);
}

int simsetup_open(struct simsetup *s, struct context *cx,
		  const struct simoptions *options,
		  const struct siminput *input, const struct simpolicy *policy)
{
	int ret = check_simoptions(cx, options);

	*s = (struct simsetup){ .options = options, .input = input };
	if (!ret && input->trace && !options->fill)
		ret = fail(cx, -EINVAL, "--fill: a volume that is empty");
	if (!ret && input->trace && !trace_volume(s)->span &&
	    (options->clock == SIMOPTIONS_TIME || options->snapshot_seconds))
		ret = fail_said(cx, -EINVAL, "%s: has no times",
				options->trace);
	if (!ret)
		ret = open_volume(s, cx);
	if (!ret)
		ret = open_cleaner(s, cx, policy);
	if (!ret)
		ret = open_work(s, cx);
	return ret ? ret : open_run(s, cx);
}

void simsetup_close(struct simsetup *s)
{
	simrun_close(&s->run);
	simwork_close(&s->work);
	simreplay_close(&s->replay);
	simclean_close(&s->cleaner);
	simvol_close(&s->vol);
}


uint64_t simsetup_total(const struct simsetup *s)
{
	return s->before + s->asked;
}

/* Generated operations have a time where it is said what a second is. */
static uint64_t time_of_work(const struct simsetup *s)
{
	uint32_t second = s->options->second;

	return second ? wide_mul_div(s->run.asked, 1000000, 0, second) : 0;
}

/* Runs the user until UNTIL blocks were written. */
static int go_on(struct simsetup *s, struct context *cx, uint64_t until,
		 void (*progress)(void *arg, uint64_t done), void *arg)
{
	struct simop op;
	int ret = 0;

	while (!ret && s->run.asked < until) {
		simwork_next(&s->work, &op);
		op.time = time_of_work(s);
		ret = simrun_step(&s->run, cx, &op);
		if (progress && s->run.asked % 0x1000 == 0)
			progress(arg, s->run.asked);
	}
	return ret;
}

/*
 * A step of the trace.  On an image, blocks past the hot ones come after all
 * that the image has.
 */
static int step_of_trace(struct simsetup *s, struct context *cx,
			 const struct simop *op)
{
	uint64_t old, past;
	struct simop part = *op;
	int ret = 0;

	if (!s->input->image || op->kind == SIMOP_SYNC)
		return simrun_step(&s->run, cx, op);
	old = old_blocks(s);
	past = s->input->image->data - old;
	if (op->block < old) {
		if (part.count > old - op->block)
			part.count = old - op->block;
		ret = simrun_step(&s->run, cx, &part);
		part.block += part.count;
		part.count = op->count - part.count;
	}
	part.block += past;
	return ret || !part.count ? ret : simrun_step(&s->run, cx, &part);
}

/* Replays the trace to its end, or as much of it as is to be measured. */
static int run_trace(struct simsetup *s, struct context *cx,
		     void (*progress)(void *arg, uint64_t done), void *arg)
{
	bool measured = !s->before;
	struct simop op;
	int ret;

	while ((ret = simreplay_next(&s->replay, cx, &op)) > 0) {
		ret = step_of_trace(s, cx, &op);
		if (ret)
			break;
		if (!measured && s->run.asked >= s->before) {
			measured = true;
			simrun_measure(&s->run);
		}
		if (s->run.asked >= s->before + s->asked &&
		    s->options->writes)
			break;
		if (progress)
			progress(arg, s->run.asked);
	}
	return ret < 0 ? ret : 0;
}

static int run_work(struct simsetup *s, struct context *cx,
		    void (*progress)(void *arg, uint64_t done), void *arg)
{
	int ret;

	if (s->input->image)
		simwork_skip(&s->work);
	ret = go_on(s, cx, s->before, progress, arg);
	simrun_measure(&s->run);
	if (!ret)
		ret = go_on(s, cx, simsetup_total(s), progress, arg);
	return ret;
}

int simsetup_run(struct simsetup *s, struct context *cx,
		 void (*progress)(void *arg, uint64_t done), void *arg)
{
	return s->input->trace ? run_trace(s, cx, progress, arg)
			       : run_work(s, cx, progress, arg);
}
