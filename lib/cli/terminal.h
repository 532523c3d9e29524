/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is at the other end of a descriptor. */
#ifndef NILFS2_CLI_TERMINAL_H
#define NILFS2_CLI_TERMINAL_H

#include <stdbool.h>

#include "out/picture.h"

struct terminal {
	bool is;			/* it is one */
	unsigned int columns, lines;	/* 80 and 24 where it is none */
	/*
	 * None where it is no terminal, or NO_COLOR is set, or TERM is "dumb"; 24
	 * bits where COLORTERM is "truecolor" or "24bit"; else 256.
	 */
	enum picture_colour colour;
};

struct terminal terminal_of(int fd);

#endif
