/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces recorded by other programs.
 *
 * Supported are fio's iolog (versions 1 to 3), the text of blkparse, and lines
 * "time,operation,offset,length" in seconds and bytes.  Reads, and lines that
 * are not part of a trace, are ignored.  The files of an iolog follow each
 * other on the volume, each as large as the trace shows.
 */
#ifndef NILFS2_GC_SIM_SIMTRACE_H
#define NILFS2_GC_SIM_SIMTRACE_H

#include <stdint.h>
#include <stdio.h>

#include "base/context.h"
#include "gc/sim/simop.h"

enum simtrace_format {
	SIMTRACE_GUESS,		/* by the first lines */
	SIMTRACE_FIO,
	SIMTRACE_BLKPARSE,
	SIMTRACE_CSV,
};

struct simtrace_file {
	char *name;
	uint64_t end;		/* bytes, as far as the trace reaches */
	uint64_t first;		/* its first block on the volume */
};

struct simtrace {
	FILE *stream;
	const char *path;
	enum simtrace_format format;
	uint32_t block_size;
	struct simtrace_file *files;
	size_t nfiles, room;
	uint64_t blocks;	/* that all files have */
	uint64_t lines;		/* read so far */
	char *text;		/* the last one */
	size_t size;
};

/*
 * Opens the trace PATH, which must be a file, and goes through it once.
 * -EINVAL where it has no write at all, -ENOMEM, -EINTR, or what the system
 * says, -errno; to be closed also then.
 */
int simtrace_open(struct simtrace *t, struct context *cx, const char *path,
		  enum simtrace_format format, uint32_t block_size);
void simtrace_close(struct simtrace *t);

/* The next step: 1, or 0 at the end, -EIO or -EINTR. */
int simtrace_next(struct simtrace *t, struct context *cx, struct simop *op);

#endif
