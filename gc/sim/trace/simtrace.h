/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces recorded by other programs.
 *
 * A trace is read once, by simtrace_open(), in one of the formats of
 * simformat.h.  The steps of each volume are stored, with dense block numbers,
 * so that any number of runs can replay it, also concurrently, without parsing
 * it again.
 *
 * Reads are counted and ignored.  A write includes each block that it touches,
 * a trim only blocks that it covers, or covers up to the end of the file.
 * Trims of blocks that are never written are ignored.
 */
#ifndef NILFS2_GC_SIM_SIMTRACE_H
#define NILFS2_GC_SIM_SIMTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/pairtable.h"
#include "gc/sim/trace/simaddress.h"
#include "gc/sim/trace/simformat.h"

struct simtrace_config {
	const char *path;	/* "-" is standard input */
	unsigned int format;	/* index of simformat_names; 0: guess */
	uint32_t block_size;
	const char *volume;	/* NULL: the only one; "each" */
	bool raw;		/* number blocks that are never written too */
	/* NULL, or called periodically with the number of bytes read. */
	void (*progress)(void *arg, uint64_t bytes);
	void *arg;
};

/* Lines, or records, of the whole trace. */
struct simtrace_counts {
	uint64_t lines;
	uint64_t reads, writes, trims, syncs;
	uint64_t other;		/* understood, but without effect */
	uint64_t bad;		/* not understood */
	uint64_t first_bad;	/* number of that line, from 1 on */
	uint64_t far;		/* of the bad ones, beyond any volume */
	bool cut;		/* the last record is incomplete */
	uint64_t unordered;	/* with a time before that of the last one */
};

/*
 * Steps need a few bytes each: see simreplay.c.  Those of each volume are in
 * pages of a temporary file, which a trace of less than a page does not need.
 */
#define SIMSPOOL_PAGE 8192u

/* The file of all volumes.  All zero: no pages. */
struct simspool {
	int file;		/* descriptor + 1; 0: none yet */
	uint32_t pages;		/* in it */
};

/* The numbers of one volume.  All zero: none. */
struct simspool_stream {
	uint8_t *page;		/* the last one */
	size_t used;
	uint32_t *pages;	/* those before, in the file */
	size_t npages, room;
};

struct simtrace_volume {
	char *name;		/* "" if the trace has no names */
	uint64_t writes;	/* requests */
	uint64_t blocks;	/* total number of them */
	uint64_t written;	/* blocks that the requests write */
	uint64_t span;		/* microseconds from the start of the trace
				   to its last step */
	struct simspool_stream steps;
	uint64_t slot;		/* of simaddress, after the last write */
};

/* File of a volume, or a volume without files, by the name in the trace. */
struct simtrace_file {
	char *name;
	size_t len;
	bool chosen;
};

struct simtrace {
	struct simtrace_config config;
	const struct simformat *format;
	struct simtrace_counts counts;
	struct simtrace_volume *volumes;	/* written, in order of appearance */
	size_t nvolumes, volumes_room;
	size_t *chosen;		/* indexes of those that can be replayed */
	size_t nchosen;
	uint64_t origin, latest;	/* the first time and the last, ns */
	bool has_times;
	struct simformat_state state;	/* after the last line */
	/* The rest is private to simtrace.c. */
	struct pairtable names;
	struct simtrace_file *files;
	struct simaddress_file *extents;	/* of the same files */
	size_t nfiles, files_room, extents_room;
	uint32_t shared;	/* + 1: the volume of all files with names */
	bool is_ambiguous;	/* several volumes, and none was requested: an error */
	uint32_t last_file;	/* + 1 */
	struct simaddress addresses;
	struct simspool spool;
};

/*
 * Reads the trace.  -EINVAL if it has no write at all, if more than one line of
 * a hundred is not understood, or if not exactly one volume matches the
 * request; -ENOMEM, also above the memory budget, -EINTR, -EIO, or the error of
 * the system; to be closed also then.  Several threads can use an open trace.
 */
int simtrace_open(struct simtrace *t, struct context *cx,
		  const struct simtrace_config *config);
void simtrace_close(struct simtrace *t);

/* The memory that it uses, as far as it was read, in bytes. */
uint64_t simtrace_bytes(const struct simtrace *t);

/* The I-th of the chosen volumes. */
static inline const struct simtrace_volume *
simtrace_volume(const struct simtrace *t, size_t i)
{
	return &t->volumes[t->chosen[i]];
}

#endif
