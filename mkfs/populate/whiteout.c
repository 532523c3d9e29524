// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whiteouts by the OCI image specification (layer.md), recognized by name: the
 * type does not matter, since some tools hard-link them.  Names with the prefix
 * twice, except the opaque one, are internal to aufs; container tools ignore
 * them.
 */
#include "mkfs/populate/whiteout.h"

#include <stdbool.h>
#include <string.h>

static bool begins(const char *name, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(name, with, strlen(with));
}

enum whiteout whiteout_of(const char *name, size_t len)
{
	const char *behind = name + WHITEOUT_PREFIX_LEN;

	if (!begins(name, len, WHITEOUT_PREFIX))
		return WHITEOUT_NONE;
	len -= WHITEOUT_PREFIX_LEN;
	if (len == 8 && !memcmp(behind, ".wh..opq", 8))
		return WHITEOUT_OPAQUE;
	if (begins(behind, len, WHITEOUT_PREFIX))
		return WHITEOUT_OTHER;
	return !len || (len < 3 && !memcmp(behind, "..", len)) ?
		       WHITEOUT_BAD : WHITEOUT_NAME;
}
