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
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "gc/sim/sweep/simemit.h"
#include "gc/sim/sweep/simjson.h"
#include "gc/sim/trace/simbytes.h"

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
				simemit_key(&run, image), i };
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
	uint64_t v = strtoull(m->text, NULL, 10);
	const struct simrow_field *f;
	void *where;

	if (!strcmp(m->name, "notes"))
		row->notes = (uint32_t)v;
	for (f = simrow_fields; f->key; f++) {
		if (strcmp(f->key, m->name) != 0)
			continue;
		where = (char *)row + f->at;
		row->ended = true;
		if (f->wide)
			*(uint64_t *)where = v;
		else
			*(uint32_t *)where = (uint32_t)v;
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

	for (f = simrow_fields; f->key; f++)
		if (simrow_value(a, f).number != simrow_value(b, f).number)
			return false;
	return a->ended == b->ended && a->notes == b->notes;
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
