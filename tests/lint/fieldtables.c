// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of fields in doc/format.md, made from those in lib/disk.
 *
 * Copies a text from standard input to standard output.  What stands between a
 * line "<!-- fields: NAME -->" and a line "<!-- end -->" becomes the table of
 * that structure.  A name that lib/disk does not have is an error, and so is a
 * structure of lib/disk that the text does not show.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk/field.h"

#define BEGINS "<!-- fields: "
#define ENDS " -->\n"
#define END "<!-- end -->\n"

static const char *const kinds[] = {
	[FIELD_UINT] = "number",
	[FIELD_HEX] = "number, shown in hexadecimal",
	[FIELD_OCTAL] = "number, shown in octal",
	[FIELD_TIME] = "seconds since 1970",
	[FIELD_FLAGS] = "flags",
	[FIELD_CHOICE] = "one of",
	[FIELD_SUM] = "CRC-32",
	[FIELD_PAD] = "unused",
	[FIELD_UUID] = "UUID",
	[FIELD_TEXT] = "text, padded with zero bytes",
	[FIELD_STRUCT] = "structure",
};

static void print_kind(const struct field *f)
{
	const struct field_name *name;

	fputs(kinds[f->kind], stdout);
	if (f->inner)
		printf(" `%s`", f->inner->name);
	for (name = f->names; name && name->name; name++)
		printf("%s %#llx %s", name == f->names ? ":" : ",",
		       (unsigned long long)name->value, name->name);
}

static void print_table(const struct field_table *t)
{
	uint32_t i;

	printf("| offset | bytes | `%s` | content |\n|---:|---:|---|---|\n",
	       t->name);
	for (i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		printf("| %u | %u", f->offset, f->size);
		if (f->count > 1)
			printf(" x %u", f->count);
		printf(" | `%s` | ", f->name);
		print_kind(f);
		puts(" |");
	}
	printf("| %u | | | |\n", t->size);
}

/* The table that LINE asks for, or NULL where it asks for none. */
static const struct field_table *wanted(const char *line)
{
	const struct field_table *t;
	size_t len = strlen(line), begins = strlen(BEGINS), ends = strlen(ENDS);
	char name[64];

	if (strncmp(line, BEGINS, begins) || len < begins + ends ||
	    strcmp(line + len - ends, ENDS))
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)(len - begins - ends),
		 line + begins);
	t = field_table_find(name);
	if (!t) {
		fprintf(stderr, "fieldtables: no structure %s\n", name);
		exit(EXIT_FAILURE);
	}
	return t;
}

/* Copies standard input; marks in SHOWN which tables it has. */
static void copy(bool *shown)
{
	const struct field_table *t;
	bool skip = false;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) >= 0) {
		if (!strcmp(line, END))
			skip = false;
		if (skip)
			continue;
		fputs(line, stdout);
		t = wanted(line);
		if (!t)
			continue;
		print_table(t);
		shown[t - field_table_all] = true;
		skip = true;
	}
	free(line);
}

int main(void)
{
	size_t i, n = 0;
	bool *shown;
	int status = EXIT_SUCCESS;

	while (field_table_all[n].name)
		n++;
	shown = calloc(n, sizeof(*shown));
	if (!shown)
		return EXIT_FAILURE;
	copy(shown);
	for (i = 0; i < n; i++) {
		if (shown[i])
			continue;
		fprintf(stderr, "fieldtables: %s is not shown\n",
			field_table_all[i].name);
		status = EXIT_FAILURE;
	}
	free(shown);
	return status;
}
