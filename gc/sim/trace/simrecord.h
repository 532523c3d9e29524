/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of blktrace(8): struct blk_io_trace of linux/blktrace_api.h. */
#ifndef NILFS2_GC_SIM_SIMRECORD_H
#define NILFS2_GC_SIM_SIMRECORD_H

#include "gc/sim/trace/simformat.h"

#define SIMRECORD_SIZE 48u

/*
 * Whether the SIMRECORD_SIZE bytes at RECORD are a record; *PDU is the number
 * of bytes that follow it.
 */
bool simrecord_check(struct simformat_state *state, const void *record,
		     size_t *pdu);

/* What it means. */
enum simformat_kind simrecord_parse(struct simformat_state *state,
				    const void *record,
				    struct simformat_event *e);

#endif
