// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device that notes what is written to it: a list of copies, in their order.
 * Only one thread may write.  Discards and zones are not known.
 */
#include "tests/testdev/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct tracer {
	struct dev dev;
	struct trace *trace;
};

static int note_step(struct dev *dev, struct context *cx, uint64_t off,
		     const void *buf, size_t len)
{
	struct trace *t = ((struct tracer *)dev)->trace;
	struct trace_step *steps, *step;

	steps = array_grow(cx, t->steps, &t->room, t->n + 1, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	t->steps = steps;
	step = &steps[t->n];
	*step = (struct trace_step){ .off = off, .len = len };
	if (buf) {
		step->data = malloc(len);
		if (!step->data)
			return fail(cx, -ENOMEM, "trace: copy of a write");
		memcpy(step->data, buf, len);
	}
	t->n++;
	return 0;
}

static int tracer_write(struct dev *dev, struct context *cx, uint64_t off,
			const void *buf, size_t len)
{
	int ret = note_step(dev, cx, off, buf, len);

	return ret ? ret : dev_write(dev->under, cx, off, buf, len);
}

static int tracer_flush(struct dev *dev, struct context *cx)
{
	int ret = note_step(dev, cx, 0, NULL, 0);

	return ret ? ret : dev_flush(dev->under, cx);
}

static void tracer_close(struct dev *dev)
{
	free(dev);
}

static const struct dev_ops tracer_ops = {
	.write = tracer_write,
	.flush = tracer_flush,
	.close = tracer_close,
};

int trace_open(struct dev **devp, struct context *cx, struct dev *under,
	       struct trace *trace)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer)
		return fail(cx, -ENOMEM, "%s: trace", under->name);
	dev_init_over(&tracer->dev, &tracer_ops, under);
	tracer->trace = trace;
	*devp = &tracer->dev;
	return 0;
}

int trace_play(const struct trace *trace, struct context *cx, struct dev *dev)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < trace->n && !ret; i++) {
		const struct trace_step *step = &trace->steps[i];

		ret = step->data ? dev_write(dev, cx, step->off, step->data,
					     step->len) :
				   dev_flush(dev, cx);
	}
	return ret;
}

void trace_fini(struct trace *trace)
{
	while (trace->n)
		free(trace->steps[--trace->n].data);
	free(trace->steps);
}
