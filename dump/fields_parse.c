// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parsing texts to the bytes of a structure.
 *
 * Every kind of field accepts a plain number; names and times are for
 * readability.  A number need not be sensible, it only has to fit.
 */
#include "config.h"

#include "dump/fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "base/uuidtext.h"

/* What is shown as octal digits is read so, too. */
static bool parse_number(const char *text, bool octal, uint64_t *v)
{
	bool negative = *text == '-';
	char *end;

	text += negative;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*v = strtoull(text, &end, octal ? 0 : text_base(text));
	if (errno || *end)
		return false;
	if (negative)
		*v = 0 - *v;
	return true;
}

static bool find_name(const struct field_name *names, const char *text,
		      size_t len, uint64_t *v)
{
	for (; names && names->name; names++) {
		if (strlen(names->name) == len &&
		    !memcmp(names->name, text, len)) {
			*v = names->value;
			return true;
		}
	}
	return false;
}

/* "dirty,error", with numbers among the names if need be. */
static bool parse_flags(const struct field_name *names, const char *text,
			uint64_t *v)
{
	char number[24];
	uint64_t bit;
	size_t len;

	*v = 0;
	if (!strcmp(text, "none"))
		return true;
	for (;;) {
		len = strcspn(text, ",");
		if (!find_name(names, text, len, &bit)) {
			if (len >= sizeof(number))
				return false;
			memcpy(number, text, len);
			number[len] = '\0';
			if (!parse_number(number, false, &bit))
				return false;
		}
		*v |= bit;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

/* "2005-06-07T08:09:10Z": UTC, the only form that fields_format() writes. */
static bool parse_time(const char *text, uint64_t *v)
{
	struct tm tm = { 0 };
	const char *end;

	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end)
		return false;
	*v = (uint64_t)timegm(&tm);
	return true;
}

static bool parse_named(const struct field *field, const char *text,
			uint64_t *v)
{
	switch (field->kind) {
	case FIELD_FLAGS:
		return parse_flags(field->names, text, v);
	case FIELD_CHOICE:
		return find_name(field->names, text, strlen(text), v);
	case FIELD_TIME:
		return parse_time(text, v);
	default:
		return false;
	}
}

/* A negative number in as many bytes as FIELD has, if it fits there. */
static uint64_t narrow(const struct field *field, const char *text, uint64_t v)
{
	unsigned int bits = 8 * field->size;

	if (*text != '-' || bits >= 64 || v < ~UINT64_C(0) << (bits - 1))
		return v;
	return v & ~(~UINT64_C(0) << bits);
}

static int set_bytes(struct context *cx, const struct field *field,
		     const char *text, void *base)
{
	uint8_t uuid[16];

	if (field->kind == FIELD_TEXT) {
		if (field_set_bytes(field, base, text, strlen(text)))
			return 0;
		return fail(cx, -ERANGE, "%s: at most %zu bytes", field->name,
			    field_length(field));
	}
	if (field->kind != FIELD_UUID)
		return fail(cx, -EINVAL, "%s: a structure; name one of its fields",
			    field->name);
	if (uuidtext_parse(text, uuid) ||
	    !field_set_bytes(field, base, uuid, sizeof(uuid)))
		return fail(cx, -EINVAL, "%s: '%s' is not a UUID", field->name,
			    text);
	return 0;
}

int fields_parse(struct context *cx, const struct field *field,
		 const char *text, void *base)
{
	uint64_t v;

	if (!field_is_number(field))
		return set_bytes(cx, field, text, base);
	if (field->count > 1)
		return fail(cx, -EINVAL, "%s: give an index, %s[0] to [%u]",
			    field->name, field->name, field->count - 1);
	if (!parse_number(text, field->kind == FIELD_OCTAL, &v) &&
	    !parse_named(field, text, &v))
		return fail(cx, -EINVAL, "%s: '%s' is not a value of this "
					 "field",
			    field->name, text);
	if (!field_set(field, base, 0, narrow(field, text, v)))
		return fail(cx, -ERANGE, "%s: %s does not fit %u bytes",
			    field->name, text, field->size);
	return 0;
}
