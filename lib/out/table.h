/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables: one description of a row for text and JSON.
 *
 * Rows are not stored: widths come from the column rows, and a longer value shifts
 * the rest of its line.  Columns and the values of a row are indexed by the same
 * enum of the caller:
 *
 *	enum { SEGMENT, STATE, BLOCKS };
 *	static const struct column columns[] = {
 *		[SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 10 },
 *		[STATE] = { "state", "STATE", VALUE_STRING, 8 },
 *		[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 8 },
 *	};
 *	table_begin(&t, report, "segments", columns, 3);
 *	table_row(&t, (struct value[]){
 *		[SEGMENT] = value_u64(n), [STATE] = value_string("clean"),
 *	});
 *	table_end(&t);
 *
 * A value left out of a row is absent: "-" in text, null in JSON.
 */
#ifndef NILFS2_OUT_TABLE_H
#define NILFS2_OUT_TABLE_H

#include "out/report.h"
#include "out/value.h"

#define TABLE_COLUMNS_MAX 96

struct column {
	const char *key;	/* of the JSON member: full words */
	const char *head;	/* of the text column; NULL: JSON only */
	enum value_kind kind;
	unsigned int width;	/* minimum width in text, at least HEAD's */
	const struct value_flag *flags;	/* of VALUE_FLAGS */
};

struct table {
	struct report *report;
	const char *name;
	const struct column *columns;
	unsigned int count;
	unsigned int last;	/* last column in text */
	unsigned int width[TABLE_COLUMNS_MAX];
	unsigned int key_len[TABLE_COLUMNS_MAX];
	bool lines;		/* each row is a JSON line */
};

/*
 * Begins a table of COUNT columns (at most TABLE_COLUMNS_MAX) under the key NAME
 * inside the open section, or at the top.  Strings and flags are aligned to the
 * left, numbers to the right.  Text begins with the heads, if any column has one.
 */
void table_begin(struct table *t, struct report *report, const char *name,
		 const struct column *columns, unsigned int count);

/* Puts one row: COUNT values, whose bytes need not outlive the call. */
void table_row(struct table *t, const struct value *values);

void table_end(struct table *t);

#endif
