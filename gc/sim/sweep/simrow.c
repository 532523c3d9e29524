// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The result of a run.
 *
 * Write amplification is all blocks that reached the device over those that
 * the user wrote, even if only to memory.  A run in which no segment became
 * clean would have one of 1 whatever the policy, so it has none.
 */
#include "gc/sim/sweep/simrow.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "gc/sim/sweep/simstat.h"

const struct value_flag simrow_notes[] = {
	{ SIMROW_NOTHING, "no-victim" },
	{ SIMROW_UNSTEADY, "not-steady" },
	{ SIMROW_SMALL, "too-small" },
	{ 0 },
};

#define AT(member) offsetof(struct simrow, member)
#define TOTAL(member) \
	(AT(totals) + offsetof(struct simvol_totals, member))

const struct simrow_field simrow_fields[] = {
	{ "blocks_user", "USER", 10, AT(asked), true },
	{ "blocks_written", "WRITTEN", 11, AT(written), true },
	{ "segments_cleaned", "CLEANED", 8, TOTAL(cleaned), true },
	{ "segments_skipped", "SKIPPED", 8, TOTAL(skipped), true },
	{ "rounds", "ROUNDS", 7, TOTAL(rounds), true },
	{ "segments_clean", "CLEAN", 6, AT(clean), false },
	{ "blocks_moved", NULL, 0, AT(moved), true },
	{ "blocks_filled", NULL, 0, TOTAL(filled), true },
	{ "half_blocks_user", NULL, 0, AT(half_asked), true },
	{ "half_blocks_written", NULL, 0, AT(half_written), true },
	{ "blocks_before", NULL, 0, AT(before), true },
	{ "blocks_data", NULL, 0, AT(data), true },
	{ "volume_segments", NULL, 0, AT(nsegments), false },
	{ "segment_blocks", NULL, 0, AT(blocks), false },
	{ "wear_least", "WEAR:MIN", 5, AT(wear_least), false },
	{ "wear_most", "MAX", 5, AT(wear_most), false },
	{ "wear_sum", NULL, 0, AT(wear_sum), true },
	{ "segments_starved", "STARVED", 7, AT(starved), false },
	{ NULL },
};

static void take_wear(struct simrow *row, const struct simvol *v)
{
	uint32_t i;

	row->wear_least = UINT32_MAX;
	for (i = 0; i < v->config.nsegments; i++) {
		uint32_t wear = v->wear[i];

		row->wear_sum += wear;
		row->wear_least = wear < row->wear_least ? wear :
							   row->wear_least;
		row->wear_most = wear > row->wear_most ? wear : row->wear_most;
	}
}

/* Whether both halves of what was measured have the same amplification. */
static bool is_steady(const struct simrow *row)
{
	uint64_t rest = row->asked - row->half_asked;

	return row->half_asked && rest &&
	       simstat_is_steady((double)row->half_written /
					 (double)row->half_asked,
				 (double)(row->written - row->half_written) /
					 (double)rest);
}

void simrow_take(struct simrow *row, const struct simsetup *s)
{
	const struct simrun *run = &s->run;
	const struct simvol *v = run->vol;
	unsigned int k;

	*row = (struct simrow){
		.ended = true,
		.totals = simrun_totals(run),
		.asked = simrun_asked(run),
		.half_asked = run->half.user,
		.half_written = run->half.written,
		.data = v->config.data,
		.before = s->before,
		.nsegments = v->config.nsegments,
		.blocks = v->config.blocks,
		.clean = v->nclean,
		.starved = simrun_starved(v),
	};
	row->written = simrun_written(&row->totals);
	row->moved = row->totals.held;
	for (k = 0; k < SIMVOL_KINDS; k++)
		row->moved += row->totals.moved[k];
	take_wear(row, v);
	if (!simrun_wear(run))
		row->notes |= SIMROW_NOTHING;
	else if (!is_steady(row))
		row->notes |= SIMROW_UNSTEADY;
	if (simsetup_is_small(s))
		row->notes |= SIMROW_SMALL;
}

int simrow_fail(struct simrow *row, struct context *cx, int err)
{
	simrow_free(row);
	row->error = strdup(*cx->failure ? cx->failure : strerror(-err));
	fail_clear(cx);
	return row->error ? 0 : fail(cx, -ENOMEM, "results");
}

void simrow_free(struct simrow *row)
{
	free(row->error);
	*row = (struct simrow){ 0 };
}

static void add_totals(struct simvol_totals *sum, const struct simvol_totals *t)
{
	unsigned int k;

	sum->user += t->user;
	sum->summary += t->summary;
	sum->held += t->held;
	sum->reclaimed_summary += t->reclaimed_summary;
	sum->cleaned += t->cleaned;
	sum->skipped += t->skipped;
	sum->flushes += t->flushes;
	sum->rounds += t->rounds;
	for (k = 0; k < SIMVOL_KINDS; k++) {
		sum->written[k] += t->written[k];
		sum->moved[k] += t->moved[k];
		sum->reclaimed[k] += t->reclaimed[k];
	}
}

void simrow_add(struct simrow *sum, const struct simrow *row)
{
	bool first = !sum->ended;

	sum->ended = true;
	add_totals(&sum->totals, &row->totals);
	sum->asked += row->asked;
	sum->written += row->written;
	sum->moved += row->moved;
	sum->half_asked += row->half_asked;
	sum->half_written += row->half_written;
	sum->data += row->data;
	sum->before += row->before;
	sum->nsegments += row->nsegments;
	sum->blocks = row->blocks;
	sum->wear_sum += row->wear_sum;
	sum->clean += row->clean;
	sum->starved += row->starved;
	if (first || row->wear_least < sum->wear_least)
		sum->wear_least = row->wear_least;
	if (row->wear_most > sum->wear_most)
		sum->wear_most = row->wear_most;
	/* One of them that was measured is enough. */
	sum->notes = first ? row->notes & SIMROW_NOTHING :
			     sum->notes & row->notes;
}

struct value simrow_amplification(const struct simrow *row)
{
	if (!row->ended || row->notes & SIMROW_NOTHING)
		return value_absent();
	return value_ratio(row->written, row->asked);
}

bool simrow_number(const struct simrow *row, double *amplification)
{
	if (!simrow_amplification(row).present)
		return false;
	*amplification = (double)row->written / (double)row->asked;
	return true;
}

struct value simrow_value(const struct simrow *row,
			  const struct simrow_field *field)
{
	const void *p = (const char *)row + field->at;

	if (!row->ended)
		return value_absent();
	return value_u64(field->wide ? *(const uint64_t *)p :
				       *(const uint32_t *)p);
}
