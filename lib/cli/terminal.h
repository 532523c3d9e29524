/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of the terminal of a descriptor. */
#ifndef NILFS2_CLI_TERMINAL_H
#define NILFS2_CLI_TERMINAL_H

#include <stdbool.h>

#include "out/segmap.h"

struct terminal {
	bool is;			/* FD is a terminal */
	unsigned int columns, lines;	/* 80 and 24 if it is not a terminal */
	/*
	 * None if it is not a terminal, or NO_COLOR is set, or TERM is "dumb"; 24
	 * bits if COLORTERM is "truecolor" or "24bit"; otherwise 256.
	 */
	enum segmap_colour colour;
};

struct terminal terminal_of(int fd);

#endif
