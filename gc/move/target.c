// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device of a job of gc.nilfs2: opened, locked, checked for other users.
 *
 * A mounted volume has its own cleaner, and a loop device over an image may be
 * mounted at any time.
 *
 * The rules of zones also apply to the zones of an image file: it may be copied
 * to a device later.
 */
#include "gc/move/target.h"

#include <errno.h>
#include <fcntl.h>

#include "dev/devfile.h"
#include "dev/probe.h"
#include "dev/qcow2.h"
#include "dev/zoned.h"
#include "vol/owner.h"
#include "vol/writable.h"

int target_open(struct target *t, struct context *cx, const char *path,
		bool read_only)
{
	struct probe_use use;
	struct owner owner;
	int ret;

	*t = (struct target){ NULL, NULL };
	/* If PATH cannot be examined, opening it reports why. */
	if (probe_mounted(cx, path, NULL, &use))
		fail_clear(cx);
	else if (use.kind == PROBE_MOUNTED)
		return fail_said(cx, -EBUSY, "%s: mounted on %s; give this "
				 "directory to clean it while it is mounted",
				 path, use.where);
	else if (use.kind == PROBE_LOOP)
		return fail(cx, -EBUSY, "%s: the loop device %s uses it", path,
			    use.where);
	else if (use.kind != PROBE_UNUSED)
		return fail(cx, -EBUSY, "%s: in use by the system", path);
	ret = devfile_open(&t->file, cx, path,
			   read_only ? DEVFILE_READ : DEVFILE_WRITE);
	if (ret)
		return ret;
	/* A foreign signature is accepted if the device is only read. */
	owner_find(&owner, cx, t->file);
	if (owner.foreign && !(read_only && owner.nilfs))
		return owner_fail(cx, t->file, &owner, "");
	if (!read_only)
		owner_guard(t->file);
	/* Live blocks and summaries are scattered: no readahead. */
	posix_fadvise(devfile_fd(t->file), 0, 0, POSIX_FADV_RANDOM);
	ret = qcow2_open(&t->dev, cx, t->file);
	if (!ret && t->dev == t->file)
		return zoned_open(&t->dev, cx, t->file, path);
	if (!ret && !read_only)
		ret = fail_said(cx, -EROFS, "%s: a qcow2 image can only be "
				"read (-n): qemu-img convert -O raw makes one "
				"of it that can be written to", path);
	return ret;
}

int target_open_mounted(struct target *t, struct context *cx, const char *path)
{
	int ret;

	*t = (struct target){ .dev = NULL };
	ret = devfile_open(&t->file, cx, path, DEVFILE_READ);
	return ret ? ret : zoned_open(&t->dev, cx, t->file, path);
}

void target_close(struct target *t)
{
	if (t->dev != t->file)
		dev_close(t->dev);
	dev_close(t->file);
}

int target_open_volume(struct volume **volp, struct context *cx,
		       struct dev *dev)
{
	int ret = volume_open(volp, cx, dev, NULL);

	return ret ? ret : writable_check(cx, *volp);
}
