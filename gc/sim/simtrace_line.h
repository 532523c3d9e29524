/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of traces, taken apart. */
#ifndef NILFS2_GC_SIM_SIMTRACE_LINE_H
#define NILFS2_GC_SIM_SIMTRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "gc/sim/simop.h"
#include "gc/sim/simtrace.h"

struct simtrace_line {
	enum simop_kind kind;
	const char *file;	/* "" where there is one only; in the text */
	uint64_t offset, length;	/* bytes */
};

/*
 * Takes TEXT, which it changes, apart.  False where it is nothing that
 * matters: a read, a heading, rubbish.
 */
bool simtrace_line_parse(enum simtrace_format format, char *text,
			 struct simtrace_line *line);

/* What TEXT looks like, SIMTRACE_GUESS where like nothing. */
enum simtrace_format simtrace_line_guess(const char *text);

#endif
