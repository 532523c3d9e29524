// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is at the other end of a descriptor.
 *
 * No terminal database is asked: the escapes we use (background colour,
 * reset) are the same on all that have them.
 */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_is(int fd)
{
	return isatty(fd) == 1;
}

void terminal_size(int fd, unsigned int *columns, unsigned int *lines)
{
	struct winsize size;

	*columns = 80;
	*lines = 24;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	*columns = size.ws_col;
	*lines = size.ws_row;
}

static bool is_set_to(const char *variable, const char *value)
{
	const char *text = getenv(variable);

	return text && !strcmp(text, value);
}

enum picture_colour terminal_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR");

	if (!terminal_is(fd) || (no_colour && *no_colour) ||
	    is_set_to("TERM", "dumb"))
		return PICTURE_PLAIN;
	if (is_set_to("COLORTERM", "truecolor") ||
	    is_set_to("COLORTERM", "24bit"))
		return PICTURE_TRUECOLOR;
	return PICTURE_256;
}
