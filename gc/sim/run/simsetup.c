// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From options to a run: a volume, a workload and a cleaner.
 *
 * Defaults follow from the other options: a run of ten times the data, whose
 * first half only ages the volume; and as few clean segments as the logs and
 * one step of the cleaner need.
 *
 * On an image, the first blocks of a trace replace those of hot files, and the
 * others come after all blocks of the image.
 */
#include "gc/sim/run/simsetup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/wide.h"

#define SAMPLES 240u
#define SHOWN 0x1000u	/* blocks between two steps of the progress */

/* The minimum number of clean segments for all steps. */
static uint64_t least_clean(const struct simoptions *o,
			    const struct simvol_config *c)
{
	uint64_t logs = simplace_logs(o->vol.placement, o->vol.classes) +
			o->vol.metadata_log;
	uint64_t nodes = 0, dat = 0, most;

	if (o->vol.node_fanout)
		nodes = div_round_up(c->data, o->vol.node_fanout);
	if (o->vol.dat_fanout)
		dat = div_round_up(c->data + nodes, o->vol.dat_fanout);
	if (!nodes && !dat)
		return logs + o->cleaner.step;
	/* Dead blocks have entries, too. */
	if (dat && o->vol.dat_allocates)
		dat = c->nsegments ? simlayers_entry_blocks(c) : UINT32_MAX;
	/*
	 * Each moved block may dirty a node and two blocks of the DAT, and a
	 * flush writes each once; a few are spare for steps that lose some.
	 */
	most = 3 + (nodes + dat) / c->blocks;
	if (most > o->cleaner.step * 3ull)
		most = o->cleaner.step * 3ull;
	/*
	 * Each node that is dirty when a step begins, of a segment of them at
	 * most, dirties two blocks of entries more.
	 */
	if (o->vol.dat_allocates)
		most += 2;
	return logs + o->cleaner.step + most + 2;
}

static const struct simtrace_volume *trace_volume(const struct simsetup *s)
{
	return simtrace_volume(s->input->trace, s->input->volume);
}

/* Blocks of the trace that replace hot ones of the image. */
static uint64_t old_blocks(const struct simsetup *s)
{
	uint64_t hot = s->input->image ? s->input->image->nhot : 0;
	uint64_t all = trace_volume(s)->blocks;

	return hot < all ? hot : all;
}

/* Sets the number of segments of C to N, if it is in range. */
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

/*
 * Sets the blocks of data, and the segments for them.  An image has its own
 * sizes; blocks of a trace are added to its data, except those that replace hot
 * ones.
 */
static int size_volume(const struct simsetup *s, struct context *cx,
		       struct simvol_config *c)
{
	const struct simoptions *o = s->options;
	const struct simimage *image = s->input->image;
	uint32_t garbage = o->cleaner.choice.garbage;
	uint64_t n = o->vol.nsegments, least, spare;
	int err = 0;

	if (image) {
		c->blocks = image->blocks;
		c->nsegments = image->nsegments;
		c->data = image->data;
		if (s->input->trace)
			c->data += trace_volume(s)->blocks - old_blocks(s);
		return 0;
	}
	c->blocks = (uint32_t)(o->segment_size / o->block_size);
	if (s->input->trace)
		c->data = trace_volume(s)->blocks;
	if (!n && s->input->trace) {
		/* At least as many as the cleaner needs besides the data. */
		n = div_round_up(100 * c->data, (uint64_t)c->blocks * o->fill);
		least = div_round_up(c->data, c->blocks) + least_clean(o, c) +
			1;
		n = n > least ? n : least;
	}
	if (!c->data || !garbage)
		err = set_segments(c, cx, n ? n : SIMOPTIONS_SEGMENTS);
	if (err)
		return err;
	if (!c->data)
		c->data = (uint64_t)c->nsegments * c->blocks * o->fill / 100;
	if (garbage) {
		/*
		 * Open segments do not count, a step keeps its victims until
		 * its end, and each log may end.  Above the maximum the product
		 * would overflow.
		 */
		spare = n = 2 * least_clean(o, c);
		if (spare <= SIMVOL_NONE / c->blocks)
			n += div_round_up(100 * (c->data + spare * c->blocks),
					  (uint64_t)c->blocks *
						  (100 - garbage));
		return set_segments(c, cx, n);
	}
	if (!s->input->trace && c->data > (uint64_t)c->nsegments * c->blocks)
		return fail(cx, -EINVAL, "--data: %" PRIu64 " blocks do not "
			    "fit into %" PRIu32 " segments of %" PRIu32,
			    c->data, c->nsegments, c->blocks);
	return 0;
}

/* Blocks of the warm-up; a share is a share of ALL. */
static uint64_t warm_up(const struct simoptions *o, uint64_t all)
{
	return o->warm_up.percent ?
		       wide_mul_div(all, o->warm_up.percent, 0, 100) :
		       o->warm_up.blocks;
}

int simsetup_plan(struct simsetup *s, struct context *cx,
		  const struct simoptions *o, const struct siminput *input)
{
	const struct simimage *image = input->image;
	struct simvol_config *c = &s->vol.config;
	uint64_t all, left;
	int err;

	*s = (struct simsetup){ .options = o, .input = input };
	*c = o->vol;
	err = size_volume(s, cx, c);
	if (err)
		return err;
	s->low = o->cleaner.low ? o->cleaner.low : least_clean(o, c);
	if (!o->cleaner.low && o->vol.placement->ends_few)
		s->low -= simplace_logs(o->vol.placement, o->vol.classes) -
			  o->vol.placement->ends_few;
	s->high = o->cleaner.high > s->low ? o->cleaner.high : s->low;
	if (s->high > c->nsegments)
		return fail(cx, -EINVAL, "%s: %" PRIu64 " clean segments are "
			    "more than all %" PRIu32,
			    s->high > s->low ? "--high" :
			    o->cleaner.low ? "--low" : "--step",
			    s->high, c->nsegments);
	c->clocked = o->clock == SIMOPTIONS_TIME;
	c->history = o->run.snapshot_every || o->snapshot_seconds ||
		     o->run.protect || (image && image->held);
	c->hot = image && o->hot_files.count ? image->nhot :
					       c->data * o->hot / 100;
	/*
	 * Before the measurement all data is written once and ages.  The
	 * measurement takes the rest of a trace, or the requested part of it.
	 */
	if (input->trace) {
		all = trace_volume(s)->written;
		s->before = warm_up(o, all);
		left = all - (s->before < all ? s->before : all);
		s->asked = o->writes && o->writes < left ? o->writes : left;
	} else {
		s->asked = o->writes ? o->writes : 5 * c->data;
		s->before = warm_up(o, s->asked);
		if (!image && !o->warm_up.is_given && !o->writes)
			s->before = 5 * c->data;
		if (!image)
			s->before += c->data;
	}
	s->work = o->work;
	s->work.data = c->data;
	s->work.hot = c->hot;
	return simoptions_work(cx, o, &s->work);
}

struct simclean_config simsetup_cleaner(const struct simsetup *s,
					const struct simchoice_policy *policy)
{
	const struct simoptions *o = s->options;
	struct simclean_config c = o->cleaner;

	c.choice.policy = policy->policy;
	c.choice.kind = policy->kind;
	c.choice.parameter = policy->parameter;
	c.choice.root_ages = o->ages == SIMOPTIONS_ROOT && policy->policy->ages;
	c.choice.seed = o->work.seed;
	c.env.metadata_weight = policy->parameter;
	c.low = (uint32_t)s->low;
	c.high = (uint32_t)s->high;
	if (c.mc_min_reclaimable == SIMOPTIONS_SAME)
		c.mc_min_reclaimable = c.min_reclaimable;
	if (o->scarce != SIMOPTIONS_SAME)
		c.env.scarce = o->scarce;
	else if (s->input->image)
		/* As in gc.nilfs2. */
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
			source->shift = image->data - source->old;
		}
		return simreplay_open(&source->replay, cx, s->input->trace,
				      s->input->volume);
	}
	err = simwork_open(&source->work, cx, &s->work);
	if (!err && image)
		simwork_skip(&source->work);
	return err;
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
		op->block += s->shift;
	} else if (op->count > s->old - op->block) {
		s->rest = *op;
		op->count = s->old - op->block;
		s->rest.count -= op->count;
		s->rest.block = s->old + s->shift;
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

int simsetup_open(struct simsetup *s, struct context *cx,
		  const struct simoptions *options,
		  const struct siminput *input,
		  const struct simchoice_policy *policy)
{
	const struct simoptions *o = options;
	const struct simtrace_volume *trace = NULL;
	struct simsetup_source source;
	struct simrun_config c = o->run;
	uint64_t done = 0;
	struct simop op;
	int ret = simsetup_plan(s, cx, o, input);
	const struct simvol_config volume = s->vol.config;
	const struct simclean_config cleaner = simsetup_cleaner(s, policy);

	if (input->trace)
		trace = trace_volume(s);
	if (!ret)
		ret = simoptions_check_words(cx, o, policy);
	if (!ret && trace && !trace->span &&
	    (o->clock == SIMOPTIONS_TIME || o->snapshot_seconds))
		ret = fail_said(cx, -EINVAL, "%s: no timestamps", o->trace);
	if (!ret)
		ret = simvol_open(&s->vol, cx, &volume);
	if (!ret && input->image)
		ret = simimage_put(input->image, cx, &s->vol);
	if (!ret)
		ret = simclean_open(&s->cleaner, cx, &s->vol, &cleaner);
	if (!ret)
		ret = open_source(s, cx, &s->source);
	if (!ret && trace && s->before >= trace->written)
		ret = fail(cx, -EINVAL, "--warm-up: the trace writes %" PRIu64
			   " blocks, none of which is left to measure",
			   trace->written);
	if (ret)
		return ret;
	c.snapshot_time = o->snapshot_seconds * UINT64_C(1000000);
#ifdef __SANITIZE_ADDRESS__
	/* A build with AddressSanitizer always checks. */
	if (!c.check_every)
		c.check_every = s->vol.nplaces;
#endif
	if (o->curve || o->svg)
		c.sample_every = s->asked / SAMPLES + 1;
	ret = simrun_open(&s->run, cx, &s->vol, &s->cleaner, &c);
	if (ret || !s->vol.place.kind->ahead)
		return ret;
	/* Record all writes of the user, for a placement that knows the future. */
	ret = open_source(s, cx, &source);
	if (!ret)
		ret = simplace_ahead_open(&s->ahead, cx, volume.data);
	while (!ret && done < simsetup_total(s) &&
	       (ret = next_of_source(&source, cx, &op)) > 0) {
		ret = simplace_ahead_add(&s->ahead, cx, &op);
		done += op.kind == SIMOP_WRITE ? op.count : 0;
	}
	simwork_close(&source.work);
	simreplay_close(&source.replay);
	if (ret < 0)
		return ret;
	s->vol.place.ahead = s->ahead.next;
	memcpy(s->vol.place.next, s->ahead.first,
	       volume.data * sizeof(*s->ahead.first));
	return 0;
}

void simsetup_close(struct simsetup *s)
{
	simrun_close(&s->run);
	simwork_close(&s->source.work);
	simreplay_close(&s->source.replay);
	simplace_ahead_close(&s->ahead);
	simclean_close(&s->cleaner);
	simvol_close(&s->vol);
}

bool simsetup_is_small(const struct simsetup *s)
{
	const struct simvol_config *c = &s->vol.config;
	uint64_t blocks = (uint64_t)c->nsegments * c->blocks;
	uint64_t reserve = least_clean(s->options, c) * c->blocks;

	return SIMSETUP_SMALL * reserve > blocks - c->data;
}

int simsetup_run(struct simsetup *s, struct context *cx,
		 void (*progress)(void *arg, uint64_t done), void *arg)
{
	/* A trace is replayed to its end, or to the end of the measurement. */
	bool ends = !s->input->trace || s->options->writes;
	bool measures = !s->before, halved = false;
	uint64_t due = 1, now, next, total = simsetup_total(s);
	uint64_t half = s->before + s->asked / 2;
	uint32_t second = s->options->vol.second;
	struct simvol_totals t;
	struct simop op;
	int ret;

	for (;;) {
		now = s->run.asked;
		if (now >= due) {
			if (!measures && now >= s->before) {
				measures = true;
				simrun_measure(&s->run);
			}
			if (!halved && now >= half) {
				halved = true;
				t = simrun_totals(&s->run);
				s->run.half.user = simrun_asked(&s->run);
				s->run.half.written = simrun_written(&t);
			}
			/* The next block count to act at. */
			next = !measures ? s->before : !halved ? half : total;
			due = next > now && next < now + SHOWN ? next :
								 now + SHOWN;
			if (progress)
				progress(arg, now);
			if (ends && now >= total)
				return 0;
		}
		ret = next_of_source(&s->source, cx, &op);
		if (ret <= 0)
			return ret;
		/* With --second, generated operations have a time. */
		if (!s->input->trace)
			op.time = second ? wide_mul_div(s->run.asked, 1000000,
							0, second) : 0;
		ret = simrun_step(&s->run, cx, &op);
		if (ret)
			return ret;
	}
}
