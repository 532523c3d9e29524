/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Detecting changes of a file by other programs. */
#ifndef NILFS2_DEV_GUARD_H
#define NILFS2_DEV_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define GUARD_RANGES 2
#define GUARD_BYTES 1024
#define GUARD_NOTHING UINT64_MAX	/* as an offset */

struct guard {
	pthread_mutex_t lock;
	int fd;
	const char *path;	/* borrowed */
	struct guard_range {
		uint64_t off;
		uint8_t bytes[GUARD_BYTES];
		bool known;
	} ranges[GUARD_RANGES];
	bool on, due, written;
};

/* A guard of nothing. */
void guard_init(struct guard *g, int fd, const char *path);

/* Remembers GUARD_BYTES at each of OFFSETS; what cannot be read is not guarded. */
void guard_set(struct guard *g, const uint64_t offsets[GUARD_RANGES]);

/*
 * To be called before a write: the first one since a flush compares the saved
 * bytes with the file.  -ESTALE if another program changed them, -EIO if they
 * cannot be read.  Several threads may call it at once.
 */
int guard_check(struct guard *g, struct context *cx);

/* LEN bytes at OFF were written by us and are BUF. */
void guard_note(struct guard *g, uint64_t off, const void *buf, size_t len);

/* What overlaps [OFF, END) is not known any more: it was discarded or cut off. */
void guard_forget(struct guard *g, uint64_t off, uint64_t end);

/* A flush begins another step of a commit. */
void guard_renew(struct guard *g);

#endif
