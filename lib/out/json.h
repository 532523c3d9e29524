/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A JSON writer: it puts commas, quotes and escapes.
 *
 * It stores no document, only the open containers and whether a comma is due.  KEY
 * is a plain ASCII word, of less than 1 KiB, that needs no escaping; it is used
 * inside an object and ignored inside an array or at the top.
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

/* A document; at first all members but OUT are zero. */
struct json {
	struct out *out;		/* must outlive it */
	unsigned int depth;		/* number of open containers */
	unsigned int level;		/* the same, in levels[] */
	bool comma;			/* the next member needs a comma */
	struct {
		char closing;		/* '}' or ']' */
		bool wide;
	} levels[JSON_DEPTH_MAX + 1];	/* the first is the top */
};

/*
 * Opens an object or array by its OPENING, '{' or '['.  A container inside a tight
 * one is tight as well.  More than JSON_DEPTH_MAX open containers are an error of
 * the caller, stored in OUT as -EOVERFLOW.
 */
void json_open(struct json *json, const char *key, enum json_layout layout,
	       char opening);

/* Closes the innermost container; the last one is followed by a line break. */
void json_end(struct json *json);

/*
 * Puts a string of LEN bytes; bytes that are not UTF-8 become U+FFFD.  In that case
 * returns false and puts a second member KEY_hex with all bytes.
 */
bool json_string(struct json *json, const char *key, const void *bytes,
		 size_t len);

/*
 * Puts the text before a value: comma, line break, indentation, the key with SUFFIX
 * appended (NULL: none).  The caller then puts one JSON value.
 */
void json_before(struct json *json, const char *key, const char *suffix);

#endif
