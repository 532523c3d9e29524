/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of the listing of segments. */
#ifndef NILFS2_DUMP_SEGMENT_COLUMN_H
#define NILFS2_DUMP_SEGMENT_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include "dump/volume/segment.h"
#include "out/table.h"

#define SEGMENT_COLUMNS_MAX TABLE_COLUMNS_MAX

/* The requested columns, as numbers, in order. */
struct segment_columns {
	unsigned int list[SEGMENT_COLUMNS_MAX];
	unsigned int count;
	bool data;		/* one of them needs segment_count_data() */
};

/*
 * Takes the words of LIST ("segment,live"; "all"; "+data" adds to the default
 * ones, among which RECENT says whether "recent" is).  NULL: the default ones.
 * -EINVAL names the word that is no column.
 */
int segment_column_parse(struct context *cx, const char *list, bool recent,
			 struct segment_columns *columns);

/* The name of the I-th column, or NULL past the last one. */
const char *segment_column_word(size_t i);

/* The column of that name, or -EINVAL. */
int segment_column_find(struct context *cx, const char *name,
			unsigned int *column);

/* True where the column needs segment_count_data(). */
bool segment_column_needs_data(unsigned int column);

/* A number to sort by; absent values are 0. */
uint64_t segment_column_key(unsigned int column, const struct segment *s);

/* Describes the columns to table_begin(); AS has room for all. */
void segment_column_describe(const struct segment_columns *columns,
			     struct column as[SEGMENT_COLUMNS_MAX]);

/* Puts the row of S. */
void segment_column_row(const struct segment_columns *columns,
			struct table *table, const struct segment *s);

#endif
