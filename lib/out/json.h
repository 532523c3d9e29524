/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A JSON writer: it knows where commas, quotes and escapes go.
 *
 * It holds no document, only how deep it is and whether a comma is due.  KEY
 * is a plain ASCII word, of less than 1 KiB, that needs no escaping; it is
 * used inside an object and ignored inside an array or at the top.
 */
#ifndef NILFS2_OUT_JSON_H
#define NILFS2_OUT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/out.h"

#define JSON_DEPTH_MAX 32

/* How the members of a container are laid out. */
enum json_layout {
	JSON_TIGHT,	/* on one line, without spaces */
	JSON_WIDE,	/* one member per line, indented */
};

struct json {
	struct out *out;
	unsigned int depth;		/* of open containers */
	unsigned int level;		/* the same, in levels[] */
	bool comma;			/* a member stands before the next */
	struct {
		char closing;		/* '}' or ']' */
		bool wide;
	} levels[JSON_DEPTH_MAX + 1];	/* the first is the top */
};

/* Starts a document on OUT, which must outlive it. */
void json_init(struct json *json, struct out *out);

/*
 * Opens an object or array by its OPENING, '{' or '['.  One inside a tight
 * container is tight as well.  More than JSON_DEPTH_MAX open ones is an error of
 * the caller, kept in OUT as -EOVERFLOW.
 */
void json_open(struct json *json, const char *key, enum json_layout layout,
	       char opening);

/* Closes the innermost container; the last one is followed by a line break. */
void json_end(struct json *json);

/*
 * A string of LEN bytes; bytes that are not UTF-8 become U+FFFD.  Where there
 * were such bytes, which is false then, a second member KEY_hex has them all.
 */
bool json_string(struct json *json, const char *key, const void *bytes,
		 size_t len);

/*
 * Puts what stands before a value: comma, line break, indentation, the key
 * with SUFFIX appended (NULL: none).  The caller then puts one JSON value.
 */
void json_before(struct json *json, const char *key, const char *suffix);

#endif
