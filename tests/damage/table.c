// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many cases ended how, by what was damaged and in which way.
 */
#include "table.h"

#include <stdio.h>

typedef unsigned long row[VERDICTS];

void table_add(struct table *t, const struct damage_case *c,
	       enum verdict verdict)
{
	t->counts[c->target->kind][c->spoil][c->matched][verdict]++;
}

/* The counts of a table in a row, for those that need no more. */
#define CELLS (sizeof(struct table) / sizeof(unsigned long))

void table_merge(struct table *t, const struct table *other)
{
	const unsigned long *from = &other->counts[0][0][0][0];
	unsigned long *to = &t->counts[0][0][0][0];
	size_t i;

	for (i = 0; i < CELLS; i++)
		to[i] += from[i];
}

unsigned long table_count(const struct table *t, enum verdict verdict)
{
	const unsigned long *from = &t->counts[0][0][0][0];
	unsigned long sum = 0;
	size_t i;

	for (i = verdict; i < CELLS; i += VERDICTS)
		sum += from[i];
	return sum;
}

static void add_row(row sum, const row other)
{
	enum verdict v;

	for (v = 0; v < VERDICTS; v++)
		sum[v] += other[v];
}

static void print_head(const char *first)
{
	enum verdict v;

	printf("%-34s %7s", first, "cases");
	for (v = 0; v < VERDICTS; v++)
		printf(" %8s", verdict_name(v));
	printf("\n");
}

static void print_row(const char *kind, const char *damage, const char *sums,
		      const row counts)
{
	unsigned long all = 0;
	enum verdict v;

	for (v = 0; v < VERDICTS; v++)
		all += counts[v];
	if (!all)
		return;
	printf("  %-14s %-8s %-8s %7lu", kind, damage, sums, all);
	for (v = 0; v < VERDICTS; v++)
		printf(" %8lu", counts[v]);
	printf("\n");
}

void table_print(const struct table *t, const char *title)
{
	enum target_kind k;
	enum spoil s;
	int matched;

	print_head(title);
	for (k = 0; k < TARGET_KINDS; k++)
		for (s = 0; s < SPOIL_KINDS; s++)
			for (matched = 0; matched < 2; matched++)
				print_row(target_kind_name(k), spoil_name(s),
					  matched ? "matched" : "left",
					  t->counts[k][s][matched]);
}

void table_print_totals(const struct table *t)
{
	enum target_kind k;
	row all = {0};
	size_t i;

	print_head("total");
	for (k = 0; k < TARGET_KINDS; k++) {
		row sum = {0};

		for (i = 0; i < 2 * SPOIL_KINDS; i++)
			add_row(sum, t->counts[k][i / 2][i % 2]);
		add_row(all, sum);
		print_row(target_kind_name(k), "all", "both", sum);
	}
	print_row("all", "all", "both", all);
	printf("silent=%lu false=%lu unproved=%lu\n", all[VERDICT_LOST],
	       all[VERDICT_FALSE], all[VERDICT_UNPROVED]);
}
