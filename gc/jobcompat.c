// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What may be asked for together.
 *
 * Jobs follow one another on one volume, so most may.  A copy leaves the volume
 * as it is, and a comparison changes nothing: what would change it, and could
 * only be passed over in silence, is refused instead.
 */
#include "gc/jobcompat.h"

#include <errno.h>
#include <stddef.h>

/* What changes the volume once blocks were moved, or NULL. */
static const char *finishing(const struct options *o)
{
	if (o->defrag.count)
		return "--defrag";
	if (o->shrink.wanted)
		return "--shrink";
	if (o->grow.wanted)
		return "--grow";
	if (o->purge)
		return "--purge";
	return o->punch ? "--punch" : NULL;
}

/* What changes the volume before anything is moved, or NULL. */
static const char *preparing(const struct options *o)
{
	if (o->features)
		return "--features";
	return o->deletions.count ? "--delete-checkpoints" : NULL;
}

static int refuse(struct context *cx, const char *option, const char *other)
{
	return fail(cx, -EINVAL, "%s and %s exclude each other", option,
		    other);
}

int jobcompat_check(struct context *cx, const struct options *o)
{
	const char *before = preparing(o), *after = finishing(o);

	if (o->compare && after)
		return refuse(cx, "--compare", after);
	if (o->compare && o->output)
		return refuse(cx, "--compare", "--output");
	if (o->output && before)
		return refuse(cx, "--output", before);
	if (o->output && after)
		return refuse(cx, "--output", after);
	return o->shrink.wanted && o->grow.wanted ?
		       refuse(cx, "--shrink", "--grow") : 0;
}
