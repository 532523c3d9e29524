/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A super root that was chosen because the superblocks do not lead to one. */
#ifndef NILFS2_CHECK_STATE_H
#define NILFS2_CHECK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "vol/recovery.h"

struct root_state {
	bool chosen;
	bool hurt;		/* the checksum of its log is wrong */
	bool newest;		/* no log on the device is newer than its log */
	bool overwritten;	/* blocks of it have other content */
	struct recovery at;
	uint64_t seq;		/* of the next log: greater than that of any
				   log on the device */
};

/* Whether log [PSEG, SEQ] is that of S, which was not followed by another. */
static inline bool state_is_at(const struct root_state *s, uint64_t pseg,
			       uint64_t seq)
{
	return s && s->chosen && s->at.pseg_start == pseg && s->at.seq == seq;
}

#endif
