/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A volume in memory with one thing wrong, which is repaired by one more log: a
 * file has a wrong number of links.
 */
#ifndef NILFS2_TESTS_FSCK_RIG_H
#define NILFS2_TESTS_FSCK_RIG_H

#include <stddef.h>

#include "cut.h"
#include "fsck/session.h"
#include "log_volume.h"

#define RIG_FILES 5u

struct rig {
	struct log_volume v;
	char *before, *bytes;	/* the device, damaged; and to be worked on */
	size_t size;
};

void rig_open(struct rig *r);
void rig_close(struct rig *r);

/* A job on r->bytes, and who judges it, with ARG. */
struct cut rig_cut(struct rig *r, cut_job *job, cut_judge *judge, void *arg);

/*
 * What r->bytes hold: SESSION_UNCORRECTED where the damage is there, 0 where
 * it is not, and a failure where a file cannot be read as it was.
 */
int rig_judge(struct rig *r);

#endif
