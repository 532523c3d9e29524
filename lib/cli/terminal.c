// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Properties of the terminal of a descriptor.
 *
 * No terminal database is used: the escapes for background colour and reset are the
 * same on all terminals that have them.
 */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct terminal terminal_of(int fd)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *depth = getenv("COLORTERM");
	struct terminal t = { .is = isatty(fd) == 1, .columns = 80, .lines = 24 };
	struct winsize size;

	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		t.columns = size.ws_col;
		t.lines = size.ws_row;
	}
	if (!t.is || (no_colour && *no_colour) ||
	    (term && !strcmp(term, "dumb")))
		t.colour = SEGMAP_PLAIN;
	else if (depth && (!strcmp(depth, "truecolor") ||
			   !strcmp(depth, "24bit")))
		t.colour = SEGMAP_TRUECOLOR;
	else
		t.colour = SEGMAP_256;
	return t;
}
