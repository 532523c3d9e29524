// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From options to a run.
 *
 * Defaults follow from the other options: a run of ten times the data, of which
 * the first half only ages the volume; and as few clean segments as the logs
 * and one step of the cleaner need.
 *
 * On an image, the first blocks of a trace are those of hot files, and the
 * others come after all that the image has.
 */
#include "gc/sim/run/simsetup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/wide.h"

#define SAMPLES 240u
#define SHOWN 0x1000u	/* blocks between two steps of the progress */

static bool has_metadata(const struct simoptions *o)
{
	return o->vol.node_fanout || o->vol.dat_fanout;
}

/* The fewest clean segments with which no step runs out of them. */
static uint64_t least_clean(const struct simoptions *o)
{
	uint64_t logs = simplace_logs(o->vol.placement, o->vol.classes) +
			o->vol.metadata_log;

	/* Each moved block may dirty a node and two blocks of the DAT. */
	return logs + o->cleaner.step * (has_metadata(o) ? 4ull : 1ull) +
	       (has_metadata(o) ? 2 : 0);
}

static bool has_past(const struct simsetup *s)
{
	return s->options->run.snapshot_every || s->options->snapshot_seconds ||
	       s->options->run.protect ||
	       (s->input->image && s->input->image->held);
}

int simsetup_work(struct context *cx, const struct simoptions *o,
		  struct simwork_config *c)
{
	int err = 0;

	c->skew = 1;
	c->size = (struct simdist){ SIMDIST_FIXED, o->work.file_blocks, 0 };
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

/*
 * The segments that DATA may take where cleaning is by garbage: that of open
 * segments does not count, a step has its victims until its end, and each log
 * may end.
 */
static uint64_t segments_by_garbage(const struct simoptions *o, uint64_t data,
				    uint32_t blocks)
{
	uint64_t spare = 2 * least_clean(o);

	/* More than there can be: the product would not fit. */
	if (spare > SIMVOL_NONE / blocks)
		return spare;
	return div_round_up(100 * (data + spare * blocks),
			    (uint64_t)blocks * (100 - o->cleaner.choice.garbage)) + spare;
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

/* N segments become those of C, if there can be so many. */
static int set_segments(struct simvol_config *c, struct context *cx, uint64_t n)
{
	if (n > (SIMVOL_NONE - 1) / c->blocks)
		return fail(cx, -EINVAL, "--segments: %" PRIu64 " of %" PRIu32
			    " blocks are more than %" PRIu32 " blocks; take "
			    "larger ones by --block-size", n, c->blocks,
			    SIMVOL_NONE - 1);
	c->nsegments = (uint32_t)n;
	return 0;
}

/* The segments that there are by number, or that the data of a trace needs. */
static int count_segments(const struct simsetup *s, struct context *cx,
			  struct simvol_config *c)
{
	const struct simoptions *o = s->options;

	if (s->input->trace && !o->vol.nsegments)
		return set_segments(c, cx,
				    segments_for(o, c->data, c->blocks));
	return set_segments(c, cx, o->vol.nsegments ? o->vol.nsegments :
						      SIMOPTIONS_SEGMENTS);
}

/* Blocks of data, and the segments for them. */
static int size_volume(const struct simsetup *s, struct context *cx,
		       struct simvol_config *c)
{
	const struct simoptions *o = s->options;
	int err = 0;

	c->blocks = (uint32_t)(o->segment_size / o->block_size);
	if (s->input->trace)
		c->data = trace_volume(s)->blocks;
	if (!c->data || !o->cleaner.choice.garbage)
		err = count_segments(s, cx, c);
	if (err)
		return err;
	if (!c->data)
		c->data = (uint64_t)c->nsegments * c->blocks * o->fill / 100;
	if (o->cleaner.choice.garbage)
		return set_segments(c, cx, segments_by_garbage(o, c->data,
							       c->blocks));
	if (!s->input->trace && c->data > (uint64_t)c->nsegments * c->blocks)
		return fail(cx, -EINVAL, "--data: %" PRIu64 " blocks do not "
			    "fit into %" PRIu32 " segments of %" PRIu32,
			    c->data, c->nsegments, c->blocks);
	return 0;
}

/* An image has its own sizes; the blocks of a trace come to its data. */
static void size_by_image(const struct simsetup *s, struct simvol_config *c)
{
	const struct simimage *image = s->input->image;

	c->blocks = image->blocks;
	c->nsegments = image->nsegments;
	c->data = image->data + (s->input->trace ? new_blocks(s) : 0);
}

/* Clean segments with which a round begins, and with which it ends. */
static uint64_t low_of(const struct simoptions *o)
{
	return o->cleaner.low ? o->cleaner.low : least_clean(o);
}

static uint64_t high_of(const struct simoptions *o)
{
	return o->cleaner.high > low_of(o) ? o->cleaner.high : low_of(o);
}

static int check_high(const struct simsetup *s, struct context *cx)
{
	const struct simoptions *o = s->options;

	if (high_of(o) > s->vol.config.nsegments)
		return fail(cx, -EINVAL, "%s: %" PRIu64 " clean segments are "
			    "more than all %" PRIu32,
			    o->cleaner.high > low_of(o) ? "--high" :
			    o->cleaner.low ? "--low" : "--step",
			    high_of(o), s->vol.config.nsegments);
	return 0;
}

/* Blocks of the warm-up, of which ALL is what a share is of. */
static uint64_t warm_up(const struct simoptions *o, uint64_t all)
{
	return o->warm_up.percent ? wide_mul_div(all, o->warm_up.percent, 0, 100) :
				    o->warm_up.blocks;
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
	return data + (o->warm_up.is_given || o->writes ? warm_up(o, all) :
							  5 * data);
}

/* What is measured: all that is left of a trace, or so much of it. */
static uint64_t blocks_measured(const struct simsetup *s)
{
	uint64_t asked = s->options->writes, all;

	if (!s->input->trace)
		return asked ? asked : 5 * s->vol.config.data;
	all = trace_volume(s)->written;
	all -= s->before < all ? s->before : all;
	return asked && asked < all ? asked : all;
}

int simsetup_plan(struct simsetup *s, struct context *cx,
		  const struct simoptions *o, const struct siminput *input)
{
	struct simvol_config *c = &s->vol.config;
	int err = 0;

	*s = (struct simsetup){ .options = o, .input = input };
	*c = o->vol;
	if (input->image)
		size_by_image(s, c);
	else
		err = size_volume(s, cx, c);
	if (!err)
		err = check_high(s, cx);
	if (err)
		return err;
	c->clocked = o->clock == SIMOPTIONS_TIME;
	c->history = has_past(s);
	c->hot = input->image && o->hot_files.count ? input->image->nhot :
						      c->data * o->hot / 100;
	s->before = blocks_before(s);
	s->asked = blocks_measured(s);
	s->work = o->work;
	s->work.data = c->data;
	s->work.hot = c->hot;
	return simsetup_work(cx, o, &s->work);
}

static int open_volume(struct simsetup *s, struct context *cx)
{
	const struct simvol_config c = s->vol.config;
	int ret = simvol_open(&s->vol, cx, &c);

	if (!ret && s->input->image)
		ret = simimage_put(s->input->image, cx, &s->vol);
	return ret;
}

struct simclean_config simsetup_cleaner(const struct simsetup *s,
					const struct simchoice_policy *policy)
{
	const struct simoptions *o = s->options;
	struct simclean_config c = o->cleaner;

	c.choice.policy = policy->policy;
	c.choice.kind = policy->kind;
	c.choice.parameter = policy->parameter;
	c.choice.root_ages = o->ages == SIMOPTIONS_ROOT;
	c.choice.seed = o->work.seed;
	c.env.metadata_weight = policy->parameter;
	c.low = (uint32_t)low_of(o);
	c.high = (uint32_t)high_of(o);
	if (c.mc_min_reclaimable == SIMOPTIONS_SAME)
		c.mc_min_reclaimable = c.min_reclaimable;
	if (o->scarce != SIMOPTIONS_SAME)
		c.env.scarce = o->scarce;
	else if (s->input->image)
		/* As gc.nilfs2 has it. */
		c.env.scarce = s->input->image->nsegments / 20;
	return c;
}

static int open_source(const struct simsetup *s, struct context *cx,
		       struct simsetup_source *source)
{
	const struct simimage *image = s->input->image;
	int err;

	*source = (struct simsetup_source){ .old = UINT64_MAX };
	if (s->input->trace) {
		if (image) {
			source->old = old_blocks(s);
			source->past = image->data - source->old;
		}
		return simreplay_open(&source->replay, cx, s->input->trace,
				      s->input->volume);
	}
	err = simwork_open(&source->work, cx, &s->work);
	if (!err && image)
		simwork_skip(&source->work);
	return err;
}

static void close_source(struct simsetup_source *source)
{
	simwork_close(&source->work);
	simreplay_close(&source->replay);
}

static int next_of_trace(struct simsetup_source *s, struct context *cx,
			 struct simop *op)
{
	int ret;

	if (s->rest.count) {
		*op = s->rest;
		s->rest.count = 0;
		return 1;
	}
	ret = simreplay_next(&s->replay, cx, op);
	if (ret <= 0 || op->kind == SIMOP_SYNC)
		return ret;
	if (op->block >= s->old) {
		op->block += s->past;
	} else if (op->count > s->old - op->block) {
		s->rest = *op;
		op->count = s->old - op->block;
		s->rest.count -= op->count;
		s->rest.block = s->old + s->past;
	}
	return 1;
}

/* The next operation: 1, or 0 at the end of a trace; -ENOMEM. */
static inline int next_of_source(struct simsetup_source *s, struct context *cx,
				 struct simop *op)
{
	if (s->replay.trace)
		return next_of_trace(s, cx, op);
	simwork_next(&s->work, op);
	return 1;
}

/* How often contradictions are looked for: in a build for that always. */
static uint64_t check_every(const struct simsetup *s)
{
#ifdef __SANITIZE_ADDRESS__
	if (!s->options->run.check_every)
		return s->vol.nplaces;
#endif
	return s->options->run.check_every;
}

static int open_run(struct simsetup *s, struct context *cx)
{
	const struct simoptions *o = s->options;
	struct simrun_config c = o->run;

	c.snapshot_time = o->snapshot_seconds * UINT64_C(1000000);
	c.check_every = check_every(s);
	if (s->input->trace && s->before >= trace_volume(s)->written)
		return fail(cx, -EINVAL, "--warm-up: the trace writes %" PRIu64
			    " blocks, of which nothing is left",
			    trace_volume(s)->written);
	if (o->curve || o->svg)
		c.sample_every = s->asked / SAMPLES + 1;
	return simrun_open(&s->run, cx, &s->vol, &s->cleaner, &c);
}

/* All that the user will do, for a placement that knows it. */
static int look_ahead(struct simsetup *s, struct context *cx)
{
	struct simsetup_source source;
	uint64_t total = simsetup_total(s), done = 0;
	struct simop op;
	int ret = open_source(s, cx, &source);

	if (!ret)
		ret = simahead_open(&s->ahead, cx, s->vol.config.data);
	while (!ret && done < total &&
	       (ret = next_of_source(&source, cx, &op)) > 0) {
		ret = simahead_add(&s->ahead, cx, &op);
		done += op.kind == SIMOP_WRITE ? op.count : 0;
	}
	close_source(&source);
	if (ret < 0)
		return ret;
	s->vol.place.ahead = s->ahead.next;
	memcpy(s->vol.place.next, s->ahead.first,
	       s->vol.config.data * sizeof(*s->ahead.first));
	return 0;
}

int simsetup_open(struct simsetup *s, struct context *cx,
		  const struct simoptions *options,
		  const struct siminput *input, const struct simchoice_policy *policy)
{
	int ret = simsetup_plan(s, cx, options, input);
	const struct simclean_config cleaner = simsetup_cleaner(s, policy);

	if (!ret)
		ret = simoptions_check_words(cx, options, policy);
	if (!ret && input->trace && !trace_volume(s)->span &&
	    (options->clock == SIMOPTIONS_TIME || options->snapshot_seconds))
		ret = fail_said(cx, -EINVAL, "%s: has no times",
				options->trace);
	if (!ret)
		ret = open_volume(s, cx);
	if (!ret)
		ret = simclean_open(&s->cleaner, cx, &s->vol, &cleaner);
	if (!ret)
		ret = open_source(s, cx, &s->source);
	if (!ret)
		ret = open_run(s, cx);
	if (!ret && s->vol.place.kind->ahead)
		ret = look_ahead(s, cx);
	return ret;
}

void simsetup_close(struct simsetup *s)
{
	simrun_close(&s->run);
	close_source(&s->source);
	simahead_close(&s->ahead);
	simclean_close(&s->cleaner);
	simvol_close(&s->vol);
}

bool simsetup_is_small(const struct simsetup *s)
{
	const struct simvol_config *c = &s->vol.config;
	uint64_t blocks = (uint64_t)c->nsegments * c->blocks;
	uint64_t reserve = least_clean(s->options) * c->blocks;

	return SIMSETUP_SMALL * reserve > blocks - c->data;
}

uint64_t simsetup_total(const struct simsetup *s)
{
	return s->before + s->asked;
}

/* Generated operations have a time where it is said what a second is. */
static uint64_t time_of_work(const struct simsetup *s)
{
	uint32_t second = s->options->vol.second;

	return second ? wide_mul_div(s->run.asked, 1000000, 0, second) : 0;
}

/*
 * The measurement begins, and half of it is done: returns how many blocks there
 * are to be before the next look at it.
 */
static uint64_t note_progress(struct simsetup *s)
{
	uint64_t now = s->run.asked, half = s->before + s->asked / 2, due;

	if (!s->measures && now >= s->before) {
		s->measures = true;
		simrun_measure(&s->run);
	}
	if (!s->halved && now >= half) {
		s->halved = true;
		simrun_halve(&s->run);
	}
	due = !s->measures ? s->before : !s->halved ? half : simsetup_total(s);
	return due > now && due < now + SHOWN ? due : now + SHOWN;
}

int simsetup_run(struct simsetup *s, struct context *cx,
		 void (*progress)(void *arg, uint64_t done), void *arg)
{
	/* A trace goes to its end, or as far as is to be measured. */
	bool ends = !s->input->trace || s->options->writes;
	uint64_t due = 1;
	struct simop op;
	int ret = 0;

	s->measures = !s->before;
	while (!ret) {
		if (s->run.asked >= due) {
			due = note_progress(s);
			if (progress)
				progress(arg, s->run.asked);
			if (ends && s->run.asked >= simsetup_total(s))
				break;
		}
		ret = next_of_source(&s->source, cx, &op);
		if (ret <= 0)
			break;
		if (!s->input->trace)
			op.time = time_of_work(s);
		ret = simrun_step(&s->run, cx, &op);
	}
	return ret;
}
