/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Printing and parsing disk structures by their field tables. */
#ifndef NILFS2_DUMP_FIELDS_H
#define NILFS2_DUMP_FIELDS_H

#include <stdint.h>

#include "base/context.h"
#include "disk/field.h"
#include "out/report.h"

/* Longest text of a field: an escaped text, or all flags of a word. */
#define FIELDS_TEXT_MAX 1024

/*
 * Reports every field of the structure at BASE, inner structures as sections.
 * Key and label are the path of the field as `set` takes it.  Reserved bytes that
 * are zero are omitted.
 */
void fields_report(struct report *r, const struct field_table *table,
		   const void *base);

/*
 * The same for a structure of which only the first BYTES exist: fields that
 * begin after them are absent.
 */
void fields_report_first(struct report *r, const struct field_table *table,
			 const void *base, uint32_t bytes);

/*
 * Writes FIELD (one element) of the structure at BASE in a form that
 * fields_parse() reads, and returns BUF.  Times are in the text form of OUT, in ISO
 * form if OUT is NULL.
 */
char *fields_format(const struct field *field, const void *base,
		    const struct out *out, char buf[FIELDS_TEXT_MAX]);

/*
 * Sets FIELD (one element) of the structure at BASE from TEXT: a number
 * (decimal, 0x..., for modes 0...; a negative one as two's complement), names of
 * flags, a name of a choice, a time as ISO text or seconds, a UUID, a text.
 * -EINVAL if the field does not accept TEXT, -ERANGE if it does not fit.
 */
int fields_parse(struct context *cx, const struct field *field,
		 const char *text, void *base);

/* "drwxr-xr-x", with s, S, t and T as ls(1) has them. */
#define FIELDS_MODE_MAX 11
void fields_mode(char text[FIELDS_MODE_MAX], uint16_t mode);

#endif
