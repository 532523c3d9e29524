/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files that are given to the kernel before it asks for them.
 *
 * A request for a small file takes longer than reading it, as two processes
 * have to wake up.  A program that reads files in the order in which they were
 * listed, as tar(1) does, gets the next ones together.
 */
#ifndef NILFS2_DUMP_MOUNT_AHEAD_H
#define NILFS2_DUMP_MOUNT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"
#include "dump/mount/mountfs.h"

/* The largest file that is given, in bytes. */
#define MOUNT_AHEAD_SIZE 32768u

struct mount_ahead;

/*
 * Starts the thread that calls STORE with the whole content of NODE.  STORE may
 * wait until what is being read of that file is answered.  -ENOMEM, -EAGAIN.
 */
int mount_ahead_open(struct mount_ahead **ahead, struct context *cx,
		     struct mountfs *fs,
		     void (*store)(void *arg, uint64_t node, char *bytes,
				   size_t len),
		     void *arg);

/* Notes a file that was listed. */
void mount_ahead_listed(struct mount_ahead *ahead, uint64_t node,
			const struct stat *st);

/*
 * For each read of NODE, in this order: before its content is read, before it is
 * answered, after that.  If it continues a sequence the first hands files that
 * were listed after it to the thread, the second waits until these are given, and
 * the third hands over more.  No failure matters; all use the buffer of FS.
 */
void mount_ahead_asked(struct mount_ahead *ahead, uint64_t node);
void mount_ahead_wait(struct mount_ahead *ahead, uint64_t node);
void mount_ahead_answered(struct mount_ahead *ahead);

/* Asks the thread to end; true where it has, so that a close does not wait. */
bool mount_ahead_end(struct mount_ahead *ahead);

/* Waits for the thread, and frees; NULL is accepted. */
void mount_ahead_close(struct mount_ahead *ahead);

#endif
