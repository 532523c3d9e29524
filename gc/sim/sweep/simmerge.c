// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging results of a sweep that was divided between several processes.
 *
 * A result is a line of JSON with the key of its run.  The set of keys follows
 * from the plan, once the name of the image is known from the first result.
 */
#include "gc/sim/sweep/simmerge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "gc/sim/sweep/simparam.h"
#include "gc/sim/trace/simbytes.h"

/*
 * Members of a JSON object that is one line.
 */

enum member_kind {
	MEMBER_STRING,
	MEMBER_NUMBER,
	MEMBER_OTHER,	/* true, false, null, arrays, objects */
};

struct member {
	enum member_kind kind;
	const char *name;
	char *text;	/* of a string, or a number as written */
};

/* Skips blanks and consumes C at *AT, if it is next. */
static bool take_char(char **at, char c)
{
	*at += strspn(*at, " \t\r\n");
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* Decodes the escape after a backslash to *TO; false if it is invalid. */
static bool take_escape(char **at, char **to)
{
	static const char from[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found = **at ? strchr(from, **at) : NULL;
	char digits[5] = "", *p = *to;
	uint32_t c;

	if (found) {
		*(*to)++ = bytes[found - from];
		++*at;
		return true;
	}
	if (**at != 'u')
		return false;
	memcpy(digits, *at + 1, strnlen(*at + 1, 4));
	c = strspn(digits, "0123456789abcdefABCDEF") == 4 ?
		    (uint32_t)strtoul(digits, NULL, 16) : 0;
	if (!c)
		return false;
	/* A character of the basic plane, as UTF-8. */
	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 0x3f));
	} else {
		*p++ = (char)(0xe0 | c >> 12);
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	}
	*to = p;
	*at += 5;
	return true;
}

/* A string, or NULL. */
static char *take_string(char **at)
{
	char *start, *to;

	if (!take_char(at, '"'))
		return NULL;
	start = to = *at;
	while (**at && **at != '"') {
		if (**at != '\\')
			*to++ = *(*at)++;
		else if (++*at, !take_escape(at, &to))
			return NULL;
	}
	if (!**at)
		return NULL;
	++*at;
	*to = '\0';
	return start;
}

/*
 * The next member: 1, 0 at the end of the object, -1 if it is damaged.  Texts
 * are in the line, which is changed: no text becomes longer when its escapes
 * are replaced.
 */
static int next_member(char **at, struct member *m)
{
	unsigned int depth = 0;
	size_t len;

	if (take_char(at, '}'))
		return 0;
	take_char(at, ',');
	*m = (struct member){ .kind = MEMBER_OTHER, .name = take_string(at) };
	if (!m->name || !take_char(at, ':'))
		return -1;
	*at += strspn(*at, " \t\r\n");
	if (**at == '"') {
		m->kind = MEMBER_STRING;
		m->text = take_string(at);
		return m->text ? 1 : -1;
	}
	if (**at != '[' && **at != '{') {
		/* The text is moved by one byte, to make room for a NUL. */
		len = strcspn(*at, ",}] \t\r\n");
		m->text = *at - 1;
		memmove(m->text, *at, len);
		m->text[len] = '\0';
		*at += len;
		if (*m->text == '-' || (*m->text >= '0' && *m->text <= '9'))
			m->kind = MEMBER_NUMBER;
		return len ? 1 : -1;
	}
	/* An array or an object, with any content. */
	do {
		*at += strspn(*at, " \t\r\n");
		if (**at == '"') {
			if (!take_string(at))
				return -1;
			continue;
		}
		if (!**at)
			return -1;
		depth += **at == '[' || **at == '{';
		depth -= **at == ']' || **at == '}';
		++*at;
	} while (depth);
	return 1;
}

struct place {
	uint64_t key;
	size_t run;
};

struct merging {
	struct simmerge *merge;
	const struct simplan *plan;
	struct place *places;	/* by key; NULL until a result was read */
	const char *path;
	uint64_t line;
};

/* A line that is a result. */
struct result {
	struct simrow row;
	const char *key, *image;
};

/* 1: LINE is a result; 0: another line; -1: a damaged one. */
static int read_result(struct result *result, char *line)
{
	struct simrow *row = &result->row;
	const struct simrow_field *f;
	struct member m;
	int ret;

	*result = (struct result){ 0 };
	if (!take_char(&line, '{'))
		return 0;
	while ((ret = next_member(&line, &m)) > 0) {
		/* Numbers of the row; others are ignored. */
		for (f = simrow_fields; m.kind == MEMBER_NUMBER &&
					f->column.key; f++) {
			if (f->value || strcmp(f->column.key, m.name) != 0)
				continue;
			row->ended = true;
			simrow_set(row, f, strtoull(m.text, NULL, 10));
		}
		if (m.kind != MEMBER_STRING)
			continue;
		if (!strcmp(m.name, "key"))
			result->key = m.text;
		if (!strcmp(m.name, "image"))
			result->image = m.text;
		if (!strcmp(m.name, "error"))
			row->error = m.text;
	}
	return ret ? ret : result->key != NULL;
}

static int take_result(struct merging *m, struct context *cx,
		       const struct result *result)
{
	const struct simrow *read = &result->row;
	struct place *place, want = { .key = strtoull(result->key, NULL, 16) };
	size_t i, n = m->places ? 0 : m->plan->nruns;
	const char *image = result->image;
	const struct simrow_field *f;
	struct simplan_run run;
	struct simrow *row;
	int err = 0;

	/* The first result has the name of the image, so all keys are known. */
	if (n) {
		m->merge->image = image ? strdup(image) : NULL;
		m->places = malloc(n * sizeof(*m->places));
		if (!m->places || (image && !m->merge->image))
			return fail(cx, -ENOMEM, "results");
	}
	for (i = 0; i < n && !err; i++) {
		err = simplan_run(m->plan, cx, i, &run);
		if (!err)
			m->places[i] = (struct place){
				simparam_key(&run, image), i };
	}
	if (err)
		return err;
	if (n)
		sort_in_place(m->places, n, sizeof(*m->places),
			      sort_compare_number);
	place = bsearch(&want, m->places, m->plan->nruns, sizeof(want),
			sort_compare_number);
	if (!place) {
		m->merge->others++;
		return 0;
	}
	row = &m->merge->rows[place->run];
	/* A failed run, for example for lack of memory, may be repeated. */
	for (f = simrow_fields; row->ended && read->ended && f->column.key; f++)
		if (!f->value && simrow_value(row, f).number !=
				 simrow_value(read, f).number)
			return fail(cx, -EINVAL, "%s: line %" PRIu64 ": run %s "
				    "has another result than before", m->path,
				    m->line, result->key);
	if (row->ended || (row->error && !read->ended))
		return 0;
	simrow_free(row);
	*row = *read;
	row->error = row->error ? strdup(row->error) : NULL;
	return read->error && !row->error ? fail(cx, -ENOMEM, "results") : 0;
}

int simmerge_read(struct simmerge *m, struct context *cx,
		  const struct simplan *plan, char *const *paths, int count)
{
	struct merging merging = { .merge = m, .plan = plan };
	struct result result;
	struct simbytes bytes;
	struct simrow *row;
	char *line;
	size_t len, run;
	int i, ret, err = 0;

	for (i = 0; i < (count ? count : 1) && !err; i++) {
		merging.path = count ? paths[i] : "-";
		merging.line = 0;
		err = simbytes_open(&bytes, cx, merging.path);
		while (!err &&
		       (ret = simbytes_line(&bytes, cx, &line, &len)) != 0) {
			if (ret < 0) {
				err = ret;
				break;
			}
			merging.line++;
			ret = read_result(&result, line);
			if (ret < 0)
				err = fail(cx, -EINVAL, "%s: line %" PRIu64
					   " is no JSON", merging.path,
					   merging.line);
			if (ret > 0)
				err = take_result(&merging, cx, &result);
		}
		simbytes_close(&bytes);
	}
	free(merging.places);
	for (run = 0; run < plan->nruns && !err; run++) {
		row = &m->rows[run];
		if (!row->ended && !row->error)
			err = simrow_fail(row, cx,
					  fail(cx, -ENOENT, "no result"));
	}
	return err;
}
