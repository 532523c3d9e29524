// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device that is to be checked.
 *
 * What is mounted only to be read does not change, so it can be checked: at
 * boot that is how the root is given to its checker.
 */
#include "fsck/target.h"

#include <errno.h>

#include "dev/devfile.h"
#include "dev/probe.h"

static int check_use(struct tool *tool, const char *path, bool only_reads)
{
	struct context *cx = &tool->cx;
	struct probe_use use;

	/* Where nothing can be said of PATH, opening it tells why. */
	if (probe_mounted(cx, path, &use)) {
		fail_clear(cx);
		return 0;
	}
	if (use.kind != PROBE_MOUNTED || use.read_only)
		return 0;
	if (!only_reads)
		return fail(cx, -EBUSY, "%s: mounted on %s; -n checks it "
			    "nevertheless", path, use.where);
	tool_warn(tool, "%s: mounted on %s: it may change while it is checked, "
		  "what is found may not be so", path, use.where);
	return 0;
}

static bool may_change(const struct options *o)
{
	return o->mode == OPTIONS_YES || o->mode == OPTIONS_AUTO;
}

/* One that cannot be written to can still be checked. */
static bool is_protected(int err)
{
	return err == -EACCES || err == -EPERM || err == -EROFS;
}

int target_open(struct dev **devp, struct tool *tool, const char *path,
		const struct options *o)
{
	int err = check_use(tool, path, o->mode == OPTIONS_NO);

	*devp = NULL;
	if (err)
		return err;
	if (may_change(o)) {
		err = devfile_open(devp, &tool->cx, path, DEVFILE_WRITE);
		if (!is_protected(err))
			return err;
		fail_clear(&tool->cx);
	}
	return devfile_open(devp, &tool->cx, path, DEVFILE_READ);
}
