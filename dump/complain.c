// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reporting a file that could not be read.
 *
 * A path may be long and contain any bytes: it is escaped and truncated.
 */
#include "dump/complain.h"

#include "base/text.h"

#define PATH_SHOWN 512

void complain(struct tool *tool, const char *path, size_t len, int err)
{
	char text[PATH_SHOWN];

	text_escape(text, sizeof(text), path, len);
	tool_failed(tool, text, err);
}
