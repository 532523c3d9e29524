/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a run: numbers, from which all that is printed follows. */
#ifndef NILFS2_GC_SIM_SIMROW_H
#define NILFS2_GC_SIM_SIMROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/sim/run/simsetup.h"
#include "out/value.h"

/* What is to be known before a number is believed. */
#define SIMROW_NOTHING 1u	/* no segment became clean: nothing measured */
#define SIMROW_UNSTEADY 2u	/* the halves differ: SIMSTAT_STEADY */
#define SIMROW_SMALL 4u		/* simsetup_is_small() */

/* Their names. */
extern const struct value_flag simrow_notes[];

struct simrow {
	char *error;		/* owned; NULL: it came to its end */
	bool ended;
	struct simvol_totals totals;
	uint64_t asked, written, moved;
	uint64_t half_asked, half_written;	/* of these, in the first half */
	uint64_t data, before;	/* blocks; written before the measurement */
	uint32_t nsegments, blocks;	/* of the volume, of a segment */
	uint32_t wear_least, wear_most;
	uint64_t wear_sum;	/* over all segments */
	uint32_t clean, starved, notes;
};

/* Takes it from a run that has ended. */
void simrow_take(struct simrow *row, const struct simsetup *s);

/* Takes the failure ERR of CX in its place, which is forgotten.  -ENOMEM. */
int simrow_fail(struct simrow *row, struct context *cx, int err);

void simrow_free(struct simrow *row);

/* Adds the numbers of ROW, another volume, to SUM, at first all zero. */
void simrow_add(struct simrow *sum, const struct simrow *row);

/* Written for one of the user; absent where nothing was measured. */
struct value simrow_amplification(const struct simrow *row);

/* The same as a number, and whether there is one. */
bool simrow_number(const struct simrow *row, double *amplification);

/* A number of a row that is printed as it is. */
struct simrow_field {
	const char *key;	/* of JSON */
	const char *head;	/* of the text; NULL: not there */
	unsigned int width;
	size_t at;		/* in struct simrow */
	bool wide;		/* 64 bits, not 32 */
};

extern const struct simrow_field simrow_fields[];	/* NULL at the end */

struct value simrow_value(const struct simrow *row,
			  const struct simrow_field *field);

#endif
