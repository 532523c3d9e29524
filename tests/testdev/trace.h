/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that notes what is written to it.
 *
 * What a writer does up to a power cut does not depend on the cut.  A test that
 * looks at every cut runs the writer once, and plays its writes again on a
 * device with each fault.
 */
#ifndef NILFS2_TESTDEV_TRACE_H
#define NILFS2_TESTDEV_TRACE_H

#include "dev/dev.h"

struct trace {
	struct trace_step {
		uint64_t off;
		size_t len;
		unsigned char *data;	/* NULL: a flush */
	} *steps;
	size_t n, room;
};

/* A device over UNDER (borrowed) that adds its writes and flushes to TRACE. */
int trace_open(struct dev **devp, struct context *cx, struct dev *under,
	       struct trace *trace);

/* All steps on DEV; the failure of the first one that fails. */
int trace_play(const struct trace *trace, struct context *cx, struct dev *dev);

void trace_fini(struct trace *trace);

#endif
