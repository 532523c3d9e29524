// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Access to fields by their table rows.
 *
 * A field is a place, a size and a kind; values are passed as 64-bit numbers or as
 * bytes.  Conversion to text and back is done by callers.
 */
#include "disk/field.h"

#include <errno.h>
#include <string.h>

#include "base/le.h"

const struct field *field_find(const struct field_table *table, const char *name)
{
	size_t len = strcspn(name, ".[");
	uint32_t i;

	for (i = 0; i < table->nfields; i++) {
		if (!strncmp(table->fields[i].name, name, len) &&
		    !table->fields[i].name[len])
			return &table->fields[i];
	}
	return NULL;
}

int field_resolve(const struct field_table *table, const char *path,
		  struct field *field)
{
	struct field f = {.inner = table};
	const struct field *found;
	uint32_t base, index;

	for (;; path++) {
		if (!f.inner)
			return -ENOENT;
		found = field_find(f.inner, path);
		if (!found)
			return -ENOENT;
		base = f.offset;
		f = *found;
		f.offset += base;
		path += strlen(found->name);
		if (*path == '[') {
			if (*++path < '0' || *path > '9')
				return -ENOENT;
			for (index = 0; *path >= '0' && *path <= '9'; path++) {
				index = index * 10 + (uint32_t)(*path - '0');
				if (index > UINT16_MAX)
					return -ERANGE;
			}
			if (*path++ != ']')
				return -ENOENT;
			if (index >= f.count)
				return -ERANGE;
			f.offset += index * f.size;
			f.count = 1;
		}
		if (!*path)
			break;
		if (*path != '.')
			return -ENOENT;
	}
	*field = f;
	return 0;
}

bool field_is_number(const struct field *field)
{
	switch (field->kind) {
	case FIELD_UUID:
	case FIELD_TEXT:
	case FIELD_STRUCT:
		return false;
	default:
		return true;
	}
}

bool field_get(const struct field *field, const void *base, uint32_t i,
	       uint64_t *value)
{
	const uint8_t *p = (const uint8_t *)base + field->offset;

	if (!field_is_number(field) || i >= field->count)
		return false;
	p += (size_t)i * field->size;
	switch (field->size) {
	case 1:
		*value = *p;
		return true;
	case 2:
		*value = le16_get(*(const le16 *)p);
		return true;
	case 4:
		*value = le32_get(*(const le32 *)p);
		return true;
	case 8:
		*value = le64_get(*(const le64 *)p);
		return true;
	}
	return false;
}

bool field_set(const struct field *field, void *base, uint32_t i,
	       uint64_t value)
{
	le64 le = le64_make(value);

	if (!field_is_number(field) || i >= field->count)
		return false;
	if (field->size < sizeof(value) && value >> (8 * field->size))
		return false;
	memcpy((uint8_t *)base + field->offset + (size_t)i * field->size, le.b,
	       field->size);
	return true;
}

size_t field_length(const struct field *field)
{
	return (size_t)field->size * field->count;
}

bool field_set_bytes(const struct field *field, void *base, const void *bytes,
		     size_t len)
{
	uint8_t *p = (uint8_t *)base + field->offset;
	size_t room = field_length(field);

	if (len > room || (field->kind == FIELD_UUID && len != room))
		return false;
	memcpy(p, bytes, len);
	memset(p + len, 0, room - len);
	return true;
}
