// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mounted volumes, and the ioctls of the kernel.
 *
 * The device of a volume is that of its files, st_dev, as for all file systems of the
 * kernel on one block device.
 */
#include "config.h"

#include "live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "dev/probe.h"

/* Checkpoints asked for at once. */
#define LIST 512

bool live_is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int live_open(struct live **lp, struct context *cx, const char *path)
{
	struct live *l = calloc(1, sizeof(*l));
	char link[64], *device = NULL;
	struct probe_mount mount;
	struct stat st;
	int ret = 0;

	if (!l)
		return fail(cx, -ENOMEM, "%s: open", path);
	l->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	l->dir = strdup(path);
	if (l->fd < 0 && errno == ENOTDIR) {
		ret = fail_said(cx, -ENOTDIR, "%s: not a directory; give the one on "
				"which the volume is mounted", path);
	} else if (l->fd < 0 || fstat(l->fd, &st)) {
		ret = fail(cx, -errno, "%s: open", path);
	} else if (!probe_mount(st.st_dev, &mount) || strcmp(mount.type, "nilfs2")) {
		ret = fail_said(cx, -ENOTTY, "%s: not a directory of a mounted "
				"NILFS2 volume", path);
	} else {
		/* Links of udev, where the list of mounts has another name. */
		snprintf(link, sizeof(link), "/dev/block/%u:%u",
			 major(st.st_dev), minor(st.st_dev));
		device = mount.source[0] ? strdup(mount.source) :
					   realpath(link, NULL);
		if (!device)
			ret = fail_said(cx, -ENODEV, "%s: the device with number "
					"%u:%u has no name in /dev", path,
					major(st.st_dev), minor(st.st_dev));
		l->device = device;
		l->number = st.st_dev;
		l->read_only = mount.read_only;
	}
	if (!ret && !l->dir)
		ret = fail(cx, -ENOMEM, "%s: open", path);
	if (ret)
		live_close(l);
	else
		*lp = l;
	return ret;
}

void live_close(struct live *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l->dir);
	free(l->device);
	free(l);
}

int live_ioctl(const struct live *l, struct context *cx, const char *name,
	       unsigned long request, void *arg)
{
	int ret;

	do
		ret = ioctl(l->fd, request, arg);
	while (ret < 0 && errno == EINTR && !context_cancelled(cx));
	if (ret >= 0)
		return ret;
	if (errno == EPERM)
		return fail_said(cx, -EPERM, "%s: %s: needs the capability "
				 "CAP_SYS_ADMIN; run it as root", l->dir, name);
	return fail(cx, -errno, "%s: %s", l->dir, name);
}

int live_permitted(const struct live *l, struct context *cx)
{
	/* The kernel looks at the capability first, and then fails with -EFAULT. */
	int ret = live_request(l, cx, NILFS_IOCTL_CHANGE_CPMODE, NULL);

	fail_clear(cx);
	return ret != -EPERM ? 0 :
		fail_said(cx, -EPERM, "%s: the kernel changes a mounted volume only "
			  "with the capability CAP_SYS_ADMIN; run it as root",
			  l->dir);
}

int live_sync(const struct live *l, struct context *cx, uint64_t *cno)
{
	struct nilfs_cpstat stat;
	int ret;

	/*
	 * First with the superblocks, which the kernel else writes every 10 seconds:
	 * segments since the log of the older one are protected.
	 */
	if (!l->read_only && syncfs(l->fd))
		return fail(cx, -errno, "%s: synchronization", l->dir);
	if (!l->read_only)
		return live_request(l, cx, NILFS_IOCTL_SYNC, cno);
	ret = live_request(l, cx, NILFS_IOCTL_GET_CPSTAT, &stat);
	*cno = stat.cs_cno - 1;
	return ret;
}

int live_each_checkpoint(const struct live *l, struct context *cx, unsigned int mode,
			 live_checkpoint *each, void *arg)
{
	struct nilfs_cpinfo *info = malloc(LIST * sizeof(*info));
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)info,
		.v_size = sizeof(*info),
		.v_flags = (uint16_t)mode,
		.v_index = mode == NILFS_SNAPSHOT ? 0 : 1,
	};
	size_t i;
	int ret = info ? 0 : fail(cx, -ENOMEM, "list of checkpoints");

	while (!ret) {
		argv.v_nmembs = LIST;
		ret = live_request(l, cx, NILFS_IOCTL_GET_CPINFO, &argv);
		for (i = 0; i < argv.v_nmembs && !ret; i++)
			ret = each(arg, cx, &info[i]);
		if (ret || !argv.v_nmembs)
			break;
		/* Snapshots are a list with an end. */
		argv.v_index = mode == NILFS_SNAPSHOT ?
				       info[argv.v_nmembs - 1].ci_next :
				       info[argv.v_nmembs - 1].ci_cno + 1;
		if (!argv.v_index)
			break;
	}
	free(info);
	return ret;
}

struct numbers {
	uint64_t **cnos;
	size_t *n, room;
};

static int push_number(void *arg, struct context *cx, const struct nilfs_cpinfo *info)
{
	struct numbers *to = arg;

	return array_push(cx, to->cnos, to->n, &to->room, info->ci_cno);
}

int live_checkpoints(const struct live *l, struct context *cx, unsigned int mode,
		     uint64_t **cnos, size_t *n)
{
	struct numbers to = { cnos, n, 0 };

	*cnos = NULL;
	*n = 0;
	return live_each_checkpoint(l, cx, mode, push_number, &to);
}
