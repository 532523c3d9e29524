// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Naming a file that could not be had.
 *
 * A path may be longer than a line should be and hold any bytes: it is escaped
 * and cut.
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
