// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parsing options from rows by getopt_long.
 *
 * The value of each long option is a number above all letters that identifies the
 * row; letters are looked up in the rows.  getopt_long does not print: its errors
 * become failure text, which the tool prints in its own form.
 *
 * During a parse the used rows of exclusive groups are recorded, for failure texts.
 */
#include "cli/option.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/size.h"
#include "base/text.h"

#define ROW_BASE 1000		/* above every letter */
#define NAME_MAX_SHOWN 64
#define GROUPS (OPTION_GROUP_TOOL + 1)

/* A row with the structure that it fills. */
struct place {
	const struct cli_option *row;
	void *base;
};

struct parse {
	struct context *cx;
	struct place places[OPTION_MAX];
	unsigned int count;
	const struct cli_option *used[GROUPS];	/* by group */
	const struct cli_option *against[GROUPS];	/* the same */
	char letters[2 * OPTION_MAX + 3];	/* ends with zeros */
	struct option names[OPTION_MAX + 1];
};

static const char *name_of(const struct cli_option *row,
			   char text[NAME_MAX_SHOWN])
{
	if (row->name)
		snprintf(text, NAME_MAX_SHOWN, "--%s", row->name);
	else
		snprintf(text, NAME_MAX_SHOWN, "-%c", row->letter);
	return text;
}

/* -EINVAL, or -ERANGE where it is too large. */
static int read_number(const char *text, uint64_t *value)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, text_base(text));
	/* strtoull() accepts blanks and signs, which are not allowed here. */
	if (*text < '0' || *text > '9' || *end)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*value = v;
	return 0;
}

int option_number(struct context *cx, const char *what, const char *text,
		  uint64_t max, uint64_t *value)
{
	uint64_t v;
	int err = read_number(text, &v);

	if (err == -EINVAL)
		return fail(cx, -EINVAL, "%s: '%s' is not a number", what,
			    text);
	if (err || v > max)
		return fail(cx, -EINVAL, "%s: %s is too large", what, text);
	*value = v;
	return 0;
}

/* Reads a number, or a SIZE in bytes, from LEAST to MOST. */
static int read_between(struct context *cx, const char *what, const char *text,
			bool size, uint64_t least, uint64_t most,
			uint64_t *value)
{
	uint64_t v = 0;
	int err = size ? size_parse(text, &v) : read_number(text, &v);

	if (err || v < least || v > most)
		return fail(cx, -EINVAL, "%s: '%s' is not a %s from %" PRIu64
			    " to %" PRIu64, what, text,
			    size ? "size" : "number", least, most);
	*value = v;
	return 0;
}

int option_between(struct context *cx, const char *what, const char *text,
		   uint64_t least, uint64_t most, uint64_t *value)
{
	return read_between(cx, what, text, false, least, most, value);
}

int option_size(struct context *cx, const char *what, const char *text,
		uint64_t *bytes)
{
	int err = size_parse(text, bytes);

	if (err == -ERANGE)
		return fail(cx, -EINVAL, "%s: %s is too large", what, text);
	if (err)
		return fail(cx, -EINVAL, "%s: '%s' is not a size", what, text);
	return 0;
}

int option_store(struct context *cx, const struct cli_option *row, void *base,
		 const char *arg)
{
	void *where = (char *)base + row->at;
	char what[NAME_MAX_SHOWN], names[256] = "";
	struct option_list *list;
	uint64_t most, v = 0;
	size_t room, used = 0;
	bool negative;
	int err, i;

	name_of(row, what);
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)where = true;
		return 0;
	case OPTION_COUNT:
		++*(unsigned int *)where;
		return 0;
	case OPTION_SET:
		*(int *)where = row->value;
		return 0;
	case OPTION_U64:
	case OPTION_U32:
	case OPTION_SIZE:
		most = row->kind == OPTION_U32 ? UINT32_MAX : UINT64_MAX;
		err = read_between(cx, what, arg, row->kind == OPTION_SIZE,
				   row->least, row->most ? row->most : most, &v);
		if (!err && row->kind == OPTION_U32)
			*(uint32_t *)where = (uint32_t)v;
		else if (!err)
			*(uint64_t *)where = v;
		return err;
	case OPTION_I64:
		negative = *arg == '-';
		err = option_number(cx, what, arg + negative,
				    (uint64_t)INT64_MAX + negative, &v);
		if (!err)
			*(int64_t *)where = (int64_t)(negative ? 0 - v : v);
		return err;
	case OPTION_STRING:
		*(const char **)where = arg;
		return 0;
	case OPTION_LIST:
		list = where;
		room = list->count;
		err = array_reserve(cx, &list->items, &room, room + 1);
		if (!err)
			list->items[list->count++] = arg;
		return err;
	case OPTION_CHOICE:
		for (i = 0; arg && row->choices[i]; i++) {
			if (!strcmp(row->choices[i], arg)) {
				*(int *)where = i;
				return 0;
			}
			if (used < sizeof(names))
				used += (size_t)snprintf(names + used,
						sizeof(names) - used, "%s%s",
						i ? ", " : "", row->choices[i]);
		}
		if (arg)
			return fail(cx, -EINVAL, "%s: unknown value '%s'; choose %s",
				    what, arg, names);
		*(int *)where = row->value;
		return 0;
	case OPTION_CALL:
		return row->call(cx, arg, where);
	}
	return fail(cx, -EINVAL, "%s: option without a kind", what);
}

const struct cli_option *option_find(const struct cli_option *rows,
				     const char *name)
{
	for (; rows->letter || rows->name; rows++)
		if (rows->name && !strcmp(rows->name, name))
			return rows;
	return NULL;
}

unsigned int option_distance(const char *word, const char *name)
{
	size_t n = strlen(word), m = strlen(name), i, j, most;
	/* d[I % 3][J]: the distance for I characters of WORD and J of NAME. */
	unsigned int d[3][NAME_MAX_SHOWN], least;

	/* A short word permits fewer differences. */
	most = n < 3 ? 0 : n < 6 ? 1 : 2;
	if (!strcmp(word, name))
		return 0;
	if (m >= NAME_MAX_SHOWN || n > m + most || m > n + most)
		return OPTION_FAR;
	for (i = 0; i <= n; i++) {
		unsigned int *row = d[i % 3], *above = d[(i + 2) % 3];

		row[0] = (unsigned int)i;
		for (j = 1; j <= m; j++) {
			if (!i) {
				row[j] = (unsigned int)j;
				continue;
			}
			least = above[j - 1] + (word[i - 1] != name[j - 1]);
			least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
			least = above[j] + 1 < least ? above[j] + 1 : least;
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1] &&
			    d[(i + 1) % 3][j - 2] + 1 < least)
				least = d[(i + 1) % 3][j - 2] + 1;
			row[j] = least;
		}
	}
	return d[n % 3][m] > most ? OPTION_FAR : d[n % 3][m];
}

static const struct place *find_place(const struct parse *p, int answer)
{
	unsigned int i;

	if (answer >= ROW_BASE)
		return &p->places[answer - ROW_BASE];
	for (i = 0; i < p->count; i++)
		if (p->places[i].row->letter == answer)
			return &p->places[i];
	return NULL;
}

/*
 * Fails for two different rows of one group, and for a row of a group together with
 * a row that excludes the group.
 */
static int check_group(struct parse *p, const struct cli_option *row)
{
	/* Group 0 means no group; no row is recorded for it. */
	const struct cli_option *const others[] = {
		p->used[row->group], row->group ? p->against[row->group] : NULL,
		p->used[row->against],
	};
	char a[NAME_MAX_SHOWN], b[NAME_MAX_SHOWN];
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!others[i] || others[i] == row)
			continue;
		why = row->why ? row->why : others[i]->why;
		return fail(p->cx, -EINVAL, "%s and %s exclude each other%s%s",
			    name_of(others[i], a), name_of(row, b),
			    why ? ": " : "", why ? why : "");
	}
	if (row->group)
		p->used[row->group] = row;
	if (row->against)
		p->against[row->against] = row;
	return 0;
}

/* Fails with a text for the error that getopt_long() found before optind. */
static int refuse(const struct parse *p, char **argv, int answer)
{
	const struct place *place = optopt ? find_place(p, optopt) : NULL;
	const char *word = argv[optind - 1], *nearest = NULL;
	unsigned int least = OPTION_FAR, far, i;
	char name[NAME_MAX_SHOWN];

	if (place && optopt >= ROW_BASE)
		name_of(place->row, name);
	else
		snprintf(name, sizeof(name), "-%c", optopt);
	if (answer == ':')
		return fail(p->cx, -EINVAL, "option '%s' needs an argument",
			    name);
	if (place)
		return fail(p->cx, -EINVAL, "option '%s' takes no argument",
			    name);
	if (optopt)
		return fail(p->cx, -EINVAL, "unrecognized option '%s'", name);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (i = 0; i < p->count && !strncmp(name, "--", 2); i++) {
		const struct cli_option *row = p->places[i].row;

		far = row->name && row->help ?
		      option_distance(name + 2, row->name) : OPTION_FAR;
		if (far < least) {
			least = far;
			nearest = row->name;
		}
	}
	if (nearest)
		return fail(p->cx, -EINVAL, "unrecognized option '%s': did you "
			    "mean '--%s'?", word, nearest);
	return fail(p->cx, -EINVAL, "unrecognized option '%s'", word);
}

int option_parse(struct context *cx, const struct option_set *sets,
		 unsigned int count, int argc, char **argv,
		 bool stop_at_word)
{
	struct parse p = { .cx = cx, .letters = ":" };
	const struct cli_option *row;
	const struct place *place;
	size_t used = 1;
	unsigned int i;
	int answer, err;

	if (stop_at_word)
		memcpy(p.letters, "+:", used = 2);
	for (i = 0; i < count; i++) {
		row = sets[i].rows;
		for (; row && (row->letter || row->name); row++) {
			struct option *o = &p.names[p.count];

			if (p.count == OPTION_MAX)
				return fail(cx, -EINVAL, "more than %d options",
					    OPTION_MAX);
			if (row->letter)
				p.letters[used++] = (char)row->letter;
			if (row->letter && row->arg)
				p.letters[used++] = ':';
			/* An option without a long name gets an impossible one. */
			o->name = row->name ? row->name : "\n";
			o->has_arg = !row->arg ? no_argument :
				     row->arg[0] == '[' ? optional_argument :
							  required_argument;
			o->val = ROW_BASE + (int)p.count;
			p.places[p.count++] = (struct place){ row,
							      sets[i].base };
		}
	}
	opterr = 0;
	/* Calls come last: --utc, before or after them, counts for their times. */
	for (i = 0; i < 2; i++) {
		optind = 0;		/* glibc and musl: start over */
		while ((answer = getopt_long(argc, argv, p.letters, p.names,
					     NULL)) != -1) {
			place = find_place(&p, answer);
			if (answer == '?' || answer == ':' || !place)
				return refuse(&p, argv, answer);
			err = i ? 0 : check_group(&p, place->row);
			if (!err && (place->row->kind == OPTION_CALL) == (i == 1))
				err = option_store(cx, place->row, place->base,
						   optarg);
			if (err)
				return err;
		}
	}
	return optind;
}

void option_free(const struct option_set *sets, unsigned int count)
{
	const struct cli_option *row;
	struct option_list *list;
	unsigned int i;

	for (i = 0; i < count; i++) {
		for (row = sets[i].rows; row && (row->letter || row->name); row++) {
			if (row->kind != OPTION_LIST)
				continue;
			list = (void *)((char *)sets[i].base + row->at);
			free(list->items);
			*list = (struct option_list){ 0 };
		}
	}
}
