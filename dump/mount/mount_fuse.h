/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serving the files of a mount to the kernel by libfuse. */
#ifndef NILFS2_DUMP_MOUNT_FUSE_H
#define NILFS2_DUMP_MOUNT_FUSE_H

#include <stdbool.h>

#include "cli/tool.h"
#include "dump/mount/mountfs.h"

struct mount_fuse_options {
	const char *source;	/* name of the volume in the list of mounts */
	const char *dir;	/* mount point, an absolute path */
	bool foreground;
	bool allow_other;	/* let other users in, and check permissions */
};

/*
 * Mounts FS, and serves it until it is unmounted or a signal ends the process;
 * neither is a failure.  Unless in the foreground, the calling process exits
 * successfully once FS is mounted, and this function returns in a child process
 * without a terminal.  -EIO if it cannot be mounted; libfuse prints the reason.
 */
int mount_fuse_run(struct tool *tool, struct mountfs *fs,
		   const struct mount_fuse_options *options);

#endif
