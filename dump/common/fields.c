// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing disk structures.
 *
 * The field tables have the offset and kind of a field; here a kind becomes a
 * form of output.  Names are the kernel's, in text as well as in JSON, so that
 * printed values can be passed to `set`.
 */
#include "dump/common/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/timefmt.h"
#include "base/uuidtext.h"
#include "disk/inode.h"

#define NAMES_MAX 32
#define PATH_MAX_LEN 128

/* Room for the names of a field in the form of the printer. */
static void convert_names(const struct field_name *names,
			  struct value_flag flags[NAMES_MAX + 1])
{
	unsigned int i;

	for (i = 0; i < NAMES_MAX && names && names[i].name; i++)
		flags[i] = (struct value_flag){ names[i].value,
						names[i].name };
	flags[i].name = NULL;
}

static const char *choice_name(const struct field_name *names, uint64_t v)
{
	for (; names && names->name; names++) {
		if (names->value == v)
			return names->name;
	}
	return NULL;
}

static bool is_all_zero(const struct field *field, const void *base)
{
	const uint8_t *p = field_bytes(field, base);
	size_t i;

	for (i = 0; i < field_length(field); i++) {
		if (p[i])
			return false;
	}
	return true;
}

static void format_flags(const struct field_name *names, uint64_t v,
			 char buf[FIELDS_TEXT_MAX])
{
	size_t used = 0;

	for (; names && names->name; names++) {
		if ((v & names->value) != names->value || !names->value)
			continue;
		used += (size_t)snprintf(buf + used, FIELDS_TEXT_MAX - used,
					 "%s%s", used ? "," : "", names->name);
		v &= ~names->value;
	}
	if (v || !used)
		snprintf(buf + used, FIELDS_TEXT_MAX - used, "%s0x%llx",
			 used ? "," : "", (unsigned long long)v);
}

static char *format_number(const struct field *field, uint64_t v,
			   char buf[FIELDS_TEXT_MAX])
{
	char iso[TIMEFMT_ISO_MAX];
	const char *name;

	switch (field->kind) {
	case FIELD_UINT:
		snprintf(buf, FIELDS_TEXT_MAX, "%llu", (unsigned long long)v);
		break;
	case FIELD_OCTAL:
		snprintf(buf, FIELDS_TEXT_MAX, "0%llo", (unsigned long long)v);
		break;
	case FIELD_TIME:
		snprintf(buf, FIELDS_TEXT_MAX, "%s",
			 timefmt_iso((int64_t)v, iso));
		break;
	case FIELD_FLAGS:
		format_flags(field->names, v, buf);
		break;
	case FIELD_CHOICE:
		name = choice_name(field->names, v);
		if (name)
			snprintf(buf, FIELDS_TEXT_MAX, "%s", name);
		else
			snprintf(buf, FIELDS_TEXT_MAX, "%llu",
				 (unsigned long long)v);
		break;
	default:
		snprintf(buf, FIELDS_TEXT_MAX, "0x%llx",
			 (unsigned long long)v);
	}
	return buf;
}

/* What is a number in JSON, with its name if it has one. */
static void report_word(struct report *r, const struct field *field,
			const char *path, uint64_t v)
{
	char text[FIELDS_TEXT_MAX], key[PATH_MAX_LEN + 8];

	if (report_is_text(r)) {
		report_string(r, path, path, format_number(field, v, text));
		return;
	}
	report_u64(r, path, path, v);
	if (field->kind != FIELD_CHOICE)
		return;
	snprintf(key, sizeof(key), "%s_name", path);
	report_string(r, key, key, choice_name(field->names, v));
}

static void report_number(struct report *r, const struct field *field,
			  const char *path, uint64_t v)
{
	struct value_flag flags[NAMES_MAX + 1];

	switch (field->kind) {
	case FIELD_UINT:
		report_u64(r, path, path, v);
		break;
	case FIELD_OCTAL:
	case FIELD_CHOICE:
		report_word(r, field, path, v);
		break;
	case FIELD_TIME:
		report_time(r, path, path, v);
		break;
	case FIELD_FLAGS:
		convert_names(field->names, flags);
		report_flags(r, flags, path, path, v);
		break;
	default:
		report_value(r, VALUE_HEX, path, path, value_u64(v));
	}
}

static void report_bytes(struct report *r, const struct field *field,
			 const void *base)
{
	const uint8_t *p = field_bytes(field, base);
	char uuid[UUIDTEXT_MAX];

	if (field->kind == FIELD_UUID)
		report_string(r, field->name, field->name,
			      uuidtext_format(p, uuid));
	else
		report_value(r, VALUE_STRING, field->name, field->name,
			     value_bytes(p, strnlen((const char *)p,
						    field_length(field))));
}

static void report_field(struct report *r, const struct field *field,
			 const void *base)
{
	char path[PATH_MAX_LEN];
	uint64_t v;
	uint32_t i;

	if (field->kind == FIELD_PAD && is_all_zero(field, base))
		return;
	if (!field_is_number(field)) {
		report_bytes(r, field, base);
		return;
	}
	for (i = 0; i < field->count; i++) {
		if (!field_get(field, base, i, &v))
			return;
		if (field->count == 1)
			snprintf(path, sizeof(path), "%s", field->name);
		else
			snprintf(path, sizeof(path), "%s[%u]", field->name, i);
		report_number(r, field, path, v);
	}
}

void fields_report_first(struct report *r, const struct field_table *table,
			 const void *base, uint32_t bytes)
{
	const struct field *field;
	uint32_t i;

	for (i = 0; i < table->nfields; i++) {
		field = &table->fields[i];
		if (field->offset >= bytes) {
			report_value(r, VALUE_U64, field->name, field->name,
				     value_absent());
			continue;
		}
		if (field->kind != FIELD_STRUCT) {
			report_field(r, field, base);
			continue;
		}
		report_begin(r, field->name, field->name);
		fields_report(r, field->inner, field_bytes(field, base));
		report_end(r);
	}
}

void fields_report(struct report *r, const struct field_table *table,
		   const void *base)
{
	fields_report_first(r, table, base, table->size);
}

char *fields_format(const struct field *field, const void *base,
		    char buf[FIELDS_TEXT_MAX])
{
	const char *p = (const char *)field_bytes(field, base);
	uint64_t v = 0;

	if (field->kind == FIELD_UUID)
		return uuidtext_format((const uint8_t *)p, buf);
	if (field->kind == FIELD_TEXT) {
		snprintf(buf, FIELDS_TEXT_MAX, "%.*s",
			 (int)strnlen(p, field_length(field)), p);
		return buf;
	}
	if (!field_get(field, base, 0, &v))
		return memcpy(buf, "-", sizeof("-"));
	return format_number(field, v, buf);
}

/*
 * Parsing texts to the bytes of a structure.
 *
 * Every kind of field accepts a plain number; names and times are for
 * readability.  A number need not be sensible, it only has to fit.
 */

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

static bool parse_named(const struct field *field, const char *text,
			uint64_t *v)
{
	int64_t seconds;
	bool found;

	switch (field->kind) {
	case FIELD_FLAGS:
		return parse_flags(field->names, text, v);
	case FIELD_CHOICE:
		return find_name(field->names, text, strlen(text), v);
	case FIELD_TIME:
		found = timefmt_parse(text, &seconds);
		*v = found ? (uint64_t)seconds : 0;
		return found;
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

void fields_mode(char text[FIELDS_MODE_MAX], uint16_t mode)
{
	static const char letters[NILFS_FT_MAX] = {
		'?', '-', 'd', 'c', 'b', 'p', 's', 'l',
	};
	static const char rwx[8][4] = {
		"---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx",
	};

	text[0] = letters[inode_dirent_type(mode)];
	memcpy(text + 1, rwx[mode >> 6 & 7], 3);
	memcpy(text + 4, rwx[mode >> 3 & 7], 3);
	memcpy(text + 7, rwx[mode & 7], 4);
	if (mode & S_ISUID)
		text[3] = mode & S_IXUSR ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & S_IXGRP ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = mode & S_IXOTH ? 't' : 'T';
}
