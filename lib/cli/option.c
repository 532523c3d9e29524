// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From rows to getopt_long and from its answers to the caller's structure.
 *
 * getopt_long gets, as the value of each long option, a number past any
 * letter that identifies the row; letters are looked up in the rows.  It is kept
 * from printing: what it has to say becomes failure text, so that the tool
 * prints it in its own form.
 *
 * Which rows of an exclusive group were used is remembered for one parse,
 * as the name that the user will recognize.
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

#define ROW_BASE 1000		/* past every letter */
#define NAME_MAX_SHOWN 64
#define GROUPS (OPTION_GROUP_TOOL + 1)

/* A row with the structure that it fills. */
struct place {
	const struct cli_option *row;
	char *base;
};

struct parse {
	struct context *cx;
	struct place places[OPTION_MAX];
	unsigned int count;
	const struct cli_option *used[GROUPS];	/* by group */
	const struct cli_option *against[GROUPS];	/* the same */
	char letters[2 * OPTION_MAX + 3];
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
	/* strtoull() takes blanks and signs; a number here has neither. */
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

/* Takes V, which TEXT, a KIND ("number"), was read as, unless ERR. */
static int take_between(struct context *cx, const char *what, const char *text,
			const char *kind, uint64_t least, uint64_t most,
			int err, uint64_t v, uint64_t *value)
{
	if (err || v < least || v > most)
		return fail(cx, -EINVAL, "%s: '%s' is not a %s from %" PRIu64
			    " to %" PRIu64, what, text, kind, least, most);
	*value = v;
	return 0;
}

int option_between(struct context *cx, const char *what, const char *text,
		   uint64_t least, uint64_t most, uint64_t *value)
{
	uint64_t v = 0;
	int err = read_number(text, &v);

	return take_between(cx, what, text, "number", least, most, err, v,
			    value);
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

static int store_i64(struct context *cx, const char *what, const char *text,
		     int64_t *value)
{
	bool negative = *text == '-';
	uint64_t max = (uint64_t)INT64_MAX + negative, v;
	int err = option_number(cx, what, text + negative, max, &v);

	if (!err)
		*value = (int64_t)(negative ? 0 - v : v);
	return err;
}

static int store_unsigned(struct context *cx, const struct cli_option *row,
			  const char *what, const char *text, void *where)
{
	uint64_t kinds_most = row->kind == OPTION_U32 ? UINT32_MAX : UINT64_MAX;
	uint64_t most = row->most ? row->most : kinds_most, v = 0;
	int err;

	if (row->kind == OPTION_SIZE) {
		err = size_parse(text, &v);
		err = take_between(cx, what, text, "size", row->least, most,
				   err, v, &v);
	} else {
		err = option_between(cx, what, text, row->least, most, &v);
	}
	if (err)
		return err;
	if (row->kind == OPTION_U32)
		*(uint32_t *)where = (uint32_t)v;
	else
		*(uint64_t *)where = v;
	return 0;
}

static int store_choice(struct context *cx, const char *what,
			const char *const *choices, const char *text,
			int *value)
{
	char list[256] = "";
	size_t used = 0;
	int i;

	for (i = 0; choices[i]; i++) {
		if (!strcmp(choices[i], text)) {
			*value = i;
			return 0;
		}
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used,
						 sizeof(list) - used, "%s%s",
						 i ? ", " : "", choices[i]);
	}
	return fail(cx, -EINVAL, "%s: '%s' is none of %s", what, text, list);
}

static int store_list(struct context *cx, const char *text,
		      struct option_list *list)
{
	size_t room = list->count;

	if (array_reserve(cx, &list->items, &room, room + 1))
		return -ENOMEM;
	list->items[list->count++] = text;
	return 0;
}

static int store(struct context *cx, const struct place *place,
		 const char *arg)
{
	const struct cli_option *row = place->row;
	void *where = place->base + row->at;
	char what[NAME_MAX_SHOWN];

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
		return store_unsigned(cx, row, what, arg, where);
	case OPTION_I64:
		return store_i64(cx, what, arg, where);
	case OPTION_STRING:
		*(const char **)where = arg;
		return 0;
	case OPTION_LIST:
		return store_list(cx, arg, where);
	case OPTION_CHOICE:
		if (!arg) {
			*(int *)where = row->value;
			return 0;
		}
		return store_choice(cx, what, row->choices, arg, where);
	case OPTION_CALL:
		return row->call(cx, arg, where);
	}
	return fail(cx, -EINVAL, "%s: option of no kind", what);
}

int option_store(struct context *cx, const struct cli_option *row, void *base,
		 const char *arg)
{
	return store(cx, &(struct place){ row, base }, arg);
}

static bool is_end(const struct cli_option *row)
{
	return !row->letter && !row->name;
}

const struct cli_option *option_find(const struct cli_option *rows,
				     const char *name)
{
	for (; !is_end(rows); rows++)
		if (rows->name && !strcmp(rows->name, name))
			return rows;
	return NULL;
}

static void add_place(struct parse *p, const struct cli_option *row,
		      void *base)
{
	struct option *o = &p->names[p->count];
	size_t used = strlen(p->letters);

	if (row->letter) {
		p->letters[used++] = (char)row->letter;
		if (row->arg)
			p->letters[used] = ':';
	}
	/* A row without a long name keeps its slot, under an impossible name. */
	o->name = row->name ? row->name : "\n";
	o->has_arg = !row->arg ? no_argument :
		     row->arg[0] == '[' ? optional_argument :
					  required_argument;
	o->val = ROW_BASE + (int)p->count;
	p->places[p->count++] = (struct place){ row, base };
}

static int prepare_parse(struct parse *p, const struct option_set *sets,
			 unsigned int count, bool stop_at_word)
{
	unsigned int i;

	snprintf(p->letters, sizeof(p->letters), "%s",
		 stop_at_word ? "+:" : ":");
	for (i = 0; i < count; i++) {
		const struct cli_option *row = sets[i].rows;

		for (; row && !is_end(row); row++) {
			if (p->count == OPTION_MAX)
				return fail(p->cx, -EINVAL,
					    "more than %d options",
					    OPTION_MAX);
			add_place(p, row, sets[i].base);
		}
	}
	return 0;
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

/* ROW was used where OTHER, if any, is one that it excludes. */
static int check_pair(struct parse *p, const struct cli_option *other,
		      const struct cli_option *row)
{
	char a[NAME_MAX_SHOWN], b[NAME_MAX_SHOWN];

	if (!other || other == row)
		return 0;
	return fail(p->cx, -EINVAL, "%s and %s exclude each other",
		    name_of(other, a), name_of(row, b));
}

/*
 * Two different rows of one group cannot both be meant, nor one of a group and
 * one that is against it.
 */
static int check_group(struct parse *p, const struct cli_option *row)
{
	int err = 0;

	if (row->group && row->group < GROUPS) {
		err = check_pair(p, p->used[row->group], row);
		if (!err)
			err = check_pair(p, p->against[row->group], row);
		p->used[row->group] = row;
	}
	if (!err && row->against && row->against < GROUPS) {
		err = check_pair(p, p->used[row->against], row);
		p->against[row->against] = row;
	}
	return err;
}

/* What getopt_long() found wrong with the word before optind. */
static int complain(struct context *cx, const struct parse *p, char **argv,
		    int answer)
{
	const struct place *place = optopt ? find_place(p, optopt) : NULL;
	char name[NAME_MAX_SHOWN];

	if (place && optopt >= ROW_BASE)
		name_of(place->row, name);
	else
		snprintf(name, sizeof(name), "-%c", optopt);
	if (answer == ':')
		return fail(cx, -EINVAL, "option '%s' needs an argument",
			    name);
	if (place)
		return fail(cx, -EINVAL, "option '%s' takes no argument",
			    name);
	return fail(cx, -EINVAL, "unrecognized option '%s'",
		    optopt ? name : argv[optind - 1]);
}

int option_parse(struct context *cx, const struct option_set *sets,
		 unsigned int count, int argc, char **argv,
		 bool stop_at_word)
{
	struct parse p = { .cx = cx };
	const struct place *place;
	int answer, err;

	err = prepare_parse(&p, sets, count, stop_at_word);
	if (err)
		return err;
	optind = 0;		/* glibc and musl: start over */
	opterr = 0;
	while ((answer = getopt_long(argc, argv, p.letters, p.names, NULL)) !=
	       -1) {
		place = find_place(&p, answer);
		if (answer == '?' || answer == ':' || !place)
			return complain(cx, &p, argv, answer);
		err = check_group(&p, place->row);
		if (!err)
			err = store(cx, place, optarg);
		if (err)
			return err;
	}
	return optind;
}

void option_free(const struct option_set *sets, unsigned int count)
{
	const struct cli_option *row;
	struct option_list *list;
	unsigned int i;

	for (i = 0; i < count; i++) {
		for (row = sets[i].rows; row && !is_end(row); row++) {
			if (row->kind != OPTION_LIST)
				continue;
			list = (void *)((char *)sets[i].base + row->at);
			free(list->items);
			*list = (struct option_list){ 0 };
		}
	}
}
