/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of a mount, given to the kernel by libfuse. */
#ifndef NILFS2_DUMP_MOUNT_FUSE_H
#define NILFS2_DUMP_MOUNT_FUSE_H

#include <stdbool.h>

#include "cli/tool.h"
#include "dump/mount/mountfs.h"

struct mount_fuse_options {
	const char *source;	/* what is mounted, for the list of mounts */
	const char *dir;	/* where, an absolute path */
	bool foreground;
	bool allow_other;	/* let other users in, and check permissions */
};

/*
 * Mounts FS, and serves it until it is unmounted or the process gets a signal
 * that ends it; both are no failure.  Unless in the foreground the process that
 * called ends, successfully, as soon as the mount is there, and this returns in
 * a child of it without a terminal.  -EIO where it cannot be mounted; libfuse
 * prints the reason.
 */
int mount_fuse_run(struct tool *tool, struct mountfs *fs,
		   const struct mount_fuse_options *options);

#endif
