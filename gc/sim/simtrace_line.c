// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of traces.
 *
 * fio, versions 1 and 2:	FILE ACTION OFFSET LENGTH, or FILE ACTION
 *				(version 1 has lines DIRECTION,OFFSET,LENGTH)
 * fio, version 3:		TIME FILE ACTION OFFSET LENGTH
 * blkparse:			MAJOR,MINOR CPU SEQUENCE TIME PID Q RWBS
 *				SECTOR + SECTORS [PROGRAM]
 * CSV:				TIME,OPERATION,OFFSET,LENGTH
 *
 * A number that is too large to be a place of a volume makes the line rubbish.
 */
#include "gc/sim/simtrace_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 12u
#define SECTOR_BITS 9
/* Past this no volume reaches; sums of two such numbers do not overflow. */
#define OFFSET_MAX (UINT64_C(1) << 62)

static bool number(const char *text, uint64_t *value)
{
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*text))
		return false;
	v = strtoull(text, &end, 10);
	*value = v;
	return !*end && v < OFFSET_MAX;
}

/* Cuts TEXT into words at any character of BETWEEN. */
static unsigned int cut(char *text, const char *between, char **words)
{
	unsigned int n = 0;
	char *rest, *word = strtok_r(text, between, &rest);

	for (; word && n < WORDS; word = strtok_r(NULL, between, &rest))
		words[n++] = word;
	return n;
}

/* What the action of fio or a CSV means; false: nothing here. */
static bool action(const char *word, enum simop_kind *kind)
{
	static const struct {
		const char *word;
		enum simop_kind kind;
	} rows[] = {
		{ "write", SIMOP_WRITE }, { "w", SIMOP_WRITE },
		{ "trim", SIMOP_TRIM },	  { "delete", SIMOP_TRIM },
		{ "discard", SIMOP_TRIM }, { "d", SIMOP_TRIM },
		{ "sync", SIMOP_SYNC },	  { "datasync", SIMOP_SYNC },
		{ "flush", SIMOP_SYNC },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcasecmp(word, rows[i].word)) {
			*kind = rows[i].kind;
			return true;
		}
	return false;
}

/* FILE ACTION [OFFSET LENGTH] */
static bool parse_action(char **words, unsigned int n,
			 struct simtrace_line *line)
{
	if (n < 2 || !action(words[1], &line->kind))
		return false;
	line->file = words[0];
	if (line->kind == SIMOP_SYNC)
		return true;
	return n >= 4 && number(words[2], &line->offset) &&
	       number(words[3], &line->length);
}

static bool parse_fio(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, " \t", words);
	uint64_t time;

	/* Of version 1: reads are 0, writes 1, syncs 2, trims 3. */
	if (n == 1 && cut(words[0], ",", words) == 3) {
		if (strcmp(words[0], "1") && strcmp(words[0], "3"))
			return false;
		line->kind = *words[0] == '1' ? SIMOP_WRITE : SIMOP_TRIM;
		return number(words[1], &line->offset) &&
		       number(words[2], &line->length);
	}
	if (n >= 3 && number(words[0], &time) &&
	    parse_action(words + 1, n - 1, line))
		return true;
	return parse_action(words, n, line);
}

static bool parse_blkparse(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, " \t", words);

	if (n < 7 || strcmp(words[5], "Q"))
		return false;
	line->kind = strchr(words[6], 'D') ? SIMOP_TRIM : SIMOP_WRITE;
	if (n < 10 || strcmp(words[8], "+")) {
		line->kind = SIMOP_SYNC;
		return strchr(words[6], 'F') != NULL;
	}
	if (!strpbrk(words[6], "WD") || !number(words[7], &line->offset) ||
	    !number(words[9], &line->length) ||
	    line->offset + line->length >= OFFSET_MAX >> SECTOR_BITS)
		return false;
	line->offset <<= SECTOR_BITS;
	line->length <<= SECTOR_BITS;
	return true;
}

static bool parse_csv(char *text, struct simtrace_line *line)
{
	char *words[WORDS];
	unsigned int n = cut(text, ", \t", words);

	if (n < 2 || !action(words[1], &line->kind))
		return false;
	if (line->kind == SIMOP_SYNC)
		return true;
	return n >= 4 && number(words[2], &line->offset) &&
	       number(words[3], &line->length);
}

bool simtrace_line_parse(enum simtrace_format format, char *text,
			 struct simtrace_line *line)
{
	*line = (struct simtrace_line){ .file = "" };
	text[strcspn(text, "\r\n")] = '\0';
	switch (format) {
	case SIMTRACE_FIO:
		return parse_fio(text, line);
	case SIMTRACE_BLKPARSE:
		return parse_blkparse(text, line);
	case SIMTRACE_CSV:
		return parse_csv(text, line);
	case SIMTRACE_GUESS:
		break;
	}
	return false;
}

enum simtrace_format simtrace_line_guess(const char *text)
{
	size_t digits = strspn(text + strspn(text, " "), "0123456789");
	const char *rest = text + strspn(text, " ") + digits;

	if (!strncmp(text, "fio version", 11))
		return SIMTRACE_FIO;
	/* "  8,16   1   12 ..." */
	if (digits && *rest == ',' && isdigit((unsigned char)rest[1]) &&
	    isspace((unsigned char)rest[1 + strspn(rest + 1, "0123456789")]))
		return SIMTRACE_BLKPARSE;
	return strchr(text, ',') ? SIMTRACE_CSV : SIMTRACE_GUESS;
}
