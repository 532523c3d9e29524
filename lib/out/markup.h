/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text inside SVG and HTML. */
#ifndef NILFS2_OUT_MARKUP_H
#define NILFS2_OUT_MARKUP_H

#include <stddef.h>
#include <string.h>

#include "out/out.h"

/*
 * Puts LEN bytes of any kind as text of an element or of an attribute in
 * quotes.  Bytes that are unsafe to show are escaped as "base/text.h" says, the
 * characters of markup as entities.
 */
void markup_bytes(struct out *out, const void *bytes, size_t len);

static inline void markup_string(struct out *out, const char *s)
{
	markup_bytes(out, s, strlen(s));
}

/*
 * The same, but of more than MOST characters only as many as fit with an
 * ellipsis, for lines that must not be longer.
 */
void markup_cut(struct out *out, const char *s, size_t most);

#endif
