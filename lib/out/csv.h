/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as comma-separated values (RFC 4180, but for its line ends), for the same
 * columns as tables.
 *
 * Numbers have neither units nor escapes; a flag is true or false, an absent
 * value is empty.  Names of bits have commas between them.  Strings are put
 * byte by byte.
 */
#ifndef NILFS2_OUT_CSV_H
#define NILFS2_OUT_CSV_H

#include "out/out.h"
#include "out/table.h"
#include "out/value.h"

/* The line of the keys of COUNT columns. */
void csv_head(struct out *out, const struct column *columns,
	      unsigned int count);

/* A line of as many VALUES. */
void csv_row(struct out *out, const struct column *columns,
	     unsigned int count, const struct value *values);

#endif
