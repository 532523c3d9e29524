// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging.
 *
 * A result is a line of JSON with the key of its run.  Which keys there must be
 * follows from the plan, once the name of the image is known from the first
 * result.
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

enum simjson_kind {
	SIMJSON_STRING,
	SIMJSON_NUMBER,
	SIMJSON_OTHER,	/* true, false, null, and what has members */
};

struct simjson_member {
	enum simjson_kind kind;
	const char *name;
	char *text;	/* of a string, or of a number as it is */
};

/* Where a reader is in a line that ends with NUL. */
struct simjson {
	char *at;
};

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

/* At the first member of LINE; -1 where it does not begin with an object. */
static int simjson_open(struct simjson *j, char *line)
{
	j->at = line;
	return take(j, '{') ? 0 : -1;
}

/*
 * The next member: 1, 0 at the end of the object, -1 where it is damaged.  Texts
 * are in the line, which is changed: no text becomes longer when its escapes are
 * replaced.
 */
static int simjson_next(struct simjson *j, struct simjson_member *m)
{
	if (take(j, '}'))
		return 0;
	take(j, ',');
	m->name = take_string(j);
	if (!m->name || !take(j, ':') || !take_value(j, m))
		return -1;
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

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* All keys, now that the image is known. */
static int find_keys(struct merging *m, struct context *cx, const char *image)
{
	size_t i, n = m->plan->nruns;
	struct simplan_run run;
	int err = 0;

	m->merge->image = image ? strdup(image) : NULL;
	m->places = malloc(n * sizeof(*m->places));
	if (!m->places || (image && !m->merge->image))
		return fail(cx, -ENOMEM, "results");
	for (i = 0; i < n && !err; i++) {
		err = simplan_run(m->plan, cx, i, &run);
		if (!err)
			m->places[i] = (struct place){
				simparam_key(&run, image), i };
	}
	if (!err)
		sort_in_place(m->places, n, sizeof(*m->places),
			      compare_places);
	return err;
}

/* The run of that key, or NULL. */
static const struct place *find_place(const struct merging *m, const char *text)
{
	struct place want = { .key = strtoull(text, NULL, 16) };

	return bsearch(&want, m->places, m->plan->nruns, sizeof(want),
		       compare_places);
}

/* Takes a number of the row; others are not kept. */
static void take_number(struct simrow *row, const struct simjson_member *m)
{
	const struct simrow_field *f;

	for (f = simrow_fields; f->column.key; f++) {
		if (f->value || strcmp(f->column.key, m->name) != 0)
			continue;
		row->ended = true;
		simrow_set(row, f, strtoull(m->text, NULL, 10));
	}
}

/* 1: LINE is a result; 0: it is something else; -1: it is damaged. */
static int read_result(struct result *result, char *line)
{
	struct simjson_member m;
	struct simjson json;
	int ret;

	*result = (struct result){ 0 };
	if (simjson_open(&json, line))
		return 0;
	while ((ret = simjson_next(&json, &m)) > 0) {
		if (m.kind == SIMJSON_NUMBER)
			take_number(&result->row, &m);
		if (m.kind != SIMJSON_STRING)
			continue;
		if (!strcmp(m.name, "key"))
			result->key = m.text;
		if (!strcmp(m.name, "image"))
			result->image = m.text;
		if (!strcmp(m.name, "error"))
			result->row.error = m.text;
	}
	return ret ? ret : result->key != NULL;
}

static bool is_same(const struct simrow *a, const struct simrow *b)
{
	const struct simrow_field *f;

	for (f = simrow_fields; f->column.key; f++)
		if (!f->value &&
		    simrow_value(a, f).number != simrow_value(b, f).number)
			return false;
	return true;
}

static int take_result(struct merging *m, struct context *cx,
		       const struct result *result)
{
	const struct place *place = find_place(m, result->key);
	struct simrow *row = place ? &m->merge->rows[place->run] : NULL;

	if (!row) {
		m->merge->others++;
		return 0;
	}
	/* A run that failed, for lack of memory say, can be done again. */
	if (row->ended && result->row.ended && !is_same(row, &result->row))
		return fail(cx, -EINVAL, "%s: line %" PRIu64 ": run %s has "
			    "another result than before", m->path, m->line,
			    result->key);
	if (row->ended || (row->error && !result->row.ended))
		return 0;
	simrow_free(row);
	*row = result->row;
	row->error = row->error ? strdup(row->error) : NULL;
	return result->row.error && !row->error ?
		       fail(cx, -ENOMEM, "results") : 0;
}

static int read_lines(struct merging *m, struct context *cx,
		      struct simbytes *bytes)
{
	struct result result;
	char *line;
	size_t len;
	int ret, err = 0;

	while (!err && (ret = simbytes_line(bytes, cx, &line, &len)) != 0) {
		if (ret < 0)
			return ret;
		m->line++;
		ret = read_result(&result, line);
		if (ret < 0)
			return fail(cx, -EINVAL, "%s: line %" PRIu64 " is no "
				    "JSON", m->path, m->line);
		if (ret && !m->places)
			err = find_keys(m, cx, result.image);
		if (ret && !err)
			err = take_result(m, cx, &result);
	}
	return err;
}

static int read_file(struct merging *m, struct context *cx, const char *path)
{
	struct simbytes bytes;
	int err = simbytes_open(&bytes, cx, path);

	m->path = path;
	m->line = 0;
	if (!err)
		err = read_lines(m, cx, &bytes);
	simbytes_close(&bytes);
	return err;
}

static int miss_others(const struct merging *m, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < m->plan->nruns && !err; i++) {
		struct simrow *row = &m->merge->rows[i];

		if (!row->ended && !row->error)
			err = simrow_fail(row, cx,
					  fail(cx, -ENOENT, "no result"));
	}
	return err;
}

int simmerge_read(struct simmerge *m, struct context *cx,
		  const struct simplan *plan, char *const *paths, int count)
{
	struct merging merging = { .merge = m, .plan = plan };
	int i, err = 0;

	if (!count)
		err = read_file(&merging, cx, "-");
	for (i = 0; i < count && !err; i++)
		err = read_file(&merging, cx, paths[i]);
	free(merging.places);
	return err ? err : miss_others(&merging, cx);
}

void simmerge_close(struct simmerge *m)
{
	free(m->image);
	m->image = NULL;
}
