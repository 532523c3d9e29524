/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readahead of small files, which are stored in the cache of the kernel.
 *
 * A request for a small file takes longer than reading it, as two processes must
 * wake up.  When a program reads files in the order in which they were listed, as
 * tar(1) does, the next ones are stored together.
 */
#ifndef NILFS2_DUMP_MOUNT_AHEAD_H
#define NILFS2_DUMP_MOUNT_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/context.h"
#include "dump/mount/mountfs.h"

/* The largest file that is read ahead, in bytes. */
#define MOUNT_AHEAD_SIZE 32768u

struct mount_ahead;

/*
 * Starts the thread that calls STORE with the whole content of NODE.  STORE may
 * wait until a pending read of that file is answered.  -ENOMEM, -EAGAIN.
 */
int mount_ahead_open(struct mount_ahead **ahead, struct context *cx,
		     struct mountfs *fs,
		     void (*store)(void *arg, uint64_t node, char *bytes,
				   size_t len),
		     void *arg);

/* Records a file that was listed. */
void mount_ahead_listed(struct mount_ahead *ahead, uint64_t node,
			const struct stat *st);

/*
 * Called for each read of NODE, in this order: before its content is read, before
 * it is answered, and after that.  If the read continues a sequence, the first
 * hands the files that were listed after NODE to the thread, the second waits until
 * they are stored, and the third hands over more.  Failures are ignored; all use
 * the buffer of FS.
 */
void mount_ahead_asked(struct mount_ahead *ahead, uint64_t node);
void mount_ahead_wait(struct mount_ahead *ahead, uint64_t node);
void mount_ahead_answered(struct mount_ahead *ahead);

/* Requests the end of the thread; true if it has ended, so that closing does not
   wait. */
bool mount_ahead_end(struct mount_ahead *ahead);

/* Waits for the thread, and frees; NULL is accepted. */
void mount_ahead_close(struct mount_ahead *ahead);

#endif
