/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of the DAT that findings speak of, and in what they are wrong.
 */
#ifndef NILFS2_FSCK_DATWRONG_H
#define NILFS2_FSCK_DATWRONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "fsck/plan/fixers.h"

struct datwrong {
	uint64_t vblocknr;
	bool place;		/* de_blocknr is doubtful */
	bool life;		/* de_start or de_end is */
};

/* Ascending by number, each once.  All zero is empty. */
struct datwrong_list {
	struct datwrong *items;
	size_t n, room;
};

/*
 * Lists the entries that FIXES speak of, all that name the same blocks as those
 * that share one or blocks not in use, and where one was never written all
 * that were not.  -ENOMEM, -EINTR.
 */
int datwrong_gather(struct datwrong_list *l, struct fixer_job *job,
		    struct context *cx, const struct fix *fixes, size_t n);
void datwrong_fini(struct datwrong_list *l);

#endif
