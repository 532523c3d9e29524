// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mount: the files of a checkpoint, or of all, as a file system in user space.
 *
 * mountfs.c provides the files, mount_fuse.c answers the kernel.
 */
#include "config.h"

#include "dump/common/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/moment.h"
#include "dump/common/image.h"
#ifdef HAVE_LIBFUSE
#include "dump/mount/mount_fuse.h"
#endif

struct mount_options {
	uint64_t checkpoint;
	bool all;
	bool recover;
	bool foreground;
	bool allow_other;
};

static const struct cli_option mount_rows[] = {
	{ 'c', "checkpoint", "CNO",
	  "mount this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct mount_options, checkpoint), 1, 0,
	  NULL, moment_parse },
	{ 'a', "all", NULL, "mount all checkpoints, a directory for each",
	  OPTION_FLAG, offsetof(struct mount_options, all), 1 },
	{ 0, "recover", NULL, "show files as the next mount would recover them",
	  OPTION_FLAG, offsetof(struct mount_options, recover) },
	{ 'f', "foreground", NULL, "stay in the foreground", OPTION_FLAG,
	  offsetof(struct mount_options, foreground) },
	{ 0, "allow-other", NULL,
	  "let other users in, and check permissions", OPTION_FLAG,
	  offsetof(struct mount_options, allow_other) },
	{ 0 },
};

#ifdef HAVE_LIBFUSE

static int mount_image(struct tool *tool, const struct mount_options *o,
		       struct dump_image *im)
{
	const char *path = tool->argv[1];
	char *dir = realpath(path, NULL);
	struct mount_fuse_options how = {
		.source = tool->argv[0],
		.dir = dir,
		.foreground = o->foreground,
		.allow_other = o->allow_other,
	};
	struct mountfs fs = { .buffer = NULL };
	struct stat st;
	int ret = 0;

	if (!dir || stat(dir, &st))
		ret = fail(&tool->cx, -errno, "%s", path);
	else if (!S_ISDIR(st.st_mode))
		ret = fail(&tool->cx, -ENOTDIR, "%s", path);
	if (!ret)
		ret = mountfs_init(&fs, &tool->cx, im->vol,
				   o->all ? NULL : &im->root, getuid(),
				   getgid());
	if (!ret)
		ret = mount_fuse_run(tool, &fs, &how);
	mountfs_fini(&fs);
	free(dir);
	return ret;
}

#else

static int mount_image(struct tool *tool, const struct mount_options *o,
		       struct dump_image *im)
{
	(void)o;
	(void)im;
	return fail_said(&tool->cx, -EOPNOTSUPP,
			 "mount: this dump.nilfs2 was built without libfuse");
}

#endif

static int mount_run(struct tool *tool, const void *options)
{
	const struct mount_options *o = options;
	struct dump_image im = {.dev = NULL};
	int ret;

	if (o->all && o->recover)
		return tool_usage(tool, "--recover: not with --all, it shows "
				  "the latest state");
	if (o->all)
		ret = image_open(&im, tool, tool->argv[0], NULL);
	else
		ret = image_open_root(&im, tool, tool->argv[0], o->checkpoint,
				      o->recover);
	if (!ret)
		ret = mount_image(tool, o, &im);
	image_close(&im);
	return ret;
}

const struct cli_command mount_command = {
	.name = "mount",
	.summary = "mount files read-only, without root",
	.synopsis = "IMAGE DIR",
	.about =
		"Mounts a checkpoint read-only on DIR by FUSE, in the "
		"background unless -f is\ngiven; `fusermount3 -u DIR` ends "
		"it.  With --all DIR has a directory N for each\ncheckpoint, "
		"and the links latest, snapshots/N and times/TIME.  Lost "
		"parts of a\ndamaged volume are I/O errors.",
	.options = mount_rows,
	.options_size = sizeof(struct mount_options),
	.min_args = 2,
	.max_args = 2,
	.run = mount_run,
};
