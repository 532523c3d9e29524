// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns.
 *
 * In a sweep every parameter is a column, so that a line of a table can be read
 * without the command that made it; in text only those that runs differ by have a
 * head.
 */
#include "config.h"

#include "gc/sim/report/simtable.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gc/sim/sweep/simemit.h"

#define NAME_WIDTH 17u
#define VALUE_WIDTH 8u
#define MICRO 1e6

static struct simtable_column *add(struct simtable *t,
				   enum simtable_source source,
				   const struct column *column)
{
	unsigned int i = t->count;

	if (i == TABLE_COLUMNS_MAX)
		return &t->sources[i - 1];
	t->count++;
	t->columns[i] = *column;
	t->sources[i] = (struct simtable_column){ .source = source };
	return &t->sources[i];
}

static bool is_axis(const struct simplan *p, const struct cli_option *row)
{
	size_t i;

	for (i = 0; i < p->naxes; i++)
		if (p->rows[i] == row)
			return true;
	return p->nseeds > 1 && row->at == offsetof(struct simoptions, seed);
}

/* "block-size" is block_size and BLOCK-SIZE. */
static void add_parameter(struct simtable *t, const struct cli_option *row,
			  bool shown)
{
	const struct column column = {
		.kind = simparam_kind(row),
		.width = VALUE_WIDTH,
	};
	struct simtable_column *c = add(t, SIMTABLE_PARAMETER, &column);
	size_t i;

	c->option = row;
	snprintf(c->key, sizeof(c->key), "%s", row->name);
	snprintf(c->head, sizeof(c->head), "%s", row->name);
	for (i = 0; c->key[i]; i++) {
		if (c->key[i] == '-')
			c->key[i] = '_';
		c->head[i] = (char)toupper((unsigned char)c->head[i]);
	}
	t->columns[t->count - 1].key = c->key;
	t->columns[t->count - 1].head = shown ? c->head : NULL;
}

/* What runs were asked for; with SEEDS also those. */
static void add_parameters(struct simtable *t, bool seeds)
{
	const struct simplan *p = t->plan;
	const struct cli_option *row;
	bool sweep = simplan_is_sweep(p), each = p->nvolumes > 1;

	if (sweep) {
		add(t, SIMTABLE_VERSION,
		    &(struct column){ "version", NULL, VALUE_STRING });
		add(t, SIMTABLE_IMAGE,
		    &(struct column){ "image", NULL, VALUE_STRING });
	}
	if (sweep || each)
		add(t, SIMTABLE_VOLUME,
		    &(struct column){ "volume", each ? "VOLUME" : NULL,
				      VALUE_STRING, 12 });
	add(t, SIMTABLE_POLICY,
	    &(struct column){ "policy", "POLICY", VALUE_PLAIN, NAME_WIDTH });
	if (!sweep)
		return;
	for (row = simoptions_rows; row->name; row++) {
		bool seed = row->at == offsetof(struct simoptions, seed) &&
			    row->kind == OPTION_U64;

		if (simparam_is(row) && (seeds || !seed))
			add_parameter(t, row, is_axis(p, row));
	}
}

static void add_field(struct simtable *t, const struct simrow_field *f)
{
	add(t, SIMTABLE_FIELD,
	    &(struct column){ f->key, f->head, VALUE_U64, f->width })->field = f;
	/* Between the least and the most. */
	if (f->at == offsetof(struct simrow, wear_least))
		add(t, SIMTABLE_WEAR,
		    &(struct column){ "wear_mean", "MEAN", VALUE_RATIO, 7 });
}

static void begin(struct simtable *t, const struct simplan *plan,
		  const char *image)
{
	t->plan = plan;
	t->image = image;
	t->count = 0;
}

void simtable_runs(struct simtable *t, const struct simplan *plan,
		   const char *image, bool notes, bool errors)
{
	const struct simrow_field *f;

	begin(t, plan, image);
	if (simplan_is_sweep(plan))
		add(t, SIMTABLE_KEY,
		    &(struct column){ "key", NULL, VALUE_PLAIN });
	add_parameters(t, true);
	add(t, SIMTABLE_WAF,
	    &(struct column){ "write_amplification", "WAF", VALUE_RATIO, 7 });
	for (f = simrow_fields; f->key; f++)
		add_field(t, f);
	add(t, SIMTABLE_NOTES,
	    &(struct column){ "notes", notes ? "NOTES" : NULL, VALUE_FLAGS, 10,
			      simrow_notes });
	add(t, SIMTABLE_ERROR,
	    &(struct column){ "error", errors ? "ERROR" : NULL, VALUE_STRING });
}

void simtable_add_mean(struct simtable *t)
{
	add(t, SIMTABLE_SEEDS,
	    &(struct column){ "runs", "RUNS", VALUE_U64, 4 });
	add(t, SIMTABLE_MEAN,
	    &(struct column){ "write_amplification_mean", "WAF:MEAN",
			      VALUE_RATIO, 8 });
	add(t, SIMTABLE_INTERVAL,
	    &(struct column){ "write_amplification_interval", "95%",
			      VALUE_RATIO, 7 });
}

void simtable_means(struct simtable *t, const struct simplan *plan,
		    const char *image)
{
	begin(t, plan, image);
	add_parameters(t, false);
	simtable_add_mean(t);
	add(t, SIMTABLE_LEAST,
	    &(struct column){ "write_amplification_least", "LEAST",
			      VALUE_RATIO, 7 });
	add(t, SIMTABLE_MOST,
	    &(struct column){ "write_amplification_most", "MOST", VALUE_RATIO,
			      7 });
}

static struct value ratio_of(double v)
{
	return value_ratio((uint64_t)(v * MICRO + 0.5), (uint64_t)MICRO);
}

static struct value value_of_stat(enum simtable_source source,
				  const struct simstat *s)
{
	if (!s || (!s->n && source != SIMTABLE_SEEDS))
		return value_absent();
	switch (source) {
	case SIMTABLE_SEEDS:
		return value_u64(s->n);
	case SIMTABLE_MEAN:
		return ratio_of(s->mean);
	case SIMTABLE_INTERVAL:
		return s->n > 1 ? ratio_of(s->interval) : value_absent();
	case SIMTABLE_LEAST:
		return ratio_of(s->least);
	default:
		return ratio_of(s->most);
	}
}

static struct value value_of_row(const struct simtable_column *c,
				 const struct simrow *row)
{
	switch (c->source) {
	case SIMTABLE_WAF:
		return simrow_amplification(row);
	case SIMTABLE_FIELD:
		return simrow_value(row, c->field);
	case SIMTABLE_WEAR:
		return row->ended ? value_ratio(row->wear_sum, row->nsegments) :
				    value_absent();
	case SIMTABLE_NOTES:
		return row->ended ? value_u64(row->notes) : value_absent();
	default:
		return value_string(row->error);
	}
}

static struct value value_of(const struct simtable *t,
			     struct simtable_column *c,
			     const struct simtable_line *line)
{
	const struct simplan_run *run = line->run;

	switch (c->source) {
	case SIMTABLE_KEY:
		simemit_key_text(simemit_key(run, t->image), c->text);
		return value_string(c->text);
	case SIMTABLE_VERSION:
		return value_string(PACKAGE_VERSION);
	case SIMTABLE_IMAGE:
		return value_string(t->image);
	case SIMTABLE_VOLUME:
		return value_string(line->volume ? line->volume :
						   run->volume_name);
	case SIMTABLE_POLICY:
		return value_string(run->policy->name);
	case SIMTABLE_PARAMETER:
		return simparam_value(c->option, &run->options, c->text);
	case SIMTABLE_SEEDS:
	case SIMTABLE_MEAN:
	case SIMTABLE_INTERVAL:
	case SIMTABLE_LEAST:
	case SIMTABLE_MOST:
		return value_of_stat(c->source, line->stat);
	default:
		return value_of_row(c, line->row);
	}
}

void simtable_fill(struct simtable *t, const struct simtable_line *line)
{
	unsigned int i;

	for (i = 0; i < t->count; i++)
		t->values[i] = value_of(t, &t->sources[i], line);
}
