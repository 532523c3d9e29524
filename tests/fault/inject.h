/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the test of faults shares with a tool that is linked with inject.c. */
#ifndef NILFS2_TESTS_INJECT_H
#define NILFS2_TESTS_INJECT_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of calls that are counted, and fail with INJECT_ERRNO of their kind. */
enum inject_kind {
	INJECT_READ,
	INJECT_WRITE,
	INJECT_FLUSH,
	INJECT_DISCARD,	/* and allocation of space */
	INJECT_ZONE,	/* reports and changes of zones */
	INJECT_OPEN,	/* and rename */
	INJECT_RESIZE,
	INJECT_MALLOC,	/* any allocation of memory */
	INJECT_THREAD,
	INJECT_KINDS,
};

enum inject_way {
	INJECT_ONCE,	/* the call fails, later ones do not */
	INJECT_ALWAYS,	/* all later ones of its kind do, too */
	INJECT_FULL,	/* the same with -ENOSPC */
	INJECT_SHORT,	/* it transfers half of what was asked for */
	INJECT_SIGNAL,	/* it fails with -EINTR */
};

/* In memory that both map; the tool gets its descriptor by INJECT_ENV. */
struct inject {
	enum inject_kind kind;
	enum inject_way way;
	uint64_t at;			/* from 1; 0: nothing fails */
	uint64_t counted[INJECT_KINDS];
	bool happened;
	int trace;			/* a descriptor, or -1 */
};

#define INJECT_ENV "NILFS2_INJECT"

/* What happened to files, one after the other; bytes of a write follow. */
enum trace_what { TRACE_WRITE, TRACE_ZERO, TRACE_RESIZE, TRACE_FLUSH };

struct trace {
	uint64_t inode;			/* of the file */
	uint64_t off, len;
	uint32_t what;
};

#endif
