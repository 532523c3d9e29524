/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows as comma-separated values (RFC 4180, except for line ends), with the columns
 * of tables.
 *
 * Numbers have no units; a flag is true or false, an absent value is empty.  Names
 * of bits are separated by commas.  Strings are not escaped.
 */
#ifndef NILFS2_OUT_CSV_H
#define NILFS2_OUT_CSV_H

#include "out/out.h"
#include "out/table.h"
#include "out/value.h"

/* Puts a line with the keys of COUNT columns. */
void csv_head(struct out *out, const struct column *columns,
	      unsigned int count);

/* Puts a line of as many VALUES. */
void csv_row(struct out *out, const struct column *columns,
	     unsigned int count, const struct value *values);

#endif
