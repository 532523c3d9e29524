/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is at the other end of a descriptor. */
#ifndef NILFS2_CLI_TERMINAL_H
#define NILFS2_CLI_TERMINAL_H

#include <stdbool.h>

#include "out/picture.h"

bool terminal_is(int fd);

/* Columns and lines of the terminal at FD; 80 and 24 where it is none. */
void terminal_size(int fd, unsigned int *columns, unsigned int *lines);

/*
 * What colours to use on FD: none where it is no terminal, or NO_COLOR is
 * set, or TERM is "dumb"; 24 bits where COLORTERM says so; else 256.
 */
enum picture_colour terminal_colour(int fd);

#endif
