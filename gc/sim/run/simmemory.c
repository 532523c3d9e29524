// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a run takes of memory.
 *
 * All that is allocated by the number of blocks, segments or writes, as it will
 * be in use at the end of the run; a few kilobytes of each run are not counted.
 */
#include "gc/sim/run/simmemory.h"

#include <math.h>

#include "base/checked.h"

/* Maps are rounded up to whole ones: see simvol.c. */
#define LARGE_PAGE (2u << 20)
/* Of one block or segment; those that have names elsewhere are not here. */
#define PLACE sizeof(uint32_t)
#define HISTORY (2 * sizeof(uint32_t))	/* birth, death */
#define FILE_LIFE 16u		/* of a workload: end, first block */
#define LIFE (3 * sizeof(double))	/* of MiDAS: a count, two sums */

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t all = UINT64_MAX;

	return checked_mul(a, b, &all) ? all : UINT64_MAX;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t all = UINT64_MAX;

	return checked_add(a, b, &all) ? all : UINT64_MAX;
}

void simmemory_add(struct simmemory *m, const char *part, const char *remedy,
		   uint64_t count, uint64_t size)
{
	uint64_t bytes = product(count, size);

	m->bytes = sum(m->bytes, bytes);
	if (bytes <= m->most)
		return;
	m->most = bytes;
	m->part = part;
	m->remedy = remedy;
}

static uint64_t map_of(uint64_t blocks)
{
	return (blocks * PLACE / LARGE_PAGE + 1) * LARGE_PAGE;
}

/* Data, nodes, and what describes both. */
static uint64_t logical_blocks(const struct simvol_config *c)
{
	uint64_t n = c->data;

	n += c->node_fanout ? div_round_up(n, c->node_fanout) : 0;
	return n + (c->dat_fanout ? div_round_up(n, c->dat_fanout) : 0);
}

static const char *remedy_of_size(const struct simsetup *s)
{
	if (s->input->image)
		return "another image";
	if (s->input->trace)
		return "--block-size (larger) or --fill (more)";
	return "--segments or --segment-size";
}

static void add_maps(struct simmemory *m, const struct simsetup *s)
{
	const struct simvol_config *c = &s->vol.config;
	uint64_t places = (uint64_t)c->nsegments * c->blocks;
	const char *remedy = remedy_of_size(s);

	simmemory_add(m, "maps of blocks", remedy,
		      map_of(places) + map_of(logical_blocks(c)), 1);
	if (c->history)
		simmemory_add(m, "the past of blocks",
			      "--snapshot-every and --protect (none)", places,
			      HISTORY);
	if (c->holes)
		simmemory_add(m, "holes", "--fill-holes (none)", places,
			      sizeof(*s->vol.holes.stamp));
}

/* Of the volume and the cleaner. */
static void add_segments(struct simmemory *m, const struct simsetup *s,
			 const struct simchoice_policy *policy)
{
	const struct simclean_config cleaner = simsetup_cleaner(s, policy);
	const struct simvol *v = &s->vol;
	uint64_t n = v->config.nsegments;
	uint64_t of_volume = sizeof(*v->segments) + sizeof(*v->needed) +
			     sizeof(*v->state) + sizeof(*v->wear) +
			     sizeof(*v->clean) + sizeof(*v->past);

	simmemory_add(m, "tables of segments",
		      s->input->image ? "another image" : "--segments",
		      n * of_volume +
		      simclean_bytes(&cleaner, v->config.nsegments), 1);
}

static void add_placement(struct simmemory *m, const struct simsetup *s)
{
	const struct simvol_config *c = &s->vol.config;
	const struct simplace_kind *k = c->placement;
	const char *part = "the placement", *remedy = "--placement (another)";
	uint64_t bytes = 0;

	if (k->levels)
		bytes += sizeof(*s->vol.place.levels);
	if (k->times)
		bytes += sizeof(*s->vol.place.written);
	if (k->ahead)
		bytes += sizeof(*s->vol.place.next) +
			 sizeof(*s->ahead.latest) + sizeof(*s->ahead.first);
	if (k->open)
		bytes += 1;	/* the heat of MiDAS */
	simmemory_add(m, part, remedy, c->data, bytes);
	if (k->open)
		simmemory_add(m, part, remedy, 4 * c->data / c->blocks + 1,
			      LIFE);
	if (k->ahead)
		simmemory_add(m, "all writes, which the placement knows",
			      s->input->trace ? remedy : "--writes",
			      sum(s->before, s->asked),
			      sizeof(*s->ahead.next));
}

static void add_policy(struct simmemory *m, const struct simsetup *s,
		       const struct simchoice_policy *policy)
{
	const struct simvol *v = &s->vol;

	if (!policy->kind || !policy->kind->data_ages)
		return;
	simmemory_add(m, "ages of data", "--policy (another)", v->config.data,
		      sizeof(*v->ages.of));
	simmemory_add(m, "ages of data", "--policy (another)",
		      v->config.nsegments, sizeof(*v->ages.sum) +
		      sizeof(*v->ages.youngest) + sizeof(*v->ages.n));
}

/* Snapshots that there are at the same time: of each, its number. */
static uint64_t snapshots_of(const struct simsetup *s)
{
	const struct simrun_config *c = &s->options->run;
	uint64_t taken = UINT64_MAX, kept = c->snapshots + UINT64_C(1);

	if (!s->vol.config.history)
		return 0;
	if (c->snapshot_every)
		taken = sum(s->before, s->asked) / c->snapshot_every;
	return kept < taken ? kept : taken;
}

static void add_user(struct simmemory *m, const struct simsetup *s)
{
	const struct simwork_config *w = &s->work;

	simmemory_add(m, "snapshots", "--snapshots", snapshots_of(s),
		      sizeof(*s->vol.snapshots));
	if (s->options->run.dirty_pages)
		simmemory_add(m, "dirty pages", "--dirty-pages (none)",
			      s->vol.config.data / 8, 1);
	if (s->input->trace)
		return;
	if (w->kind->lives) {
		simmemory_add(m, "blocks of files", remedy_of_size(s), w->data,
			      sizeof(uint32_t));
		simmemory_add(m, "files", "--file-size (larger)",
			      (uint64_t)((double)w->data /
					 fmax(simdist_mean(&w->size), 1)),
			      FILE_LIFE);
	}
	if (w->kind->mixed)
		simmemory_add(m, "files", "--file-blocks (more)",
			      w->data / w->file_blocks, sizeof(uint32_t));
}

struct simmemory simmemory_of(const struct simsetup *s,
			      const struct simchoice_policy *policy)
{
	struct simmemory m = { .part = "maps", .remedy = "" };

	add_maps(&m, s);
	add_segments(&m, s, policy);
	add_placement(&m, s);
	add_policy(&m, s, policy);
	add_user(&m, s);
	return m;
}

struct simmemory simmemory_of_input(const struct siminput *input)
{
	const struct simimage *image = input->image;
	struct simmemory m = { 0 };

	if (image) {
		simmemory_add(&m, "segments of the image", "another image",
			      image->nsegments, sizeof(*image->segments) +
			      sizeof(*image->state));
		simmemory_add(&m, "blocks of hot files", "--hot-file",
			      image->nhot, sizeof(*image->hot));
	}
	if (input->trace)
		simmemory_add(&m, "the trace", "--block-size (larger)",
			      simtrace_bytes(input->trace), 1);
	return m;
}
