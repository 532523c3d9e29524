/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files and directories of a source, without changing access times if
 * allowed.
 */
#ifndef NILFS2_MKFS_SOURCEOPEN_H
#define NILFS2_MKFS_SOURCEOPEN_H

#include <sys/stat.h>

/*
 * Opens directory NAME at FD, with FLAGS more; *ST is as statx() has it.
 * -errno.
 */
int sourceopen_directory(int fd, const char *name, int flags,
			 struct statx *st);

/*
 * Opens file NAME at FD for reading; it never follows a symbolic link, nor
 * waits for the writer of a FIFO.  *NOATIME, shared by all threads, is
 * O_NOATIME until that is refused.  -errno.
 */
int sourceopen_file(int fd, const char *name, int *noatime);

#endif
