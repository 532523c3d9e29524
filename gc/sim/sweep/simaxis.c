// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists and ranges of arguments.
 *
 * Numbers of a range are whole multiples of the last decimal that one of them
 * has, so that 0.1:0.5:0.1 has five, whatever a tenth is in binary.
 */
#include "gc/sim/sweep/simaxis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define DECIMALS_MAX 6u
#define DIGITS_MAX 12u
#define SUFFIX_MAX 8u
#define TEXT_MAX 48u

/* A decimal number as it is written. */
struct decimal {
	uint64_t digits;	/* without the point */
	unsigned int decimals;
	char suffix[SUFFIX_MAX];
};

/* LEN characters at TEXT; false where they are no number. */
static bool read_decimal(const char *text, size_t len, struct decimal *d)
{
	bool point = false;
	unsigned int n = 0;
	size_t i;

	*d = (struct decimal){ 0 };
	for (i = 0; i < len; i++) {
		if (text[i] == '.' && n && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9')
			break;
		if (++n > DIGITS_MAX)
			return false;
		d->digits = 10 * d->digits + (uint64_t)(text[i] - '0');
		d->decimals += point;
	}
	if (!n || len - i >= SUFFIX_MAX || d->decimals > DECIMALS_MAX)
		return false;
	memcpy(d->suffix, text + i, len - i);
	return !strpbrk(d->suffix, "0123456789.:");
}

static void scale(struct decimal *d, unsigned int decimals)
{
	for (; d->decimals < decimals; d->decimals++)
		d->digits *= 10;
}

/* FIRST, LAST, STEP of the LEN characters at TEXT; false: it is no range. */
static bool read_range(const char *text, size_t len, struct decimal parts[3])
{
	const char *end = text + len, *colon;
	unsigned int n = 0, decimals = 0, i;

	do {
		colon = memchr(text, ':', (size_t)(end - text));
		len = (size_t)((colon ? colon : end) - text);
		if (n == 3 || !read_decimal(text, len, &parts[n]))
			return false;
		if (parts[n].decimals > decimals)
			decimals = parts[n].decimals;
		n++;
		text += len + 1;
	} while (colon);
	if (n < 2)
		return false;
	if (n == 2) {
		parts[2] = parts[0];
		parts[2].digits = 1;
		parts[2].decimals = 0;
	}
	for (i = 0; i < 3; i++) {
		scale(&parts[i], decimals);
		if (strcmp(parts[i].suffix, parts[0].suffix) != 0)
			return false;
	}
	return true;
}

static int add_word(struct simaxis *a, struct context *cx, const char *word,
		    size_t len)
{
	if (a->count == SIMAXIS_ITEMS_MAX)
		return fail(cx, -EINVAL, "--sweep: %s has more than %u values",
			    a->name, SIMAXIS_ITEMS_MAX);
	if (array_reserve(cx, &a->items, &a->room, a->count + 1))
		return -ENOMEM;
	a->items[a->count] = strndup(word, len);
	if (!a->items[a->count])
		return fail(cx, -ENOMEM, "sweep");
	a->count++;
	return 0;
}

static int add_number(struct simaxis *a, struct context *cx,
		      const struct decimal *like, uint64_t digits)
{
	char text[TEXT_MAX];
	uint64_t one = 1;
	unsigned int i;
	int len;

	for (i = 0; i < like->decimals; i++)
		one *= 10;
	if (like->decimals)
		len = snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64
			       "%s", digits / one, (int)like->decimals,
			       digits % one, like->suffix);
	else
		len = snprintf(text, sizeof(text), "%" PRIu64 "%s", digits,
			       like->suffix);
	return add_word(a, cx, text, (size_t)len);
}

/* The LEN characters at TEXT are PARTS. */
static int add_range(struct simaxis *a, struct context *cx, const char *text,
		     size_t len, const struct decimal parts[3])
{
	uint64_t at = parts[0].digits, last = parts[1].digits;
	uint64_t step = parts[2].digits;
	int err = 0;

	if (!step || at > last)
		return fail(cx, -EINVAL, "--sweep: %s: '%.*s' is a range "
			    "without numbers", a->name, (int)len, text);
	for (; at <= last && !err; at += step)
		err = add_number(a, cx, &parts[0], at);
	return err;
}

int simaxis_add(struct simaxis *a, struct context *cx, const char *list)
{
	struct decimal parts[3];
	size_t len;
	int err;

	do {
		len = strcspn(list, ",");
		if (!len)
			return fail(cx, -EINVAL, "--sweep: %s: a value is "
				    "missing", a->name);
		err = read_range(list, len, parts) ?
			      add_range(a, cx, list, len, parts) :
			      add_word(a, cx, list, len);
		list += len;
	} while (!err && *list++);
	return err;
}

int simaxis_parse(struct simaxis *a, struct context *cx, const char *text)
{
	const char *equals = strchr(text, '=');

	*a = (struct simaxis){ 0 };
	if (!equals || equals == text)
		return fail(cx, -EINVAL, "--sweep: '%s' is not "
			    "OPTION=VALUES", text);
	a->name = strndup(text, (size_t)(equals - text));
	if (!a->name)
		return fail(cx, -ENOMEM, "sweep");
	return simaxis_add(a, cx, equals + 1);
}

void simaxis_free(struct simaxis *a)
{
	size_t i;

	for (i = 0; i < a->count; i++)
		free(a->items[i]);
	free(a->items);
	free(a->name);
	*a = (struct simaxis){ 0 };
}

static const char *word_of(const struct cli_option *row, size_t i)
{
	if (row->choices)
		return row->choices[i];
	return row->word ? row->word(i) : NULL;
}

int simaxis_expand(struct simaxis *a, struct context *cx,
		   const struct cli_option *row, bool *has_all)
{
	struct simaxis all = { .name = a->name };
	const char *word;
	size_t i, k;
	int err = 0;

	for (i = 0; i < a->count && !err; i++) {
		if (strcmp(a->items[i], "all") != 0 || !word_of(row, 0)) {
			err = add_word(&all, cx, a->items[i],
					       strlen(a->items[i]));
			continue;
		}
		*has_all = true;
		for (k = 0; !err && (word = word_of(row, k)); k++)
			err = add_word(&all, cx, word, strlen(word));
	}
	a->name = NULL;
	simaxis_free(a);
	*a = all;
	return err;
}
