// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing and parsing disk structures.
 *
 * The field tables have the offset and kind of a field; the kind selects the
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

static const char *choice_name(const struct field_name *names, uint64_t v)
{
	for (; names && names->name; names++) {
		if (names->value == v)
			return names->name;
	}
	return NULL;
}

static char *format_number(const struct field *field, uint64_t v,
			   const struct out *out, char buf[FIELDS_TEXT_MAX])
{
	const struct field_name *names;
	char time[VALUE_TEXT_MAX];
	const char *name;
	size_t used = 0;

	switch (field->kind) {
	case FIELD_UINT:
		snprintf(buf, FIELDS_TEXT_MAX, "%llu", (unsigned long long)v);
		break;
	case FIELD_OCTAL:
		snprintf(buf, FIELDS_TEXT_MAX, "0%llo", (unsigned long long)v);
		break;
	case FIELD_TIME:
		snprintf(buf, FIELDS_TEXT_MAX, "%s",
			 out ? value_time_text(out, (int64_t)v, time) :
			       timefmt_iso((int64_t)v, time));
		break;
	case FIELD_FLAGS:
		for (names = field->names; names && names->name; names++) {
			if ((v & names->value) != names->value || !names->value)
				continue;
			used += (size_t)snprintf(buf + used,
						 FIELDS_TEXT_MAX - used, "%s%s",
						 used ? "," : "", names->name);
			v &= ~names->value;
		}
		if (v || !used)
			snprintf(buf + used, FIELDS_TEXT_MAX - used, "%s0x%llx",
				 used ? "," : "", (unsigned long long)v);
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

/* Reports the number V of FIELD, with key and label PATH. */
static void report_number(struct report *r, const struct field *field,
			  const char *path, uint64_t v)
{
	char text[FIELDS_TEXT_MAX], key[PATH_MAX_LEN + 8];
	const struct field_name *names = field->names;
	struct value_flag flags[NAMES_MAX + 1];
	unsigned int i;

	switch (field->kind) {
	case FIELD_UINT:
		report_u64(r, path, path, v);
		break;
	case FIELD_OCTAL:
	case FIELD_CHOICE:
		/* In JSON a number, and the name of a choice as another field. */
		if (report_is_text(r)) {
			report_string(r, path, path,
				      format_number(field, v, r->out, text));
			break;
		}
		report_u64(r, path, path, v);
		if (field->kind != FIELD_CHOICE)
			break;
		snprintf(key, sizeof(key), "%s_name", path);
		report_string(r, key, key, choice_name(names, v));
		break;
	case FIELD_TIME:
		report_time(r, path, path, v);
		break;
	case FIELD_FLAGS:
		for (i = 0; i < NAMES_MAX && names && names[i].name; i++)
			flags[i] = (struct value_flag){ names[i].value,
							names[i].name };
		flags[i].name = NULL;
		report_put(r, VALUE_FLAGS, flags, path, path, value_u64(v));
		break;
	default:
		report_value(r, VALUE_HEX, path, path, value_u64(v));
	}
}

static void report_field(struct report *r, const struct field *field,
			 const void *base)
{
	const uint8_t *p = (const uint8_t *)base + field->offset;
	size_t len = field_length(field), n = 0;
	char path[PATH_MAX_LEN], uuid[UUIDTEXT_MAX];
	uint64_t v;
	uint32_t i;

	while (field->kind == FIELD_PAD && n < len && !p[n])
		n++;
	if (n == len)
		return;
	if (!field_is_number(field)) {
		if (field->kind == FIELD_UUID)
			report_string(r, field->name, field->name,
				      uuidtext_format(p, uuid));
		else
			report_value(r, VALUE_STRING, field->name, field->name,
				     value_bytes(p, strnlen((const char *)p,
							    len)));
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
		fields_report(r, field->inner,
			      (const char *)base + field->offset);
		report_end(r);
	}
}

void fields_report(struct report *r, const struct field_table *table,
		   const void *base)
{
	fields_report_first(r, table, base, table->size);
}

char *fields_format(const struct field *field, const void *base,
		    const struct out *out, char buf[FIELDS_TEXT_MAX])
{
	const char *p = (const char *)base + field->offset;
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
	return format_number(field, v, out, buf);
}

/* A field that is printed in octal digits is parsed in octal as well. */
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

static bool fields_find_name(const struct field_name *names, const char *text,
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

/* Parses "dirty,error"; an item may be a number. */
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
		if (!fields_find_name(names, text, len, &bit)) {
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

/*
 * Every numeric field accepts a plain number, some kinds also a name or a time.
 * Only the size of a number is checked, not its meaning.
 */
int fields_parse(struct context *cx, const struct field *field,
		 const char *text, void *base)
{
	unsigned int bits = 8 * field->size;
	int64_t seconds = 0;
	uint8_t uuid[16];
	uint64_t v;
	bool found;

	if (field->kind == FIELD_TEXT) {
		if (field_set_bytes(field, base, text, strlen(text)))
			return 0;
		return fail(cx, -ERANGE, "%s: at most %zu bytes", field->name,
			    field_length(field));
	}
	if (field->kind == FIELD_UUID) {
		if (!uuidtext_parse(text, uuid) &&
		    field_set_bytes(field, base, uuid, sizeof(uuid)))
			return 0;
		return fail(cx, -EINVAL, "%s: '%s' is not a UUID", field->name,
			    text);
	}
	if (!field_is_number(field))
		return fail(cx, -EINVAL, "%s: a structure; name one of its fields",
			    field->name);
	if (field->count > 1)
		return fail(cx, -EINVAL, "%s: give an index, %s[0] to [%u]",
			    field->name, field->name, field->count - 1);
	found = parse_number(text, field->kind == FIELD_OCTAL, &v);
	if (!found && field->kind == FIELD_FLAGS) {
		found = parse_flags(field->names, text, &v);
	} else if (!found && field->kind == FIELD_CHOICE) {
		found = fields_find_name(field->names, text, strlen(text), &v);
	} else if (!found && field->kind == FIELD_TIME) {
		found = timefmt_parse(text, &seconds);
		v = (uint64_t)seconds;
	}
	if (!found)
		return fail(cx, -EINVAL, "%s: '%s' is not a value of this "
					 "field",
			    field->name, text);
	/* A negative number is cut to the bytes of the field, if it fits. */
	if (*text == '-' && bits < 64 && v >= ~UINT64_C(0) << (bits - 1))
		v &= ~(~UINT64_C(0) << bits);
	if (!field_set(field, base, 0, v))
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
