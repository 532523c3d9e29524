/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kinds of values, and their forms in text and in JSON.
 *
 *	kind		text			JSON
 *	U64, I64	1234			1234
 *	HEX		0x4d2			1234
 *	SIZE		8 MiB (1)		8388608
 *	PERCENT		12.3%			12.34
 *	RATIO		1.234			1.234
 *	TIME		2009-02-13 23:31:30 +0000	1234567890, and KEY_iso
 *	FLAGS		active,dirty		3, and KEY_names
 *	BOOL		yes			true
 *	STRING		a\x07b (2)		"a\u0007b" (3)
 *	PLAIN		ab (4)			"ab"
 *	absent		-			null
 *
 * (1) In the largest unit in which it is at least 1, with one rounded digit; as a
 * number of bytes if the writer has "exact".
 * (2) In text, strings are escaped by "base/text.h", so that a name
 * cannot drive the terminal.
 * (3) JSON has no bytes.  Where a string is not UTF-8 each invalid byte
 * becomes U+FFFD, and a second member KEY_hex has all bytes of the string as
 * pairs of hexadecimal digits.  KEY_hex is there exactly where KEY is not
 * faithful, so nothing is lost.
 * (4) A string that the caller made of letters, digits and the like, with
 * nothing to escape: it is written unchanged.
 * Times are in the zone of the writer, in JSON in UTC.  KEY_names is an array of strings;
 * flags without a name appear in it, and in text, as one hexadecimal number.
 */
#ifndef NILFS2_OUT_VALUE_H
#define NILFS2_OUT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/timefmt.h"
#include "out/out.h"

enum value_kind {
	VALUE_U64,
	VALUE_I64,
	VALUE_HEX,
	VALUE_SIZE,
	VALUE_PERCENT,
	VALUE_RATIO,
	VALUE_TIME,
	VALUE_FLAGS,
	VALUE_BOOL,
	VALUE_STRING,
	VALUE_PLAIN,
};

/* The names of bits; ends with a NULL name. */
struct value_flag {
	uint64_t mask;
	const char *name;
};

/* One value; all zero means absent.  Bytes stay the caller's. */
struct value {
	bool present;
	size_t len;		/* of bytes */
	union {
		uint64_t number;	/* signed ones as two's complement */
		const char *bytes;
	};
};

static inline struct value value_absent(void)
{
	return (struct value){ .present = false };
}

/* For numbers, including signed ones, SIZE (bytes), FLAGS and TIME (since 1970). */
static inline struct value value_u64(uint64_t v)
{
	return (struct value){ .present = true, .number = v };
}

/* The same, absent if it is 0. */
static inline struct value value_nonzero(uint64_t v)
{
	return v ? value_u64(v) : value_absent();
}

static inline struct value value_bool(bool v)
{
	return (struct value){ .present = true, .number = v };
}

/* PART of WHOLE; absent if WHOLE is 0. */
struct value value_percent(uint64_t part, uint64_t whole);

/* The same as a RATIO. */
struct value value_ratio(uint64_t part, uint64_t whole);

static inline struct value value_bytes(const void *bytes, size_t len)
{
	return (struct value){ .present = true, .len = len,
			       .bytes = (const char *)bytes };
}

/* A C string; NULL is absent. */
static inline struct value value_string(const char *s)
{
	return s ? value_bytes(s, strlen(s)) : value_absent();
}

/* Maximum number of characters of any value except STRING, PLAIN and FLAGS. */
#define VALUE_TEXT_MAX TIMEFMT_ISO_MAX

/*
 * Gets the name of the next of the *BITS that are set, and clears it, by *FLAGS (may
 * be NULL).  At the end all bits without a name are one number, in REST.  NULL: no
 * more.
 */
const char *value_flag_name(const struct value_flag **flags, uint64_t *bits,
			    char rest[VALUE_TEXT_MAX]);

/*
 * Writes a SIZE of BYTES, a TIME of SECONDS, in the text form of the writer OUT, and
 * returns BUF.
 */
char *value_size_text(const struct out *out, uint64_t bytes,
		      char buf[VALUE_TEXT_MAX]);
char *value_time_text(const struct out *out, int64_t seconds,
		      char buf[VALUE_TEXT_MAX]);

/*
 * Puts the text form of any value with a minimum of WIDTH characters, padded on the
 * left or on the right.  FLAGS is used for VALUE_FLAGS and may be NULL.
 */
void value_put(struct out *out, enum value_kind kind,
	       const struct value_flag *flags, const struct value *v,
	       unsigned int width, bool pad_left);

#endif
