/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report: the output of a command, as text, as one JSON document, as JSON lines or
 * as a part of an HTML page, by the same calls.
 *
 * A report has sections (a title and "Label: value" lines in text, an object in
 * JSON) and tables (see "out/table.h").  In JSON the report is one object, and its
 * top-level items are members of it.  In JSON lines each section or table row at the
 * top level is one object on one line, whose first member "record" is the key of the
 * section or table.
 *
 *	report_begin(r, "superblock", "Superblock");
 *	report_value(r, VALUE_U64, "s_last_cno", "Last checkpoint",
 *		     value_u64(cno));
 *	report_end(r);
 */
#ifndef NILFS2_OUT_REPORT_H
#define NILFS2_OUT_REPORT_H

#include <stdbool.h>

#include "out/json.h"
#include "out/out.h"
#include "out/value.h"

enum report_mode {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_JSON_LINES,
	REPORT_HTML,		/* by report_html_open() */
};

struct report {
	struct out *out;
	enum report_mode mode;
	struct json json;
	unsigned int depth;	/* number of open sections and lists */
	unsigned int indent;	/* of text, in characters */
	uint32_t sections;	/* bit per depth: a section is open there */
	bool loose;		/* a list at the top of JSON lines is open */
	bool started;		/* something was put */
	bool grid;		/* HTML: a table of values is open */
};

#define REPORT_DEPTH_MAX 30

/* Begins a report on OUT, which must outlive it; puts nothing yet. */
void report_init(struct report *r, struct out *out, enum report_mode mode);

/*
 * Completes the document.  A report without content puts nothing, so that a command
 * may write bytes to OUT instead.  After a failure report_fail() must be used.
 */
void report_fini(struct report *r);

/*
 * Completes a document of JSON after a failure: closes all open containers and puts
 * the section "error" with MESSAGE and the exit status STATUS, so that an incomplete
 * document is valid and detectable.  Puts nothing in text.
 */
void report_fail(struct report *r, const char *message, int status);

/*
 * Opens a section.  If TITLE is NULL, text has no heading.  Sections and lists nest
 * up to REPORT_DEPTH_MAX.
 */
void report_begin(struct report *r, const char *key, const char *title);
void report_end(struct report *r);

/*
 * Opens an array of sections, closed by report_end(), too.  The keys of the sections
 * in it are not put.  At the top level of JSON lines the array itself is omitted and
 * each section in it is a line.
 */
void report_list(struct report *r, const char *key);

/*
 * Puts a value of the open section: LABEL for people (NULL: none), KEY for scripts.
 * FLAGS is used for VALUE_FLAGS, and may be NULL.
 */
void report_put(struct report *r, enum value_kind kind,
		const struct value_flag *flags, const char *key,
		const char *label, struct value v);

/* Shorthands for all other kinds, and the most common ones. */
static inline void report_value(struct report *r, enum value_kind kind,
				const char *key, const char *label, struct value v)
{
	report_put(r, kind, NULL, key, label, v);
}

static inline void report_u64(struct report *r, const char *key,
			      const char *label, uint64_t v)
{
	report_value(r, VALUE_U64, key, label, value_u64(v));
}

static inline void report_size(struct report *r, const char *key,
			       const char *label, uint64_t bytes)
{
	report_value(r, VALUE_SIZE, key, label, value_u64(bytes));
}

static inline void report_time(struct report *r, const char *key,
			       const char *label, uint64_t seconds)
{
	report_value(r, VALUE_TIME, key, label, value_u64(seconds));
}

static inline void report_bool(struct report *r, const char *key,
			       const char *label, bool v)
{
	report_value(r, VALUE_BOOL, key, label, value_bool(v));
}

static inline void report_string(struct report *r, const char *key,
				 const char *label, const char *s)
{
	report_value(r, VALUE_STRING, key, label, value_string(s));
}

/* A line of text that has no counterpart in JSON, e.g. a legend. */
void report_text(struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Puts a paragraph of a page, of CLASS "note", or "problem" for a failure; with
 * other formats such messages go to standard error.
 */
void report_paragraph(struct report *r, const char *class, const char *text);

/* True if the report is for people. */
static inline bool report_is_text(const struct report *r)
{
	return r->mode == REPORT_TEXT || r->mode == REPORT_HTML;
}

/*
 * For tables and other users of the JSON writer: opens the object of the document,
 * if that is due; begins the object of one line, which json_end() ends.
 */
void report_open_document(struct report *r);
void report_line_begin(struct report *r, const char *key);

/* True if the next item begins a line of JSON lines. */
static inline bool report_is_at_line(const struct report *r)
{
	return r->mode == REPORT_JSON_LINES && r->json.depth == 0;
}

/*
 * Makes a report for people a page of HTML with the title TITLE and SUBTITLE below (any
 * bytes), which report_fini() ends: one file without external references, with light
 * and dark colours.  Times on it are UTC, so that it is the same everywhere.
 */
void report_html_open(struct report *r, const char *title, const char *subtitle);

/* Puts a value as the content of an element of a page. */
void report_html_value(struct out *out, enum value_kind kind,
		       const struct value_flag *flags, const struct value *v);

/*
 * Begins a block of text: at the top an empty line after the block before; on a page
 * ends the open table of values.
 */
void report_text_block(struct report *r);

/* Puts one value with its companion (KEY_iso, KEY_names, KEY_hex) as JSON. */
void report_json_value(struct json *json, enum value_kind kind,
		       const struct value_flag *flags, const char *key,
		       const struct value *v);

#endif
