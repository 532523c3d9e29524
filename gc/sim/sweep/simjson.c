// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading one line of JSON, in place: no text becomes longer when its escapes are
 * replaced.
 */
#include "gc/sim/sweep/simjson.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(struct simjson *j)
{
	j->at += strspn(j->at, " \t\r\n");
}

/* Takes C, after blanks. */
static bool take(struct simjson *j, char c)
{
	skip_blanks(j);
	if (*j->at != c)
		return false;
	j->at++;
	return true;
}

/* The four digits at P, or -1. */
static int32_t read_unit(const char *p)
{
	char digits[5] = "";

	memcpy(digits, p, strnlen(p, 4));
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ?
		       (int32_t)strtoul(digits, NULL, 16) : -1;
}

/* Puts a character of the basic plane at TO as UTF-8; returns the end. */
static char *put_unit(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* The escape after a backslash, put at *TO; false: there is none such. */
static bool take_escape(struct simjson *j, char **to)
{
	static const char from[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found = *j->at ? strchr(from, *j->at) : NULL;
	int32_t unit;

	if (found) {
		*(*to)++ = bytes[found - from];
		j->at++;
		return true;
	}
	unit = *j->at == 'u' ? read_unit(j->at + 1) : -1;
	if (unit <= 0)
		return false;
	*to = put_unit(*to, (uint32_t)unit);
	j->at += 5;
	return true;
}

/* A string, or NULL. */
static char *take_string(struct simjson *j)
{
	char *start, *to;

	if (!take(j, '"'))
		return NULL;
	start = to = j->at;
	while (*j->at && *j->at != '"') {
		if (*j->at != '\\')
			*to++ = *j->at++;
		else if (j->at++, !take_escape(j, &to))
			return NULL;
	}
	if (!*j->at)
		return NULL;
	j->at++;
	*to = '\0';
	return start;
}

/* An array or an object, whatever it has. */
static bool skip_nested(struct simjson *j)
{
	unsigned int depth = 0;

	do {
		skip_blanks(j);
		if (*j->at == '"') {
			if (!take_string(j))
				return false;
			continue;
		}
		if (!*j->at)
			return false;
		depth += *j->at == '[' || *j->at == '{';
		depth -= *j->at == ']' || *j->at == '}';
		j->at++;
	} while (depth);
	return true;
}

static bool take_value(struct simjson *j, struct simjson_member *m)
{
	char *start;
	size_t len;

	skip_blanks(j);
	m->kind = SIMJSON_OTHER;
	m->text = NULL;
	if (*j->at == '"') {
		m->kind = SIMJSON_STRING;
		m->text = take_string(j);
		return m->text;
	}
	if (*j->at == '[' || *j->at == '{')
		return skip_nested(j);
	/* The byte before becomes the first, so that there is room for a NUL. */
	len = strcspn(j->at, ",}] \t\r\n");
	start = j->at - 1;
	memmove(start, j->at, len);
	start[len] = '\0';
	j->at += len;
	m->text = start;
	if (*start == '-' || (*start >= '0' && *start <= '9'))
		m->kind = SIMJSON_NUMBER;
	return len;
}

int simjson_open(struct simjson *j, char *line)
{
	j->at = line;
	return take(j, '{') ? 0 : -1;
}

int simjson_next(struct simjson *j, struct simjson_member *m)
{
	if (take(j, '}'))
		return 0;
	take(j, ',');
	m->name = take_string(j);
	if (!m->name || !take(j, ':') || !take_value(j, m))
		return -1;
	return 1;
}
